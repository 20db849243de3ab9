// The patch: each edge's force in it, and which way together they turn it.

export const PLUS = "#ff5a47";
export const MINUS = "#3f9dff";
export const DARK = "rgba(8, 12, 18, .75)"; // around everything that is drawn over an image

export function paintPatch(stage, { field, patch, torque, limit }, dim) {
  const { context: c, scale } = stage;
  const { y, x, size } = patch;
  c.beginPath();
  c.rect(stage.left, stage.top, scale * stage.image.width, scale * stage.image.height);
  stage.outline(c, y, x, size, patch.patch);
  c.fillStyle = `rgba(10, 14, 20, ${dim})`;
  c.fill("evenodd");

  paintForces(stage, field, patch);

  c.beginPath();
  stage.outline(c, y, x, size, patch.patch);
  c.lineWidth = 4;
  c.strokeStyle = DARK;
  c.stroke();
  c.lineWidth = 2;
  c.strokeStyle = "#fff";
  c.stroke();
  if (size * scale > 100) paintTurn(stage, y, x, size, torque / limit);
}

// Each edge pixel with its force, coloured by the sign of its moment about the patch's centre. Where pixels lie closer
// than arrows can be told apart, an arrow stands for its neighbours, and each of those is a dot.
function paintForces(stage, field, { y, x, size, patch }) {
  const { context: c, scale } = stage;
  const length = Math.min(26, Math.max(13, 4.5 * scale));
  const head = 0.36 * length;
  const cells = new Set(); // that have an arrow
  const dots = { 1: new Path2D(), "-1": new Path2D(), 0: new Path2D() };
  const arrows = { 1: new Path2D(), "-1": new Path2D(), 0: new Path2D() };
  const all = new Path2D();
  const dot = Math.max(1.5, 0.55 * scale);
  field.visit(y, x, size, patch, (i, dx, dy, moment) => {
    const px = stage.left + (field.x[i] + 0.5) * scale;
    const py = stage.top + (field.y[i] + 0.5) * scale;
    const sign = Math.sign(moment);
    dots[sign].rect(px - dot / 2, py - dot / 2, dot, dot);
    const cell = Math.floor(px / (1.4 * length)) * 65536 + Math.floor(py / (1.4 * length));
    if (cells.has(cell)) return;
    cells.add(cell);
    const strength = Math.hypot(field.fx[i], field.fy[i]) || 1;
    const reach = length * Math.min(1, Math.max(0.4, strength / field.steps));
    const ux = field.fx[i] / strength;
    const uy = field.fy[i] / strength;
    const tipX = px + 0.6 * reach * ux;
    const tipY = py + 0.6 * reach * uy;
    for (const path of [arrows[sign], all]) {
      path.moveTo(px - 0.5 * reach * ux, py - 0.5 * reach * uy);
      path.lineTo(tipX, tipY);
      path.moveTo(tipX - head * (ux - 0.62 * uy), tipY - head * (uy + 0.62 * ux));
      path.lineTo(tipX, tipY);
      path.lineTo(tipX - head * (ux + 0.62 * uy), tipY - head * (uy - 0.62 * ux));
    }
  });
  const colours = [[0, "#c9d1d9"], [-1, MINUS], [1, PLUS]];
  for (const [sign, colour] of colours) {
    c.fillStyle = colour;
    c.fill(dots[sign]);
  }
  c.lineCap = c.lineJoin = "round";
  c.lineWidth = 4;
  c.strokeStyle = "rgba(8, 12, 18, .7)";
  c.stroke(all);
  c.lineWidth = 2;
  for (const [sign, colour] of colours) {
    c.strokeStyle = colour;
    c.stroke(arrows[sign]);
  }
}

// How far and which way the patch is turned: an arrow around its centre from the top, clockwise for positive torque.
function paintTurn(stage, y, x, size, share) {
  const { context: c, scale } = stage;
  const cx = stage.left + (x + 0.5) * scale;
  const cy = stage.top + (y + 0.5) * scale;
  const radius = Math.max(10, Math.min(56, 0.2 * size * scale));
  const angle = Math.max(-1, Math.min(1, share)) * 1.5 * Math.PI;
  const way = Math.sign(angle);
  const colour = way > 0 ? PLUS : way < 0 ? MINUS : "#c9d1d9";
  const tip = angle - Math.PI / 2;
  const head = Math.min(13, 0.55 * radius, 0.9 * Math.abs(angle) * radius);
  for (const [width, style] of [[3.5, DARK], [0, colour]]) {
    c.strokeStyle = c.fillStyle = style;
    c.lineCap = "butt";
    c.lineWidth = 4 + width;
    c.beginPath();
    c.arc(cx, cy, radius, -Math.PI / 2, tip, way < 0);
    c.stroke();
    c.beginPath(); // the head: along the tangent
    const [tx, ty] = [-Math.sin(tip) * way, Math.cos(tip) * way];
    const [hx, hy] = [cx + radius * Math.cos(tip), cy + radius * Math.sin(tip)];
    c.moveTo(hx + head * tx, hy + head * ty);
    c.lineTo(hx + 0.75 * head * Math.cos(tip), hy + 0.75 * head * Math.sin(tip));
    c.lineTo(hx - 0.75 * head * Math.cos(tip), hy - 0.75 * head * Math.sin(tip));
    c.closePath();
    c.lineWidth = width;
    c.lineJoin = "round";
    if (width) c.stroke();
    c.fill();
    c.beginPath();
    c.arc(cx, cy, 3.6 + width / 2, 0, 2 * Math.PI);
    c.fill();
  }
}

// One edge of the patch, pointed at: the lever from the centre to it, and its force.
export function paintLever(stage, { field, patch, lever }) {
  const { context: c, scale } = stage;
  const at = (x, y) => [stage.left + (x + 0.5) * scale, stage.top + (y + 0.5) * scale];
  const from = at(patch.x, patch.y);
  const to = at(field.x[lever], field.y[lever]);
  const strength = Math.hypot(field.fx[lever], field.fy[lever]) || 1;
  const tip = [to[0] + (44 * field.fx[lever]) / strength, to[1] + (44 * field.fy[lever]) / strength];
  c.lineCap = "round";
  for (const [width, style] of [[7, DARK], [3, "#ffd92f"]]) {
    c.lineWidth = width;
    c.strokeStyle = style;
    c.beginPath();
    c.moveTo(...from);
    c.lineTo(...to);
    c.lineTo(...tip);
    c.stroke();
  }
  c.fillStyle = "#ffd92f";
  c.beginPath();
  c.arc(...tip, 5, 0, 2 * Math.PI);
  c.fill();
}

// What to do with the patch, until it was done.
export function paintHint(stage, { y, x, size }) {
  const { context: c, scale } = stage;
  const text = "drag me";
  c.font = "600 14px system-ui, sans-serif";
  const half = c.measureText(text).width / 2 + 9;
  const cx = stage.left + (x + 0.5) * scale;
  const cy = Math.max(stage.top + 16, stage.top + (y + 0.5 - size / 2) * scale - 16);
  c.beginPath();
  c.roundRect(cx - half, cy - 12, 2 * half, 24, 12);
  c.fillStyle = "#fff";
  c.fill();
  c.fillStyle = "#0b0f14";
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.fillText(text, cx, cy + 1);
}
