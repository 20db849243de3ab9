// One request in flight; only the latest waits. A finished request shows its answer before the next is sent, so slow
// answers appear during a drag too. Once no new request has come for a while, the one in flight is aborted, which cancels
// its computation on the server, but never twice in a row. Transient failures are retried with growing delays.

const ABORT_DELAY = 200; // milliseconds without a new request; convention: a pause in a gesture
const FIRST_RETRY = 700; // milliseconds; doubles with each failure
const LAST_RETRY = 8000;

export class LatestRequest {
  constructor() {
    this.inFlight = null;
    this.waiting = null;
    this.justAborted = false;
    this.failures = 0;
  }

  // request: {send(signal) → promise, onAnswer(answer, milliseconds), onError(error, milliseconds until the retry or null)}
  put(request) {
    this.waiting = request;
    this.clearTimers();
    if (!this.inFlight) this.next();
    else this.abortTimer = setTimeout(() => this.abortForNext(), ABORT_DELAY);
  }

  abortForNext() {
    if (!this.inFlight || !this.waiting || this.justAborted) return;
    this.justAborted = true;
    this.abort();
    this.next();
  }

  abort() {
    this.inFlight?.abort();
    this.inFlight = null;
  }

  async next() {
    const request = this.waiting;
    const controller = new AbortController();
    const start = performance.now();
    this.waiting = null;
    this.inFlight = controller;
    try {
      const answer = await request.send(controller.signal);
      if (this.inFlight !== controller) return;
      this.justAborted = false;
      this.failures = 0;
      this.inFlight = null;
      request.onAnswer(answer, performance.now() - start);
    } catch (error) {
      if (this.inFlight !== controller) return;
      this.inFlight = null;
      this.fail(request, error);
    }
    if (this.waiting && !this.inFlight) this.next();
  }

  fail(request, error) {
    if (this.waiting) return; // its outcome will be reported
    const wait = error.transient ? Math.min(LAST_RETRY, FIRST_RETRY * 2 ** this.failures++) : null;
    request.onError(error, wait);
    if (wait !== null) this.retryTimer = setTimeout(() => this.put(request), wait);
  }

  // Drop the waiting request and abort the one in flight.
  clear() {
    this.clearTimers();
    this.waiting = null;
    this.failures = 0;
    this.abort();
  }

  clearTimers() {
    clearTimeout(this.retryTimer);
    clearTimeout(this.abortTimer);
  }

  get idle() { return !this.inFlight && !this.waiting; }
}
