// The torque of one patch, computed on the page from the edges the server sent.
// Forces are the integers the library rounds them to, so sums are exact and the value equals the library's.

export class EdgeField {
  // gx, gy: the forces rotated by the pattern, where it is not the circle.
  constructor({ height, width, steps }, { place, fx, fy, gx = fx, gy = fy }, free) {
    Object.assign(this, { height, width, steps, fx, fy, gx, gy, free });
    this.length = place.length;
    this.x = new Int32Array(place.length);
    this.y = new Int32Array(place.length);
    this.rowStart = new Int32Array(height + 1).fill(place.length);
    let row = -1;
    for (let i = 0; i < place.length; i++) {
      const y = Math.floor(place[i] / width);
      this.y[i] = y;
      this.x[i] = place[i] - y * width;
      while (row < y) this.rowStart[++row] = i;
    }
  }

  // Call callback(index, dx, dy, moment) for each edge in the patch of this size around (y, x). Without polarity, the moment
  // is its squared part across the lever less its squared part along it.
  visit(y, x, size, patch, callback) {
    const reach = (size - 1) / 2;
    const disk = patch === "disk";
    const last = this.rowStart[Math.min(this.height, y + reach + 1)];
    for (let i = this.rowStart[Math.max(0, y - reach)]; i < last; i++) {
      const dx = this.x[i] - x;
      const dy = this.y[i] - y;
      if (disk ? dx * dx + dy * dy > reach * reach : dx > reach || -dx > reach) continue;
      const across = dx * this.gy[i] - dy * this.gx[i];
      if (!this.free) callback(i, dx, dy, across);
      else callback(i, dx, dy, across ** 2 - (dx * this.gx[i] + dy * this.gy[i]) ** 2);
    }
  }
}

// The normalisation Z: the patch's area at alpha = 2.
export function area(size, patch, alpha) {
  if (patch === "disk") return size > 1 ? Math.PI * ((size - 1) / 2) ** alpha : 1;
  return size * size * (size / 2) ** (alpha - 2);
}

// The torque of a sum of integer moments, rounded to float32 where the library does.
function normalise(moment, size, patch, alpha, { steps, free }) {
  const f = Math.fround;
  if (!free) return f(f(2 * moment) * f(1 / (4 * area(size, patch, alpha) * steps)));
  const radius = Math.max(0.5, patch === "disk" ? (size - 1) / 2 : size / 2);
  return f(4 * moment * (f(1 / (8 * Math.PI * radius ** (1 + alpha))) / (steps * steps)));
}

export function patchTorque(field, { y, x, size, patch, alpha }) {
  let sum = 0;
  field.visit(y, x, size, patch, (i, dx, dy, moment) => { sum += moment; });
  return normalise(sum, size, patch, alpha, field) + 0;
}

// The formula's parts: Z, and the sums of the moments that turn the patch clockwise and back, in units of a full force.
export function formulaTerms(field, { y, x, size, patch, alpha }) {
  const unit = field.free ? field.steps ** 2 : field.steps;
  const sums = { edges: 0, plus: 0, minus: 0 };
  field.visit(y, x, size, patch, (i, dx, dy, moment) => {
    sums.edges++;
    sums[moment > 0 ? "plus" : "minus"] += moment / unit;
  });
  const radius = Math.max(0.5, patch === "disk" ? (size - 1) / 2 : size / 2);
  return { ...sums, z: field.free ? Math.PI * radius ** (1 + alpha) : area(size, patch, alpha) };
}

// Torque over all odd sizes up to the largest: each moment goes to the smallest patch that holds it.
export function spectrum(field, { y, x, patch, alpha }, largest) {
  const bins = new Float64Array((largest + 1) / 2);
  field.visit(y, x, largest, patch, (i, dx, dy, moment) => {
    let reach = Math.max(Math.abs(dx), Math.abs(dy));
    if (patch === "disk") {
      const square = dx * dx + dy * dy;
      reach = Math.ceil(Math.sqrt(square));
      while (reach * reach < square) reach++;
    }
    bins[reach] += moment;
  });
  const torque = new Float64Array(bins.length);
  let sum = 0;
  for (let reach = 0; reach < bins.length; reach++) {
    sum += bins[reach];
    torque[reach] = normalise(sum, 2 * reach + 1, patch, alpha, field);
  }
  return torque;
}
