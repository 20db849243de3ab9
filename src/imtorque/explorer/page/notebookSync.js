// In a notebook, Python is told what is on the page once it has come to rest.

import { page, store } from "./page.js";
import { isIdle, pageQuery } from "./asking.js";
import { inNotebook } from "./pictures.js";

const REST = 150; // milliseconds

let telling;
let told = null;

function tell() {
  if (!inNotebook()) return;
  if (!page.view || !isIdle()) return later();
  const now = page.picture.url("state", pageQuery({ extrema: true }));
  if (now === told) return;
  told = now;
  fetch(now, { method: "POST", keepalive: true }).catch(() => { told = null; });
}

function later() {
  clearTimeout(telling);
  telling = setTimeout(tell, REST);
}

store.on(later);
