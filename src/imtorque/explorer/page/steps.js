// Steps that play by themselves and can be held: what torque is, shown.

import { $, page, say, state, store } from "./page.js";
import { openNamed } from "./pictures.js";
import { DEFAULTS } from "./state.js";

const middle = { y: 80, x: 120 };
const odd = (value) => 2 * Math.round((value - 1) / 2) + 1;
const between = (from, to, share) => from + (to - from) * share;

// play(share): what changes as a step runs from 0 to 1.
const STEPS = [
  { title: "A patch grows over a disc", picture: "sample:disc", begin: { ...middle, size: 41, largest: 131 }, seconds: 9,
    text: "Every force of a closed outline turns the patch the same way. Torque is strongest where the disc just fits, and falls as the patch grows on: it is divided by the area.",
    play: (t) => ({ size: odd(between(41, 131, t)) }) },
  { title: "Texture cancels", picture: "sample:texture", begin: { y: 80, x: 40, size: 61 }, seconds: 9,
    text: "Edges of texture point every way. There are many of them, but what one turns, another turns back.",
    play: (t) => ({ x: Math.round(between(40, 200, t)) }) },
  { title: "A hole turns back", picture: "sample:hole", begin: { ...middle, size: 21, largest: 131 }, seconds: 9,
    text: "The hole's rim has its brighter side inside: it turns the patch against the outer rim, until that outweighs it.",
    play: (t) => ({ size: odd(between(21, 131, t)) }) },
  { title: "Alpha chooses the scale", picture: "sample:shapes", begin: { y: 98, x: 119, size: 67, alpha: 3 }, seconds: 9,
    text: "Torque is divided by size to the power α. The smaller α is, the larger the patches that win: the curve's peak moves right.",
    play: (t) => ({ alpha: Math.round(20 * between(3, 0.5, t)) / 20 }) },
  { title: "Other patterns", picture: "sample:shapes", begin: { y: 98, x: 119, size: 67, layers: { ...DEFAULTS.layers, value: 75 } }, seconds: 8,
    text: "The same sums, with every force turned by an angle, look for stars, spirals and saddles instead of circles.",
    play: (t) => ({ pattern: ["circle", "star", "spiral", "saddle"][Math.min(3, Math.floor(4 * t))] }) },
];

let number = null; // of the step that is on
let share = 0;
let held = true;
let opening = false; // whether it begins by itself once its picture is there
let last = 0;
let following; // the next step, after a while to look at what this one came to
const LOOK = 3000; // milliseconds

function showPlayer() {
  const on = number !== null;
  $("player").hidden = !on;
  $("play").setAttribute("aria-pressed", on);
  if (!on) return;
  const { title, text } = STEPS[number];
  $("step-title").textContent = `${number + 1}/${STEPS.length} ${title}`;
  $("step-text").textContent = text;
  $("step-hold").textContent = held ? "▶" : "❚❚";
  $("step-hold").setAttribute("aria-label", held ? "Go on" : "Pause");
  $("step-bar").style.width = `${100 * share}%`;
}

async function begin(which) {
  clearTimeout(following);
  number = (which + STEPS.length) % STEPS.length;
  share = 0;
  held = true;
  const { picture, begin: first, title, text } = STEPS[number];
  const wanted = { ...DEFAULTS, ...first, picture, tab: state.tab, present: state.present };
  page.quiet = true;
  opening = true;
  const mine = number;
  showPlayer();
  say(`${title}. ${text}`, 0);
  await openNamed(picture, { wanted });
  if (number === mine && opening) go();
}

function go() {
  held = opening = false;
  if (share >= 1) share = 0;
  last = performance.now();
  showPlayer();
  requestAnimationFrame(frame);
}

function hold() {
  clearTimeout(following);
  opening = false;
  if (number === null || held) return;
  held = true;
  showPlayer();
}

function end() {
  clearTimeout(following);
  number = null;
  held = true;
  showPlayer();
}

function frame(now) {
  if (held || number === null) return;
  const { seconds, play } = STEPS[number];
  share = Math.min(1, share + Math.max(0, now - last) / (1000 * seconds));
  last = now;
  page.quiet = true; // none of this is the user's doing
  store.set(play(share));
  $("step-bar").style.width = `${100 * share}%`;
  if (share < 1) requestAnimationFrame(frame);
  else if (number < STEPS.length - 1) following = setTimeout(() => begin(number + 1), LOOK);
  else hold();
}

$("play").addEventListener("click", () => (number === null ? begin(0) : end()));
$("step-end").addEventListener("click", end);
$("step-hold").addEventListener("click", () => (held ? go() : hold()));
$("step-back").addEventListener("click", () => begin(number - 1));
$("step-on").addEventListener("click", () => begin(number + 1));
$("canvas").addEventListener("pointerdown", hold);
$("panel").addEventListener("pointerdown", hold);
window.addEventListener("keydown", (event) => { // PageUp and PageDown are what a presenter's remote sends
  if (number === null && !state.present) return;
  if (event.target.closest?.("#curve, dialog")) return;
  if (event.key === "PageDown") begin(number === null ? 0 : number + 1);
  else if (event.key === "PageUp") begin(number === null ? STEPS.length - 1 : number - 1);
  else if (event.key === " " && number !== null && event.target === document.body) (held ? go : hold)();
  else return;
  event.preventDefault();
});
