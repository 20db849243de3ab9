// What the parts of the page share: the state, the picture, and the last answers about it.

import { Store, readAddress } from "./state.js";

export const $ = (id) => document.getElementById(id);

export const store = new Store(readAddress(location.hash));
export const state = store.values;

export const page = {
  picture: null, // as the server holds it
  view: null, // the last answer: {head, field}
  moments: null, // of the chosen extremum's edges
  figure: null, // what was cut out
  found: null, // what was counted
  lessons: [], // what was marked in other pictures: [{name, picture, marks}]
  counted: new Map(), // how many objects were found, by picture
  sizing: null, // the object whose size is being dragged
  sketching: false, // whether the picture is the sketch pad
  drawn: false, // whether the sketch has changed since it was sent
  quiet: true, // whether changes are the page's own and no step to go back by
  lever: null, // the number of the edge that is pointed at
  curveLimit: 1, // the torque at the top of the curve's axis
  stage: null,
  panel: null,
};

// What a screen reader is told: one thing at a time, the last.
let saying;
export function say(text, wait = 400) {
  clearTimeout(saying);
  saying = setTimeout(() => { $("live").textContent = text; }, wait);
}

let toasting;
export function toast(message) {
  $("toast").textContent = message;
  $("toast").classList.add("shown");
  say(message, 0);
  clearTimeout(toasting);
  toasting = setTimeout(() => $("toast").classList.remove("shown"), 6000);
}
