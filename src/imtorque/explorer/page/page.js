// What the parts of the page share: the state, the image, and the last answers about it.

import { Store, readAddress } from "./state.js";

export const $ = (id) => document.getElementById(id);

export const store = new Store(readAddress(location.hash));
export const state = store.values;

export const page = {
  image: null, // as the server stores it
  view: null, // the last answer: {head, field}
  moments: null, // of the edges of the chosen extremum
  figure: null, // the figure cut out
  objects: null, // the objects counted
  trainingImages: [], // other images with annotations: [{name, image, annotations}]
  counts: new Map(), // number of objects by image
  draggedAnnotation: null, // the annotation whose size is being dragged
  isSketch: false, // whether the image is the sketch pad
  sketchChanged: false, // whether the sketch has changed since it was sent
  isTouched: false, // whether the patch was moved: until then it says that it can be
  stepStates: [], // states of the step that plays, which the dial must hold
  stepLimit: 0,
  isInterrupted: false, // whether steps play, which are restored from and not recorded
  replaceHistory: true, // whether changes are the page's own and replace the present step of the history
  lever: null, // the index of the edge under the pointer
  curveLimit: 1, // the torque at the top of the curve's axis
  stage: null,
  panel: null,
};

// Announce a text to screen readers; of several in a row only the last.
let announceTimer;
export function announce(text, wait = 400) {
  clearTimeout(announceTimer);
  announceTimer = setTimeout(() => { $("live").textContent = text; }, wait);
}

let toastTimer;
let toastCause = null;

export function endToast(cause) {
  if (cause === toastCause) $("toast").classList.remove("shown");
}

// cause: what ends it, by endToast(cause), where it is over sooner.
export function toast(message, cause = null) {
  toastCause = cause;
  $("toast").textContent = message;
  $("toast").classList.add("shown");
  announce(message, 0);
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => $("toast").classList.remove("shown"), 6000);
}
