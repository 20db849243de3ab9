// The sketch pad: a small white image to draw contours on, with a ring whose gap a slider opens.

const WIDTH = 241;
const HEIGHT = 161;
const RADIUS = 36; // of the ring: patches around it are among the sizes of the maps

export const AROUND_RING = { y: (HEIGHT - 1) / 2, x: (WIDTH - 1) / 2, size: 2 * RADIUS + 11 };

export class Sketch {
  constructor(onChange) {
    this.canvas = new OffscreenCanvas(WIDTH, HEIGHT);
    this.context = this.canvas.getContext("2d", { willReadFrequently: true });
    this.onChange = onChange;
    this.last = null;
    this.wipe(false);
  }

  wipe(notify = true) {
    this.context.fillStyle = "#fff";
    this.context.fillRect(0, 0, WIDTH, HEIGHT);
    if (notify) this.onChange();
  }

  load(bitmap) {
    this.wipe(false);
    this.context.drawImage(bitmap, 0, 0);
  }

  // A ring of this line width, with a gap of this share of its circumference, to the right.
  ring(pen, gap, notify = true) {
    this.wipe(false);
    const c = this.context;
    if (gap < 1) {
      c.strokeStyle = "#333";
      c.lineWidth = pen;
      c.lineCap = "butt";
      c.beginPath();
      c.arc(WIDTH / 2, HEIGHT / 2, RADIUS, gap * Math.PI, (2 - gap) * Math.PI);
      c.stroke();
    }
    if (notify) this.onChange();
  }

  // Start a stroke; `to` continues it.
  begin(place, pen, erase) {
    this.last = place;
    this.stroke = [];
    this.to(place, pen, erase);
  }

  to(place, pen, erase) {
    const c = this.context;
    c.strokeStyle = erase ? "#fff" : "#333";
    c.lineWidth = erase ? 2 * pen : pen;
    c.lineCap = c.lineJoin = "round";
    c.beginPath();
    c.moveTo(this.last.x + 0.5, this.last.y + 0.5);
    c.lineTo(place.x + 0.5, place.y + 0.5001);
    c.stroke();
    this.last = place;
    this.stroke.push(place);
    this.onChange();
  }

  // The patch around the stroke that ends, null after an eraser.
  end(place, pen, erase) {
    if (erase) return null;
    const [ys, xs] = ["y", "x"].map((key) => this.stroke.map((at) => at[key]));
    const [top, bottom, left, right] = [Math.min(...ys), Math.max(...ys), Math.min(...xs), Math.max(...xs)];
    return { y: (top + bottom) / 2, x: (left + right) / 2, size: Math.max(bottom - top, right - left) + pen + 10 };
  }

  file() { return this.canvas.convertToBlob({ type: "image/png" }); }
}
