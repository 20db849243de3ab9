// A closer look: Ctrl and the wheel, a trackpad's pinch, the middle button or Space to move, buttons, and the keys Z, Shift+Z
// and 0.

import { $, page } from "./page.js";
import { refresh } from "./showing.js";

const STEP = 1.4;
const canvas = $("canvas");
let spaceHeld = false;
let panning = null;

const shown = () => {
  $("zoom-out").disabled = $("zoom-fit").disabled = page.stage.zoom === 1;
  $("zoom-fit").textContent = `${page.stage.zoom.toFixed(1)} ×`;
  refresh();
};
const zoom = (factor, place) => { page.stage.zoomBy(factor, place); shown(); };
const fit = () => zoom(1 / page.stage.zoom);
const placeOf = (event) => {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};

canvas.addEventListener("wheel", (event) => {
  if (!event.ctrlKey || !page.picture) return;
  event.preventDefault();
  zoom(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) / 180), placeOf(event));
}, { passive: false });

// Before the gestures of the patch hear of it.
canvas.addEventListener("pointerdown", (event) => {
  if (event.button !== 1 && !spaceHeld) return;
  event.stopImmediatePropagation();
  event.preventDefault();
  canvas.setPointerCapture(event.pointerId);
  panning = placeOf(event);
}, { capture: true });
canvas.addEventListener("pointermove", (event) => {
  if (!panning) return;
  const [x, y] = placeOf(event);
  page.stage.pan(x - panning[0], y - panning[1]);
  panning = [x, y];
}, { capture: true });
for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, () => { panning = null; }, { capture: true });

canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || !page.picture) return;
  if (event.key === "z") zoom(STEP);
  else if (event.key === "Z") zoom(1 / STEP);
  else if (event.key === "0") fit();
  else if (event.key === " ") spaceHeld = true;
  else return;
  event.preventDefault();
});
window.addEventListener("keyup", (event) => { if (event.key === " ") spaceHeld = false; });
window.addEventListener("blur", () => { spaceHeld = false; });

$("zoom-in").addEventListener("click", () => zoom(STEP));
$("zoom-out").addEventListener("click", () => zoom(1 / STEP));
$("zoom-fit").addEventListener("click", fit);
