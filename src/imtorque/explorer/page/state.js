// The state of the page, kept in the address: what can be linked to, reloaded and gone back to.

const SQRT2 = Math.SQRT2;

export const DEFAULTS = {
  picture: null, y: null, x: null, size: null,
  sigma: SQRT2, low: null, high: null, force: "unit", detector: "canny", alpha: 2, patch: "square", smallest: 5, largest: null,
  pattern: "circle", polarity: "signed",
  range: 99, // per cent of the value map that are no stronger than its strongest colour
  layers: { scale: 0, value: 0, saliency: 0, edges: 0, strengthened: 0 }, // opacity in per cent; 0 is off
  count: 12, apart: true, number: null,
  tab: "layers", tool: "patch", clicks: [], whole: "any", marks: [],
  present: false, // whether the picture and the dial have the screen to themselves
};
const PATTERNS = ["circle", "star", "spiral", "-45", "saddle", "saddle-diagonal"];
const DETECTORS = ["canny", "pb", "mpb", "gpb", "ucm", "sketch-tokens"];
const TABS = ["layers", "settings", "extrema", "cut", "count", "save"];
const TOOLS = ["patch", "extrema", "cut", "count", "draw"];

const number = (low, high) => (text) => {
  const value = Number(text);
  return text !== "" && value >= low && value <= high ? value : undefined;
};
const whole = (low, high) => (text) => {
  const value = number(low, high)(text);
  return Number.isInteger(value) ? value : undefined;
};
const odd = (text) => {
  const value = whole(1, 4095)(text);
  return value % 2 === 1 ? value : undefined;
};
const oneOf = (...options) => (text) => (options.includes(text) ? text : undefined);

const READERS = {
  picture: (text) => (/^(start(:\d{1,4})?|sketch|sample:[\w-]{1,40}|held:[\w-]{1,40})$/.test(text) ? text : undefined),
  y: whole(0, 4095), x: whole(0, 4095), size: odd,
  sigma: number(0.3, 20), low: number(0, 10), high: number(0, 10), force: oneOf("unit", "strength"),
  detector: oneOf(...DETECTORS), alpha: number(0, 4), patch: oneOf("square", "disk"), smallest: odd, largest: odd,
  pattern: oneOf(...PATTERNS), polarity: oneOf("signed", "free"),
  range: number(50, 100), layers: readLayers, count: whole(0, 200), apart: readFlag, number: whole(1, 200),
  tab: oneOf(...TABS), tool: oneOf(...TOOLS), clicks: readClicks, whole: oneOf("any", "torque"), marks: readMarks,
  present: readFlag,
};

function readFlag(text) {
  return text === "1" ? true : text === "0" ? false : undefined;
}

function readLayers(text) {
  const layers = { ...DEFAULTS.layers };
  for (const part of text.split(",")) {
    const [name, opacity] = part.split(".");
    if (name in layers) layers[name] = whole(1, 100)(opacity ?? "") ?? 70;
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

// Objects as y,x or y,x,diameter; wrong ones as wy,x.
function readMarks(text) {
  const marks = [];
  for (const part of text.split(";")) {
    const match = /^(w?)(\d{1,4}),(\d{1,4})(?:,(\d{1,4}))?$/.exec(part);
    if (match) marks.push({ y: Number(match[2]), x: Number(match[3]), diameter: Number(match[4] ?? 0), wrong: match[1] === "w" });
  }
  return marks.slice(0, 100);
}

const markText = ({ y, x, diameter, wrong }, minus) => `${wrong ? minus : ""}${y},${x}${diameter && !wrong ? `,${diameter}` : ""}`;

function write(key, value) {
  if (key === "marks") return value.map((mark) => markText(mark, "w")).join(";");
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

// What the server is asked with: its own names, and only what differs from its defaults.
export function settingsQuery(state, extra = {}) {
  const query = new URLSearchParams();
  for (const key of ["sigma", "low", "high", "force", "detector", "alpha", "patch", "pattern", "polarity", "smallest", "largest", "range"]) {
    if (state[key] !== null && state[key] !== DEFAULTS[key]) query.set(key, state[key]);
  }
  for (const [key, value] of Object.entries({ count: state.count, apart: state.apart ? 1 : 0, ...extra })) {
    if (value !== null && value !== "") query.set(key, value);
  }
  return query;
}

export const shownLayers = (state) => Object.keys(state.layers).filter((name) => state.layers[name] > 0).join(",");

const clicksText = (clicks) =>
  clicks.map(({ operation, y, x }) => `${{ new: "", add: "+", remove: "-" }[operation]}${y},${x}`).join(" ");

// What a cut depends on, by the server's names.
export const cutSettings = ({ clicks, whole }) => ({ clicks: clicksText(clicks), whole: whole === DEFAULTS.whole ? null : whole });

export const cutQuery = (state) => new URLSearchParams(Object.entries(cutSettings(state)).filter(([, value]) => value));

// What a count depends on: the marks here, and those of lessons [{picture, marks}] in other pictures.
export function marksSettings({ marks }, lessons) {
  const text = (some) => some.map((mark) => markText(mark, "-")).join(" ");
  return { marks: text(marks), lessons: lessons.map((lesson) => `${lesson.picture.key} ${text(lesson.marks)}`).join(";") };
}

export const marksQuery = (state, lessons) =>
  new URLSearchParams(Object.entries(marksSettings(state, lessons)).filter(([, value]) => value));

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
