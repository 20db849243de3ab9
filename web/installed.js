// What the page without a server cannot do says so, with the command.

import { installed } from "./facts.json";

const [install, start] = installed.split(", then ");

function note(name) {
  const text = document.createElement("p");
  text.className = "installed";
  const code = (command) => Object.assign(document.createElement("code"), { textContent: command });
  text.append(`${name} needs the installed version: `, code(install), ", then ", code(start), ".");
  return text;
}

for (const [pane, name] of [["panel-cut", "Cut out"], ["panel-count", "Count"]]) {
  const element = document.getElementById(pane);
  for (const child of element.children) child.hidden = true;
  element.prepend(note(name));
}
for (const layer of ["saliency", "strengthened"]) {
  for (const input of document.querySelectorAll(`[data-layer="${layer}"], [data-opacity="${layer}"]`)) input.disabled = true;
  const row = document.querySelector(`[data-layer="${layer}"]`).closest(".layer");
  for (const text of row.querySelectorAll("p")) text.hidden = true;
  row.append(Object.assign(note("This"), { style: "display: block" })); // else its parts are columns
}
for (const id of ["file", "next-file"]) document.getElementById(id)?.setAttribute("accept", "image/png,image/jpeg,image/webp,image/gif,image/bmp,image/avif");
