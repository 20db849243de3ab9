// The questions to the server, and what becomes of its answers.

import { $, page, state, store, toast } from "./page.js";
import { Newest } from "./newest.js";
import { cutQuery, cutSettings, marksQuery, marksSettings, settingsQuery, shownLayers } from "./state.js";
import { EdgeField } from "./torque.js";
import { figureOf } from "./marks.js";
import { placed } from "./gestures.js";
import { showCounted } from "./counting.js";
import { choose, home, refresh, showDownloads } from "./showing.js";

const asked = { view: new Newest(), contribution: new Newest(), figure: new Newest(), count: new Newest(), code: new Newest() };
const working = new Set(); // what else is under way: "opening", "sketching"
let answeredLayers = []; // the layers the last answer brought
let wantedCode = null; // what the code is to be of, and what it is of
let writtenCode = null;

export function setWorking(what, yes) {
  if (yes) working.add(what);
  else working.delete(what);
  showBusy();
}

function showBusy() {
  $("stage").setAttribute("aria-busy", !isIdle());
}

export const isIdle = () => working.size === 0 && Object.values(asked).every((newest) => newest.idle);

export const viewIsIdle = () => asked.view.idle;

export function forgetQuestions() {
  Object.values(asked).forEach((newest) => newest.clear());
  page.view = page.moments = page.figure = page.found = null;
}

function tell(error, wait) {
  $("status").textContent = wait === null ? "refused" : "no answer";
  $("older").textContent = wait === null ? "older: these settings were refused" : "older: no answer, trying again";
  toast(wait === null ? error.message : `${error.message} Trying again in ${Math.ceil(wait / 1000)} s.`);
}

function put(newest, question, shown, failed = () => {}) {
  const asker = page.picture;
  if (!asker) return;
  newest.put({
    question: (signal) => question(asker, { signal }),
    shown: (answer, took) => { if (asker === page.picture) shown(answer, took); queueMicrotask(showBusy); },
    failed: (error, wait) => { tell(error, wait); failed(error); refresh(); queueMicrotask(showBusy); },
  });
  showBusy();
}

export function askView() {
  const layers = shownLayers(state);
  const query = settingsQuery(state, { layers });
  const belongs = { picture: page.picture, settings: String(settingsQuery(state)) };
  const free = state.polarity === "free";
  refresh(); // what is on the page has become older
  put(asked.view, (picture, options) => picture.arrays("view", query, options), ({ head, arrays }, took) => {
    const { picture, panel, stage } = page;
    page.view = { ...belongs, head, field: new EdgeField(head, arrays, free) };
    $("older").textContent = "older: of other settings";
    answeredLayers = layers.split(",").filter(Boolean);
    stage.layers = {};
    for (const name of answeredLayers) stage.setLayer(name, arrays[name], head.width, head.height);
    $("status").textContent = `${Math.round(took)} ms`;
    $("status").title = `Answered in ${took.toFixed(1)} ms, ${head.milliseconds} ms of them computing`;
    if (state.picture?.startsWith("held:")) store.set({ picture: `held:${picture.key}` });
    if (state.number > head.extrema.length) store.set({ number: null });
    if (state.y !== null && state.x !== null && state.size !== null) store.set(placed(state, picture));
    else if (state.number) choose(state.number);
    else home();
    panel.setView(head, page.view.field.length);
    panel.setExtrema(head.extrema);
    askContribution();
    askCode();
    showDownloads();
    refresh();
  });
}

export function askMissingLayers() {
  const wanted = shownLayers(state).split(",").filter(Boolean);
  if (wanted.some((name) => !answeredLayers.includes(name))) askView();
}

export function askContribution() {
  page.moments = null;
  if (!state.number || state.tool !== "extrema") return asked.contribution.clear();
  const query = settingsQuery(state, { number: state.number });
  put(asked.contribution, (picture, options) => picture.arrays("contribution", query, options), ({ arrays }) => {
    if (arrays.moment.length === page.view.field.length) page.moments = arrays.moment;
    refresh();
  });
}

