// The Python program that computes what is on the page, as explorer/python_code.py writes it.

import { CONTRIBUTION_OPTIONS, EDGE_OPTIONS, PATCH_OPTIONS, SIZE_OPTIONS, given } from "./settings.js";

const WHOLE = new Set(["smallest", "largest"]); // the settings that Python has as integers

// Texts and numbers as Python's repr writes them.
export function repr(text) {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(/[\\\n\r\t]/g, (c) => ({ "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" })[c]);
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
}

function number(value) {
  if (Number.isInteger(value)) return `${value}.0`;
  return Math.abs(value) >= 1e-4 ? String(value) : value.toExponential().replace(/e-(\d)$/, "e-0$1");
}

const options = (settings, names) =>
  given(settings, names).map(([name, value]) => `, ${name}=${typeof value === "string" ? repr(value) : WHOLE.has(name) ? value : number(value)}`).join("");

export function pythonCode(image, settings) {
  const patch = options(settings, PATCH_OPTIONS);
  const maps = settings.layers.includes("value") || settings.layers.includes("scale");
  const lines = ["import imtorque", "", ...image.recipe, `edges = imtorque.detect_edges(image${options(settings, EDGE_OPTIONS)})`];
  if (settings.y !== null) {
    lines.push("", "# The patch: torque at (y, x) for one size.",
      `torque = imtorque.torque_spectrum(edges, (${settings.y}, ${settings.x}), [${settings.size}]${patch})[0]`,
      'print(f"torque {torque:+.4f}")');
  }
  if (maps || settings.count) lines.push("", `sizes = imtorque.default_sizes(edges.shape${options(settings, SIZE_OPTIONS)})`);
  if (maps) lines.push(`value, scale = imtorque.value_and_scale_maps(edges, sizes${patch})`);
  if (settings.count) {
    if (settings.nms) {
      lines.push(`extrema = imtorque.find_extrema(edges, sizes=sizes${patch})`,
        `extrema = imtorque.suppress_overlaps(extrema)[:${settings.count}]`);
    } else lines.push(`extrema = imtorque.find_extrema(edges, sizes=sizes, count=${settings.count}${patch})`);
    lines.push("print(extrema.to_csv())");
    if (settings.number !== null) {
      const one = `extrema[${settings.number - 1}:${settings.number}]`;
      lines.push(`contribution = imtorque.contribution_map(edges, ${one}${options(settings, CONTRIBUTION_OPTIONS)})`);
    }
  }
  return `${lines.join("\n")}\n`;
}
