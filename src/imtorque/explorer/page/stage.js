// The image and its layers on the screen; what is drawn over them is in forces.js and overlays.js.

import { paintCount } from "./counting.js";
import { paintHint, paintLever, paintPatch } from "./forces.js";
import { paintContribution, paintCursor, paintExtremum, paintFigure } from "./overlays.js";

const MAP_LAYERS = ["value", "scale", "saliency"]; // whose colours have a meaning
const LINE_LAYERS = ["edges", "strengthened"];
const MAX_ZOOM = 32; // convention

export class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.image = this.ground = null; // the image, and what is drawn of it: the original where that is saved
    this.factor = 1; // of the shrunk image, in the original's pixels
    this.layers = {}; // name → canvas
    this.scale = 1;
    this.left = 0;
    this.top = 0;
    this.zoom = 1; // 1 shows the whole image
    this.shift = [0, 0]; // of its middle, on the screen
    this.scene = null; // what to draw, from render.js
    new ResizeObserver(() => { this.fit(); this.paint(); }).observe(canvas);
  }

  setImage(image) {
    this.replaceImage(image);
    this.layers = {};
    this.zoom = 1;
    this.fit();
  }

  // Replace the pixels; layers and zoom stay.
  replaceImage(image) {
    this.image = this.ground = image;
    this.grey = null;
  }

  // The image in grey: beside the colours of a map it has none.
  greyImage() {
    if (this.grey) return this.grey;
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
    this.grey = canvas;
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
    if (!this.image) return;
    const margin = 12; // pixels of the screen
    const { width, height } = this.image;
    const whole = Math.max(0.05, Math.min((clientWidth - 2 * margin) / width, (clientHeight - 2 * margin) / height));
    this.scale = whole * this.zoom;
    // The image's border stays outside the stage's.
    const overhang = [this.scale * width - clientWidth + 2 * margin, this.scale * height - clientHeight + 2 * margin];
    this.shift = this.shift.map((by, k) => (overhang[k] > 0 ? Math.max(-overhang[k] / 2, Math.min(overhang[k] / 2, by)) : 0));
    this.left = (clientWidth - this.scale * width) / 2 + this.shift[0];
    this.top = (clientHeight - this.scale * height) / 2 + this.shift[1];
  }

  // Zoom by a factor; the place on the screen (from the canvas' corner) keeps its pixel.
  zoomBy(factor, [x, y] = [this.canvas.clientWidth / 2, this.canvas.clientHeight / 2]) {
    const before = [(x - this.left) / this.scale, (y - this.top) / this.scale];
    this.zoom = Math.max(1, Math.min(MAX_ZOOM, this.zoom * factor));
    this.fit();
    this.pan(x - this.left - before[0] * this.scale, y - this.top - before[1] * this.scale);
  }

  pan(dx, dy) {
    this.shift = [this.shift[0] + dx, this.shift[1] + dy];
    this.fit();
    this.paint();
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
    this.frame ??= requestAnimationFrame(() => { this.frame = null; this.paint(); });
  }

  paint() {
    const { context: c, image, scene } = this;
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (!image || !scene) return;
    const width = this.scale * image.width;
    const height = this.scale * image.height;
    c.imageSmoothingEnabled = this.scale < 2;
    c.imageSmoothingQuality = "high";
    const coloured = [...MAP_LAYERS, ...LINE_LAYERS].some((name) => scene.layers[name] && this.layers[name]);
    const ground = coloured ? this.greyImage() : this.ground;
    c.drawImage(ground, this.left, this.top, (width * ground.width) / (this.factor * image.width), (height * ground.height) / (this.factor * image.height));
    const lines = Math.max(...LINE_LAYERS.map((name) => (this.layers[name] ? scene.layers[name] : 0)));
    c.fillStyle = `rgba(10, 14, 20, ${0.005 * lines})`; // so that lines one pixel wide are seen
    c.fillRect(this.left, this.top, width, height);
    for (const [name, opacity] of Object.entries(scene.layers)) {
      if (!opacity || !this.layers[name]) continue;
      c.globalAlpha = opacity / 100;
      c.imageSmoothingEnabled = this.scale < 2 && !LINE_LAYERS.includes(name);
      c.drawImage(this.layers[name], this.left, this.top, width, height);
      c.globalAlpha = 1;
    }
    c.save();
    c.beginPath();
    c.rect(this.left, this.top, width, height);
    c.clip();
    if (scene.figure) paintFigure(this, scene.figure);
    if (scene.count) paintCount(this, scene.count);
    if (scene.moments) paintContribution(this, scene.field, scene.moments);
    if (scene.patch && scene.field) paintPatch(this, scene, scene.dim ?? (coloured ? 0.14 : 0.28));
    if (scene.patch && scene.lever !== null) paintLever(this, scene);
    if (scene.patch && scene.hint) paintHint(this, scene.patch);
    for (let k = scene.extrema.length - 1; k >= 0; k--) paintExtremum(this, scene, k);
    if (scene.cursor) paintCursor(this, scene.cursor);
    c.restore();
  }

  // The whole image as it is drawn now, with `original` in place of the shown one, which is shrunk by the factor.
  rendered(original, factor) {
    const canvas = new OffscreenCanvas(original.width, original.height);
    const whole = Object.assign(Object.create(Stage.prototype), {
      canvas, context: canvas.getContext("2d"), image: this.image, ground: original, factor, layers: this.layers, scale: factor, left: 0, top: 0, ratio: 1,
      scene: this.scene,
    });
    whole.paint();
    return canvas;
  }

  // A path around the patch of this size at (y, x).
  outline(c, y, x, size, patch) {
    const cx = this.left + (x + 0.5) * this.scale;
    const cy = this.top + (y + 0.5) * this.scale;
    const reach = (size / 2) * this.scale;
    if (patch === "disk") {
      c.moveTo(cx + reach, cy);
      c.arc(cx, cy, reach, 0, 2 * Math.PI);
    } else c.rect(cx - reach, cy - reach, 2 * reach, 2 * reach);
  }

  // Return the number of the extremum whose marker lies under a place on the screen, or null.
  markerAt(event, extrema) {
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
