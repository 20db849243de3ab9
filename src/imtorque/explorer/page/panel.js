// The controls of the side panel: each shows the state and changes it, and nothing else.

import { DEFAULTS } from "./state.js";
import { largestPatch } from "./gestures.js";

const $ = (id) => document.getElementById(id);

// Thresholds run over a wide range: the slider is logarithmic, from 0.001 to 0.5 grey values per pixel.
const fromSlider = (t) => Number((0.001 * 500 ** (t / 200)).toPrecision(2));
const toSlider = (v) => Math.round((200 * Math.log(Math.max(v, 0.001) / 0.001)) / Math.log(500));

// The paper's smoothing is √2: the slider has it in the place of 1.4.
const SIGMA = DEFAULTS.sigma;

const SLIDERS = {
  sigma: { min: 0.5, max: 6, step: 0.1, read: (v) => (Math.abs(v - SIGMA) < 0.05 ? SIGMA : v), show: (v) => (v === SIGMA ? "√2" : v.toFixed(1)) },
  alpha: { min: 0.5, max: 3, step: 0.05, show: (v) => v.toFixed(2) },
  count: { min: 0, max: 60, step: 1, show: String },
  low: { min: 0, max: 200, step: 1, read: fromSlider, write: toSlider, show: (v) => v.toPrecision(2) },
  high: { min: 0, max: 200, step: 1, read: fromSlider, write: toSlider, show: (v) => v.toPrecision(2) },
  smallest: { min: 3, max: 99, step: 2, show: String },
  largest: { min: 3, max: 99, step: 2, show: String },
  minScore: { min: 0, max: 1, step: 0.01, show: (v) => `${Math.round(100 * v)} %` },
  contrast: { min: 0, max: 10, step: 0.5, show: (v) => (v ? `${v} %` : "as it is") },
  range: { min: 50, max: 100, step: 0.5, show: (v) => `${v} %` },
};
const TABBED_TOOLS = ["extrema", "cut", "count"]; // tools that have a tab of their own
const CHOICES = ["force", "patch", "pattern", "polarity"];
const SETTINGS = ["sigma", "low", "high", "alpha", "smallest", "largest", "detector", ...CHOICES];

export class Panel {
  constructor(store, choose) {
    this.store = store;
    this.choose = choose;
    this.defaultLargest = 99;
    this.detectors = [];
    this.threshold = 0; // the least score that the finder chose
    this.automatic = { low: 0, high: 0 }; // the image's automatic thresholds
    for (const [id, slider] of Object.entries(SLIDERS)) this.bindSlider(id, slider);
    for (const id of CHOICES) $(id).addEventListener("change", () => store.set({ [id]: $(id).value, number: null }));
    $("detector").addEventListener("change", () => store.set({ detector: this.detectorName($("detector").value), number: null }));
    $("figure-size").addEventListener("change", () => store.set({ figureSize: $("figure-size").value }));
    $("nms").addEventListener("change", () => store.set({ nms: $("nms").checked, number: null }));
    $("auto").addEventListener("change", () => store.set($("auto").checked ? { low: null, high: null } : { ...this.automatic }));
    $("defaults").addEventListener("click", () => {
      store.set({ ...Object.fromEntries(SETTINGS.map((key) => [key, DEFAULTS[key]])), number: null });
    });
    for (const box of document.querySelectorAll("[data-layer]")) this.bindLayer(box);
    this.bindTabs();
  }

  // The server's base detectors; the first is the default.
  setDetectors(detectors) {
    this.detectors = detectors;
    $("detector").replaceChildren(...detectors.map(({ name, title, description, needs }) => {
      const option = new Option(title, name);
      option.title = description;
      option.disabled = Boolean(needs);
      if (needs) option.text = `${title}: needs ${needs}`;
      return option;
    }));
  }

  // The name as the state has it: null for the default and for names the server does not know.
  detectorName(name) {
    return this.detectors.slice(1).some((detector) => detector.name === name && !detector.needs) ? name : null;
  }

  bindSlider(id, { min, max, step, read = Number }) {
    const input = $(id);
    Object.assign(input, { min, max, step });
    input.addEventListener("input", () => {
      const { values } = this.store;
      const value = read(Number(input.value));
      const changes = ["range", "minScore", "contrast"].includes(id) ? { [id]: value } : { [id]: value, number: null };
      // Two ends of one range push each other.
      if (id === "low" && value > values.high) changes.high = value;
      if (id === "high" && value < values.low) changes.low = value;
      if (id === "smallest" && value > (values.largest ?? this.defaultLargest)) changes.largest = value;
      if (id === "largest" && value < values.smallest) changes.smallest = value;
      this.store.set(changes);
    });
  }

  bindLayer(box) {
    const name = box.dataset.layer;
    const opacity = document.querySelector(`[data-opacity="${name}"]`);
    opacity.value = name === "value" || name === "scale" ? 75 : 90;
    const put = () => {
      this.store.set({ layers: { ...this.store.values.layers, [name]: box.checked ? Number(opacity.value) : 0 } });
    };
    box.addEventListener("change", put);
    opacity.addEventListener("input", () => { box.checked = true; put(); });
  }

