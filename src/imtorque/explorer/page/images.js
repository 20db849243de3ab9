// Which picture is looked at: samples, files, what is dropped or pasted, and the sketch pad.

import { $, page, state, store, toast } from "./page.js";
import { Picture } from "./server.js";
import { askCount, askFigure, askView, forgetQuestions, setWorking, viewIsIdle } from "./asking.js";
import { refresh } from "./showing.js";
import { AROUND_RING, Sketch } from "./sketch.js";

const SKETCH = "sketch.png";
export const sketch = new Sketch(sendSketch);

let known = { samples: [], start: [], most_bytes: Infinity, network: null, notebook: false };
let turn = 0;
let sending = false;
let sendAgain = false;

// The files behind pictures that were held, so that going back finds them when the server has let them go.
const MOST_LESSONS = 8;
const MOST_FILES = 100;
const MOST_FILE_BYTES = 2 ** 28;
const files = new Map();

function keepFile({ key, source: { file, name } }) {
  if (!file) return;
  files.delete(key);
  files.set(key, { file, name });
  const bytes = () => [...files.values()].reduce((sum, kept) => sum + kept.file.size, 0);
  while (files.size > 1 && (files.size > MOST_FILES || bytes() > MOST_FILE_BYTES)) files.delete(files.keys().next().value);
}

// wanted: the whole state that is to be on the page with this picture; without it, only what belongs to a picture changes.
// kept: what goes on teaching in it, and the marks it had before; without it, all that was taught is forgotten.
async function open(source, { wanted = null, name = null, kept = null, place = { y: null, x: null, size: null } } = {}) {
  const mine = ++turn;
  setWorking("opening", true);
  try {
    const opened = await Picture.open(source);
    const bitmap = await opened.bitmap();
    if (mine !== turn) return opened.forget();
    forgetQuestions();
    const { lessons, marks } = kept ?? { lessons: [], marks: [] };
    for (const one of [page.picture, ...page.lessons.map(({ picture }) => picture)]) {
      if (one && !lessons.some(({ picture }) => picture === one)) one.forget();
    }
    page.lessons = lessons;
    if (!kept) page.counted.clear();
    page.picture = opened;
    page.drawn = false;
    keepFile(opened);
    page.sketching = opened.name === SKETCH;
    if (page.sketching && !source.sketched) sketch.load(bitmap);
    page.stage.setGround(bitmap);
    page.panel.setPicture(opened);
    const fresh = wanted ?? { ...place, number: null, clicks: [], marks, tool: state.tool };
    const tool = fresh.tool === "draw" && !page.sketching ? "patch" : fresh.tool;
    store.set({ ...fresh, tool, picture: name?.startsWith("held:") ? `held:${opened.key}` : name ?? `held:${opened.key}` });
    listPictures();
    showFacts(opened);
    askView();
    askFigure();
    askCount();
  } catch (error) {
    if (mine !== turn) return;
    toast(error.message);
    if (page.picture) listPictures();
    else if (source.sample !== "shapes") await open({ sample: "shapes" }, { name: "sample:shapes" });
  } finally {
    if (mine === turn) setWorking("opening", false);
  }
}

// By the name the address has for it.
export function openNamed(name, options = {}) {
  if (name === "sketch") return openSketch(options);
  if (name.startsWith("start")) return open({ start: startNumber(name) }, { name, ...options });
  if (name.startsWith("held:")) return open({ key: name.slice(5), ...files.get(name.slice(5)) }, { name, ...options });
  return open({ sample: name.slice(7) }, { name, ...options });
}

export function openFile(file) {
  if (!file) return;
  const mebibytes = (bytes) => `${Math.ceil(bytes / 2 ** 20)} MiB`;
  if (file.size > known.most_bytes) {
    toast(`${file.name}: a picture must have at most ${mebibytes(known.most_bytes)}, got ${mebibytes(file.size)}.`);
  } else open({ file, name: file.name || "pasted.png" });
}

// Of the pictures the server was started with, the first is "start", the others are "start:1", ...
const startName = (number) => (number ? `start:${number}` : "start");
const startNumber = (name) => Number(name.slice(6) || 0);

