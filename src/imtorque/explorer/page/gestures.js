// Pointer, wheel and keys on the picture.

const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
const odd = (value) => 2 * Math.round((value - 1) / 2) + 1;

// The patch moved or resized, kept within the picture.
export function placed({ y, x, size }, picture) {
  return {
    y: clamp(Math.round(y), 0, picture.height - 1),
    x: clamp(Math.round(x), 0, picture.width - 1),
    size: clamp(odd(size), 3, largestPatch(picture)),
  };
}

export const largestPatch = ({ height, width }) => Math.max(3, odd(Math.min(height, width) - 0.5));

export const grown = (size, steps) => size + steps * Math.max(2, 2 * Math.round(size / 50));

// Wheels turn by whole notches, trackpads by pixels: a step for each notch, or for as many pixels.
const NOTCH = 40;
function notches() {
  let turned = 0;
  let last = 0;
  return ({ deltaY, deltaMode, timeStamp }) => {
    const pixels = deltaMode === 0 ? deltaY : NOTCH * Math.sign(deltaY);
    if (timeStamp - last > 400 || Math.sign(pixels) !== Math.sign(turned)) turned = 0;
    last = timeStamp;
    turned += clamp(pixels, -NOTCH, NOTCH);
    const steps = Math.trunc(turned / NOTCH);
    turned -= steps * NOTCH;
    return steps;
  };
}

// actions: patch() → {y, x, size}, setPatch(patch), tool() → name, choose(number), chooseNext(by), cut(place, event), mark(object), size(object or null), stroke(kind, place),
// picture() → {height, width} or null, extrema() → list, home()
export function listen(stage, actions) {
  const { canvas } = stage;
  const pointers = new Map();
  let drag = null;
  let pinch = null;
  const turnedBy = notches();

  const grabs = (place) => {
    const { y, x, size } = actions.patch();
    return Math.max(Math.abs(place.x - x), Math.abs(place.y - y)) <= size / 2;
  };
  const spread = () => {
    const [a, b] = [...pointers.values()];
    return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
  };
  const move = (change) => actions.setPatch(placed({ ...actions.patch(), ...change }, actions.picture()));

  canvas.addEventListener("pointerdown", (event) => {
    if (!actions.picture() || event.button > 0) return;
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, event);
    const place = stage.pixelAt(event);
    if (pointers.size === 2 && actions.tool() === "patch") {
      pinch = { spread: spread(), size: actions.patch().size };
      drag = null;
      return;
    }
    if (actions.tool() === "draw") {
      actions.stroke("begin", place);
      drag = {};
    } else if (actions.tool() === "count") drag = { from: place, x: event.clientX, y: event.clientY };
    else if (actions.tool() === "patch") {
      const { y, x } = actions.patch();
      drag = grabs(place) ? { dx: x - place.x, dy: y - place.y } : { dx: 0, dy: 0 };
      if (!grabs(place)) move(place);
    }
  });

  canvas.addEventListener("pointermove", (event) => {
    if (!actions.picture()) return;
    const place = stage.pixelAt(event);
    canvas.classList.toggle("grab", actions.tool() === "patch" && grabs(place));
    canvas.classList.toggle("mark", actions.tool() === "extrema" && stage.markAt(event, actions.extrema()) !== null);
    if (!pointers.has(event.pointerId)) return;
    pointers.set(event.pointerId, event);
    if (pinch && pointers.size === 2) move({ size: (pinch.size * spread()) / Math.max(1, pinch.spread) });
    else if (drag && actions.tool() === "draw") actions.stroke("to", place);
    else if (drag && actions.tool() === "count") actions.size(sized(drag, event, place));
    else if (drag && actions.tool() === "patch") move({ y: place.y + drag.dy, x: place.x + drag.dx });
  });

  const lift = (event) => {
    if (!pointers.delete(event.pointerId)) return;
    if (event.type === "pointerup" && !pinch) {
      if (actions.tool() === "extrema") actions.choose(stage.markAt(event, actions.extrema()));
      if (actions.tool() === "count" && drag) within(drag.from, (at) => actions.mark({ ...at, ...sized(drag, event, stage.pixelAt(event)), ...at }));
      if (actions.tool() === "cut") cutAt(stage.pixelAt(event), event);
    }
    drag = null;
    actions.size(null);
    if (!pointers.size) pinch = null;
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);

  // A click on the picture, in whole pixels; one beside it does nothing.
  const within = ({ y, x }, act) => {
    const { height, width } = actions.picture();
    if (y < -0.5 || x < -0.5 || y > height - 0.5 || x > width - 0.5) return;
    act({ y: clamp(Math.round(y), 0, height - 1), x: clamp(Math.round(x), 0, width - 1) });
  };
  const cutAt = (place, event) => within(place, (at) => actions.cut(at, event));

  // An object to be counted: dragged from its middle to its border, or clicked without a size.
  const sized = ({ from, x, y }, event, place) => {
    const dragged = Math.hypot(event.clientX - x, event.clientY - y) > 5;
    return { ...from, diameter: dragged ? Math.max(3, Math.round(2 * Math.hypot(place.x - from.x, place.y - from.y))) : 0, wrong: false };
  };
  canvas.addEventListener("contextmenu", (event) => {
    if (actions.tool() !== "count" || !actions.picture()) return;
    event.preventDefault();
    within(stage.pixelAt(event), (at) => actions.mark({ ...at, diameter: 0, wrong: true }));
  });

  canvas.addEventListener("wheel", (event) => {
    if (!actions.picture() || event.ctrlKey || !["patch", "draw"].includes(actions.tool())) return;
    event.preventDefault();
    const steps = turnedBy(event);
    if (steps) move({ size: grown(actions.patch().size, -steps) });
  }, { passive: false });

  const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  canvas.addEventListener("keydown", (event) => {
    if (!actions.picture() || event.ctrlKey || event.metaKey) return;
    const { y, x, size } = actions.patch();
    if (actions.tool() === "extrema") { // there is no patch to move: keys go from mark to mark
      const [dy, dx] = ARROWS[event.key] ?? [0, 0];
      if (dy || dx) actions.chooseNext(dy + dx);
      else if (event.key === "Home") actions.choose(1);
      else if (event.key === "Escape") actions.choose(null);
      else return;
    } else if (event.key in ARROWS) {
      const step = event.shiftKey ? 10 : 1;
      const [dy, dx] = ARROWS[event.key];
      move({ y: y + step * dy, x: x + step * dx });
    } else if (event.key === "+" || event.key === "=") move({ size: grown(size, 1) });
    else if (event.key === "-" || event.key === "_") move({ size: grown(size, -1) });
    else if (event.key === "Home") actions.home();
    else if (event.key === "Enter" && actions.tool() === "cut") cutAt({ y, x }, event);
    else if (event.key === "Enter" && actions.tool() === "count") actions.mark({ y, x, diameter: 0, wrong: event.altKey });
    else return;
    event.preventDefault();
  });
}
