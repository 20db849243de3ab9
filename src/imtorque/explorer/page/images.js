// The image on the page: samples, files, what is dropped or pasted, and the sketch pad.

import { $, page, state, store, toast } from "./page.js";
import { StoredImage } from "./server.js";
import { cancelRequests, isViewIdle, requestCount, requestFigure, requestView, setBusy } from "./api.js";
import { refresh } from "./render.js";
import { AROUND_RING, Sketch } from "./sketch.js";

const SKETCH_NAME = "sketch.png";
export const sketch = new Sketch(uploadSketch);

let serverInfo = { samples: [], start: [], max_bytes: Infinity, notebook: false };
let opening = 0; // the number of the latest call of open()
let isUploading = false;
let uploadAgain = false;

// Files of uploaded images, so that going back finds them after the server has evicted them.
const MAX_TRAINING_IMAGES = 8; // as the server accepts
const MAX_FILES = 100; // bounds on the page's memory
const MAX_FILE_BYTES = 2 ** 28;
const files = new Map();

function keepFile({ key, source: { file, name } }) {
  if (!file) return;
  files.delete(key);
  files.set(key, { file, name });
  const bytes = () => [...files.values()].reduce((sum, entry) => sum + entry.file.size, 0);
  while (files.size > 1 && (files.size > MAX_FILES || bytes() > MAX_FILE_BYTES)) files.delete(files.keys().next().value);
}

const ownName = ({ key }) => `upload:${key}`;

// target: the whole state to show with this image; without it, only what belongs to an image changes.
// training: the images that go on training, and the annotations this one had before; without it, training starts anew.
async function open(source, { target = null, name = null, training = null, place = { y: null, x: null, size: null } } = {}) {
  const number = ++opening;
  setBusy("opening", true);
  try {
    const image = await StoredImage.open(source);
    const bitmap = await image.bitmap();
    if (number !== opening) return image.remove();
    cancelRequests();
    const { trainingImages, annotations } = training ?? { trainingImages: [], annotations: [] };
    for (const before of [page.image, ...page.trainingImages.map((entry) => entry.image)]) {
      if (before && !trainingImages.some((entry) => entry.image === before)) before.remove();
    }
    page.trainingImages = trainingImages;
    if (!training) page.counts.clear();
    page.image = image;
    page.sketchChanged = false;
    keepFile(image);
    page.isSketch = image.name === SKETCH_NAME;
    if (page.isSketch && !source.isSketch) sketch.load(bitmap);
    page.stage.setImage(bitmap);
    page.panel.setImage(image);
    const values = target ?? { ...place, number: null, clicks: [], annotations, tool: state.tool };
    const tool = values.tool === "draw" && !page.isSketch ? "patch" : values.tool;
    store.set({ ...values, tool, image: name && !name.startsWith("upload:") ? name : ownName(image) });
    listImages();
    showFacts(image);
    requestView();
    requestFigure();
    requestCount();
  } catch (error) {
    if (number !== opening) return;
    toast(error.message);
    if (page.image) listImages();
    else if (source.sample !== "shapes") await open({ sample: "shapes" }, { name: "sample:shapes" });
  } finally {
    if (number === opening) setBusy("opening", false);
  }
}

// Open an image by its name in the address.
export function openNamed(name, options = {}) {
  if (name === "sketch") return openSketch(options);
  if (name.startsWith("start")) return open({ start: startNumber(name) }, { name, ...options });
  const [kind, key] = name.split(":");
  return open(kind === "upload" ? { key, ...files.get(key) } : { sample: key }, { name, ...options });
}

export function openFile(file) {
  if (!file) return;
  const mebibytes = (bytes) => `${Math.ceil(bytes / 2 ** 20)} MiB`;
  if (file.size > serverInfo.max_bytes) {
    toast(`${file.name}: an image must have at most ${mebibytes(serverInfo.max_bytes)}, got ${mebibytes(file.size)}.`);
  } else open({ file, name: file.name || "pasted.png" });
}

// Of the images the server was started with, the first is "start", the others are "start:1", ...
const startName = (number) => (number ? `start:${number}` : "start");
const startNumber = (name) => Number(name.slice(6) || 0);

