// Requests to the server, and the display of their answers.

import { $, endToast, page, state, store, toast } from "./page.js";
import { LatestRequest } from "./latestRequest.js";
import { annotationsQuery, annotationsSettings, cutQuery, cutSettings, settingsQuery, visibleLayers } from "./state.js";
import { EdgeField } from "./torque.js";
import { makeFigure } from "./overlays.js";
import { clampPatch } from "./gestures.js";
import { showCountResult } from "./counting.js";
import { choose, home, refresh, showDownloads } from "./render.js";

const requests = {
  view: new LatestRequest(), contribution: new LatestRequest(), figure: new LatestRequest(), count: new LatestRequest(), contrast: new LatestRequest(), code: new LatestRequest(),
};
const activities = new Set(); // other work in progress: "opening", "sketching"
let loadedLayers = []; // the layers of the last answer
let latestCode = null; // the query of the latest request for code, and that of the code shown
let displayedCode = null;

export function setBusy(activity, busy) {
  if (busy) activities.add(activity);
  else activities.delete(activity);
  showBusy();
}

function showBusy() {
  $("stage").setAttribute("aria-busy", !isIdle());
}

export const isIdle = () => activities.size === 0 && Object.values(requests).every((request) => request.idle);

export const isViewIdle = () => requests.view.idle;

export function cancelRequests() {
  Object.values(requests).forEach((request) => request.clear());
  page.view = page.moments = page.figure = page.objects = null;
  document.body.classList.add("loading");
}

function showError(error, wait) {
  $("status").textContent = wait === null ? "refused" : "no answer";
  $("stale").textContent = wait === null ? "outdated: these settings were refused" : "outdated: no answer, trying again";
  toast(wait === null ? error.message : `${error.message} Trying again in ${Math.ceil(wait / 1000)} s.`, "request");
}

// Send a request about the image on the page; an answer about another one is dropped.
function put(request, fetchAnswer, onAnswer, onError = () => {}) {
  const { image } = page;
  if (!image) return;
  endToast("request");
  request.put({
    send: (signal) => fetchAnswer(image, { signal }),
    onAnswer: (answer, milliseconds) => { endToast("request"); if (image === page.image) onAnswer(answer, milliseconds); queueMicrotask(showBusy); },
    onError: (error, wait) => { showError(error, wait); onError(error); refresh(); queueMicrotask(showBusy); },
  });
  showBusy();
}

export function requestView() {
  const layers = visibleLayers(state);
  const query = settingsQuery(state, { layers });
  const source = { image: page.image, settings: String(settingsQuery(state)) };
  const free = state.polarity === "free";
  $("stale").textContent = "Computing…";
  refresh(); // dims what is on the page
  put(requests.view, (image, options) => image.arrays("view", query, options), ({ head, arrays }, milliseconds) => {
    const { image, panel, stage } = page;
    page.view = { ...source, head, field: new EdgeField(head, arrays, free) };
    loadedLayers = layers.split(",").filter(Boolean);
    stage.layers = {};
    for (const name of loadedLayers) stage.setLayer(name, arrays[name], head.width, head.height);
    $("status").textContent = `${Math.round(milliseconds)} ms`;
    $("status").title = `Answered in ${milliseconds.toFixed(1)} ms, ${head.milliseconds} ms of them computing`;
    if (state.image?.startsWith("upload:")) store.set({ image: `upload:${image.key}` });
    if (state.number > head.extrema.length) store.set({ number: null });
    if (state.y !== null && state.x !== null && state.size !== null) store.set(clampPatch(state, image));
    else if (state.number) choose(state.number);
    else home();
    panel.setView(head, page.view.field.length);
    panel.setExtrema(head.extrema);
    requestContribution();
    requestCode();
    showDownloads();
    refresh();
  });
}

export function requestMissingLayers() {
  const layers = visibleLayers(state).split(",").filter(Boolean);
  if (layers.some((name) => !loadedLayers.includes(name))) requestView();
}

export function requestContribution() {
  page.moments = null;
  if (!state.number || state.tool !== "extrema") return requests.contribution.clear();
  const query = settingsQuery(state, { number: state.number });
  put(requests.contribution, (image, options) => image.arrays("contribution", query, options), ({ arrays }) => {
    if (arrays.moment.length === page.view.field.length) page.moments = arrays.moment;
    refresh();
  });
}

