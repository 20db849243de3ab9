// The answers about an image that explorer/handlers.py gives, by the kernels in this page.

import { PATCH_OPTIONS, SIZE_OPTIONS, EDGE_OPTIONS, areas, defaultSizes, patternMatrix, readSettings } from "./settings.js";
import { pythonCode } from "./code.js";

// To whole numbers, ties to even, as numpy does: valid below 2^51.
const rint = (value) => value + 6755399441055744 - 6755399441055744;

// explorer/frame.py: a head and arrays as bytes.
export function pack(head, arrays) {
  const entries = {};
  let start = 0;
  for (const [name, array] of Object.entries(arrays)) {
    entries[name] = { dtype: array.constructor.name.replace("Array", "").toLowerCase(), shape: [array.length], start };
    start += Math.ceil(array.byteLength / 8) * 8;
  }
  let text = new TextEncoder().encode(JSON.stringify({ ...head, arrays: entries }));
  text = new TextEncoder().encode(new TextDecoder().decode(text) + " ".repeat(7 - ((text.length + 3) % 8)));
  const bytes = new Uint8Array(4 + text.length + start);
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  bytes.set(text, 4);
  for (const [name, array] of Object.entries(arrays)) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), 4 + text.length + entries[name].start);
  }
  return bytes;
}

// An array as numpy saves it.
export function npy(array, shape) {
  const type = array instanceof Float32Array ? "<f4" : "<i4";
  const text = `{'descr': '${type}', 'fortran_order': False, 'shape': (${shape.join(", ")}), }`;
  const head = text + " ".repeat(63 - ((10 + text.length) % 64)) + "\n";
  const bytes = new Uint8Array(10 + head.length + array.byteLength);
  bytes.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, head.length & 255, head.length >> 8]);
  bytes.set(new TextEncoder().encode(head), 10);
  bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), 10 + head.length);
  return bytes;
}