  bindTabs() {
    const tabs = [...document.querySelectorAll("[role=tab]")];
    const open = (tab) => this.store.set({ tab });
    for (const tab of tabs) {
      tab.addEventListener("click", () => open(tab.dataset.tab));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const seen = tabs.filter((one) => !one.hidden);
        const next = seen[(seen.indexOf(tab) + step + seen.length) % seen.length];
        next.focus();
        open(next.dataset.tab);
      });
    }
    for (const radio of document.querySelectorAll("[name=tool]")) {
      radio.addEventListener("change", () => {
        const tool = radio.value;
        const { tab } = this.store.values;
        if (TABBED_TOOLS.includes(tool)) this.store.set({ tool, tab: tool });
        else this.store.set({ tool, tab: TABBED_TOOLS.includes(tab) ? "layers" : tab, number: null });
      });
    }
  }

  // The image bounds the size of patches.
  setImage(image) {
    const most = largestPatch(image);
    $("smallest").max = $("largest").max = most;
  }

  setView({ sizes, low, high, range }, edges) {
    if (this.store.values.largest === null) this.defaultLargest = sizes.at(-1);
    this.automatic = { low, high };
    $("limit").textContent = `−${range.toFixed(2)} … +${range.toFixed(2)}`;
    $("curve").setAttribute("aria-valuemin", sizes[0]);
    $("curve").setAttribute("aria-valuemax", sizes.at(-1));
    $("edge-count").textContent = `${edges.toLocaleString("en")} pixels: what the operator sees`;
    this.show();
  }

  show() {
    const { values } = this.store;
    const shown = { ...values, largest: values.largest ?? this.defaultLargest, minScore: values.minScore ?? this.threshold };
    if (document.activeElement !== $("pixelSize")) $("pixelSize").value = values.pixelSize ?? "";
    $("auto").checked = values.low === null && values.high === null;
    const detector = this.detectors.find(({ name }) => name === values.detector) ?? this.detectors[0];
    $("detector").value = detector?.name;
    const fixed = detector && !detector.has_settings;
    for (const key of ["sigma", "auto", "force"]) $(key).disabled = fixed;
    for (const key of ["low", "high"]) {
      $(key).disabled = fixed || $("auto").checked;
      shown[key] = values[key] ?? values.high ?? values.low ?? this.automatic[key];
    }
    for (const [id, { write = (v) => v, show }] of Object.entries(SLIDERS)) {
      $(id).value = write(shown[id]);
      const text = show(shown[id]);
      $(`${id}-out`).textContent = text;
      $(id).setAttribute("aria-valuetext", text);
    }
    for (const id of CHOICES) $(id).value = values[id];
    $("figure-size").value = values.figureSize;
    $("nms").checked = values.nms;
    for (const [name, opacity] of Object.entries(values.layers)) {
      document.querySelector(`[data-layer="${name}"]`).checked = opacity > 0;
      if (opacity) document.querySelector(`[data-opacity="${name}"]`).value = opacity;
    }
    document.body.dataset.tool = values.tool;
    for (const tab of document.querySelectorAll("[role=tab]")) {
      tab.hidden = TABBED_TOOLS.includes(tab.dataset.tab) && tab.dataset.tab !== values.tool;
      const chosen = tab.dataset.tab === values.tab;
      tab.setAttribute("aria-selected", chosen);
      tab.tabIndex = chosen ? 0 : -1;
    }
    for (const pane of document.querySelectorAll(".pane")) pane.hidden = pane.dataset.pane !== values.tab;
    for (const radio of document.querySelectorAll("[name=tool]")) radio.checked = radio.value === values.tool;
    $("size-tool").hidden = ["cut", "count", "draw"].includes(values.tool);
    $("count-tool").hidden = values.tool !== "count";
    $("hint").textContent = values.tool === "extrema" ? "click a marker · arrow keys go from one to the next" : "drag to move · Shift and wheel to resize";
    for (const id of ["smaller", "larger"]) $(id).disabled = values.tool === "extrema"; // no patch is shown
    $("cut-tool").hidden = values.tool !== "cut";
    $("sketch-tool").hidden = values.tool !== "draw";
  }

  setExtrema(extrema) {
    const list = $("extrema");
    const focused = document.activeElement?.closest?.("#extrema li");
    const at = focused ? [...list.children].indexOf(focused) : -1;
    list.replaceChildren(...extrema.map(({ value, size }, k) => {
      const button = document.createElement("button");
      const name = document.createElement("b");
      const torque = document.createElement("i");
      button.type = "button";
      name.textContent = k + 1;
      torque.textContent = `${value > 0 ? "+" : "−"}${Math.abs(value).toFixed(3)}`;
      torque.className = value > 0 ? "plus" : "minus";
      button.append(name, value > 0 ? "▲" : "▼", ` ${size} px`, torque);
      button.setAttribute("aria-label", `Extremum ${k + 1}: ${value > 0 ? "bright" : "dark"}, size ${size}, torque ${value.toFixed(3)}`);
      button.setAttribute("aria-pressed", this.store.values.number === k + 1);
      button.addEventListener("click", () => this.choose(this.store.values.number === k + 1 ? null : k + 1));
      const item = document.createElement("li");
      item.append(button);
      return item;
    }));
    if (at >= 0) list.children[at]?.firstChild.focus({ preventScroll: true });
    if (!extrema.length) list.textContent = this.store.values.count ? "None: there are no edges." : "None, as asked for.";
  }
}
