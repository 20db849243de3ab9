// Renders the state and the last answer: the image, the needle, the curve, the links.

import { $, announce, page, state, store } from "./page.js";
import { cutQuery, settingsQuery } from "./state.js";
import { clampPatch } from "./gestures.js";
import { paintCurve, paintDial } from "./readout.js";
import { patchTorque, spectrum } from "./torque.js";
import { showFormula } from "./formula.js";
import { showSaving } from "./saving.js";

const LAYERS = { value: "Value map", scale: "Scale map", edges: "Edges", strengthened: "Strengthened edges", saliency: "Saliency" };
const SKETCH_LIMIT = 0.3; // of the needle: fixed, so that an opening gap shows; the two sides of a thin line oppose

const MIN_HOME_SIZE = 9; // pixels; convention: smaller extrema are ends and corners of lines

const roundUp = (value) => {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 1.5, 2, 3, 5, 7.5, 10].find((step) => step * power >= value) ?? 10);
};

// Whether what is shown belongs to other settings or another image than the page's; stale results are dimmed until refreshed.
function isStale() {
  const { image, view, figure } = page;
  const cut = state.tool === "cut" && figure !== null && figure.settings !== String(cutQuery(state));
  const count = state.tool === "count" && page.objects !== null && page.objects.annotations !== state.annotations;
  return cut || count || page.sketchChanged || view.image !== image || view.settings !== String(settingsQuery(state));
}

// The torque that the dial must hold over the whole of a step that plays, so that its scale stands still.
function stepLimit({ field }) {
  if (!page.isInterrupted) return 0;
  const torques = page.stepStates.map((values) => Math.abs(patchTorque(field, { ...state, ...values })));
  page.stepLimit = Math.max(page.stepLimit, ...torques.map((torque) => roundUp(torque || 1e-3)));
  page.stepStates = [];
  return page.stepLimit;
}

export function refresh() {
  const { view, stage } = page;
  if (!view || state.y === null) return stage?.draw({ layers: {}, extrema: [] });
  const { head, field } = view;
  $("zoom-out").disabled = $("zoom-fit").disabled = stage.zoom === 1;
  $("zoom-fit").textContent = `${stage.zoom.toFixed(1)} ×`;
  document.body.classList.remove("loading");
  showSaving();
  document.body.classList.toggle("stale", isStale());
  const torque = patchTorque(field, state);
  const usual = page.isSketch ? SKETCH_LIMIT : roundUp(head.limit || 1);
  const limit = Math.max(usual, stepLimit(view), roundUp(Math.abs(torque) || 1e-3)); // a patch beyond the sizes of the maps may have more
  const patch = { y: state.y, x: state.x, size: state.size, patch: state.patch };
  const extrema = state.tool === "extrema";
  const cut = state.tool === "cut";
  const count = state.tool === "count";
  stage.draw({
    layers: state.layers, field, torque, limit, kind: state.patch, number: state.number,
    dim: page.isSketch ? 0.07 : null,
    patch: extrema || cut || count ? null : patch,
    extrema: extrema ? head.extrema : [],
    moments: extrema ? page.moments : null,
    figure: cut ? page.figure : null,
    lever: page.lever,
    count: count ? { objects: page.objects, annotations: state.annotations, dragged: page.draggedAnnotation } : null,
    hint: !page.isTouched && !page.isInterrupted && !state.present,
    cursor: (cut || count) && document.activeElement === $("canvas") ? patch : null,
  });
  const text = `${torque < 0 ? "−" : torque > 0 ? "+" : ""}${Math.abs(torque).toFixed(4)}`;
  $("torque").textContent = text;
  $("torque").className = torque > 0 ? "plus" : torque < 0 ? "minus" : "";
  $("torque-name").textContent = field.free ? "closure of the patch" : "torque of the patch";
  $("size-out").textContent = `size ${state.size}`;
  $("place-out").textContent = `y ${state.y}, x ${state.x}`;
  showFormula(field, state, torque);
  if ($("dial").clientWidth) paintReadout(torque, limit, text);
  if (document.activeElement === $("canvas")) announce(`torque ${text}, size ${state.size}, y ${state.y}, x ${state.x}`);
}

// The dial and the curve, of the tools that have a patch.
function paintReadout(torque, limit, text) {
  const { head, field } = page.view;
  paintDial($("dial"), torque, limit);
  const { sizes } = head; // those of the maps, so that the curve's peak is what they show here
  const torques = spectrum(field, state, Math.max(state.size, sizes.at(-1)));
  const highest = Math.max(...sizes.map((size) => Math.abs(torques[(size - 1) / 2])));
  page.curveLimit = Math.max(limit, roundUp(highest || 1e-3));
  paintCurve($("curve"), torques, { size: state.size, sizes, limit: page.curveLimit });
  $("curve").setAttribute("aria-valuenow", Math.max(sizes[0], Math.min(sizes.at(-1), state.size)));
  $("curve").setAttribute("aria-valuetext", `size ${state.size}, torque ${text}`);
}

// Choose an extremum by its number, or none; the patch goes there.
export function choose(number) {
  const extremum = page.view?.head.extrema[number - 1];
  store.set(extremum ? { number, ...clampPatch(extremum, page.image), tool: "extrema", tab: "extrema" } : { number: null });
}

// Move the patch to the strongest large extremum, or to the middle where there are only tiny ones.
export function home() {
  const { height, width } = page.image;
  const extrema = page.view?.head.extrema ?? [];
  const large = extrema.find(({ size }) => size >= Math.min(height, width) / 8);
  const middle = { y: height / 2, x: width / 2, size: Math.min(height, width) / 3 };
  store.set(clampPatch(large ?? extrema.find(({ size }) => size >= MIN_HOME_SIZE) ?? middle, page.image));
}

export function showCut() {
  const hasFigure = state.clicks.length > 0 && page.image !== null;
  $("undo").disabled = $("clear-cut").disabled = !hasFigure;
  for (const link of document.querySelectorAll("[data-figure]")) {
    link.setAttribute("aria-disabled", !hasFigure);
    if (hasFigure) Object.assign(link, { href: page.image.url(link.dataset.figure, cutQuery(state)), download: "" });
    else link.removeAttribute("href");
  }
}

export function showDownloads() {
  if (!page.image || state.tab !== "save") return;
  const query = settingsQuery(state);
  const row = (name, links) => {
    const line = document.createElement("tr");
    const head = document.createElement("th");
    const cell = document.createElement("td");
    head.scope = "row";
    head.textContent = name;
    for (const [what, kind] of links) {
      const link = document.createElement("a");
      Object.assign(link, { href: page.image.url(what, query), download: "", textContent: kind });
      link.setAttribute("aria-label", `${name} as ${kind}`);
      cell.append(link);
    }
    line.append(head, cell);
    return line;
  };
  $("downloads").replaceChildren(
    ...Object.entries(LAYERS).map(([layer, name]) => row(name, [[`${layer}.png`, "PNG"], [`${layer}.npy`, ".npy"]])),
    row(`Extrema, the ${state.count} strongest`, [["extrema.csv", "CSV"]]),
    row("Image, as processed", [["image.png", "PNG"]]),
  );
}
