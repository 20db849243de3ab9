// Presentation mode, the image and the dial alone in large type (P), and the help dialog.

import { $, page, state, store } from "./page.js";
import { refresh } from "./render.js";
import { copy } from "./clipboard.js";

export function showPresenting() {
  document.body.classList.toggle("presenting", state.present);
  $("present").setAttribute("aria-pressed", state.present);
  refresh();
}
store.on((changed) => { if (changed.has("present")) showPresenting(); });
showPresenting();

const toggle = () => store.set({ present: !state.present });
$("present").addEventListener("click", toggle);
$("leave").addEventListener("click", toggle);

function openHelp() { $("help").showModal(); }

$("help-open").addEventListener("click", openHelp);
$("cite").addEventListener("click", () => copy($("citation").textContent, "Citation"));
for (const button of document.querySelectorAll("[data-close]")) {
  button.addEventListener("click", () => button.closest("dialog").close());
}

const isTextField = (target) => target.closest?.("input:not([type=range], [type=checkbox], [type=radio]), select, textarea");
window.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTextField(event.target) || document.querySelector("dialog[open]")) return;
  if (event.key === "p" || event.key === "P") toggle();
  else if (event.key === "f" || event.key === "F") (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen?.());
  else if (event.key === "?") openHelp();
  else if (event.key === "Escape" && state.present && state.tool !== "extrema") toggle();
  else return;
  event.preventDefault();
});