export function requestFigure() {
  const { clicks } = state;
  if (!clicks.length) {
    page.figure = null;
    requests.figure.clear();
    $("figure-facts").textContent = "Nothing cut out yet.";
    return;
  }
  const query = cutQuery(state);
  $("figure-facts").textContent = "Computing…";
  put(requests.figure, (image, options) => image.arrays("figure", query, options), ({ head, arrays }, milliseconds) => {
    const { width, height } = page.image;
    page.figure = { ...makeFigure(arrays.mask, width, height, clicks), settings: String(query) };
    const share = ((100 * head.pixels) / (width * height)).toFixed(1);
    $("figure-facts").textContent = `${head.pixels.toLocaleString("en")} pixels, ${share} % of the image.`;
    $("status").textContent = `${Math.round(milliseconds)} ms`;
    refresh();
  }, (error) => { $("figure-facts").textContent = `Not cut: ${error.message}`; });
}

// The image with more contrast, as it is shown only.
export function requestContrast() {
  const { contrast } = state;
  put(requests.contrast, (image, options) => image.bitmap(contrast, options), (bitmap) => {
    page.stage.replaceImage(bitmap);
    refresh();
  });
}

// Training images that the server has evicted are uploaded again.
async function fetchCount(image, query, options) {
  const fetchBoth = async () => {
    const answer = await image.arrays("count", query(), options);
    return { ...answer, table: await (await image.request("objects.csv", query(), options)).text() };
  };
  try {
    return await fetchBoth();
  } catch (error) {
    if (error.status !== 410) throw error;
    for (const { image: training } of page.trainingImages) await training.upload();
    return fetchBoth();
  }
}

export function requestCount() {
  const hasObjects = [state, ...page.trainingImages].some(({ annotations }) => annotations.some(({ negative }) => !negative));
  if (!hasObjects) {
    page.objects = null;
    requests.count.clear();
    showCountResult("Nothing clicked yet.");
    return;
  }
  $("count-facts").textContent = "Computing…";
  const { annotations, minScore, pixelSize } = state;
  const query = () => annotationsQuery({ annotations, minScore, pixelSize }, page.trainingImages);
  put(requests.count, (image, options) => fetchCount(image, query, options), ({ head, arrays, table }, milliseconds) => {
    page.objects = { ...arrays, ...head, table, annotations };
    $("status").textContent = `${Math.round(milliseconds)} ms`;
    page.panel.threshold = Math.min(...arrays.score, 1);
    page.panel.show();
    showCountResult();
    refresh();
  }, (error) => { $("count-facts").textContent = `Not counted: ${error.message}`; });
}

// Forget all annotations, here and in the training images.
$("clear-annotations").addEventListener("click", () => {
  page.trainingImages.forEach(({ image }) => image.remove());
  page.trainingImages = [];
  page.counts.clear();
  if (state.annotations.length) store.set({ annotations: [] });
  else requestCount();
});

// Everything on the page, by the server's parameter names.
export function pageQuery({ extrema }) {
  return settingsQuery(state, {
    layers: visibleLayers(state), y: state.y, x: state.x, size: state.size, ...cutSettings(state),
    ...(state.tool === "count" ? annotationsSettings(state, page.trainingImages) : {}),
    count: extrema ? state.count : 0, number: extrema ? state.number : null,
  });
}

export function requestCode() {
  if (state.tab !== "save" || state.y === null) return;
  const query = pageQuery({ extrema: state.tool === "extrema" });
  const key = `${page.image?.key} ${query}`;
  latestCode = key;
  dimStaleCode();
  put(requests.code, async (image, options) => (await image.request("code", query, options)).text(), (code) => {
    $("code").textContent = code;
    displayedCode = key;
    dimStaleCode();
  });
}

// Code for another state than the page's is dimmed and cannot be copied.
function dimStaleCode() {
  $("code").classList.toggle("stale-code", latestCode !== displayedCode);
  $("copy").disabled = latestCode !== displayedCode;
}