// A number as C's %.6g writes it.
function general(value) {
  const [digits, power] = value.toExponential(5).split("e").map(Number);
  if (power >= -4 && power < 6) return String(Number(value.toPrecision(6)));
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

export class Answers {
  constructor(kernels, { colours, installed }) {
    this.kernels = kernels;
    this.colours = colours; // imtorque.render's, as build.py writes them
    this.installed = installed;
    this.kept = {}; // the latest of each kind: {key, handle, free}
  }

  // The answer to a request: {text} or {bytes}, or {pixels, height, width} for a PNG file.
  answer(image, what, query) {
    const settings = readSettings(query);
    this.refuse(what, settings);
    try {
      if (what === "view") return { bytes: this.view(image, settings) };
      if (what === "contribution") return { bytes: this.contribution(image, settings) };
      if (what === "code") return { text: pythonCode(image, settings) };
      if (what === "extrema.csv") return { text: this.extremaTable(image, settings) };
      const [layer, kind] = what.split(".");
      return kind === "npy" ? { bytes: this.layerArray(image, settings, layer) } : this.layerImage(image, settings, layer);
    } finally {
      this.kernels.release();
    }
  }

  // What these kernels do not compute.
  refuse(what, settings) {
    const missing = { "Cut out": /^(figure|cutout)/.test(what) || settings.clicks, Count: /^(count|objects|annotations|finder)/.test(what) || settings.annotations || settings.training,
      Saliency: [what, ...settings.layers].some((name) => name.startsWith("saliency")),
      "Strengthened edges": [what, ...settings.layers].some((name) => name.startsWith("strengthened")),
      [`The detector ${settings.detector}`]: settings.detector !== "canny" };
    const [name] = Object.entries(missing).find(([, asked]) => asked) ?? [];
    if (name) throw new Error(`${name} needs the installed version: ${this.installed}`);
  }

  // Keep the latest result of a kind, and free the one before.
  keep(kind, key, compute, free) {
    const kept = this.kept[kind];
    if (kept?.key === key) return kept.handle;
    if (kept) free(kept.handle);
    delete this.kept[kind];
    const handle = compute();
    this.kept[kind] = { key, handle };
    return handle;
  }

  grey({ pixels, height, width, channels }) {
    const { kernels } = this;
    const address = kernels.room(4 * height * width);
    kernels.c.grey_of(kernels.put(pixels), height * width, channels, address);
    return address;
  }

  edges(image, settings) {
    const { sigma, low, high, force } = settings;
    const key = JSON.stringify([image.key, EDGE_OPTIONS.map((name) => settings[name])]);
    const { c } = this.kernels;
    return this.keep("edges", key, () => c.edges_of(this.grey(image), image.height, image.width, sigma, low ?? -1, high ?? -1, force === "strength"), c.free_edges);
  }

  // The edges turned by the pattern.
  field(image, settings) {
    const edges = this.edges(image, settings);
    const matrix = patternMatrix(settings.pattern);
    if (String(matrix) === "1,0,0,1") return edges;
    const { c } = this.kernels;
    return this.keep("field", `${this.kept.edges.key} ${matrix}`, () => c.turned(edges, ...matrix), c.free_edges);
  }

  maps(image, settings) {
    const field = this.field(image, settings);
    const { c } = this.kernels;
    const sizes = defaultSizes(image.height, image.width, settings);
    const key = JSON.stringify([this.kept.edges.key, [...PATCH_OPTIONS, ...SIZE_OPTIONS].map((name) => settings[name])]);
    const compute = () => c.maps_of(field, this.kernels.put(sizes), this.kernels.put(areas(sizes, settings)), sizes.length,
      settings.patch === "disk", settings.polarity === "free");
    return { sizes, maps: this.keep("maps", key, compute, c.free_maps) };
  }

  forces(edges, { height, width }) {
    const { c } = this.kernels;
    return [c.fx_of(edges), c.fy_of(edges)].map((address) => this.kernels.read(Float32Array, address, height * width));
  }

  // Where there are edges.
  place(edges, image) {
    const [fx, fy] = this.forces(edges, image);
    return Int32Array.from(fx.keys()).filter((i) => fx[i] !== 0 || fy[i] !== 0);
  }

  extrema(image, { nms, count, ...settings }) {
    const { kernels } = this;
    const { sizes, maps } = this.maps(image, settings);
    const places = kernels.room(12 * count + 4);
    const values = kernels.room(4 * count + 4);
    const found = kernels.c.extrema_of(maps, kernels.put(sizes), nms, count, places, values);
    const place = kernels.read(Int32Array, places, 3 * found);
    return Array.from(kernels.read(Float32Array, values, found), (value, i) => ({ y: place[3 * i + 1], x: place[3 * i + 2], size: sizes[place[3 * i]], value }));
  }

  range(maps, share) {
    return this.kernels.filled(Float32Array, 2, (address) => this.kernels.c.range_of(maps, share / 100, address));
  }

  view(image, settings) {
    const start = performance.now();
    const { kernels } = this;
    const { height, width } = image;
    const edges = this.edges(image, settings);
    const field = this.field(image, settings);
    const { sizes, maps } = this.maps(image, settings);
    const steps = kernels.c.steps_of(edges);
    const place = this.place(edges, image);
    const arrays = { place };
    const [full, limit] = this.range(maps, settings.range);
    for (const [names, handle] of [["fx fy", edges], ...(field === edges ? [] : [["gx gy", field]])]) {
      this.forces(handle, image).forEach((force, k) => {
        arrays[names.split(" ")[k]] = Int32Array.from(place, (i) => rint(Math.fround(force[i] * Math.fround(steps))));
      });
    }
    for (const layer of settings.layers) arrays[layer] = this.overlay(layer, { maps, edges, sizes, full, pixels: height * width });
    const [low, high] = kernels.filled(Float64Array, 2, (address) => kernels.c.thresholds_of(this.grey(image), height, width, settings.sigma, address));
    const head = { height, width, steps, sizes: [...sizes], limit, range: full, low, high, extrema: this.extrema(image, settings) };
    return pack({ ...head, milliseconds: Math.round(10 * (performance.now() - start)) / 10 }, arrays);
  }

  overlay(layer, { maps, edges, sizes, full, pixels }) {
    const { kernels, colours } = this;
    if (layer === "value") return kernels.filled(Uint8Array, 4 * pixels, (rgba) => kernels.c.value_overlay(maps, kernels.put(colours.value), full, rgba));
    const rgba = new Uint8Array(4 * pixels);
    if (layer === "scale") {
      const shown = this.scaleImage(maps, sizes, pixels);
      const scale = kernels.read(Int32Array, kernels.c.scale_of(maps), pixels);
      for (let i = 0; i < pixels; i++) {
        rgba.set(shown.subarray(3 * i, 3 * i + 3), 4 * i);
        rgba[4 * i + 3] = scale[i] !== 0 ? 255 : 0;
      }
      return rgba;
    }
    const strengths = this.edgeImage(edges, pixels);
    for (let i = 0; i < pixels; i++) {
      rgba.set(colours.line, 4 * i);
      rgba[4 * i + 3] = colours.lineOpacities[strengths[i]];
    }
    return rgba;
  }

  scaleImage(maps, sizes, pixels) {
    const { kernels, colours } = this;
    return kernels.filled(Uint8Array, 3 * pixels, (rgb) => kernels.c.scale_image(maps, kernels.put(colours.scale), sizes.at(-1), rgb));
  }

  edgeImage(edges, pixels) {
    return this.kernels.filled(Uint8Array, pixels, (grey) => this.kernels.c.edge_image(edges, grey));
  }

  layerImage(image, settings, layer) {
    const { kernels } = this;
    const { height, width } = image;
    if (layer === "edges") return { pixels: this.edgeImage(this.edges(image, settings), height * width), height, width };
    const { sizes, maps } = this.maps(image, settings);
    if (layer === "scale") return { pixels: this.scaleImage(maps, sizes, height * width), height, width };
    const [full] = this.range(maps, settings.range);
    const pixels = kernels.filled(Uint8Array, 3 * height * width, (rgb) => kernels.c.value_image(maps, kernels.put(this.colours.value), full, rgb));
    return { pixels, height, width };
  }

  layerArray(image, settings, layer) {
    const { height, width } = image;
    if (layer === "edges") {
      const both = new Float32Array(2 * height * width);
      this.forces(this.edges(image, settings), image).forEach((force, k) => both.set(force, k * height * width));
      return npy(both, [2, height, width]);
    }
    const { maps } = this.maps(image, settings);
    const [Type, address] = layer === "scale" ? [Int32Array, "scale_of"] : [Float32Array, "value_of"];
    return npy(this.kernels.read(Type, this.kernels.c[address](maps), height * width), [height, width]);
  }

  contribution(image, settings) {
    const { kernels } = this;
    const extremum = this.extrema(image, settings)[(settings.number ?? 1) - 1];
    if (!extremum) throw new Error(`number must be that of one of the extrema, got ${settings.number}`);
    const { y, x, size, value } = extremum;
    const total = kernels.filled(Float64Array, image.height * image.width, (address) =>
      kernels.c.contribution_of(this.field(image, settings), y, x, size, Math.sign(value), settings.patch === "disk", settings.polarity === "free", address));
    return pack({}, { moment: Float32Array.from(this.place(this.edges(image, settings), image), (i) => total[i]) });
  }

  extremaTable(image, settings) {
    const { factor } = image; // the table is in the pixels of the image as it was opened
    const whole = (place) => place * factor + Math.floor((factor - 1) / 2);
    const rows = this.extrema(image, settings).map(({ y, x, size, value }) => `${whole(y)},${whole(x)},${size * factor},${general(value)}`);
    return ["y,x,size,torque", ...rows, ""].join("\n");
  }

  // Pixels shrunk by a factor: imtorque.images.shrink_image.
  shrink({ pixels, height, width, channels }, factor) {
    const { kernels } = this;
    const shape = { height: Math.floor(height / factor), width: Math.floor(width / factor), channels };
    const shrunk = kernels.filled(Uint8Array, shape.height * shape.width * channels, (address) =>
      kernels.c.shrink(kernels.put(pixels), height, width, channels, factor, address));
    kernels.release();
    return { ...shape, pixels: shrunk };
  }
}
