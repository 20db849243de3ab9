// The state of the page, kept in its address: for links, reloads and the browser's history.

const SQRT2 = Math.SQRT2;

export const DEFAULTS = {
  image: null, y: null, x: null, size: null,
  sigma: SQRT2, low: null, high: null, force: "unit", detector: null, alpha: 2, patch: "square", smallest: 5, largest: null,
  pattern: "circle", polarity: "signed",
  range: 99, // percentile of the value map that has full colour
  layers: { scale: 0, value: 0, saliency: 0, edges: 0, strengthened: 0 }, // opacity in per cent; 0 is off
  count: 12, nms: true, number: null,
  tab: "layers", tool: "patch", clicks: [], figureSize: "any", annotations: [], minScore: null, pixelSize: null,
  contrast: 0, // per cent of the pixels that are shown black, and white
  present: false, // presentation mode: the image and the dial alone
};
const PATTERNS = ["circle", "star", "spiral", "-45", "saddle", "saddle-diagonal"];
const TABS = ["layers", "settings", "extrema", "cut", "count", "save"];
const TOOLS = ["patch", "extrema", "cut", "count", "draw"];

const number = (low, high) => (text) => {
  const value = Number(text);
  return text !== "" && value >= low && value <= high ? value : undefined;
};
const integer = (low, high) => (text) => {
  const value = number(low, high)(text);
  return Number.isInteger(value) ? value : undefined;
};
const odd = (text) => {
  const value = integer(1, 4095)(text);
  return value % 2 === 1 ? value : undefined;
};
const oneOf = (...options) => (text) => (options.includes(text) ? text : undefined);

const READERS = {
  image: (text) => (/^(start(:\d{1,4})?(@\d{1,7}\.\d{1,7})?|sketch|sample:[\w-]{1,40}|upload:[\w-]{1,40})$/.test(text) ? text : undefined),
  y: integer(0, 4095), x: integer(0, 4095), size: odd,
  sigma: number(0.3, 20), low: number(0, 10), high: number(0, 10), force: oneOf("unit", "strength"),
  detector: (text) => (/^[\w-]{1,40}$/.test(text) ? text : undefined), alpha: number(0, 4), patch: oneOf("square", "disk"), smallest: odd, largest: odd,
  pattern: oneOf(...PATTERNS), polarity: oneOf("signed", "free"),
  range: number(50, 100), layers: readLayers, count: integer(0, 200), nms: readFlag, number: integer(1, 200),
  tab: oneOf(...TABS), tool: oneOf(...TOOLS), clicks: readClicks, figureSize: oneOf("any", "torque"), annotations: readAnnotations,
  minScore: number(0, 1), pixelSize: number(1e-6, 1e6), contrast: number(0, 10),
  present: readFlag,
};

function readFlag(text) {
  return text === "1" ? true : text === "0" ? false : undefined;
}

function readLayers(text) {
  const layers = { ...DEFAULTS.layers };
  for (const part of text.split(",")) {
    const [name, opacity] = part.split(".");
    if (name in layers) layers[name] = integer(1, 100)(opacity ?? "") ?? 70;
  }
  return layers;
}

function readClicks(text) {
  const clicks = [];
  for (const part of text.split(/[ ;]/)) {
    const match = /^([ps]?)(\d{1,4}),(\d{1,4})$/.exec(part);
    const operation = { p: "add", s: "remove", "": "new" }[match?.[1]];
    if (match) clicks.push({ operation, y: Number(match[2]), x: Number(match[3]) });
  }
  const good = clicks.every(({ operation }, k) => (operation === "new") === (k === 0));
  return good ? clicks.slice(0, 50) : [];
}

// Objects as y,x or y,x,diameter; negatives as ny,x.
function readAnnotations(text) {
  const annotations = [];
  for (const part of text.split(";")) {
    const match = /^(n?)(\d{1,4}),(\d{1,4})(?:,(\d{1,4}))?$/.exec(part);
    if (match) annotations.push({ y: Number(match[2]), x: Number(match[3]), diameter: Number(match[4] ?? 0), negative: match[1] === "n" });
  }
  return annotations.slice(0, 100);
}

