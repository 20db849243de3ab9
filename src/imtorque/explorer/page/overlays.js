// Overlays on the image besides the patch: extrema, the edges that contribute to one, the figure cut out.

import { DARK, MINUS, PLUS } from "./forces.js";

export function paintExtremum(stage, { extrema, number, kind }, k) {
  const { context: c, scale } = stage;
  const { y, x, size, value } = extrema[k];
  const chosen = number === k + 1;
  const colour = value > 0 ? PLUS : MINUS;
  if (number && !chosen) c.globalAlpha = 0.55;
  for (const [width, style] of [[chosen ? 5 : 4, DARK], [chosen ? 3 : 1.8, colour]]) {
    c.beginPath();
    stage.outline(c, y, x, size, kind);
    c.lineWidth = width;
    c.strokeStyle = style;
    c.setLineDash(value < 0 && style === colour ? [7, 4] : []);
    c.stroke();
  }
  c.setLineDash([]);
  const cx = stage.left + (x + 0.5) * scale;
  const cy = stage.top + (y + 0.5) * scale;
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
export function paintContribution(stage, field, moments) {
  const { context: c, scale } = stage;
  c.fillStyle = "rgba(10, 14, 20, .62)";
  c.fillRect(stage.left, stage.top, scale * stage.image.width, scale * stage.image.height);
  let largest = 0;
  for (const moment of moments) largest = Math.max(largest, Math.abs(moment));
  const dot = Math.max(1.6, scale);
  for (let i = 0; i < moments.length; i++) {
    if (!moments[i]) continue;
    c.globalAlpha = 0.25 + 0.75 * Math.sqrt(Math.abs(moments[i]) / largest);
    c.fillStyle = moments[i] > 0 ? "#fff3b0" : "#b58cff";
    c.fillRect(stage.left + field.x[i] * scale, stage.top + field.y[i] * scale, dot, dot);
  }
  c.globalAlpha = 1;
}

export function paintFigure(stage, { shade, outline, clicks }) {
  const { context: c, scale } = stage;
  c.imageSmoothingEnabled = false;
  c.drawImage(shade, stage.left, stage.top, scale * stage.image.width, scale * stage.image.height);
  const path = new Path2D();
  path.addPath(outline, new DOMMatrix([scale, 0, 0, scale, stage.left, stage.top]));
  c.lineWidth = 4.5;
  c.strokeStyle = DARK;
  c.stroke(path);
  c.lineWidth = 2;
  c.strokeStyle = "#fff";
  c.stroke(path);
  for (const { operation, y, x } of clicks) {
    const cx = stage.left + (x + 0.5) * scale;
    const cy = stage.top + (y + 0.5) * scale;
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

export function paintCursor(stage, { y, x }) {
  const { context: c, scale } = stage;
  const cx = stage.left + (x + 0.5) * scale;
  const cy = stage.top + (y + 0.5) * scale;
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

// Return a mask ready to draw: a shade over what lies outside, and the outline along pixel borders.
export function makeFigure(mask, width, height, clicks) {
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
