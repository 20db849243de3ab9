// The settings of a request, as explorer/settings.py reads them, and what follows from them in the library.

const DEFAULTS = {
  sigma: Math.SQRT2, low: null, high: null, force: "unit", detector: "canny", alpha: 2, patch: "square", pattern: "circle", polarity: "signed",
  smallest: 5, largest: null, count: 12, nms: "1", layers: "", range: 99, number: null, y: null, x: null, size: null, clicks: "", annotations: "", training: "",
};
const TEXTS = new Set(["force", "detector", "patch", "pattern", "polarity", "nms", "layers", "clicks", "annotations", "training"]);

export function readSettings(query) {
  const settings = { ...DEFAULTS };
  for (const [name, text] of new URLSearchParams(query)) settings[name] = TEXTS.has(name) ? text : Number(text);
  const angle = Number(settings.pattern);
  if (!Number.isNaN(angle)) settings.pattern = angle * (Math.PI / 180);
  settings.nms = settings.nms === "1";
  settings.layers = settings.layers.split(",").filter(Boolean);
  return settings;
}

// Of these, what differs from the defaults: [[name, value]].
export const given = (settings, names) => names.filter((name) => settings[name] !== DEFAULTS[name]).map((name) => [name, settings[name]]);

export const EDGE_OPTIONS = ["sigma", "low", "high", "force"];
export const PATCH_OPTIONS = ["patch", "alpha", "pattern", "polarity"];
export const SIZE_OPTIONS = ["smallest", "largest"];
export const CONTRIBUTION_OPTIONS = ["patch", "pattern", "polarity"];

// imtorque.default_sizes.
export function defaultSizes(height, width, { smallest, largest }) {
  const bound = largest ?? Math.max(smallest, 0.46 * Math.sqrt(height * width));
  const sizes = [smallest];
  for (;;) {
    const last = sizes.at(-1);
    const next = Math.max(last + 2, 2 * Math.floor((last * 1.06) / 2) + 1);
    if (next > bound) return Int32Array.from(sizes);
    sizes.push(next);
  }
}

// The normalisations Z of imtorque.core.patches.
export function areas(sizes, { patch, alpha, polarity }) {
  const half = (size) => (patch === "disk" ? (size - 1) / 2 : size / 2);
  if (polarity === "free") return Float64Array.from(sizes, (size) => Math.PI * Math.max(half(size), 0.5) ** (1 + alpha));
  if (patch === "disk") return Float64Array.from(sizes, (size) => (size > 1 ? Math.PI * half(size) ** alpha : 1));
  return Float64Array.from(sizes, (size) => size * size * half(size) ** (alpha - 2));
}

// What a pattern does to the forces, by rows: imtorque.core.patterns.
export function patternMatrix(pattern) {
  if (pattern === "saddle") return [0, 1, 1, 0];
  if (pattern === "saddle-diagonal") return [-1, 0, 0, 1];
  if (pattern === "star") return [0, -1, 1, 0];
  const angle = pattern === "spiral" ? Math.PI / 4 : pattern === "circle" ? 0 : pattern;
  return [Math.cos(angle), -Math.sin(angle), Math.sin(angle), Math.cos(angle)];
}
