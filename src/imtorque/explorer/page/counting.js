// The tool Count: annotated objects, all others like them, and the histogram of their sizes.

import { $, page, state, store, toast } from "./page.js";
import { DARK } from "./forces.js";
import { annotationsQuery } from "./state.js";

const OBJECT = "#2dd4bf";
const POSITIVE = "#ffd92f";
const NEGATIVE = "#ff5a47";
const MAX_ANNOTATIONS = 100; // as the server accepts
const BINS = 12;

export function annotate(annotation) {
  if (state.annotations.length >= MAX_ANNOTATIONS) return toast(`Up to ${MAX_ANNOTATIONS} objects can be clicked: undo some.`);
  if (annotation.negative && !state.annotations.length) return toast("Click some objects first; then what is wrong.");
  store.set({ annotations: [...state.annotations, annotation], y: annotation.y, x: annotation.x });
}

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
export function paintSizes(canvas, diameters) {
  const ratio = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const c = canvas.getContext("2d");
  c.scale(ratio, ratio);
  if (!diameters.length) return;
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
  c.fillText(`${smallest} px`, 0, height - 4);
  c.textAlign = "right";
  c.fillText(`${Math.round(largest)} px`, width, height - 4);
}

// Show the count of this image, and the total with the images before.
export function showCountResult(text, diameters) {
  const { counts } = page;
  const here = state.image?.startsWith("upload:") ? page.image : state.image; // the name of an upload changes when it is uploaded again
  if (page.objects) counts.set(here, page.objects.count);
  else counts.delete(here);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  $("count-facts").textContent = counts.size > 1 ? `${text} In ${counts.size} images, each as last seen: ${total}.` : text;
  paintSizes($("sizes"), diameters);
  showCount();
}

export function showCount() {
  const isTrained = (page.trainingImages.length > 0 || state.annotations.some(({ negative }) => !negative)) && page.image !== null;
  $("undo-annotation").disabled = !state.annotations.length;
  $("clear-annotations").disabled = !state.annotations.length && !page.trainingImages.length;
  for (const link of document.querySelectorAll("[data-count]")) {
    link.setAttribute("aria-disabled", !isTrained);
    if (isTrained) Object.assign(link, { href: page.image.url(link.dataset.count, annotationsQuery(state, page.trainingImages)), download: "" });
    else link.removeAttribute("href");
  }
  $("save-overlay").disabled = $("next-image").disabled = !page.objects;
}

$("undo-annotation").addEventListener("click", () => store.set({ annotations: state.annotations.slice(0, -1) }));
$("save-overlay").addEventListener("click", () => page.stage.canvas.toBlob((blob) => {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: `${page.image.name}.count.png` });
  link.click();
  URL.revokeObjectURL(link.href);
}));
