// The worker: holds the kernels, and answers one request after the other. The page ends it to cancel.

import { Answers } from "./answers.js";
import { loadKernels } from "./kernels.js";

const images = new Map();
let answers;

async function png({ pixels, height, width }) {
  const canvas = new OffscreenCanvas(width, height);
  const image = new ImageData(width, height);
  const channels = pixels.length / (height * width);
  for (let i = 0; i < height * width; i++) {
    for (let c = 0; c < 3; c++) image.data[4 * i + c] = pixels[channels * i + (channels === 1 ? 0 : c)];
    image.data[4 * i + 3] = 255;
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
  return { type: "image/png", body: await canvas.convertToBlob({ type: "image/png" }) };
}

async function respond({ what, image, query, factor }) {
  if (what === "shrink") return answers.shrink(image, factor);
  const { text, bytes, ...shown } = answers.answer(images.get(image), what, query);
  if (shown.pixels) return png(shown);
  return text === undefined ? { type: "application/octet-stream", body: bytes } : { type: "text/plain", body: text };
}

let queue = Promise.resolve();
onmessage = ({ data: { start, add, remove, request } }) => {
  queue = queue.then(async () => {
    if (start) answers = new Answers(await loadKernels(start.module), start);
    if (add) images.set(add.key, add);
    if (remove) images.delete(remove);
    if (!request) return;
    try {
      postMessage({ number: request.number, answer: await respond(request) });
    } catch (error) {
      postMessage({ number: request.number, error: error.message });
    }
  });
};