const annotationText = ({ y, x, diameter, negative }, prefix) => `${negative ? prefix : ""}${y},${x}${diameter && !negative ? `,${diameter}` : ""}`;

function write(key, value) {
  if (key === "annotations") return value.map((annotation) => annotationText(annotation, "n")).join(";");
  if (key === "layers") {
    return Object.entries(value).filter(([, opacity]) => opacity > 0).map((pair) => pair.join(".")).join(",");
  }
  if (key === "clicks") {
    return value.map(({ operation, y, x }) => `${{ new: "", add: "p", remove: "s" }[operation]}${y},${x}`).join(";");
  }
  return typeof value === "boolean" ? (value ? "1" : "0") : String(value);
}

export function readAddress(hash) {
  const values = { ...DEFAULTS };
  for (const [key, text] of new URLSearchParams(hash.replace(/^#/, ""))) {
    const value = READERS[key]?.(text);
    if (value !== undefined) values[key] = value;
  }
  if (TOOLS.includes(values.tab) && values.tab !== values.tool) values.tool = values.tab; // a tool's own pane
  if (values.low !== null && values.high !== null && values.low > values.high) values.low = values.high;
  if (values.largest !== null && values.smallest > values.largest) values.smallest = values.largest;
  return values;
}

export function writeAddress(values) {
  const parts = [];
  for (const key of Object.keys(DEFAULTS)) {
    const text = values[key] === null ? "" : write(key, values[key]);
    const usual = DEFAULTS[key] === null ? "" : write(key, DEFAULTS[key]);
    if (text !== usual) parts.push(`${key}=${encodeURIComponent(text).replace(/%(2C|3A|3B)/g, decodeURIComponent)}`);
  }
  return `#${parts.join("&")}`;
}

// The query of a request: the server's names, and only values that differ from its defaults.
export function settingsQuery(state, extra = {}) {
  const query = new URLSearchParams();
  for (const key of ["sigma", "low", "high", "force", "detector", "alpha", "patch", "pattern", "polarity", "smallest", "largest", "range"]) {
    if (state[key] !== null && state[key] !== DEFAULTS[key]) query.set(key, state[key]);
  }
  for (const [key, value] of Object.entries({ count: state.count, nms: state.nms ? 1 : 0, ...extra })) {
    if (value !== null && value !== "") query.set(key, value);
  }
  return query;
}

export const visibleLayers = (state) => Object.keys(state.layers).filter((name) => state.layers[name] > 0).join(",");

const clicksText = (clicks) =>
  clicks.map(({ operation, y, x }) => `${{ new: "", add: "+", remove: "-" }[operation]}${y},${x}`).join(" ");

// The settings that a cut depends on, by the server's names.
export const cutSettings = ({ clicks, figureSize }) => ({
  clicks: clicksText(clicks), figure_size: figureSize === DEFAULTS.figureSize ? null : figureSize,
});

export const cutQuery = (state) => new URLSearchParams(Object.entries(cutSettings(state)).filter(([, value]) => value));

// The settings that a count depends on: the annotations here, and those of training images [{image, annotations}].
export function annotationsSettings({ annotations, minScore, pixelSize }, trainingImages) {
  const text = (list) => list.map((annotation) => annotationText(annotation, "-")).join(" ");
  return {
    annotations: text(annotations), min_score: minScore, pixel_size: pixelSize,
    training: trainingImages.map(({ image, annotations: others }) => `${image.key} ${text(others)}`).join(";"),
  };
}

export const annotationsQuery = (state, trainingImages) =>
  new URLSearchParams(Object.entries(annotationsSettings(state, trainingImages)).filter(([, value]) => value !== null && value !== ""));

export class Store {
  constructor(values) {
    this.values = values;
    this.listeners = [];
  }

  on(listener) { this.listeners.push(listener); }

  set(changes) {
    const changed = new Set();
    for (const [key, value] of Object.entries(changes)) {
      if (this.values[key] !== value) changed.add(key);
    }
    if (!changed.size) return;
    Object.assign(this.values, changes);
    for (const listener of this.listeners) listener(changed);
  }
}