// What was marked so far goes on teaching in another picture; what was marked there before is taken up again.
function keptFor(name) {
  const here = { name: state.picture, picture: page.picture, marks: state.marks };
  const others = page.lessons.filter((lesson) => lesson.name !== here.name);
  const lessons = page.picture && here.marks.length ? [...others, here] : others;
  const again = lessons.find((lesson) => [lesson.name, `held:${lesson.picture.key}`].includes(name));
  return { lessons: lessons.filter((lesson) => lesson !== again).slice(-MOST_LESSONS), marks: again?.marks ?? [] };
}

export const openKept = (name, wanted = null) => openNamed(name, { wanted, kept: keptFor(name) });

export function openNext(file) {
  if (file) open({ file, name: file.name }, { kept: keptFor(null) });
}

// Whether there is another picture so many on in the folder, and going there.
const onward = (by) => {
  const number = state.picture?.startsWith("start") ? startNumber(state.picture) + by : by > 0 ? 0 : -1;
  return number >= 0 && number < known.start.length ? startName(number) : null;
};
export const openBeside = (by) => { if (onward(by)) openKept(onward(by)); };

async function openSketch({ wanted = null }) {
  sketch.ring(Number($("pen").value), 0, false);
  $("gap").value = 0;
  const fresh = wanted && { ...wanted, ...(wanted.size === null ? AROUND_RING : {}) };
  await open({ file: await sketch.file(), name: SKETCH, sketched: true }, { wanted: fresh, place: AROUND_RING });
  store.set({ tool: "draw", tab: "layers" });
}

// The sketch goes to the server as it is drawn, one at a time, and the last one always.
async function sendSketch() {
  page.drawn = true;
  page.stage.redraw(sketch.canvas);
  refresh();
  sendAgain = sending;
  if (sending) return;
  sending = true;
  setWorking("sketching", true);
  try {
    do {
      sendAgain = false;
      const opened = await Picture.open({ file: await sketch.file(), name: SKETCH, sketched: true });
      if (!page.sketching) return opened.forget();
      page.picture.forget();
      page.picture = opened;
      page.drawn = sendAgain;
      keepFile(opened);
      store.set({ picture: `held:${opened.key}`, clicks: [], number: null });
      askView();
      while (!viewIsIdle()) await new Promise(requestAnimationFrame);
    } while (sendAgain);
  } catch (error) {
    toast(error.message);
  } finally {
    sending = false;
    setWorking("sketching", false);
  }
}

// Of which picture this is a smaller one, where it is.
function showFacts({ factor, whole, height, width }) {
  const small = factor > 1;
  $("facts").textContent = small ? `${width} × ${height}:\n1/${factor} of ${whole[1]} × ${whole[0]}` : `${width} × ${height}`;
  $("facts").title = small ? "Shrunk so that answers come quickly: sizes count in the smaller picture's pixels" : "";
  $("facts").classList.toggle("shrunk", small);
}

export function setKnown(facts) { known = facts; }
export const networkAddress = () => known.network;

export const firstPicture = () => (known.start.length ? "start" : "sample:shapes");
export const inNotebook = () => known.notebook;
export const inFolder = () => known.start.length > 1;

function listPictures() {
  const entries = [];
  const own = state.picture?.startsWith("held:");
  known.start.forEach((name, number) => entries.push([startName(number), name.split(/[\\/]/).at(-1)]));
  if (own && !page.sketching) entries.push([state.picture, page.picture.name]);
  entries.push(...known.samples.map((name) => [`sample:${name}`, name === "hopper" ? "photograph" : name]));
  entries.push([own && page.sketching ? state.picture : "sketch", "sketch pad"]);
  $("picture").replaceChildren(...entries.map(([value, text]) => new Option(text, value)));
  $("picture").value = state.picture;
  $("draw-tool").hidden = !page.sketching;
  $("beside").hidden = !inFolder();
  $("before").disabled = !onward(-1);
  $("after").disabled = !onward(1);
  $("next-picture").textContent = inFolder() ? "Next picture" : "Next picture…";
}
