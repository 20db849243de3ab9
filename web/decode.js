// Files that the browser can decode, as the pixels the library reads from them: 8 bits, grey or red, green, blue.

// Whether a file says that it has no colour: the colour type of a PNG, the number of components of a JPEG.
export function isGrey(bytes) {
  if (bytes[0] === 0x89 && bytes[1] === 0x50) return bytes[25] === 0 || bytes[25] === 4;
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return false;
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff;) {
    const marker = bytes[at + 1];
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) return bytes[at + 9] === 1;
    at += marker === 0xff ? 1 : 2 + 256 * bytes[at + 2] + bytes[at + 3];
  }
  return false;
}

export async function decode(file, name, { bounds, installed }, grey = null) {
  let bitmap;
  try {
    bitmap = await createImageBitmap(file, { colorSpaceConversion: "none", premultiplyAlpha: "none" });
  } catch {
    throw new Error(`${name}: must be an image that the browser reads, such as PNG or JPEG; TIFF and others need the installed version: ${installed}`);
  }
  const { height, width } = bitmap;
  if (height * width > bounds.pixels) throw new Error(`${name}: an image must have at most ${bounds.pixels} pixels, got ${height} x ${width}`);
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  context.fillStyle = "#fff"; // what is transparent lies over white
  context.fillRect(0, 0, width, height);
  context.drawImage(bitmap, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const channels = (grey ?? isGrey(new Uint8Array(await file.slice(0, 2 ** 20).arrayBuffer()))) ? 1 : 3;
  const pixels = new Uint8Array(channels * height * width);
  for (let i = 0; i < height * width; i++) for (let c = 0; c < channels; c++) pixels[channels * i + c] = data[4 * i + c];
  return { pixels, height, width, channels };
}
