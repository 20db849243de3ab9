// The image on the page: samples, files, what is dropped or pasted, and the sketch pad.

import { $, announce, page, state, store, toast } from "./page.js";
import { StoredImage } from "./server.js";
import { cancelRequests, isViewIdle, requestCount, requestFigure, requestView, setBusy } from "./api.js";
import { refresh } from "./render.js";
import { AROUND_RING, Sketch } from "./sketch.js";
import { openSteps } from "./steps.js";

const SKETCH_NAME = "sketch.png";
export const sketch = new Sketch(uploadSketch);

let serverInfo = { samples: [], start: [], max_bytes: Infinity, notebook: false };
let opening = 0; // the number of the latest call of open()
let cancelOpening = null; // aborts it
let isUploading = false;
let uploadAgain = false;

// Files of uploaded images, so that going back finds them after the server has evicted them.
const MAX_TRAINING_IMAGES = 8; // as the server accepts
const MAX_FILES = 100; // bounds on the page's memory
const MAX_FILE_BYTES = 2 ** 28;
const OPENING_DELAY = 150; // milliseconds before an opening is shown as such; convention: what is quicker needs no word
const files = new Map();
const album = []; // files that were opened together: [{file, name, image}], the image once it was opened

function keepFile({ key, page: number, channel, source: { file, name } }) {
  if (!file) return;
  files.delete(key);
  files.set(key, { file, name, page: number, channel });
  const bytes = () => [...files.values()].reduce((sum, entry) => sum + entry.file.size, 0);
  while (files.size > 1 && (files.size > MAX_FILES || bytes() > MAX_FILE_BYTES)) files.delete(files.keys().next().value);
}

const ownName = ({ key }) => `upload:${key}`;

// target: the whole state to show with this image; without it, only what belongs to an image changes.
// Images with annotations go on training; those that this one had before are restored.
async function open(source, { target = null, name = null, entry = null, place = { y: null, x: null, size: null } } = {}) {
  const number = ++opening;
  const bitmapBefore = page.stage.image;
  cancelOpening?.abort();
  cancelOpening = new AbortController();
  const { signal } = cancelOpening;
  setBusy("opening", true);
  const patience = setTimeout(() => showOpening(source.name ?? name?.replace(/^\w+:/, "") ?? "the image"), OPENING_DELAY);
  try {
    const preview = source.file && !source.isSketch ? await createImageBitmap(source.file).catch(() => null) : null;
    if (preview && number === opening) showBitmap(preview);
    const image = await StoredImage.open(source, { signal });
    const bitmap = await image.bitmap(target?.contrast ?? state.contrast, { signal });
    if (number !== opening) return image.remove();
    const { trainingImages, annotations } = trainingFor(name ?? ownName(image));
    for (const before of [page.image, ...page.trainingImages.map(({ image: training }) => training)]) {
      if (before && before.key !== image.key && !trainingImages.some(({ image: training }) => training === before)) before.remove();
    }
    page.trainingImages = trainingImages;
    page.image = image;
    page.sketchChanged = false;
    if (entry) entry.image = image;
    keepFile(image);
    page.isSketch = image.name === SKETCH_NAME;
    if (page.isSketch && !source.isSketch) sketch.load(bitmap);
    showBitmap(bitmap);
    page.panel.setImage(image);
    const values = target ?? { ...place, number: null, clicks: [], annotations, tool: state.tool };
    const pixelSize = target?.pixelSize ?? (image.pixel_size ? Number(image.pixel_size.toPrecision(6)) : state.pixelSize);
    const tool = values.tool === "draw" && !page.isSketch ? "patch" : values.tool;
    store.set({ ...values, tool, pixelSize, image: name && !/^(upload|album):/.test(name) ? name : ownName(image) });
    listImages();
    showFacts(image);
    showPlanes(image);
    requestAll();
  } catch (error) {
    if (number !== opening) return;
    if (error.name !== "AbortError") toast(error.message);
    if (page.image) {
      if (page.stage.image !== bitmapBefore) {
        showBitmap(bitmapBefore);
        requestAll();
      }
      listImages();
    } else if (source.sample !== "shapes") await open({ sample: "shapes" }, { name: "sample:shapes" });
  } finally {
    clearTimeout(patience);
    if (number === opening) {
      $("opening").hidden = true;
      setBusy("opening", false);
    }
  }
}

