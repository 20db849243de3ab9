// For lectures: the picture and the dial alone, in large type (P), and the dialogs for help and for sharing.

import { $, page, state, store } from "./page.js";
import { networkAddress } from "./pictures.js";
import { refresh } from "./showing.js";
import { writeAddress } from "./state.js";
import { copy } from "./sharing.js";

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

// The page as others on the network find it, where the server listens there.
function openShare() {
  const own = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  const base = own ? networkAddress() : `${location.origin}/`;
  const kept = state.picture?.startsWith("held:") ? { ...state, picture: null } : state; // files stay where they are
  const address = base && `${base}${writeAddress(kept)}`;
  $("share-some").hidden = $("share-copy").hidden = !address;
  $("share-none").hidden = Boolean(address);
  if (address) {
    $("share-address").textContent = address;
    $("share-code").src = `api/qr.svg?${new URLSearchParams({ text: address })}`;
  }
  $("share").showModal();
}

$("help-open").addEventListener("click", openHelp);
$("share-open").addEventListener("click", openShare);
$("share-copy").addEventListener("click", () => copy($("share-address").textContent, "Address"));
$("cite").addEventListener("click", () => copy($("citation").textContent, "Citation"));
for (const button of document.querySelectorAll("[data-close]")) {
  button.addEventListener("click", () => button.closest("dialog").close());
}

const writes = (target) => target.closest?.("input:not([type=range], [type=checkbox], [type=radio]), select, textarea");
window.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || writes(event.target) || document.querySelector("dialog[open]")) return;
  if (event.key === "p" || event.key === "P") toggle();
  else if (event.key === "?") openHelp();
  else if (event.key === "Escape" && state.present && state.tool !== "extrema") toggle();
  else return;
  event.preventDefault();
});
