// The tool Count: objects that are clicked, all others like them, and what is known of their sizes.

import { $, page, state, store, toast } from "./page.js";
import { DARK } from "./forces.js";
import { marksQuery } from "./state.js";

const FOUND = "#2dd4bf";
const WRONG = "#ff5a47";
const MOST_MARKS = 100;
const BINS = 12;

export function mark(place) {
  if (state.marks.length >= MOST_MARKS) return toast(`Up to ${MOST_MARKS} objects can be clicked: undo some.`);
  if (place.wrong && !state.marks.length) return toast("Click some objects first; then what is wrong.");
  store.set({ marks: [...state.marks, place], y: place.y, x: place.x });
}

function path(stage, outline, from, to) {
  const line = new Path2D();
  for (let i = from; i < to; i += 2) {
    line.lineTo(stage.left + (outline[i + 1] + 0.5) * stage.scale, stage.top + (outline[i] + 0.5) * stage.scale);
  }
  line.closePath();
  return line;
}

function ring(stage, { y, x, diameter, wrong }) {
  const { context: c, scale } = stage;
  const [cx, cy] = [stage.left + (x + 0.5) * scale, stage.top + (y + 0.5) * scale];
  const radius = Math.max(6, (scale * (diameter || 0)) / 2);
  for (const [width, style] of [[5, DARK], [2.5, wrong ? WRONG : "#ffd92f"]]) {
    c.lineWidth = width;
    c.strokeStyle = style;
    c.beginPath();
    if (wrong) {
      c.moveTo(cx - 7, cy - 7);
      c.lineTo(cx + 7, cy + 7);
      c.moveTo(cx + 7, cy - 7);
      c.lineTo(cx - 7, cy + 7);
    } else c.arc(cx, cy, radius, 0, 2 * Math.PI);
    c.stroke();
  }
}

// What was found, with numbers, and what was clicked; `sizing` is a click whose size is being dragged.
export function paintCount(stage, { found, marks, sizing }) {
  const { context: c } = stage;
  if (found) {
    const points = found.outline.length / Math.max(1, found.count);
    c.font = "700 12px system-ui, sans-serif";
    c.textAlign = "center";
    c.textBaseline = "middle";
    for (let k = 0; k < found.count; k++) {
      const line = path(stage, found.outline, k * points, (k + 1) * points);
      c.globalAlpha = 0.22;
      c.fillStyle = FOUND;
      c.fill(line);
      c.globalAlpha = 1;
      for (const [width, style] of [[4, DARK], [2, FOUND]]) {
        c.lineWidth = width;
        c.strokeStyle = style;
        c.stroke(line);
      }
      const at = [stage.left + (found.place[2 * k + 1] + 0.5) * stage.scale, stage.top + (found.place[2 * k] + 0.5) * stage.scale];
      c.lineWidth = 3;
      c.strokeStyle = DARK;
      c.strokeText(String(k + 1), ...at);
      c.fillStyle = "#fff";
      c.fillText(String(k + 1), ...at);
    }
  }
  for (const one of marks) ring(stage, one);
  if (sizing) ring(stage, sizing);
}

// How many objects have which diameter.
export function paintSizes(canvas, diameters) {
  const ratio = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const c = canvas.getContext("2d");
  c.scale(ratio, ratio);
  if (!diameters.length) return;
  const style = getComputedStyle(canvas);
  const [least, most] = [Math.floor(Math.min(...diameters)), Math.ceil(Math.max(...diameters)) + 1e-6];
  const counts = new Array(BINS).fill(0);
  for (const d of diameters) counts[Math.min(BINS - 1, Math.floor((BINS * (d - least)) / (most - least)))]++;
  const top = Math.max(...counts);
  const step = width / BINS;
  c.fillStyle = style.getPropertyValue("--accent");
  counts.forEach((count, k) => c.fillRect(k * step + 1, height - 18 - ((height - 24) * count) / top, step - 2, ((height - 24) * count) / top));
  c.fillStyle = style.getPropertyValue("--soft");
  c.font = "11px system-ui, sans-serif";
  c.fillText(`${least} px`, 0, height - 4);
  c.textAlign = "right";
  c.fillText(`${Math.round(most)} px`, width, height - 4);
}

// What was found here, and in the pictures before.
export function showCounted(text, diameters) {
  const { counted } = page;
  const here = state.picture?.startsWith("held:") ? page.picture : state.picture; // whose name changes when it is sent again
  if (page.found) counted.set(here, page.found.count);
  else counted.delete(here);
  const all = [...counted.values()].reduce((sum, count) => sum + count, 0);
  $("count-facts").textContent = counted.size > 1 ? `${text} In ${counted.size} pictures, each as last seen: ${all}.` : text;
  paintSizes($("sizes"), diameters);
  showCount();
}

export function showCount() {
  const some = (page.lessons.length > 0 || state.marks.some(({ wrong }) => !wrong)) && page.picture !== null;
  $("undo-mark").disabled = !state.marks.length;
  $("clear-marks").disabled = !state.marks.length && !page.lessons.length;
  for (const link of document.querySelectorAll("[data-count]")) {
    link.setAttribute("aria-disabled", !some);
    if (some) Object.assign(link, { href: page.picture.url(link.dataset.count, marksQuery(state, page.lessons)), download: "" });
    else link.removeAttribute("href");
  }
  $("save-overlay").disabled = $("next-picture").disabled = !page.found;
}

$("undo-mark").addEventListener("click", () => store.set({ marks: state.marks.slice(0, -1) }));
$("save-overlay").addEventListener("click", () => page.stage.canvas.toBlob((blob) => {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: `${page.picture.name}.count.png` });
  link.click();
  URL.revokeObjectURL(link.href);
}));