// Show another image: nothing that was known of the one before stays beside it.
function showBitmap(bitmap) {
  cancelRequests();
  page.stage.setImage(bitmap);
  refresh();
}

function requestAll() {
  requestView();
  requestFigure();
  requestCount();
}

function showOpening(name) {
  $("opening").hidden = false;
  announce(`Opening ${name}`);
  $("opening-name").textContent = `Opening ${name.split(/[\\/]/).at(-1)}…`;
}
$("opening-cancel").addEventListener("click", () => cancelOpening?.abort());

// Open an image by its name in the address.
export function openNamed(name, options = {}) {
  if (name === "sketch") return openSketch(options);
  if (name.startsWith("start")) {
    const [number, plane] = name.split("@");
    const [of, channel] = plane?.split(".").map(Number) ?? [];
    return open({ start: startNumber(number), page: of, channel }, { name, ...options });
  }
  const [kind, key] = name.split(":");
  if (kind === "album") return openEntry(album[key], options);
  return open(kind === "upload" ? { key, ...files.get(key) } : { sample: key }, { name, ...options });
}

const openEntry = (entry, options = {}) =>
  open(entry.image ? { ...files.get(entry.image.key), key: entry.image.key, file: entry.file, name: entry.name } : { file: entry.file, name: entry.name }, {
    ...options, entry, name: entry.image ? ownName(entry.image) : null,
  });

// Open files; several are gone through one after the other.
export function openFiles(list) {
  const mebibytes = (bytes) => `${Math.ceil(bytes / 2 ** 20)} MiB`;
  const given = [...list];
  const steps = given.find(({ name }) => /\.txt$/i.test(name));
  if (steps) return steps.text().then(openSteps).catch((error) => toast(error.message));
  const tooLarge = given.find(({ size }) => size > serverInfo.max_bytes);
  if (tooLarge) toast(`${tooLarge.name}: an image must have at most ${mebibytes(serverInfo.max_bytes)}, got ${mebibytes(tooLarge.size)}.`);
  const fit = given.filter(({ size }) => size <= serverInfo.max_bytes);
  if (fit.length > 1) album.splice(0, album.length, ...fit.map((file) => ({ file, name: file.name, image: null })));
  if (fit.length > 1) openEntry(album[0]);
  else if (fit.length) open({ file: fit[0], name: fit[0].name || "pasted.png" });
}

const IMAGE_NAME = /\.(png|jpe?g|tiff?|bmp|gif|webp|ppm|pgm|pbm)$/i;
export const imageFiles = (list) => [...list].filter(({ name, type }) => type.startsWith("image/") || IMAGE_NAME.test(name));

// The files that were dropped, those of folders too.
export async function droppedFiles(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some(({ isDirectory }) => isDirectory)) return [...transfer.files];
  const found = [];
  const walk = async (entry) => {
    if (entry.isFile) return found.push(await new Promise((done, fail) => entry.file(done, fail)));
    const reader = entry.createReader();
    for (let part; (part = await new Promise((done, fail) => reader.readEntries(done, fail))).length;) for (const one of part) await walk(one);
  };
  for (const entry of entries) await walk(entry);
  return imageFiles(found).sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
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
  const kept = annotated.filter((entry) => entry !== reopened);
  if (kept.length > MAX_TRAINING_IMAGES) toast(`Up to ${MAX_TRAINING_IMAGES} images teach: ${kept[0].image.name} does no longer.`);
  return {
    trainingImages: kept.slice(-MAX_TRAINING_IMAGES),
    annotations: reopened?.annotations ?? [],
  };
}

