// The needle, and the curve of torque over patch size.

function prepareCanvas(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, width, height);
  const style = getComputedStyle(canvas);
  const colour = (name) => style.getPropertyValue(name).trim();
  return { c, width, height, colour };
}

const formatTick = (value) => Number(value.toPrecision(2)).toString().replace("-", "−");

export function paintDial(canvas, torque, limit) {
  const { c, width, height, colour } = prepareCanvas(canvas);
  const cx = width / 2;
  const big = Math.max(1, height / 118); // as on a projector
  const cy = height - 30 * big;
  const radius = Math.min(cx - 14, cy - 16);
  const reach = 0.6 * Math.PI; // of the needle to either side
  const angleOf = (value) => Math.max(-1.04, Math.min(1.04, value / limit)) * reach - Math.PI / 2;

  c.lineCap = "round";
  c.lineWidth = 7 * big;
  for (const [from, to, name, alpha] of [[-1, 0, "--minus", 0.22], [0, 1, "--plus", 0.22]]) {
    c.globalAlpha = alpha;
    c.strokeStyle = colour(name);
    c.beginPath();
    c.arc(cx, cy, radius, angleOf(from * limit), angleOf(to * limit));
    c.stroke();
  }
  c.globalAlpha = 1;
  if (torque !== 0) {
    c.strokeStyle = colour(torque > 0 ? "--plus" : "--minus");
    c.beginPath();
    c.arc(cx, cy, radius, -Math.PI / 2, angleOf(torque), torque < 0);
    c.stroke();
  }
  c.fillStyle = colour("--soft");
  c.font = `${11 * big}px system-ui, sans-serif`;
  c.textBaseline = "middle";
  for (const part of [-1, -0.5, 0, 0.5, 1]) {
    const angle = angleOf(part * limit);
    const at = (gap) => [cx + (radius - gap * big) * Math.cos(angle), cy + (radius - gap * big) * Math.sin(angle)];
    c.textAlign = part < 0 ? "left" : part > 0 ? "right" : "center"; // beside the arc, not on it
    if (Math.abs(part) === 0.5) c.fillRect(at(12)[0] - 1, at(12)[1] - 1, 2, 2);
    else c.fillText(formatTick(part * limit), ...at(part ? 8 : 15));
  }
  const angle = angleOf(torque);
  c.strokeStyle = c.fillStyle = colour("--text");
  c.lineWidth = 2.5 * big;
  c.beginPath();
  c.moveTo(cx - 10 * big * Math.cos(angle), cy - 10 * big * Math.sin(angle));
  c.lineTo(cx + (radius + 2) * Math.cos(angle), cy + (radius + 2) * Math.sin(angle));
  c.stroke();
  c.beginPath();
  c.arc(cx, cy, 4.5 * big, 0, 2 * Math.PI);
  c.fill();
}

const MARGIN = { left: 38, right: 10, top: 8, bottom: 18 };

export const sizeAt = (canvas, clientX, smallest, largest) => {
  const box = canvas.getBoundingClientRect();
  const share = (clientX - box.left - MARGIN.left) / (box.width - MARGIN.left - MARGIN.right);
  const size = smallest + Math.max(0, Math.min(1, share)) * (largest - smallest);
  return 2 * Math.round((size - 1) / 2) + 1;
};

// torque[r] belongs to size 2 r + 1. The strongest of `sizes` has a marker.
export function paintCurve(canvas, torque, { size, sizes, limit }) {
  const smallest = sizes[0];
  const largest = sizes.at(-1);
  const { c, width, height, colour } = prepareCanvas(canvas);
  const { left, right, top, bottom } = MARGIN;
  const px = (s) => left + ((s - smallest) / Math.max(1, largest - smallest)) * (width - left - right);
  const py = (t) => top + (0.5 - 0.5 * Math.max(-1, Math.min(1, t / limit))) * (height - top - bottom);

  c.strokeStyle = colour("--line");
  c.lineWidth = 1;
  c.fillStyle = colour("--soft");
  c.font = "11px system-ui, sans-serif";
  c.textBaseline = "middle";
  c.textAlign = "right";
  for (const part of [-1, 0, 1]) {
    const y = Math.round(py(part * limit)) + 0.5;
    c.beginPath();
    c.moveTo(left, y);
    c.lineTo(width - right, y);
    c.stroke();
    c.fillText(formatTick(part * limit), left - 5, y);
  }
  c.textBaseline = "alphabetic";
  for (const [s, align] of [[smallest, "left"], [largest, "right"]]) {
    c.textAlign = align;
    c.fillText(String(s), px(s), height - 4);
  }

  const zero = py(0);
  for (const [sign, name] of [[1, "--plus"], [-1, "--minus"]]) {
    c.beginPath();
    c.moveTo(px(smallest), zero);
    for (let s = smallest; s <= largest; s += 2) c.lineTo(px(s), py(Math.max(0, sign * torque[(s - 1) / 2]) * sign));
    c.lineTo(px(largest), zero);
    c.globalAlpha = 0.18;
    c.fillStyle = colour(name);
    c.fill();
    c.globalAlpha = 1;
  }
  c.lineWidth = 2;
  c.lineJoin = "round";
  c.strokeStyle = colour("--text");
  c.beginPath();
  for (let s = smallest; s <= largest; s += 2) {
    c.lineTo(px(s), py(torque[(s - 1) / 2]));
  }
  c.stroke();
  const best = strongest(torque, sizes);

  if (best !== null) { // a hollow marker on the strongest size
    c.beginPath();
    c.arc(px(best), py(torque[(best - 1) / 2]), 4, 0, 2 * Math.PI);
    c.lineWidth = 1.5;
    c.strokeStyle = colour("--soft");
    c.stroke();
  }
  // Where the patch is; one beyond the sizes of the maps stands at the end, hollow.
  const shown = Math.max(smallest, Math.min(largest, size));
  const value = torque[(size - 1) / 2];
  c.strokeStyle = c.fillStyle = colour("--accent");
  c.lineWidth = 2;
  c.beginPath();
  c.moveTo(px(shown), top);
  c.lineTo(px(shown), height - bottom);
  c.stroke();
  c.beginPath();
  c.arc(px(shown), py(value), 5, 0, 2 * Math.PI);
  if (shown === size) c.fill();
  else c.stroke();
  const room = px(shown) - left > 30 && width - right - px(shown) > 42; // beside the numbers at the ends
  if (!room && shown === size) return;
  c.textAlign = shown === size ? "center" : size > largest ? "right" : "left";
  const text = shown === size ? String(size) : size > largest ? `${size} ›` : `‹ ${size}`;
  c.fillText(text, px(shown), shown === size ? height - 4 : top + 8);
}

// The size of the strongest torque, as the maps choose it: the smallest of equals; null where all are zero.
export function strongest(torque, sizes) {
  let best = null;
  for (const size of sizes) {
    const value = Math.abs(torque[(size - 1) / 2]);
    if (value > (best === null ? 0 : Math.abs(torque[(best - 1) / 2]))) best = size;
  }
  return best;
}
