// The page's entry: connects the parts, and every event to the state.

import { $, page, state, store, toast } from "./page.js";
import { start } from "./server.js";
import { Stage } from "./stage.js";
import { Panel } from "./panel.js";
import { bindGestures, clampPatch, stepSize } from "./gestures.js";
import { sizeAt } from "./readout.js";
import { requestCode, requestContrast, requestContribution, requestCount, requestFigure, requestMissingLayers, requestView } from "./api.js";
import { choose, home, refresh, showCut, showDownloads } from "./render.js";
import { droppedFiles, firstImage, imageFiles, inFolder, openFiles, openNamed, openNeighbour, setServerInfo, sketch } from "./images.js";
import { annotate, removeMark, showCount } from "./counting.js";
import { recordChange } from "./history.js";
import "./clipboard.js";
import "./zoom.js";
import "./pointer.js";
import "./present.js";
import "./steps.js";
import "./notebookSync.js";

const VIEW_KEYS = ["sigma", "low", "high", "force", "detector", "alpha", "patch", "pattern", "polarity", "smallest", "largest", "count", "nms", "range"];
const MAX_CLICKS = 50; // as the server accepts

page.stage = new Stage($("canvas"));
page.panel = new Panel(store, choose);

store.on((changed) => {
  const has = (...keys) => keys.some((key) => changed.has(key));
  if (has(...VIEW_KEYS)) requestView();
  else {
    if (has("layers")) requestMissingLayers();
    if (has("number", "tool")) {
      requestContribution();
      if (page.view) page.panel.setExtrema(page.view.head.extrema);
    }
  }
  if (has("clicks", "figureSize")) requestFigure();
  if (has("annotations", "minScore", "pixelSize")) requestCount();
  if (has("contrast")) requestContrast();
  if ([...changed].some((key) => !["y", "x", "size"].includes(key))) page.panel.show();
  showCut();
  showCount();
  showDownloads();
  requestCode();
  refresh();
  recordChange();
});

// ---- the image -----------------------------------------------------------------------------------------------

function setPatch(patch) {
  page.isTouched = true;
  store.set(patch);
}

// The patch is resized where it is seen.
function setSize(size) {
  if (!page.image) return;
  const tool = state.tool === "draw" ? "draw" : "patch";
  store.set({ size: clampPatch({ ...state, size }, page.image).size, tool, number: null });
}

function chooseNext(by) {
  const count = page.view?.head.extrema.length ?? 0;
  if (count) choose(((state.number ?? (by > 0 ? 0 : count + 1)) - 1 + by + count) % count + 1);
}

function cut({ y, x }, event) {
  const radio = document.querySelector("[name=operation]:checked").value;
  const operation = event.shiftKey ? "add" : event.altKey ? "remove" : radio;
  if (operation === "remove" && !state.clicks.length) return toast("There is nothing to remove from yet: click an object first.");
  const earlier = operation === "new" ? [] : state.clicks;
  if (earlier.length >= MAX_CLICKS) return toast(`A figure takes up to ${MAX_CLICKS} clicks: undo some, or start anew.`);
  store.set({ clicks: [...earlier, { operation: earlier.length ? operation : "new", y, x }], y, x });
}

bindGestures(page.stage, {
  patch: () => ({ y: state.y ?? 0, x: state.x ?? 0, size: state.size ?? 3 }),
  setPatch, choose, chooseNext, home, cut,
  annotate: (object) => annotate(object.negative || !$("annotate-negative").checked ? object : { ...object, diameter: 0, negative: true }),
  previewAnnotation: (object) => { if (page.draggedAnnotation !== object) { page.draggedAnnotation = object; refresh(); } },
  removeMark,
  tool: () => state.tool,
  image: () => page.image,
  extrema: () => page.view?.head.extrema ?? [],
  stroke: (kind, place) => {
    const drawn = sketch[kind](place, Number($("pen").value), $("eraser").checked);
    if (drawn) store.set(clampPatch(drawn, page.image)); // the patch goes to what was drawn
  },
});
for (const kind of ["focus", "blur"]) $("canvas").addEventListener(kind, refresh);

const curve = $("curve");
let dragging = false;
const sizeFrom = (event) => setSize(sizeAt(curve, event.clientX, page.view.head.sizes[0], page.view.head.sizes.at(-1)));
curve.addEventListener("pointerdown", (event) => {
  if (!page.view) return;
  dragging = true;
  curve.setPointerCapture(event.pointerId);
  sizeFrom(event);
});
curve.addEventListener("pointermove", (event) => { if (dragging) sizeFrom(event); });
for (const kind of ["pointerup", "pointercancel"]) curve.addEventListener(kind, () => { dragging = false; });
curve.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 2, ArrowUp: 2, ArrowLeft: -2, ArrowDown: -2, PageUp: 20, PageDown: -20 }[event.key];
  if (!step) return;
  event.preventDefault();
  setSize(state.size + step);
});
$("smaller").addEventListener("click", () => setSize(stepSize(state.size, -1)));
$("larger").addEventListener("click", () => setSize(stepSize(state.size, 1)));

// ---- the controls ----------------------------------------------------------------------------------------------

$("image").addEventListener("change", () => openNamed($("image").value));
$("sketch-open").addEventListener("click", () => openNamed("sketch"));
$("before").addEventListener("click", () => openNeighbour(-1));
$("after").addEventListener("click", () => openNeighbour(1));
window.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input:not([type=range], [type=checkbox], [type=radio]), select, textarea")) return;
  if (event.key === "n") openNeighbour(1);
  else if (event.key === "N") openNeighbour(-1);
});
for (const [button, input] of [["open", "file"], ["open-folder", "folder"]]) {
  $(button).addEventListener("click", () => $(input).click());
  $(input).addEventListener("change", () => {
    openFiles(input === "folder" ? imageFiles($(input).files) : $(input).files);
    $(input).value = "";
  });
}
$("next-image").addEventListener("click", () => (inFolder() ? openNeighbour(1) : $("file").click()));
$("undo").addEventListener("click", () => store.set({ clicks: state.clicks.slice(0, -1) }));
$("clear-cut").addEventListener("click", () => store.set({ clicks: [] }));

const ring = () => sketch.ring(Number($("pen").value), Number($("gap").value) / 100);
$("wipe").addEventListener("click", () => sketch.wipe());
$("ring").addEventListener("click", ring);
$("gap").addEventListener("input", ring);

let dragDepth = 0; // elements under the dragged file
const enter = (by) => {
  dragDepth = Math.max(0, dragDepth + by);
  $("drop").hidden = dragDepth === 0;
};
window.addEventListener("dragenter", (event) => { event.preventDefault(); enter(1); });
window.addEventListener("dragleave", () => enter(-1));
window.addEventListener("dragover", (event) => event.preventDefault());
window.addEventListener("drop", async (event) => {
  event.preventDefault();
  enter(-dragDepth);
  openFiles(await droppedFiles(event.dataTransfer));
});
window.addEventListener("paste", (event) => openFiles(event.clipboardData.files));

window.addEventListener("pagehide", () => page.image?.markClosed());
window.addEventListener("resize", refresh);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", refresh);

page.panel.show();
showCut();
showCount();
async function begin() {
  try {
    const info = await start();
    setServerInfo(info);
    page.panel.setDetectors(info.detectors);
    state.detector = page.panel.detectorName(state.detector);
    if (inFolder() && !location.hash) state.tool = state.tab = "count";
    await openNamed(state.image ?? firstImage(), { target: { ...state } });
    recordChange(); // also where the address held all of it
  } catch (error) {
    toast(error.message);
  }
}
begin();
