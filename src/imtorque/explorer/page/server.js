// Talking to the server: pictures there and back, answers of several arrays, the newest question first.

const ARRAYS = { int32: Int32Array, float32: Float32Array, uint8: Uint8Array };

async function refusal(response) {
  let message = `the server answered ${response.status}`;
  try {
    message = (await response.json()).error ?? message;
  } catch { /* not ours: keep the status */ }
  return Object.assign(new Error(message), { status: response.status, passing: response.status >= 500 });
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    const message = "The explorer's server does not answer. Is `imtorque explore` still running?";
    throw Object.assign(new Error(message), { passing: true });
  }
  if (!response.ok) throw await refusal(response);
  return response;
}

export const start = async () => (await ask("api/start")).json();

function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const arrays = {};
  for (const [name, { dtype, shape, start: from }] of Object.entries(head.arrays)) {
    arrays[name] = new ARRAYS[dtype](buffer, 4 + length + from, shape.reduce((a, b) => a * b, 1));
  }
  return { head, arrays };
}

// A picture the server holds for this tab. Where the server has let it go, the bytes the user opened are sent again.
export class Picture {
  constructor(source, facts) {
    this.source = source;
    Object.assign(this, facts);
  }

  // source: {sample}, {start: its number}, {file: Blob, name}, or {key}, a picture the server holds, with its file where known.
  static async open(source) {
    if (!source.key) return new Picture(source, await Picture.send(source));
    const path = `api/pictures/${source.key}`;
    try {
      const facts = await (await ask(path)).json();
      const file = source.file ?? (await (await ask(`${path}/file`)).blob());
      return new Picture({ ...source, file, name: facts.name }, facts);
    } catch (error) {
      if (error.status !== 410 || !source.file) throw error;
      return new Picture(source, await Picture.send(source));
    }
  }

  static async send(source) {
    const query = new URLSearchParams(source.sample ? { sample: source.sample } : source.start !== undefined ? { start: source.start } : { name: source.name });
    return (await ask(`api/pictures?${query}`, { method: "POST", body: source.file })).json();
  }

  url(what, query = "") { return `api/pictures/${this.key}/${what}?${query}`; }

  async ask(what, query, options) {
    try {
      return await ask(this.url(what, query), options);
    } catch (error) {
      if (error.status !== 410) throw error;
      await this.sendAgain();
      return ask(this.url(what, query), options);
    }
  }

  async sendAgain() { Object.assign(this, await Picture.send(this.source)); }

  async arrays(what, query, options) {
    return unpack(await (await this.ask(what, query, options)).arrayBuffer());
  }

  async bitmap() { return createImageBitmap(await (await this.ask("picture.png", "")).blob()); }

  forget() { fetch(`api/pictures/${this.key}`, { method: "DELETE", keepalive: true }).catch(() => {}); }

  farewell() { navigator.sendBeacon(`api/pictures/${this.key}/close`); }
}
