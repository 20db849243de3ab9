// The answers of web/answers.js under node: images and requests come as JSON, an answer each is written to a file.

const fs = require("node:fs");
const { Answers } = require("../../web/answers.js");
const { loadKernels } = require("../../web/kernels.js");

async function main() {
  const { kernels, colours, images, requests, out } = JSON.parse(fs.readFileSync(process.argv[2]));
  const module = new WebAssembly.Module(fs.readFileSync(kernels));
  const tables = Object.fromEntries(Object.entries(colours).map(([name, table]) => [name, Uint8Array.from(table)]));
  const answers = new Answers(await loadKernels(module), { colours: tables, installed: "INSTALL" });
  const read = (image) => ({ ...image, pixels: new Uint8Array(fs.readFileSync(image.pixels)) });
  const known = Object.fromEntries(Object.entries(images).map(([key, image]) => [key, read(image)]));
  requests.forEach(({ image, what, query, factor }, k) => {
    let content;
    try {
      if (what === "shrink") content = answers.shrink(known[image], factor).pixels;
      else {
        const { text, bytes, pixels } = answers.answer(known[image], what, query);
        content = text ?? bytes ?? pixels;
      }
    } catch (error) {
      content = `error: ${error.message}`;
    }
    fs.writeFileSync(`${out}/${k}`, content);
  });
}

main();
