// Going back: each state the page comes to rest in is a step of the browser's history, for Back, Forward, undo and redo.

import { $, page, state, store } from "./page.js";
import { isIdle } from "./asking.js";
import { firstPicture, openKept, openNamed } from "./pictures.js";
import { readAddress, writeAddress } from "./state.js";

const REST = 250; // milliseconds after which a gesture is over

let writing;
let step = history.state?.step ?? 0;
let last = step;

export function noteChange() {
  clearTimeout(writing);
  writing = setTimeout(write, REST);
}

// What the page does by itself (a picture comes, steps play) changes the present step; what the user does makes a new one.
function write() {
  if (page.quiet && !isIdle()) return noteChange();
  const address = writeAddress(state);
  if (address !== location.hash) {
    if (!page.quiet) last = ++step;
    history[page.quiet ? "replaceState" : "pushState"]({ step }, "", address);
  }
  page.quiet = false;
  showSteps();
}

// A gesture of the user ends what the page did by itself: else a quick one would be taken for a part of it.
window.addEventListener("pointerdown", () => {
  if (!page.quiet || !isIdle()) return;
  clearTimeout(writing);
  write();
}, true);

function showSteps() {
  $("back").disabled = step === 0;
  $("forward").disabled = step === last;
}

function undo() { if (step > 0) history.back(); }
function redo() { if (step < last) history.forward(); }

window.addEventListener("popstate", () => {
  clearTimeout(writing);
  step = history.state?.step ?? ++last;
  if (!history.state) history.replaceState({ step }, "", location.hash);
  last = Math.max(last, step);
  const wanted = readAddress(location.hash);
  wanted.picture ??= firstPicture();
  page.quiet = true;
  if (wanted.picture === state.picture) store.set(wanted);
  else if (wanted.tool === "count" && state.tool === "count") openKept(wanted.picture, wanted);
  else openNamed(wanted.picture, { wanted });
  noteChange();
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
showSteps();
