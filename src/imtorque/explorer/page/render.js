// From the state and the last answer to what is seen: the picture, the needle, the curve, the links.

import { $, page, say, state, store } from "./page.js";
import { cutQuery, settingsQuery } from "./state.js";
import { placed } from "./gestures.js";
import { paintCurve, paintDial } from "./readout.js";
import { patchTorque, spectrum } from "./torque.js";
import { showFormula } from "./formula.js";

const LAYERS = { value: "Value map", scale: "Scale map", edges: "Edges", strengthened: "Strengthened edges", saliency: "Saliency" };
const SKETCH_LIMIT = 0.3; // of the needle: fixed, so that a gap that opens is seen; thin lines have two sides that oppose

const TINY = 9; // pixels

const nice = (value) => {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 1.5, 2, 3, 5, 7.5, 10].find((step) => step * power >= value) ?? 10);
};

// Whether what is shown belongs to the picture and the settings on the page; what does not is faded, and said to be older.
function isOlder() {
  const { picture, view, figure } = page;
  const cut = state.tool === "cut" && figure !== null && figure.settings !== String(cutQuery(state));
  const counted = state.tool === "count" && page.found !== null && page.found.marks !== state.marks;
  return cut || counted || page.drawn || view.picture !== picture || view.settings !== String(settingsQuery(state));
}

export function refresh() {
  const { view, stage } = page;
  if (!view || state.y === null) return;
  const { head, field } = view;
  document.body.classList.remove("unanswered");
  document.body.classList.toggle("older", isOlder());
  const torque = patchTorque(field, state);
  const usual = page.sketching ? SKETCH_LIMIT : nice(head.limit || 1);
  const limit = Math.max(usual, nice(Math.abs(torque) || 1e-3)); // a patch beyond the sizes of the maps may have more
  const patch = { y: state.y, x: state.x, size: state.size, patch: state.patch };
  const extrema = state.tool === "extrema";
  const cut = state.tool === "cut";
  const count = state.tool === "count";
  stage.draw({
    layers: state.layers, field, torque, limit, kind: state.patch, number: state.number,
    dim: page.sketching ? 0.07 : null,
    patch: extrema || cut || count ? null : patch,
    extrema: extrema ? head.extrema : [],
    moments: extrema ? page.moments : null,
    figure: cut ? page.figure : null,
    lever: page.lever,
    counted: count ? { found: page.found, marks: state.marks, sizing: page.sizing } : null,
    cursor: (cut || count) && document.activeElement === $("canvas") ? patch : null,
  });
  const text = `${torque < 0 ? "−" : torque > 0 ? "+" : ""}${Math.abs(torque).toFixed(4)}`;
  $("torque").textContent = text;
  $("torque").className = torque > 0 ? "plus" : torque < 0 ? "minus" : "";
  $("torque-name").textContent = field.free ? "closure of the patch" : "torque of the patch";
  $("size-out").textContent = `size ${state.size}`;
  $("place-out").textContent = `y ${state.y}, x ${state.x}`;
  showFormula(field, state, torque);
  paintDial($("dial"), torque, limit);
  const { sizes } = head; // those of the maps, so that the curve's peak is what they show here
  const torques = spectrum(field, state, Math.max(state.size, sizes.at(-1)));
  const highest = Math.max(...sizes.map((size) => Math.abs(torques[(size - 1) / 2])));
  page.curveLimit = Math.max(limit, nice(highest || 1e-3));
  paintCurve($("curve"), torques, { size: state.size, sizes, limit: page.curveLimit });
  $("curve").setAttribute("aria-valuenow", Math.max(sizes[0], Math.min(sizes.at(-1), state.size)));
  $("curve").setAttribute("aria-valuetext", `size ${state.size}, torque ${text}`);
  if (document.activeElement === $("canvas")) say(`torque ${text}, size ${state.size}, y ${state.y}, x ${state.x}`);
}

// Choose an extremum by its number, or none; the patch goes there.
export function choose(number) {
  const extremum = page.view?.head.extrema[number - 1];
  store.set(extremum ? { number, ...placed(extremum, page.picture), tool: "extrema", tab: "extrema" } : { number: null });
}

// The patch to the strongest extremum of some size, or to the middle where there are only tiny ones: ends and corners of
// lines.
export function home() {
  const { height, width } = page.picture;
  const extrema = page.view?.head.extrema ?? [];
  const large = extrema.find(({ size }) => size >= Math.min(height, width) / 8);
  const middle = { y: height / 2, x: width / 2, size: Math.min(height, width) / 3 };
  store.set(placed(large ?? extrema.find(({ size }) => size >= TINY) ?? middle, page.picture));
}

export function showCut() {
  const link = $("save-figure");
  const some = state.clicks.length > 0 && page.picture !== null;
  $("undo").disabled = $("clear-cut").disabled = !some;
  link.setAttribute("aria-disabled", !some);
  if (some) Object.assign(link, { href: page.picture.url("figure.png", cutQuery(state)), download: "" });
  else link.removeAttribute("href");
}

export function showDownloads() {
  if (!page.picture || state.tab !== "save") return;
  const query = settingsQuery(state);
  const row = (name, links) => {
    const line = document.createElement("tr");
    const head = document.createElement("th");
    const cell = document.createElement("td");
    head.scope = "row";
    head.textContent = name;
    for (const [what, kind] of links) {
      const link = document.createElement("a");
      Object.assign(link, { href: page.picture.url(what, query), download: "", textContent: kind });
      link.setAttribute("aria-label", `${name} as ${kind}`);
      cell.append(link);
    }
    line.append(head, cell);
    return line;
  };
  $("downloads").replaceChildren(
    ...Object.entries(LAYERS).map(([layer, name]) => row(name, [[`${layer}.png`, "PNG"], [`${layer}.npy`, ".npy"]])),
    row(`Extrema, the ${state.count} strongest`, [["extrema.csv", "CSV"]]),
    row("Picture, as it was worked on", [["picture.png", "PNG"]]),
  );
}
