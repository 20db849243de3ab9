// The tool Count: annotated objects, all others like them, and the histogram of their sizes.

import { $, page, state, store, toast } from "./page.js";
import { save } from "./saving.js";
import { DARK } from "./forces.js";
import { openNamed, series } from "./images.js";
import { annotationsQuery } from "./state.js";

const OBJECT = "#2dd4bf";
const POSITIVE = "#ffd92f";
const NEGATIVE = "#ff5a47";
const MAX_ANNOTATIONS = 100; // as the server accepts
const BINS = 12;
const MARK_REACH = 9; // pixels of the screen, at least, from which a mark is clicked; convention

export function annotate(annotation) {
  if (state.annotations.length >= MAX_ANNOTATIONS) return toast(`Up to ${MAX_ANNOTATIONS} objects can be clicked: undo some.`);
  if (annotation.negative && !state.annotations.length) return toast("Click some objects first; then what is wrong.");
  store.set({ annotations: [...state.annotations, annotation], y: annotation.y, x: annotation.x });
}

// Take back the mark at a place, if there is one: of an object its middle counts, not its border, in which others may lie.
export function removeMark({ y, x }) {
  const reach = MARK_REACH / page.stage.scale;
  const left = state.annotations.filter((mark) => Math.hypot(mark.y - y, mark.x - x) > reach);
  if (left.length === state.annotations.length) return false;
  store.set({ annotations: left });
  return true;
}

// The object at a place: its number, diameter and score; null where there is none.
export function objectAt({ y, x }) {
  const { objects } = page;
  for (let k = 0; k < (objects?.count ?? 0); k++) {
    const points = objects.outline.length / objects.count / 2;
    let inside = false;
    for (let i = 0, j = points - 1; i < points; j = i++) {
      const [yi, xi, yj, xj] = [i, j].flatMap((at) => [...objects.outline.subarray(2 * (k * points + at), 2 * (k * points + at) + 2)]);
      if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) inside = !inside;
    }
    if (inside) return { number: k + 1, diameter: objects.diameter[k], score: objects.score[k] };
  }
  return null;
}

// A length in pixels of the original image, and in micrometres where the size of a pixel is known.
export const lengthText = (pixels) => (state.pixelSize ? `${(pixels * state.pixelSize).toPrecision(3)} µm` : `${pixels.toFixed(pixels < 100 ? 1 : 0)} px`);

function outlinePath(stage, outline, from, to) {
  const line = new Path2D();
  for (let i = from; i < to; i += 2) {
    line.lineTo(stage.left + (outline[i + 1] + 0.5) * stage.scale, stage.top + (outline[i] + 0.5) * stage.scale);
  }
  line.closePath();
  return line;
}

function paintAnnotation(stage, { y, x, diameter, negative }) {
  const { context: c, scale } = stage;
  const [cx, cy] = [stage.left + (x + 0.5) * scale, stage.top + (y + 0.5) * scale];
  const radius = Math.max(6, (scale * (diameter || 0)) / 2);
  for (const [width, style] of [[5, DARK], [2.5, negative ? NEGATIVE : POSITIVE]]) {
    c.lineWidth = width;
    c.strokeStyle = style;
    c.beginPath();
    if (negative) {
      c.moveTo(cx - 7, cy - 7);
      c.lineTo(cx + 7, cy + 7);
      c.moveTo(cx + 7, cy - 7);
      c.lineTo(cx - 7, cy + 7);
    } else c.arc(cx, cy, radius, 0, 2 * Math.PI);
    c.stroke();
  }
}

// Paint the numbered objects and the annotations; `dragged` is one whose size is being dragged.
export function paintCount(stage, { objects, annotations, dragged }) {
  const { context: c } = stage;
  if (objects) {
    const points = objects.outline.length / Math.max(1, objects.count);
    c.font = "700 12px system-ui, sans-serif";
    c.textAlign = "center";
    c.textBaseline = "middle";
    for (let k = 0; k < objects.count; k++) {
      const line = outlinePath(stage, objects.outline, k * points, (k + 1) * points);
      c.globalAlpha = 0.22;
      c.fillStyle = OBJECT;
      c.fill(line);
      c.globalAlpha = 1;
      for (const [width, style] of [[4, DARK], [2, OBJECT]]) {
        c.lineWidth = width;
        c.strokeStyle = style;
        c.stroke(line);
      }
      const at = [stage.left + (objects.place[2 * k + 1] + 0.5) * stage.scale, stage.top + (objects.place[2 * k] + 0.5) * stage.scale];
      c.lineWidth = 3;
      c.strokeStyle = DARK;
      c.strokeText(String(k + 1), ...at);
      c.fillStyle = "#fff";
      c.fillText(String(k + 1), ...at);
    }
  }
  for (const annotation of dragged ? [...annotations, dragged] : annotations) paintAnnotation(stage, annotation);
}

