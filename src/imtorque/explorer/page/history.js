// Undo and redo: each state in which the page comes to rest is a step of the browser's history.

import { $, page, state, store } from "./page.js";
import { isIdle } from "./api.js";
import { firstImage, openNamed } from "./images.js";
import { readAddress, writeAddress } from "./state.js";

const STEP_DELAY = 250; // milliseconds after which a gesture is over; convention

let timer;
let step = history.state?.step ?? 0;
let lastStep = step;

export function recordChange() {
  clearTimeout(timer);
  timer = setTimeout(recordStep, STEP_DELAY);
}

// The page's own changes (an image loads, steps play) replace the present step; the user's make a new one.
function recordStep() {
  if (page.isInterrupted) return; // what plays is no step of the user's
  if (((page.replaceHistory || page.isSketch) && !isIdle()) || state.y === null) return recordChange(); // it is not all there yet
  const address = writeAddress(state);
  if (address !== location.hash) {
    if (!page.replaceHistory) lastStep = ++step;
    history[page.replaceHistory ? "replaceState" : "pushState"]({ step }, "", address);
  }
  page.replaceHistory = false;
  showButtons();
}

// A new gesture ends what was before it, the page's own changes or a quick gesture: each is a step of its own.
window.addEventListener("pointerdown", () => {
  if (page.replaceHistory && !isIdle()) return;
  clearTimeout(timer);
  recordStep();
}, true);

function showButtons() {
  $("back").disabled = step === 0;
  $("forward").disabled = step === lastStep;
}

function undo() { if (step > 0) history.back(); }
function redo() { if (step < lastStep) history.forward(); }

window.addEventListener("popstate", () => {
  clearTimeout(timer);
  step = history.state?.step ?? ++lastStep;
  if (!history.state) history.replaceState({ step }, "", location.hash);
  lastStep = Math.max(lastStep, step);
  const target = readAddress(location.hash);
  target.image ??= firstImage();
  page.replaceHistory = true;
  if (target.image === state.image) store.set(target);
  else openNamed(target.image, { target });
  recordChange();
});

$("back").addEventListener("click", undo);
$("forward").addEventListener("click", redo);
window.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
  const key = event.key.toLowerCase();
  if (key === "z") (event.shiftKey ? redo : undo)();
  else if (key === "y") redo();
  else return;
  event.preventDefault();
});
showButtons();