export function askFigure() {
  const { clicks } = state;
  if (!clicks.length) {
    page.figure = null;
    asked.figure.clear();
    $("figure-facts").textContent = "Nothing cut out yet.";
    return;
  }
  const query = cutQuery(state);
  $("figure-facts").textContent = "Cutting…";
  put(asked.figure, (picture, options) => picture.arrays("figure", query, options), ({ head, arrays }, took) => {
    const { width, height } = page.picture;
    page.figure = { ...figureOf(arrays.mask, width, height, clicks), settings: String(query) };
    const share = ((100 * head.pixels) / (width * height)).toFixed(1);
    $("figure-facts").textContent = `${head.pixels.toLocaleString("en")} pixels, ${share} % of the picture.`;
    $("status").textContent = `${Math.round(took)} ms`;
    refresh();
  }, () => { $("figure-facts").textContent = "Not cut: the server gave no figure."; });
}

// Pictures of lessons that the server has let go are sent again.
async function countIn(picture, marked, options) {
  try {
    return await picture.arrays("count", marksQuery(marked, page.lessons), options);
  } catch (error) {
    if (error.status !== 410) throw error;
    for (const lesson of page.lessons) await lesson.picture.sendAgain();
    return picture.arrays("count", marksQuery(marked, page.lessons), options);
  }
}

export function askCount() {
  const own = state.marks.filter(({ wrong }) => !wrong).length;
  const clicked = page.lessons.reduce((sum, { marks }) => sum + marks.filter(({ wrong }) => !wrong).length, own);
  if (!clicked) {
    page.found = null;
    asked.count.clear();
    showCounted("Nothing clicked yet.", []);
    return;
  }
  $("count-facts").textContent = "Looking for others like these…";
  const marked = { marks: state.marks };
  put(asked.count, (picture, options) => countIn(picture, marked, options), ({ head, arrays }, took) => {
    page.found = { ...arrays, count: head.count, marks: marked.marks };
    const mean = arrays.score.reduce((sum, score) => sum + score, 0) / Math.max(1, head.count);
    const again = `${Math.round(head.again * clicked)} of ${clicked} clicked found again`;
    const text = `${head.count} objects; ${again}, ${Math.round(100 * mean)} % sure in the mean.`;
    $("status").textContent = `${Math.round(took)} ms`;
    showCounted(text, [...arrays.diameter]);
    refresh();
  }, () => { $("count-facts").textContent = "Not counted: the server gave no answer."; });
}

// All that was taught is forgotten, here and in other pictures.
$("clear-marks").addEventListener("click", () => {
  page.lessons.forEach(({ picture }) => picture.forget());
  page.lessons = [];
  page.counted.clear();
  if (state.marks.length) store.set({ marks: [] });
  else askCount();
});

// All that is on the page, by the server's names.
export function pageQuery({ extrema }) {
  return settingsQuery(state, {
    layers: shownLayers(state), y: state.y, x: state.x, size: state.size, ...cutSettings(state),
    ...(state.tool === "count" ? marksSettings(state, page.lessons) : {}),
    count: extrema ? state.count : 0, number: extrema ? state.number : null,
  });
}

export function askCode() {
  if (state.tab !== "save" || state.y === null) return;
  const query = pageQuery({ extrema: state.tool === "extrema" });
  const now = `${page.picture?.key} ${query}`;
  wantedCode = now;
  markCode();
  put(asked.code, async (picture, options) => (await picture.ask("code", query, options)).text(), (code) => {
    $("code").textContent = code;
    writtenCode = now;
    markCode();
  });
}

// Code for another state than the page's is faded, and cannot be copied.
function markCode() {
  $("code").classList.toggle("old", wantedCode !== writtenCode);
  $("copy").disabled = wantedCode !== writtenCode;
}
