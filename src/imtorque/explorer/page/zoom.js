// Zoom and pan: the wheel, a pinch, the middle button or Space to move, buttons, and the keys Z, Shift+Z
// and 0.

import { $, page } from "./page.js";
import { refresh } from "./render.js";

const ZOOM_STEP = 1.4; // convention: two steps double
const canvas = $("canvas");
let isSpaceDown = false;
let panStart = null;

const update = () => {
  refresh();
};
export const zoom = (factor, place) => { page.stage.zoomBy(factor, place); update(); };
const fit = () => zoom(1 / page.stage.zoom);
const placeOf = (event) => {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};

const pointers = new Map(); // fingers on the image
const spread = ([a, b]) => Math.hypot(a[0] - b[0], a[1] - b[1]);
canvas.addEventListener("pointerdown", (event) => pointers.set(event.pointerId, placeOf(event)), { capture: true });
canvas.addEventListener("pointermove", (event) => {
  if (!pointers.has(event.pointerId)) return;
  const before = [...pointers.values()];
  pointers.set(event.pointerId, placeOf(event));
  if (pointers.size !== 2) return;
  const [a, b] = [...pointers.values()];
  const middle = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
  page.stage.pan(...[0, 1].map((k) => middle[k] - (before[0][k] + before[1][k]) / 2));
  zoom(spread([a, b]) / Math.max(1, spread(before)), middle);
}, { capture: true });
for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, (event) => pointers.delete(event.pointerId), { capture: true });

canvas.addEventListener("wheel", (event) => {
  if (event.shiftKey || !page.image) return;
  event.preventDefault();
  zoom(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) / 180), placeOf(event));
}, { passive: false });

// Captured before the gestures of the patch.
canvas.addEventListener("pointerdown", (event) => {
  if (event.button !== 1 && !isSpaceDown) return;
  event.stopImmediatePropagation();
  event.preventDefault();
  canvas.focus({ preventScroll: true }); // Space is let go here, and presses no button
  canvas.setPointerCapture(event.pointerId);
  panStart = placeOf(event);
}, { capture: true });
canvas.addEventListener("pointermove", (event) => {
  if (!panStart) return;
  const [x, y] = placeOf(event);
  page.stage.pan(x - panStart[0], y - panStart[1]);
  panStart = [x, y];
}, { capture: true });
for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, () => { panStart = null; }, { capture: true });

canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || !page.image) return;
  if (event.key === "z") zoom(ZOOM_STEP);
  else if (event.key === "Z") zoom(1 / ZOOM_STEP);
  else if (event.key === "0") fit();
  else if (event.key !== " ") return;
  event.preventDefault();
});
window.addEventListener("keydown", (event) => { if (event.key === " ") isSpaceDown = true; }, { capture: true });
window.addEventListener("keyup", (event) => { if (event.key === " ") isSpaceDown = false; });
window.addEventListener("blur", () => { isSpaceDown = false; });

$("zoom-in").addEventListener("click", () => zoom(ZOOM_STEP));
$("zoom-out").addEventListener("click", () => zoom(1 / ZOOM_STEP));
$("zoom-fit").addEventListener("click", fit);
