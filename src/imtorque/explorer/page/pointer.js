// What is under the pointer: the torque of a patch there, the strongest of all sizes, and the edge that is pointed at.

import { $, page, state } from "./page.js";
import { strongest } from "./readout.js";
import { refresh } from "./showing.js";
import { patchTorque, spectrum } from "./torque.js";

const NEAR = 9; // pixels of the screen
const canvas = $("canvas");
const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(4)}`;
let waiting = null;

// The edge of the patch that lies nearest to a place, if it is near.
function edgeAt({ y, x }) {
  if (!["patch", "draw"].includes(state.tool)) return null;
  let best = null;
  let nearest = NEAR / page.stage.scale;
  const { field } = page.view;
  field.inside(state.y, state.x, state.size, state.patch, (i) => {
    const distance = Math.hypot(field.x[i] - x, field.y[i] - y);
    if (distance < nearest) [best, nearest] = [i, distance];
  });
  return best;
}

function show(place) {
  const { view, picture } = page;
  const [y, x] = [Math.round(place?.y ?? -1), Math.round(place?.x ?? -1)];
  const inside = view && state.y !== null && y >= 0 && x >= 0 && y < picture.height && x < picture.width;
  $("under").hidden = !inside;
  const lever = inside ? edgeAt(place) : null;
  if (lever !== page.lever) {
    page.lever = lever;
    refresh();
  }
  if (!inside) return;
  const { sizes } = view.head;
  const here = { ...state, y, x };
  const torques = spectrum(view.field, here, sizes.at(-1));
  const size = strongest(torques, sizes);
  $("under-place").textContent = `y ${y}, x ${x}`;
  $("under-torque").textContent = `${signed(patchTorque(view.field, here))} at size ${state.size}`;
  $("under-value").textContent = size === null ? "no torque at any size" : `strongest ${signed(torques[(size - 1) / 2])} at size ${size}`;
}

canvas.addEventListener("pointermove", (event) => {
  if (event.pointerType === "touch") return;
  const asked = waiting !== null;
  waiting = page.stage.pixelAt(event);
  if (!asked) requestAnimationFrame(() => { show(waiting); waiting = null; });
});
canvas.addEventListener("pointerleave", () => show(null));
