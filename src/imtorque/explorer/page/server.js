// Talking to the server: pictures there and back, answers of several arrays, the newest question first.

const ARRAYS = { int32: Int32Array, float32: Float32Array, uint8: Uint8Array };

async function refusal(response) {
  let message = `the server answered ${response.status}`;
  try {
    message = (await response.json()).error ?? message;
  } catch { /* not ours: keep the status */ }
  return Object.assign(new Error(message), { status: response.status });
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The explorer's server does not answer. Is `imtorque explore` still running?");
  }
  if (!response.ok) throw await refusal(response);
  return response;
}

export const start = async () => (await ask("/api/start")).json();

function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const arrays = {};
  for (const [name, { dtype, shape, start: from }] of Object.entries(head.arrays)) {
    arrays[name] = new ARRAYS[dtype](buffer, 4 + length + from, shape.reduce((a, b) => a * b, 1));
  }
  return { head, arrays };
}

// A picture the server holds for this tab. Where the server has let it go, it is sent again.
export class Picture {
  constructor(source, facts) {
    this.source = source;
    Object.assign(this, facts);
  }

  // source: {sample}, {start: true}, {file: Blob, name} or {key}, a picture the server already holds.
  static async open(source) {
    if (source.key) return new Picture(source, await (await ask(`/api/pictures/${source.key}`)).json());
    return new Picture(source, await Picture.send(source));
  }

  static async send(source) {
    const query = new URLSearchParams(source.sample ? { sample: source.sample } : source.start ? { start: 1 } : { name: source.name });
    return (await ask(`/api/pictures?${query}`, { method: "POST", body: source.file })).json();
  }

  url(what, query = "") { return `/api/pictures/${this.key}/${what}?${query}`; }

  async ask(what, query, options) {
    try {
      return await ask(this.url(what, query), options);
    } catch (error) {
      if (error.status !== 410 || this.source.key) throw error;
      Object.assign(this, await Picture.send(this.source));
      return ask(this.url(what, query), options);
    }
  }

  async arrays(what, query, options) {
    return unpack(await (await this.ask(what, query, options)).arrayBuffer());
  }

  async bitmap() {
    const blob = await (await this.ask("picture.png", "")).blob();
    if (this.source.key) this.source = { file: blob, name: this.name }; // what can be sent again
    return createImageBitmap(blob);
  }

  forget() { fetch(`/api/pictures/${this.key}`, { method: "DELETE", keepalive: true }).catch(() => {}); }

  farewell() { navigator.sendBeacon(`/api/pictures/${this.key}/close`); }
}

// One question at a time, always the newest. While the answers come quickly each is shown; an answer that has become
// old before it arrives is dropped, so that what is on the screen never goes back.
export class Newest {
  constructor(patience = 150) {
    this.patience = patience;
    this.running = null;
    this.waiting = null;
  }

  // question(signal) gives a promise; shown(answer) is called unless the question became old.
  put(question, shown, failed) {
    this.waiting = { question, shown, failed };
    if (!this.running) this.next();
    else if (performance.now() - this.running.began > this.patience) this.drop();
    else this.running.timer ??= setTimeout(() => this.drop(), this.patience);
  }

  drop() {
    if (!this.running || !this.waiting) return;
    clearTimeout(this.running.timer);
    this.running.abort.abort();
    this.running = null;
    this.next();
  }

  async next() {
    const { question, shown, failed } = this.waiting;
    this.waiting = null;
    const running = { abort: new AbortController(), began: performance.now() };
    this.running = running;
    try {
      const answer = await question(running.abort.signal);
      if (this.running === running) shown(answer, performance.now() - running.began);
    } catch (error) {
      if (this.running === running && error.name !== "AbortError") failed(error);
    }
    if (this.running !== running) return;
    clearTimeout(running.timer);
    this.running = null;
    if (this.waiting) this.next();
  }

  // Nothing asked so far is wanted any more.
  clear() {
    this.waiting = null;
    if (this.running) {
      clearTimeout(this.running.timer);
      this.running.abort.abort();
      this.running = null;
    }
  }

  get idle() { return !this.running && !this.waiting; }
}
