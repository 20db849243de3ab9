// The page comes to life here: the parts are joined, and every event finds its way to the state.

import { $, page, state, store, toast } from "./page.js";
import { start } from "./server.js";
import { Stage } from "./stage.js";
import { Panel } from "./panel.js";
import { grown, listen, placed } from "./gestures.js";
import { sizeAt } from "./readout.js";
import { askCode, askContribution, askCount, askFigure, askMissingLayers, askView } from "./asking.js";
import { choose, home, refresh, showCut, showDownloads } from "./showing.js";
import { firstPicture, inFolder, openBeside, openFile, openKept, openNamed, openNext, setKnown, sketch } from "./pictures.js";
import { mark, showCount } from "./counting.js";
import { noteChange } from "./past.js";
import "./sharing.js";
import "./zoom.js";
import "./pointer.js";
import "./present.js";
import "./steps.js";
import "./telling.js";

const VIEW_KEYS = ["sigma", "low", "high", "force", "detector", "alpha", "patch", "pattern", "polarity", "smallest", "largest", "count", "apart", "range"];
const MOST_CLICKS = 50;

page.stage = new Stage($("canvas"));
page.panel = new Panel(store, choose);

store.on((changed) => {
  const has = (...keys) => keys.some((key) => changed.has(key));
  if (has(...VIEW_KEYS)) askView();
  else {
    if (has("layers")) askMissingLayers();
    if (has("number", "tool")) {
      askContribution();
      if (page.view) page.panel.setExtrema(page.view.head.extrema);
    }
  }
  if (has("clicks", "whole")) askFigure();
  if (has("marks")) askCount();
  if ([...changed].some((key) => !["y", "x", "size"].includes(key))) page.panel.show();
  showCut();
  showCount();
  showDownloads();
  askCode();
  refresh();
  noteChange();
});

// ---- the picture -----------------------------------------------------------------------------------------------

const setPatch = (patch) => store.set(patch);

// The patch is resized where it is seen.
function setSize(size) {
  if (!page.picture) return;
  const tool = state.tool === "draw" ? "draw" : "patch";
  store.set({ size: placed({ ...state, size }, page.picture).size, tool, number: null });
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
  if (earlier.length >= MOST_CLICKS) return toast(`A figure takes up to ${MOST_CLICKS} clicks: undo some, or start anew.`);
  store.set({ clicks: [...earlier, { operation: earlier.length ? operation : "new", y, x }], y, x });
}

listen(page.stage, {
  patch: () => ({ y: state.y ?? 0, x: state.x ?? 0, size: state.size ?? 3 }),
  setPatch, choose, chooseNext, home, cut,
  mark: (object) => mark(object.wrong || !$("mark-wrong").checked ? object : { ...object, diameter: 0, wrong: true }),
  size: (object) => { if (page.sizing !== object) { page.sizing = object; refresh(); } },
  tool: () => state.tool,
  picture: () => page.picture,
  extrema: () => page.view?.head.extrema ?? [],
  stroke: (kind, place) => sketch[kind](place, Number($("pen").value), $("eraser").checked),
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
$("smaller").addEventListener("click", () => setSize(grown(state.size, -1)));
$("larger").addEventListener("click", () => setSize(grown(state.size, 1)));

// ---- the controls ----------------------------------------------------------------------------------------------

$("picture").addEventListener("change", () => {
  const { value } = $("picture");
  if (value.startsWith("start")) openKept(value);
  else openNamed(value);
});
$("before").addEventListener("click", () => openBeside(-1));
$("after").addEventListener("click", () => openBeside(1));
window.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input:not([type=range]), select, textarea")) return;
  if (event.key === "n") openBeside(1);
  else if (event.key === "N") openBeside(-1);
});
$("open").addEventListener("click", () => $("file").click());
$("file").addEventListener("change", () => {
  openFile($("file").files[0]);
  $("file").value = "";
});
$("next-picture").addEventListener("click", () => (inFolder() ? openBeside(1) : $("next-file").click()));
$("next-file").addEventListener("change", () => {
  openNext($("next-file").files[0]);
  $("next-file").value = "";
});
$("undo").addEventListener("click", () => store.set({ clicks: state.clicks.slice(0, -1) }));
$("clear-cut").addEventListener("click", () => store.set({ clicks: [] }));

const ring = () => sketch.ring(Number($("pen").value), Number($("gap").value) / 100);
$("wipe").addEventListener("click", () => sketch.wipe());
$("ring").addEventListener("click", ring);
$("gap").addEventListener("input", ring);

let entered = 0;
const enter = (by) => {
  entered = Math.max(0, entered + by);
  $("drop").hidden = entered === 0;
};
window.addEventListener("dragenter", (event) => { event.preventDefault(); enter(1); });
window.addEventListener("dragleave", () => enter(-1));
window.addEventListener("dragover", (event) => event.preventDefault());
window.addEventListener("drop", (event) => {
  event.preventDefault();
  enter(-entered);
  openFile(event.dataTransfer.files[0]);
});
window.addEventListener("paste", (event) => openFile(event.clipboardData.files[0]));

window.addEventListener("pagehide", () => page.picture?.farewell());
window.addEventListener("resize", refresh);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", refresh);

page.panel.show();
showCut();
showCount();
try {
  setKnown(await start());
  await openNamed(state.picture ?? firstPicture(), { wanted: { ...state } });
} catch (error) {
  toast(error.message);
}
