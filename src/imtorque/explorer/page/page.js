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
  sketching: false, // whether the picture is the sketch pad
  stage: null,
  panel: null,
};

let toasting;
export function toast(message) {
  $("toast").textContent = message;
  $("toast").classList.add("shown");
  clearTimeout(toasting);
  toasting = setTimeout(() => $("toast").classList.remove("shown"), 6000);
}
