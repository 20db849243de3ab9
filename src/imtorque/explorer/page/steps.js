// A lecture in steps, gone through by hand or, on demand, by themselves.

import { $, announce, page, state, store } from "./page.js";
import { openNamed } from "./images.js";
import { DEFAULTS, readAddress } from "./state.js";

const middle = { y: 80, x: 120 };
const odd = (value) => 2 * Math.round((value - 1) / 2) + 1;
const interpolate = (from, to, share) => from + (to - from) * share;

// play(progress): the state as the step runs from 0 to 1.
let steps = [
  { title: "A patch grows over a disc", image: "sample:disc", start: { ...middle, size: 41, largest: 131 }, seconds: 9,
    text: "Every force of a closed outline turns the patch the same way. Torque is strongest where the disc just fits, and falls as the patch grows on: it is divided by the area.",
    play: (t) => ({ size: odd(interpolate(41, 131, t)) }) },
  { title: "Texture cancels", image: "sample:texture", start: { y: 80, x: 40, size: 61 }, seconds: 9,
    text: "Edges of texture point every way. There are many of them, but what one turns, another turns back.",
    play: (t) => ({ x: Math.round(interpolate(40, 200, t)) }) },
  { title: "A hole turns back", image: "sample:hole", start: { ...middle, size: 21, largest: 131 }, seconds: 9,
    text: "The hole's rim has its brighter side inside: it turns the patch against the outer rim, until that outweighs it.",
    play: (t) => ({ size: odd(interpolate(21, 131, t)) }) },
  { title: "Alpha chooses the scale", image: "sample:shapes", start: { y: 98, x: 119, size: 67, alpha: 3 }, seconds: 9,
    text: "Torque is divided by size to the power α. The smaller α is, the larger the patches that win: the curve's peak moves right.",
    play: (t) => ({ alpha: Math.round(20 * interpolate(3, 0.5, t)) / 20 }) },
  { title: "Other patterns", image: "sample:shapes", start: { y: 98, x: 119, size: 67, layers: { ...DEFAULTS.layers, value: 75 } }, seconds: 8,
    text: "The same sums, with every force turned by an angle, look for stars, spirals and saddles instead of circles.",
    play: (t) => ({ pattern: ["circle", "star", "spiral", "saddle"][Math.min(3, Math.floor(4 * t))] }) },
];

let number = null; // of the present step
let progress = 0; // of the present step, 0 to 1
let paused = true;
let autoplay = false; // whether the step starts once its image is loaded
let lastFrame = 0;
let nextTimer;
let interrupted = null; // the state before the steps, restored after them
const STEP_GAP = 3000; // milliseconds between two steps; convention

function showPlayer() {
  const on = number !== null;
  $("player").hidden = !on;
  $("play").setAttribute("aria-pressed", on);
  if (!on) return;
  const { title, text } = steps[number];
  $("step-title").textContent = `${number + 1}/${steps.length} ${title}`;
  $("step-text").textContent = text;
  $("step-pause").textContent = paused ? "▶" : "❚❚";
  $("step-pause").setAttribute("aria-label", paused ? "Go on" : "Pause");
  $("step-bar").style.width = `${100 * progress}%`;
}

async function startStep(which) {
  clearTimeout(nextTimer);
  interrupted ??= { ...state };
  page.isInterrupted = true;
  number = (which + steps.length) % steps.length;
  progress = 0;
  paused = true;
  const { image, start, title, text } = steps[number];
  page.stepLimit = 0;
  page.stepStates = Array.from({ length: 33 }, (_, k) => steps[number].play(k / 32));
  const target = { ...DEFAULTS, ...start, image, tab: state.tab, present: state.present };
  autoplay = true;
  const mine = number; // another step may be chosen while the image loads
  showPlayer();
  announce(`${title}. ${text}`, 0);
  await openNamed(image, { target });
  if (number === mine && autoplay) resume();
}

function resume() {
  paused = autoplay = false;
  if (progress >= 1) progress = 0;
  lastFrame = performance.now();
  showPlayer();
  requestAnimationFrame(frame);
}

function pause() {
  clearTimeout(nextTimer);
  autoplay = false;
  if (number === null || paused) return;
  paused = true;
  showPlayer();
}

async function end() {
  clearTimeout(nextTimer);
  number = null;
  paused = true;
  showPlayer();
  if (!interrupted) return;
  const target = { ...interrupted, present: state.present };
  interrupted = null;
  await openNamed(target.image, { target });
  page.isInterrupted = number !== null;
}
store.on((changed) => { if (changed.has("present") && !state.present && number !== null) end(); });

function frame(now) {
  if (paused || number === null) return;
  const { seconds, play } = steps[number];
  progress = Math.min(1, progress + Math.max(0, now - lastFrame) / (1000 * seconds));
  lastFrame = now;
  store.set(play(progress));
  $("step-bar").style.width = `${100 * progress}%`;
  if (progress < 1) requestAnimationFrame(frame);
  else if (number < steps.length - 1 && $("step-auto").checked) nextTimer = setTimeout(() => startStep(number + 1), STEP_GAP);
  else pause();
}

$("play").addEventListener("click", () => (number === null ? startStep(0) : end()));
$("step-end").addEventListener("click", end);
$("step-pause").addEventListener("click", () => (paused ? resume() : pause()));
$("step-back").addEventListener("click", () => startStep(number - 1));
$("step-on").addEventListener("click", () => startStep(number + 1));
$("canvas").addEventListener("pointerdown", pause);
$("panel").addEventListener("pointerdown", pause);
window.addEventListener("keydown", (event) => { // PageUp and PageDown are what a presenter's remote sends
  if (number === null && !state.present) return;
  if (event.target.closest?.("#curve, dialog")) return;
  if (event.key === "PageDown") startStep(number === null ? 0 : number + 1);
  else if (event.key === "PageUp") startStep(number === null ? steps.length - 1 : number - 1);
  else if (event.key === " " && number !== null && event.target === document.body) (paused ? resume : pause)();
  else return;
  event.preventDefault();
});

// A lecturer's own steps, from a text: for each, apart by empty lines, its title, the part of an address from # on, where wanted a
// line such as "size 41 to 131" that plays, and what is to be said.
const MOTION = /^(size|x|y|alpha|sigma) ([\d.]+) to ([\d.]+)$/;
function readSteps(text) {
  return text.trim().split(/\n\s*\n/).map((block) => {
    const [title, address = "", ...rest] = block.split("\n").map((line) => line.trim());
    if (!address.startsWith("#")) throw new Error(`Each step must have a title and, below it, the address from # on, got ${title}`);
    const { image, ...start } = readAddress(address);
    const [, key, from, to] = MOTION.exec(rest[0] ?? "") ?? [];
    const value = (t) => interpolate(Number(from), Number(to), t);
    const play = (t) => (key ? { [key]: key === "size" ? odd(value(t)) : ["x", "y"].includes(key) ? Math.round(value(t)) : value(t) } : {});
    return { title, image: image ?? "sample:shapes", start, seconds: key ? 9 : 0.1, text: (key ? rest.slice(1) : rest).join(" "), play };
  });
}

export function openSteps(text) {
  steps = readSteps(text);
  startStep(0);
}