// Annotated images go on training when another one is opened; annotations made there before are restored.
function trainingFor(name) {
  const current = { name: state.image, image: page.image, annotations: state.annotations };
  const others = page.trainingImages.filter((entry) => entry.name !== current.name);
  const annotated = page.image && current.annotations.length ? [...others, current] : others;
  const reopened = annotated.find((entry) => [entry.name, ownName(entry.image)].includes(name));
  return {
    trainingImages: annotated.filter((entry) => entry !== reopened).slice(-MAX_TRAINING_IMAGES),
    annotations: reopened?.annotations ?? [],
  };
}

export const openWithTraining = (name, target = null) => openNamed(name, { target, training: trainingFor(name) });

export function openNext(file) {
  if (file) open({ file, name: file.name }, { training: trainingFor(null) });
}

// The image so many on in the folder, null where there is none.
const neighbour = (by) => {
  const number = state.image?.startsWith("start") ? startNumber(state.image) + by : by > 0 ? 0 : -1;
  return number >= 0 && number < serverInfo.start.length ? startName(number) : null;
};
export const openNeighbour = (by) => { if (neighbour(by)) openWithTraining(neighbour(by)); };

async function openSketch({ target = null }) {
  sketch.ring(Number($("pen").value), 0, false);
  $("gap").value = 0;
  const values = target && { ...target, ...(target.size === null ? AROUND_RING : {}) };
  await open({ file: await sketch.file(), name: SKETCH_NAME, isSketch: true }, { target: values, place: AROUND_RING });
  store.set({ tool: "draw", tab: "layers" });
}

// Upload the sketch as it is drawn: one upload in flight, the last one always.
async function uploadSketch() {
  page.sketchChanged = true;
  page.stage.replaceImage(sketch.canvas);
  refresh();
  uploadAgain = isUploading;
  if (isUploading) return;
  isUploading = true;
  setBusy("sketching", true);
  try {
    do {
      uploadAgain = false;
      const image = await StoredImage.open({ file: await sketch.file(), name: SKETCH_NAME, isSketch: true });
      if (!page.isSketch) return image.remove();
      page.image.remove();
      page.image = image;
      page.sketchChanged = uploadAgain;
      keepFile(image);
      store.set({ image: ownName(image), clicks: [], number: null });
      requestView();
      while (!isViewIdle()) await new Promise(requestAnimationFrame);
    } while (uploadAgain);
  } catch (error) {
    toast(error.message);
  } finally {
    isUploading = false;
    setBusy("sketching", false);
  }
}

// The image's size, and that of the original where it was shrunk.
function showFacts({ factor, original_height: rows, original_width: columns, height, width }) {
  const small = factor > 1;
  $("facts").textContent = small ? `${width} × ${height}:\n1/${factor} of ${columns} × ${rows}` : `${width} × ${height}`;
  $("facts").title = small ? "Shrunk so that answers come quickly: sizes count in the smaller image's pixels" : "";
  $("facts").classList.toggle("shrunk", small);
}

export function setServerInfo(info) { serverInfo = info; }

export const firstImage = () => (serverInfo.start.length ? "start" : "sample:shapes");
export const inNotebook = () => serverInfo.notebook;
export const inFolder = () => serverInfo.start.length > 1;

function listImages() {
  const entries = [];
  const isUpload = state.image?.startsWith("upload:");
  serverInfo.start.forEach((name, number) => entries.push([startName(number), name.split(/[\\/]/).at(-1)]));
  if (isUpload && !page.isSketch) entries.push([state.image, page.image.name]);
  entries.push(...serverInfo.samples.map((name) => [`sample:${name}`, name === "hopper" ? "photograph" : name]));
  entries.push([isUpload && page.isSketch ? state.image : "sketch", "sketch pad"]);
  $("image").replaceChildren(...entries.map(([value, text]) => new Option(text, value)));
  $("image").value = state.image;
  $("draw-tool").hidden = !page.isSketch;
  $("neighbours").hidden = !inFolder();
  $("before").disabled = !neighbour(-1);
  $("after").disabled = !neighbour(1);
  $("next-image").textContent = inFolder() ? "Next image" : "Next image…";
}
