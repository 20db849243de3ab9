// Copying to the clipboard.

import { $, state, toast } from "./page.js";
import { writeAddress } from "./state.js";

// Browsers give the clipboard only to pages over https or from this machine; elsewhere copy a selection.
function copySelected(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  const focused = document.activeElement;
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  focused?.focus({ preventScroll: true });
  return done;
}

export async function copy(text, what) {
  let done = false;
  try {
    await navigator.clipboard.writeText(text);
    done = true;
  } catch {
    done = copySelected(text);
  }
  toast(done ? `${what} copied.` : "The browser does not let the page copy. Select the text and copy it.");
}

$("copy").addEventListener("click", () => copy($("code").textContent, "Python"));
$("link").addEventListener("click", () => {
  const what = state.image?.startsWith("upload:") ? "Link, which does not hold your image," : "Link";
  copy(new URL(writeAddress(state), location.href).href, what);
});
