// Requests to the server: images there and back, answers of several arrays.

import { ask, tell } from "./engine.js";

const ARRAYS = { int32: Int32Array, float32: Float32Array, uint8: Uint8Array };

async function refusal(response) {
  let message = `the server answered ${response.status}`;
  try {
    message = (await response.json()).error ?? message;
  } catch { /* not ours: keep the status */ }
  return Object.assign(new Error(message), { status: response.status, transient: response.status >= 500 });
}

async function request(path, options) {
  let response;
  try {
    response = await ask(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    const message = "The explorer's server does not answer. Is `imtorque explore` still running?";
    throw Object.assign(new Error(message), { transient: true });
  }
  if (!response.ok) throw await refusal(response);
  return response;
}

export const start = async () => (await request("api/start")).json();

function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const arrays = {};
  for (const [name, { dtype, shape, start: from }] of Object.entries(head.arrays)) {
    arrays[name] = new ARRAYS[dtype](buffer, 4 + length + from, shape.reduce((a, b) => a * b, 1));
  }
  return { head, arrays };
}

// An image the server stores for this tab. Where the server has evicted it, the file the user opened is uploaded again.
export class StoredImage {
  constructor(source, facts) {
    this.source = source;
    Object.assign(this, facts);
  }

  // source: {sample}, {start: its number}, {file: Blob, name}, or {key}, an image the server stores, with its file where known.
  static async open(source, options = {}) {
    if (!source.key) return new StoredImage(source, await StoredImage.send(source, options));
    const path = `api/images/${source.key}`;
    try {
      const facts = await (await request(path, options)).json();
      const file = source.file ?? (await (await request(`${path}/file`, options)).blob());
      return new StoredImage({ ...source, file, name: facts.name, page: facts.page, channel: facts.channel }, facts);
    } catch (error) {
      if (error.status !== 410 || !source.file) throw error;
      return new StoredImage(source, await StoredImage.send(source, options));
    }
  }

  static async send(source, options = {}) {
    const query = new URLSearchParams(source.sample ? { sample: source.sample } : source.start !== undefined ? { start: source.start } : { name: source.name });
    for (const name of ["page", "channel"]) if (Number.isInteger(source[name])) query.set(name, source[name]);
    return (await request(`api/images?${query}`, { method: "POST", body: source.file, ...options })).json();
  }

  url(what, query = "") { return `api/images/${this.key}/${what}?${query}`; }

  async request(what, query, options) {
    try {
      return await request(this.url(what, query), options);
    } catch (error) {
      if (error.status !== 410) throw error;
      await this.upload();
      return request(this.url(what, query), options);
    }
  }

  async upload() { Object.assign(this, await StoredImage.send(this.source)); }

  async arrays(what, query, options) {
    return unpack(await (await this.request(what, query, options)).arrayBuffer());
  }

  async bitmap(contrast, options) {
    return createImageBitmap(await (await this.request("image.png", contrast ? new URLSearchParams({ contrast }) : "", options)).blob());
  }

  remove() { ask(`api/images/${this.key}`, { method: "DELETE", keepalive: true }).catch(() => {}); }

  markClosed() { tell(`api/images/${this.key}/close`); }
}
