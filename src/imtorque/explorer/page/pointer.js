// The readout under the pointer: the torque of a patch there, the strongest over all sizes, and the edge pointed at.

import { $, page, state } from "./page.js";
import { lengthText, objectAt } from "./counting.js";
import { strongest } from "./readout.js";
import { refresh } from "./render.js";
import { patchTorque, spectrum } from "./torque.js";

const MAX_DISTANCE = 9; // pixels of the screen; convention
const canvas = $("canvas");
const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(4)}`;
let pendingPlace = null; // of the next frame

// Return the edge of the patch nearest to a place, null where none is near.
function edgeAt({ y, x }) {
  if (!["patch", "draw"].includes(state.tool)) return null;
  let best = null;
  let nearest = MAX_DISTANCE / page.stage.scale;
  const { field } = page.view;
  field.visit(state.y, state.x, state.size, state.patch, (i) => {
    const distance = Math.hypot(field.x[i] - x, field.y[i] - y);
    if (distance < nearest) [best, nearest] = [i, distance];
  });
  return best;
}

function show(place) {
  const { view, image } = page;
  const [y, x] = [Math.round(place?.y ?? -1), Math.round(place?.x ?? -1)];
  const inside = view && state.y !== null && y >= 0 && x >= 0 && y < image.height && x < image.width;
  $("under").hidden = !inside;
  const lever = inside ? edgeAt(place) : null;
  if (lever !== page.lever) {
    page.lever = lever;
    refresh();
  }
  if (!inside) return;
  $("under-place").textContent = `y ${y}, x ${x}`;
  if (state.tool === "count") {
    const object = objectAt(place);
    $("under-torque").textContent = object ? `object ${object.number}: ${lengthText(object.diameter)} across` : "no object";
    $("under-value").textContent = object ? `score ${Math.round(100 * object.score)} %` : "click what is missed";
    return;
  }
  const { sizes } = view.head;
  const here = { ...state, y, x };
  const torques = spectrum(view.field, here, sizes.at(-1));
  const size = strongest(torques, sizes);
  $("under-torque").textContent = `${signed(patchTorque(view.field, here))} at size ${state.size}`;
  $("under-value").textContent = size === null ? "no torque at any size" : `strongest ${signed(torques[(size - 1) / 2])} at size ${size}`;
}

canvas.addEventListener("pointermove", (event) => {
  if (event.pointerType === "touch") return;
  const isScheduled = pendingPlace !== null;
  pendingPlace = page.stage.pixelAt(event);
  if (!isScheduled) requestAnimationFrame(() => { show(pendingPlace); pendingPlace = null; });
});
canvas.addEventListener("pointerleave", () => show(null));
