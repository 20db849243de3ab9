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

// What is summed over the edges of a patch, by pattern: signed, and where bright and dark count alike.
const SUMS = {
  circle: ["r × F", "(r × F)² − (r · F)²"],
  star: ["r · F", "(r · F)² − (r × F)²"],
  spiral: ["(r × F + r · F) / √2", "2 (r × F) (r · F)"],
  "-45": ["(r × F − r · F) / √2", "−2 (r × F) (r · F)"],
  saddle: ["(rₓFₓ − rᵧFᵧ)", "(rₓFₓ − rᵧFᵧ)² − (rₓFᵧ + rᵧFₓ)²"],
  "saddle-diagonal": ["(rₓFᵧ + rᵧFₓ)", "(rₓFᵧ + rᵧFₓ)² − (rₓFₓ − rᵧFᵧ)²"],
};

// What the sum is divided by, in signs: twice the patch's area |P| at α = 2, scaled by a power of half its side h.
const divisor = ({ alpha, polarity }) => {
  const power = (exponent) => (exponent === 1 ? "h" : `h^${exponent.toFixed(2).replace(/\.?0+$/, "").replace("-", "−")}`);
  if (polarity === "free") return `(2π ${power(1 + alpha)})`;
  return alpha === 2 ? "2|P|" : `(2|P| ${power(alpha - 2)})`;
};

const short = (value) => value.toLocaleString("en", { maximumFractionDigits: value < 1000 ? 1 : 0 });

export function showFormula(field, state, torque) {
  const { z, plus, minus, edges } = formulaTerms(field, state);
  $("formula-divisor").textContent = `1 / ${divisor(state)}`;
  const digits = Math.max(plus, -minus) < 1000 ? 1 : 0;
  put("term-area", short(z));
  put("term-plus", signed(plus, digits));
  put("term-minus", signed(minus || -0, digits).replace("+", "−"));
  put("term-torque", `${torque < 0 ? "−" : "+"}${Math.abs(torque).toFixed(4)}`);
  $("formula-sum").textContent = `Σ ${SUMS[state.pattern][field.free ? 1 : 0]}`;
  $("term-edges").textContent = `${edges.toLocaleString("en")} edges`;
  showLever(field, state);
}

// Where an edge is pointed at: its own part of the sum.
function showLever(field, { y, x, pattern }) {
  const i = page.lever;
  if (i === null || i >= field.length) {
    $("lever").textContent = "Point at an edge in the patch to see its part.";
    return;
  }
  const [rx, ry] = [field.x[i] - x, field.y[i] - y];
  const [fx, fy] = [field.fx[i] / field.steps, field.fy[i] / field.steps];
  const [gx, gy] = [field.gx[i] / field.steps, field.gy[i] / field.steps];
  const across = rx * gy - ry * gx;
  const part = field.free ? across ** 2 - (rx * gx + ry * gy) ** 2 : across;
  const vector = (a, b, digits) => `(${signed(a, digits).replace("+", "")}, ${signed(b, digits).replace("+", "")})`;
  $("lever").textContent = `r = ${vector(rx, ry, 0)}, F = ${vector(fx, fy, 2)}: ${SUMS[pattern][field.free ? 1 : 0]} = ${signed(part, 1)}`;
}