// The images that one goes through: those opened together, or of the folder that the server was started with.
export function series() {
  if (album.length) return album.map((entry, k) => ({ name: `album:${k}`, label: entry.name, current: entry.image === page.image }));
  return serverInfo.start.map((path, k) => ({ name: startName(k), label: path.split(/[\\/]/).at(-1), current: state.image?.split("@")[0] === startName(k) }));
}

// The image so many on, null where there is none.
const neighbour = (by) => {
  const images = series();
  const at = images.findIndex(({ current }) => current);
  return images[at < 0 ? (by > 0 ? 0 : -1) : at + by]?.name ?? null;
};
export const openNeighbour = (by) => { if (neighbour(by)) openNamed(neighbour(by)); };

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
  $("facts").title = small ? "Shrunk so that answers come quickly; what is saved is in the pixels of the original" : "";
  $("facts").classList.toggle("shrunk", small);
}

// The page of a stack and the channel, where there are several.
function showPlanes({ page: number, channel, pages = 1, channels = 1 }) {
  $("planes").hidden = pages * channels === 1;
  $("page-choice").hidden = pages === 1;
  $("channel-choice").hidden = channels === 1;
  Object.assign($("page"), { max: pages, value: (number ?? 0) + 1 });
  $("pages").textContent = `of ${pages}`;
  $("channel").replaceChildren(...Array.from({ length: channels }, (_, k) => new Option(k + 1, k)));
  $("channel").value = channel ?? 0;
}

// Open another page or channel of the file; the patch stays where it is.
function choosePlane() {
  const { source, pages, channels, page: number, channel } = page.image;
  const of = Math.max(1, Math.min(pages, Math.round(Number($("page").value)) || 1)) - 1;
  const chosen = { page: pages > 1 ? of : null, channel: channels > 1 ? Number($("channel").value) : null };
  if (chosen.page === number && chosen.channel === channel) return;
  const place = { y: state.y, x: state.x, size: state.size };
  if (source.start !== undefined) return openNamed(`${state.image.split("@")[0]}@${of}.${chosen.channel ?? 0}`, { place });
  const entry = album.find(({ image }) => image === page.image) ?? null;
  const known = [...files].find(([, one]) => one.file === source.file && one.page === chosen.page && one.channel === chosen.channel);
  if (known) open({ key: known[0], ...known[1] }, { name: `upload:${known[0]}`, entry, place });
  else open({ file: source.file, name: source.name, ...chosen }, { entry, place });
}
for (const id of ["page", "channel"]) $(id).addEventListener("change", choosePlane);

export function setServerInfo(info) { serverInfo = info; }

export const firstImage = () => (serverInfo.start.length ? "start" : "sample:shapes");
export const inNotebook = () => serverInfo.notebook;
export const inFolder = () => series().length > 1;

function listImages() {
  const entries = [];
  const isUpload = state.image?.startsWith("upload:");
  const images = series();
  const current = images.find((one) => one.current)?.name ?? state.image;
  for (const { name, label } of images) entries.push([name, label]);
  if (isUpload && !page.isSketch && current === state.image) entries.push([state.image, page.image.name]);
  entries.push(...serverInfo.samples.map((name) => [`sample:${name}`, name === "hopper" ? "photograph" : name]));
  entries.push([isUpload && page.isSketch ? state.image : "sketch", "sketch pad"]);
  $("image").replaceChildren(...entries.map(([value, text]) => new Option(text, value)));
  $("image").value = current;
  $("draw-tool").hidden = !page.isSketch;
  $("neighbours").hidden = !inFolder();
  $("before").disabled = !neighbour(-1);
  $("after").disabled = !neighbour(1);
  $("next-image").textContent = inFolder() ? "Next image" : "Next image…";
}
