// In a notebook, the page's state is sent to Python once it is idle.

import { page, store } from "./page.js";
import { isIdle, pageQuery } from "./api.js";
import { inNotebook } from "./images.js";

const SYNC_DELAY = 150; // milliseconds; convention: after a gesture

let timer;
let sentUrl = null;

function sync() {
  if (!inNotebook()) return;
  if (!page.view || !isIdle()) return schedule();
  const url = page.image.url("state", pageQuery({ extrema: true }));
  if (url === sentUrl) return;
  sentUrl = url;
  fetch(url, { method: "POST", keepalive: true }).catch(() => { sentUrl = null; });
}

function schedule() {
  clearTimeout(timer);
  timer = setTimeout(sync, SYNC_DELAY);
}

store.on(schedule);
