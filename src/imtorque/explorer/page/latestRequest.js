// One question at a time. The one under way is let finish and its answer shown, then the newest is asked: so slow answers
// come too. Where whoever asks has come to rest, what is under way is given up, which ends its computation on the server,
// but never twice in a row. What failed in passing is asked again, less and less often.

const REST = 200; // milliseconds without a new question
const FIRST_RETRY = 700;
const LAST_RETRY = 8000;

export class Newest {
  constructor() {
    this.running = null;
    this.waiting = null;
    this.gaveUp = false;
    this.failures = 0;
  }

  // asked: {question(signal) → promise, shown(answer, milliseconds), failed(error, milliseconds until it is asked again)}
  put(asked) {
    this.waiting = asked;
    clearTimeout(this.retry);
    clearTimeout(this.resting);
    if (!this.running) this.next();
    else this.resting = setTimeout(() => this.giveUp(), REST);
  }

  giveUp() {
    if (!this.running || !this.waiting || this.gaveUp) return;
    this.gaveUp = true;
    this.stop();
    this.next();
  }

  stop() {
    this.running?.abort();
    this.running = null;
  }

  async next() {
    const asked = this.waiting;
    const running = new AbortController();
    const began = performance.now();
    this.waiting = null;
    this.running = running;
    try {
      const answer = await asked.question(running.signal);
      if (this.running !== running) return;
      this.gaveUp = false;
      this.failures = 0;
      this.running = null;
      asked.shown(answer, performance.now() - began);
    } catch (error) {
      if (this.running !== running) return;
      this.running = null;
      this.fail(asked, error);
    }
    if (this.waiting && !this.running) this.next();
  }

  fail(asked, error) {
    if (this.waiting) return; // the next one will tell
    const wait = error.passing ? Math.min(LAST_RETRY, FIRST_RETRY * 2 ** this.failures++) : null;
    asked.failed(error, wait);
    if (wait !== null) this.retry = setTimeout(() => this.put(asked), wait);
  }

  // Nothing asked so far is wanted any more.
  clear() {
    clearTimeout(this.retry);
    clearTimeout(this.resting);
    this.waiting = null;
    this.failures = 0;
    this.stop();
  }

  get idle() { return !this.running && !this.waiting; }
}
