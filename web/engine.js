// What answers the page's requests where there is no server: the same paths, by the kernels in a worker.

import WORKER from "./worker.txt";
import KERNELS from "./kernels.gz";
import FACTS from "./facts.json";
import { decode } from "./decode.js";
import { repr } from "./code.js";
import { toast } from "./page.js";
import "./installed.js";

const images = new Map(); // by key: {facts, recipe, file, pixels, height, width, channels}
const source = URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" }));
const bytesOf = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
const unpacked = new Response(new Blob([bytesOf(KERNELS)]).stream().pipeThrough(new DecompressionStream("gzip")));
const compiled = unpacked.arrayBuffer().then((bytes) => WebAssembly.compile(bytes));
const colours = Object.fromEntries(Object.entries(FACTS.colours).map(([name, table]) => [name, Uint8Array.from(table)]));

let worker = null;
let sent; // the images that the worker has
let numbers = 0;
const waiting = new Map(); // requests without an answer, by number: {message, image, resolve, reject}

function startWorker(module) {
  worker = new Worker(source);
  sent = new Set();
  worker.onmessage = ({ data: { number, answer, error } }) => {
    const { resolve, reject } = waiting.get(number) ?? {};
    waiting.delete(number);
    if (error === undefined) resolve?.(answer);
    else reject?.(new Error(error));
  };
  worker.postMessage({ start: { module, colours, installed: FACTS.installed } });
  waiting.forEach(send);
}

function send({ message, image }, number) {
  if (image && !sent.has(image.key)) {
    const { key, pixels, height, width, channels, recipe, facts: { factor } } = image;
    worker.postMessage({ add: { key, pixels, height, width, channels, recipe, factor } });
    sent.add(key);
  }
  worker.postMessage({ request: { ...message, number } });
}

// Ask the worker. To cancel, it is ended; another answers what else was asked.
async function compute(message, image, signal) {
  const module = await compiled;
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const number = ++numbers;
    waiting.set(number, { message, image, resolve, reject });
    if (worker) send(waiting.get(number), number);
    else startWorker(module);
    signal?.addEventListener("abort", () => {
      reject(signal.reason);
      if (!waiting.delete(number)) return;
      worker.terminate();
      startWorker(module);
    });
  });
}

// An image as the explorer works on it: shrunk where it is large (explorer/image_store.py).
async function add(name, pixels, recipe, { file = null, original = [pixels.height, pixels.width] } = {}) {
  const [height, width] = original;
  const { working, side } = FACTS.bounds;
  const factor = Math.max(Math.ceil(Math.sqrt((height * width) / working)), Math.ceil(Math.max(height, width) / side));
  if (factor > Math.min(height, width)) throw new Error(`${name}: must be less narrow to be shown, got ${height} x ${width} pixels`);
  let image = pixels;
  let lines = recipe;
  if (factor > 1 && pixels.height === height) {
    image = await compute({ what: "shrink", image: pixels, factor });
    lines = [...recipe, `image = imtorque.images.shrink_image(image, ${factor})`];
  }
  const key = crypto.getRandomValues(new Uint32Array(3)).join("-");
  const shrunkBy = Math.max(1, Math.floor(height / image.height));
  const facts = { key, name, height: image.height, width: image.width, factor: shrunkBy, original_height: height, original_width: width, pixel_size: null };
  images.set(key, { ...image, key, facts, file, recipe: lines });
  return facts;
}

async function open(query, body) {
  const sample = query.get("sample");
  if (sample !== null) {
    const { png, grey, recipe, original } = FACTS.samples[sample] ?? {};
    if (!png) throw new Error(`sample must be one of ${Object.keys(FACTS.samples).join(", ")}, got ${sample}`);
    return add(sample, await decode(new Blob([bytesOf(png)]), sample, FACTS, grey), recipe, { original });
  }
  const name = query.get("name");
  return add(name, await decode(body, name, FACTS), [`image = imtorque.files.read_image(${repr(name)})`], { file: body });
}

// The image for display.
async function shownImage({ pixels, height, width, channels }) {
  const canvas = new OffscreenCanvas(width, height);
  const image = new ImageData(width, height);
  const highest = pixels.reduce((most, value) => Math.max(most, value), 0);
  const white = 255 > 16 * highest && highest > 0 ? highest : 255;
  for (let i = 0; i < height * width; i++) {
    for (let c = 0; c < 3; c++) image.data[4 * i + c] = Math.round((255 * pixels[channels * i + (channels === 1 ? 0 : c)]) / white);
    image.data[4 * i + 3] = 255;
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas.convertToBlob({ type: "image/png" });
}

const json = (content, status = 200) => new Response(JSON.stringify(content), { status, headers: { "content-type": "application/json" } });

async function answer(path, { method = "GET", body, signal } = {}) {
  const [place, query] = path.split("?");
  const [, kind, key, what] = place.split("/");
  if (kind === "start") {
    const { version, samples, detectors } = FACTS;
    return json({ version, detectors, samples: Object.keys(samples), start: [], max_bytes: 2 ** 28, notebook: false });
  }
  if (!key) return json(await open(new URLSearchParams(query), body), 201);
  const image = images.get(key);
  if (method === "DELETE") {
    images.delete(key);
    if (sent?.delete(key)) worker.postMessage({ remove: key });
    return new Response(null, { status: 204 });
  }
  if (!image) return json({ error: "this image is no longer held by the page: open it again" }, 410);
  if (!what) return json(image.facts);
  if (what === "file") return new Response(image.file);
  if (what === "original.png" && image.facts.factor > 1) {
    if (!image.file) throw new Error(`${image.facts.name}: must be an image that was opened, got a sample, which this page has only shrunk`);
    return new Response(await shownImage(await decode(image.file, image.facts.name, FACTS)));
  }
  if (what === "image.png" || what === "original.png") return new Response(await shownImage(image));
  const { type, body: content } = await compute({ what, image: key, query }, image, signal);
  return new Response(content, { headers: { "content-type": type } });
}

export async function ask(path, options) {
  try {
    return await answer(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return json({ error: error.message }, 400);
  }
}

export const tell = () => {};

// Links to files: what a server would send is made here and saved.
document.addEventListener("click", async (event) => { // before the browser follows the link
  const link = event.target.closest?.("a[href^='api/']");
  if (!link) return;
  event.preventDefault();
  const path = link.getAttribute("href");
  const [, , key, what] = path.split("?")[0].split("/");
  const made = await ask(path);
  if (!made.ok) return toast((await made.json()).error);
  const url = URL.createObjectURL(await made.blob());
  const stem = (images.get(key)?.facts.name ?? "image").replace(/[^\w.-]/g, "_").slice(0, 80);
  Object.assign(document.createElement("a"), { href: url, download: `${stem}.${what}` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}, true);
