// Saving what the page itself makes: the whole image with what is drawn over it, at the original's resolution.

import { page, toast } from "./page.js";

const MAX_PIXELS = 2 ** 27; // bound: of a canvas that browsers make

export function save(blob, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}

async function saveImage() {
  const { image, stage } = page;
  const { original_height: height, original_width: width } = image;
  if (height * width > MAX_PIXELS) return toast(`An image with overlay must have at most ${MAX_PIXELS / 2 ** 20} megapixels, got ${height} × ${width}.`);
  const fetched = async () => createImageBitmap(await (await image.request("original.png", "")).blob());
  const original = image.factor > 1 ? await fetched() : stage.image;
  save(await stage.rendered(original, image.factor).convertToBlob(), `${image.name.split(/[\\/]/).at(-1)}.overlay.png`);
}

export function showSaving() {
  for (const button of document.querySelectorAll(".save-image")) button.disabled = !page.view;
}

for (const button of document.querySelectorAll(".save-image")) {
  button.addEventListener("click", () => saveImage().catch((error) => toast(error.message)));
}
