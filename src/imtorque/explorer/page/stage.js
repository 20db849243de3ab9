// The picture, its layers, and what is drawn over them: the patch with its forces, extrema, the figure cut out.

export const PLUS = "#ff5a47";
export const MINUS = "#3f9dff";
const MAXIMUM = "#ffd92f"; // the library's colours of extrema
const MINIMUM = "#33e08a";
const COLOURED = ["value", "scale", "saliency"]; // layers whose colours say something
const LINES = ["edges", "strengthened"];
const DARK = "rgba(8, 12, 18, .75)";

export class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.ground = null; // the picture
    this.layers = {}; // name → canvas
    this.scale = 1;
    this.left = 0;
    this.top = 0;
    this.scene = null; // what to draw, as main.js describes it
    new ResizeObserver(() => { this.fit(); this.paint(); }).observe(canvas);
  }

  setGround(ground) {
    this.ground = ground;
    this.grey = null;
    this.layers = {};
    this.fit();
  }

  // The picture without its colours, so that those of a map are told from them.
  greyGround() {
    if (this.grey?.of === this.ground) return this.grey.canvas;
    const { width, height } = this.ground;
    const canvas = new OffscreenCanvas(width, height);
    const c = canvas.getContext("2d");
    c.drawImage(this.ground, 0, 0);
    const pixels = c.getImageData(0, 0, width, height);
    for (let i = 0; i < pixels.data.length; i += 4) {
      const [r, g, b] = pixels.data.subarray(i, i + 3);
      pixels.data.fill(0.299 * r + 0.587 * g + 0.114 * b, i, i + 3);
    }
    c.putImageData(pixels, 0, 0);
    this.grey = { of: this.ground, canvas };
    return canvas;
  }

  setLayer(name, pixels, width, height) {
    const layer = new OffscreenCanvas(width, height);
    layer.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(pixels), width, height), 0, 0);
    this.layers[name] = layer;
  }

  fit() {
    const { clientWidth, clientHeight } = this.canvas;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    this.ratio = ratio;
    if (!this.ground) return;
    const room = 12;
    this.scale = Math.max(0.05, Math.min((clientWidth - 2 * room) / this.ground.width, (clientHeight - 2 * room) / this.ground.height));
    this.left = (clientWidth - this.scale * this.ground.width) / 2;
    this.top = (clientHeight - this.scale * this.ground.height) / 2;
  }

  // The pixel under a place on the screen, as real numbers; whole numbers are pixel centres.
  pixelAt(event) {
    const box = this.canvas.getBoundingClientRect();
    return {
      x: (event.clientX - box.left - this.left) / this.scale - 0.5,
      y: (event.clientY - box.top - this.top) / this.scale - 0.5,
    };
  }

  draw(scene) {
    this.scene = scene;
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => { this.asked = null; this.paint(); });
  }

  paint() {
    const { context: c, ground, scene } = this;
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.clearRect(0, 0, this.canvas.clientWidth, this.canvas.clientHeight);
    if (!ground || !scene) return;
    const width = this.scale * ground.width;
    const height = this.scale * ground.height;
    c.imageSmoothingEnabled = this.scale < 2;
    c.imageSmoothingQuality = "high";
    const coloured = [...COLOURED, ...LINES].some((name) => scene.layers[name] && this.layers[name]);
    c.drawImage(coloured ? this.greyGround() : ground, this.left, this.top, width, height);
    const lines = Math.max(...LINES.map((name) => (this.layers[name] ? scene.layers[name] : 0)));
    c.fillStyle = `rgba(10, 14, 20, ${0.005 * lines})`; // so that lines one pixel wide are seen
    c.fillRect(this.left, this.top, width, height);
    for (const [name, opacity] of Object.entries(scene.layers)) {
      if (!opacity || !this.layers[name]) continue;
      c.globalAlpha = opacity / 100;
      c.imageSmoothingEnabled = this.scale < 2 && !LINES.includes(name);
      c.drawImage(this.layers[name], this.left, this.top, width, height);
      c.globalAlpha = 1;
    }
    c.save();
    c.beginPath();
    c.rect(this.left, this.top, width, height);
    c.clip();
    if (scene.figure) this.paintFigure(scene.figure);
    if (scene.moments) this.paintContribution(scene.field, scene.moments);
    if (scene.patch && scene.field) this.paintPatch(scene, scene.dim ?? (coloured ? 0.14 : 0.28));
    for (let k = scene.extrema.length - 1; k >= 0; k--) this.paintExtremum(scene, k);
    if (scene.cursor) this.paintCursor(scene.cursor);
    c.restore();
  }

  // A path around the patch of this size at (y, x).
  outline(c, y, x, size, patch, grow = 0) {
    const cx = this.left + (x + 0.5) * this.scale;
    const cy = this.top + (y + 0.5) * this.scale;
    const reach = (size / 2) * this.scale + grow;
    if (patch === "disk") {
      c.moveTo(cx + reach, cy);
      c.arc(cx, cy, reach, 0, 2 * Math.PI);
    } else c.rect(cx - reach, cy - reach, 2 * reach, 2 * reach);
  }

  paintPatch({ field, patch, torque, limit }, dim) {
    const { context: c, scale } = this;
    const { y, x, size } = patch;
    c.beginPath();
    c.rect(this.left, this.top, scale * this.ground.width, scale * this.ground.height);
    this.outline(c, y, x, size, patch.patch);
    c.fillStyle = `rgba(10, 14, 20, ${dim})`;
    c.fill("evenodd");

    this.paintForces(field, patch);

    c.beginPath();
    this.outline(c, y, x, size, patch.patch);
    c.lineWidth = 4;
    c.strokeStyle = DARK;
    c.stroke();
    c.lineWidth = 2;
    c.strokeStyle = "#fff";
    c.stroke();
    if (size * scale > 100) this.paintTurn(y, x, size, torque / limit);
  }

  // Each edge pixel with its force, coloured by the sign of its moment about the patch's centre. Where pixels lie closer
  // than arrows can be told apart, an arrow stands for its neighbours, and each of those is a dot.
  paintForces(field, { y, x, size, patch }) {
    const { context: c, scale } = this;
    const length = Math.min(26, Math.max(13, 4.5 * scale));
    const head = 0.36 * length;
    const taken = new Set();
    const dots = { 1: new Path2D(), "-1": new Path2D(), 0: new Path2D() };
    const arrows = { 1: new Path2D(), "-1": new Path2D(), 0: new Path2D() };
    const all = new Path2D();
    const dot = Math.max(1.5, 0.55 * scale);
    field.inside(y, x, size, patch, (i, dx, dy, moment) => {
      const px = this.left + (field.x[i] + 0.5) * scale;
      const py = this.top + (field.y[i] + 0.5) * scale;
      const sign = Math.sign(moment);
      dots[sign].rect(px - dot / 2, py - dot / 2, dot, dot);
      const cell = Math.floor(px / (1.4 * length)) * 65536 + Math.floor(py / (1.4 * length));
      if (taken.has(cell)) return;
      taken.add(cell);
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
  paintTurn(y, x, size, share) {
    const { context: c, scale } = this;
    const cx = this.left + (x + 0.5) * scale;
    const cy = this.top + (y + 0.5) * scale;
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

  paintExtremum({ extrema, number, patch, kind }, k) {
    const { context: c, scale } = this;
    const { y, x, size, value } = extrema[k];
    const chosen = number === k + 1;
    if (number && !chosen && patch === null) c.globalAlpha = 0.55;
    const colour = value > 0 ? MAXIMUM : MINIMUM;
    const quiet = patch !== null && !chosen; // while the patch is looked at, only numbers
    if (!quiet) {
      for (const [width, style] of [[chosen ? 5 : 4, DARK], [chosen ? 3 : 1.8, colour]]) {
        c.beginPath();
        this.outline(c, y, x, size, kind);
        c.lineWidth = width;
        c.strokeStyle = style;
        c.setLineDash(value < 0 && style === colour ? [7, 4] : []);
        c.stroke();
      }
      c.setLineDash([]);
    }
    const cx = this.left + (x + 0.5) * scale;
    const cy = this.top + (y + 0.5) * scale;
    const r = chosen ? 12 : 10;
    c.beginPath();
    if (value > 0) { c.moveTo(cx, cy - r - 4); c.lineTo(cx + r + 2, cy + r - 2); c.lineTo(cx - r - 2, cy + r - 2); }
    else { c.moveTo(cx, cy + r + 4); c.lineTo(cx + r + 2, cy - r + 2); c.lineTo(cx - r - 2, cy - r + 2); }
    c.closePath();
    c.lineJoin = "round";
    c.lineWidth = 3.5;
    c.strokeStyle = DARK;
    c.stroke();
    c.fillStyle = colour;
    c.fill();
    c.fillStyle = "#0b0f14";
    c.font = `700 ${k > 98 ? 9 : 11}px system-ui, sans-serif`;
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.fillText(String(k + 1), cx, cy + (value > 0 ? 2.5 : -1.5));
    c.globalAlpha = 1;
  }

  // Edge pixels by how much they turn with the chosen extremum (bright), or against it (violet).
  paintContribution(field, moments) {
    const { context: c, scale } = this;
    c.fillStyle = "rgba(10, 14, 20, .62)";
    c.fillRect(this.left, this.top, scale * this.ground.width, scale * this.ground.height);
    let largest = 0;
    for (const moment of moments) largest = Math.max(largest, Math.abs(moment));
    const dot = Math.max(1.6, scale);
    for (let i = 0; i < moments.length; i++) {
      if (!moments[i]) continue;
      c.globalAlpha = 0.25 + 0.75 * Math.sqrt(Math.abs(moments[i]) / largest);
      c.fillStyle = moments[i] > 0 ? "#fff3b0" : "#b58cff";
      c.fillRect(this.left + field.x[i] * scale, this.top + field.y[i] * scale, dot, dot);
    }
    c.globalAlpha = 1;
  }

  paintFigure({ shade, outline, clicks }) {
    const { context: c, scale } = this;
    c.imageSmoothingEnabled = false;
    c.drawImage(shade, this.left, this.top, scale * this.ground.width, scale * this.ground.height);
    const placed = new Path2D();
    placed.addPath(outline, new DOMMatrix([scale, 0, 0, scale, this.left, this.top]));
    c.lineWidth = 4.5;
    c.strokeStyle = DARK;
    c.stroke(placed);
    c.lineWidth = 2;
    c.strokeStyle = "#fff";
    c.stroke(placed);
    for (const { operation, y, x } of clicks) {
      const cx = this.left + (x + 0.5) * scale;
      const cy = this.top + (y + 0.5) * scale;
      c.beginPath();
      c.arc(cx, cy, 7, 0, 2 * Math.PI);
      c.fillStyle = "#fff";
      c.strokeStyle = DARK;
      c.lineWidth = 2;
      c.stroke();
      c.fill();
      c.fillStyle = "#0b0f14";
      c.fillRect(cx - 4, cy - 1, 8, 2);
      if (operation !== "remove") c.fillRect(cx - 1, cy - 4, 2, 8);
    }
  }

  paintCursor({ y, x }) {
    const { context: c, scale } = this;
    const cx = this.left + (x + 0.5) * scale;
    const cy = this.top + (y + 0.5) * scale;
    for (const [width, style] of [[4, DARK], [1.6, "#fff"]]) {
      c.lineWidth = width;
      c.strokeStyle = style;
      c.beginPath();
      for (const [ax, ay] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
        c.moveTo(cx + 5 * ax, cy + 5 * ay);
        c.lineTo(cx + 14 * ax, cy + 14 * ay);
      }
      c.stroke();
    }
  }

  // The number of the extremum whose mark lies under a place on the screen, or null.
  markAt(event, extrema) {
    const { x, y } = this.pixelAt(event);
    let best = null;
    let nearest = 14;
    extrema.forEach((extremum, k) => {
      const distance = Math.hypot(extremum.x - x, extremum.y - y) * this.scale;
      if (distance < nearest) [best, nearest] = [k + 1, distance];
    });
    return best;
  }
}

// A mask as something to draw: a shade over what lies outside, and the outline along pixel borders.
export function figureOf(mask, width, height, clicks) {
  const shade = new OffscreenCanvas(width, height);
  const pixels = new ImageData(width, height);
  const outline = new Path2D();
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = y * width + x;
      if (!mask[at]) pixels.data.set([10, 14, 20, 168], 4 * at);
      if (mask[at] !== (x > 0 ? mask[at - 1] : 0)) { outline.moveTo(x, y); outline.lineTo(x, y + 1); }
      if (mask[at] !== (y > 0 ? mask[at - width] : 0)) { outline.moveTo(x, y); outline.lineTo(x + 1, y); }
      if (mask[at] && x === width - 1) { outline.moveTo(width, y); outline.lineTo(width, y + 1); }
      if (mask[at] && y === height - 1) { outline.moveTo(x, height); outline.lineTo(x + 1, height); }
    }
  }
  shade.getContext("2d").putImageData(pixels, 0, 0);
  return { shade, outline, clicks };
}