// Paint the histogram of diameters.
function paintSizes(canvas, diameters) {
  const ratio = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const c = canvas.getContext("2d");
  c.scale(ratio, ratio);
  if (!diameters.length || !width) return;
  const style = getComputedStyle(canvas);
  const [smallest, largest] = [Math.floor(Math.min(...diameters)), Math.ceil(Math.max(...diameters)) + 1e-6];
  const counts = new Array(BINS).fill(0);
  for (const d of diameters) counts[Math.min(BINS - 1, Math.floor((BINS * (d - smallest)) / (largest - smallest)))]++;
  const top = Math.max(...counts);
  const step = width / BINS;
  c.fillStyle = style.getPropertyValue("--accent");
  counts.forEach((count, k) => c.fillRect(k * step + 1, height - 18 - ((height - 24) * count) / top, step - 2, ((height - 24) * count) / top));
  c.fillStyle = style.getPropertyValue("--soft");
  c.font = "11px system-ui, sans-serif";
  c.fillText(lengthText(smallest), 0, height - 4);
  c.textAlign = "right";
  c.fillText(lengthText(largest), width, height - 4);
}

// What an image is counted under: its place among those gone through, else its name.
const countKey = () => {
  const name = series().find(({ current }) => current)?.name ?? (state.image?.startsWith("upload:") ? `upload:${page.image.name}` : state.image.split("@")[0]);
  return `${name}@${planeText()}`;
};

// Which page and channel the image is, where there are several.
function planeText() {
  const { page: number, channel, pages = 1, channels = 1 } = page.image;
  return [pages > 1 ? `page ${number + 1}` : "", channels > 1 ? `channel ${channel + 1}` : ""].filter(Boolean).join(", ");
}

// Show the count of this image, and of the others as they were last seen.
export function showCountResult(text = "") {
  const { counts, objects } = page;
  if (objects) counts.set(countKey(), { label: [page.image.name.split(/[\\/]/).at(-1), planeText()].filter(Boolean).join(", "), count: objects.count, table: objects.table });
  else counts.delete(countKey());
  const mean = objects?.count ? objects.diameter.reduce((sum, diameter) => sum + diameter, 0) / objects.count : 0;
  const total = [...counts.values()].reduce((sum, { count }) => sum + count, 0);
  const own = objects ? `Mean diameter ${lengthText(mean)}.` : text;
  $("count-number").hidden = !objects;
  $("count-number").innerHTML = `<b>${objects?.count ?? 0}</b> ${objects?.count === 1 ? "object" : "objects"}`;
  $("count-facts").textContent = counts.size > 1 ? `${own} In ${counts.size} images, each as last seen: ${total}.` : own;
  paintSizes($("sizes"), [...(objects?.diameter ?? [])]);
  listCounts();
  showCount();
}

function listCounts() {
  const images = series().length > 1 ? series() : [];
  $("count-list").hidden = !images.length;
  $("count-list").replaceChildren(...images.map(({ name, label, current }) => {
    const item = document.createElement("li");
    const button = document.createElement("button");
    const count = document.createElement("b");
    const own = [...page.counts].filter(([key]) => key.split("@")[0] === name); // of each page counted
    count.textContent = own.length ? own.reduce((sum, [, one]) => sum + one.count, 0) : "–";
    button.type = "button";
    button.append(label, count);
    button.setAttribute("aria-pressed", current);
    button.addEventListener("click", () => openNamed(name));
    item.append(button);
    return item;
  }));
}

export function showCount() {
  const isTrained = (page.trainingImages.length > 0 || state.annotations.some(({ negative }) => !negative)) && page.image !== null;
  $("undo-annotation").disabled = !state.annotations.length;
  $("clear-annotations").disabled = !state.annotations.length && !page.trainingImages.length;
  for (const link of document.querySelectorAll("[data-count]")) {
    link.setAttribute("aria-disabled", !isTrained || !page.objects);
    if (isTrained && page.objects) Object.assign(link, { href: page.image.url(link.dataset.count, annotationsQuery(state, page.trainingImages)), download: "" });
    else link.removeAttribute("href");
  }
  $("save-table").disabled = !page.counts.size;
  $("next-image").disabled = !page.objects;
}

$("undo-annotation").addEventListener("click", () => store.set({ annotations: state.annotations.slice(0, -1) }));
$("pixelSize").addEventListener("change", () => {
  const size = Number($("pixelSize").value.replace(",", "."));
  store.set({ pixelSize: size > 0 && size < 1e6 ? size : null });
});
$("save-table").addEventListener("click", () => {
  const quoted = (label) => `"${label.replaceAll('"', '""')}"`;
  const tables = [...page.counts.values()].map(({ label, table }) => [label, table.trimEnd().split("\n")]);
  const columns = tables.map(([, [head]]) => head).reduce((a, b) => (a.length <= b.length ? a : b)); // those that all have
  const width = columns.split(",").length;
  const rows = tables.flatMap(([label, [, ...lines]]) => lines.map((line) => `${quoted(label)},${line.split(",").slice(0, width)}`));
  save(new Blob([[`image,${columns}`, ...rows, ""].join("\n")], { type: "text/csv" }), "objects.csv");
});
