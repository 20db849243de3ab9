// The formula with the numbers of this patch; a term is highlighted when it changes.

import { $, page } from "./page.js";
import { formulaTerms } from "./torque.js";

const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
const signed = (value, digits = 0) =>
  `${value < 0 ? "−" : "+"}${Math.abs(value).toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: digits })}`;

// A ring and a tint: the number stays readable in the light and the dark scheme.
const HIGHLIGHT = [{ backgroundColor: "#ffd92f40", boxShadow: "0 0 0 1px #ffd92f" }, { backgroundColor: "#ffd92f00", boxShadow: "0 0 0 1px #ffd92f00" }];

function put(id, text) {
  const term = $(id);
  if (term.textContent === text) return;
  term.textContent = text;
  if (!reducedMotion.matches) term.animate(HIGHLIGHT, 600);
}

export function showFormula(field, state, torque) {
  const { z, plus, minus, edges } = formulaTerms(field, state);
  put("term-area", z.toLocaleString("en", { maximumFractionDigits: 0 }));
  put("term-plus", signed(plus));
  put("term-minus", signed(minus || -0).replace("+", "−"));
  put("term-torque", `${torque < 0 ? "−" : "+"}${Math.abs(torque).toFixed(4)}`);
  $("formula-sum").textContent = field.free ? "Σ (r × F)² − (r · F)²" : "Σ r × F";
  $("term-edges").textContent = `${edges.toLocaleString("en")} edges`;
  showLever(field, state);
}

// Where an edge is pointed at: its own part of the sum.
function showLever(field, { y, x }) {
  const i = page.lever;
  if (i === null || i >= field.length) {
    $("lever").textContent = "Point at an edge in the patch to see its part.";
    return;
  }
  const [rx, ry] = [field.x[i] - x, field.y[i] - y];
  const [fx, fy] = [field.gx[i] / field.steps, field.gy[i] / field.steps];
  const vector = (a, b, digits) => `(${signed(a, digits).replace("+", "")}, ${signed(b, digits).replace("+", "")})`;
  $("lever").textContent = `r = ${vector(rx, ry, 0)}, F = ${vector(fx, fy, 2)}: r × F = ${signed(rx * fy - ry * fx, 1)}`;
}
