// Pointer, wheel and keys on the image.

const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
const odd = (value) => 2 * Math.round((value - 1) / 2) + 1;

// Return the patch clamped to the image.
export function clampPatch({ y, x, size }, image) {
  return {
    y: clamp(Math.round(y), 0, image.height - 1),
    x: clamp(Math.round(x), 0, image.width - 1),
    size: clamp(odd(size), 3, largestPatch(image)),
  };
}

export const largestPatch = ({ height, width }) => Math.max(3, odd(Math.min(height, width) - 0.5));

export const stepSize = (size, steps) => size + steps * Math.max(2, 2 * Math.round(size / 50));

// Wheels turn by whole notches, trackpads by pixels: one step for each notch, or for as many pixels.
const NOTCH = 40; // pixels; convention
function wheelCounter() {
  let travel = 0;
  let last = 0;
  return ({ deltaX, deltaY, deltaMode, timeStamp }) => {
    const delta = deltaY || deltaX; // with Shift some browsers turn the wheel sideways
    const pixels = deltaMode === 0 ? delta : NOTCH * Math.sign(delta);
    if (timeStamp - last > 400 || Math.sign(pixels) !== Math.sign(travel)) travel = 0;
    last = timeStamp;
    travel += clamp(pixels, -NOTCH, NOTCH);
    const steps = Math.trunc(travel / NOTCH);
    travel -= steps * NOTCH;
    return steps;
  };
}

// actions: patch() → {y, x, size}, setPatch(patch), tool() → name, choose(number), chooseNext(by), cut(place, event),
// annotate(object), removeMark(place) → whether there was one, previewAnnotation(object or null), stroke(kind, place),
// image() → {height, width} or null, extrema() → list, home()
export function bindGestures(stage, actions) {
  const { canvas } = stage;
  const pointers = new Map();
  let drag = null;
  let pinch = false;
  const wheelSteps = wheelCounter();

  const isOnPatch = (place) => {
    const { y, x, size } = actions.patch();
    return Math.max(Math.abs(place.x - x), Math.abs(place.y - y)) <= size / 2;
  };
  const move = (change) => actions.setPatch(clampPatch({ ...actions.patch(), ...change }, actions.image()));

  canvas.addEventListener("pointerdown", (event) => {
    if (!actions.image() || event.button > 0) return;
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, event);
    const place = stage.pixelAt(event);
    if (pointers.size === 2) { // zoom.js zooms
      pinch = true;
      drag = null;
      actions.previewAnnotation(null);
      return;
    }
    if (pinch) return;
    if (actions.tool() === "draw") {
      actions.stroke("begin", place);
      drag = {};
    } else if (actions.tool() === "count") drag = { from: place, x: event.clientX, y: event.clientY };
    else if (actions.tool() === "patch") {
      const { y, x } = actions.patch();
      drag = isOnPatch(place) ? { dx: x - place.x, dy: y - place.y } : { dx: 0, dy: 0 };
      if (!isOnPatch(place)) move(place);
    }
  });

  canvas.addEventListener("pointermove", (event) => {
    if (!actions.image()) return;
    const place = stage.pixelAt(event);
    canvas.classList.toggle("grab", actions.tool() === "patch" && isOnPatch(place));
    canvas.classList.toggle("marker", actions.tool() === "extrema" && stage.markerAt(event, actions.extrema()) !== null);
    if (!pointers.has(event.pointerId)) return;
    pointers.set(event.pointerId, event);
    if (drag && actions.tool() === "draw") actions.stroke("to", place);
    else if (drag && actions.tool() === "count") actions.previewAnnotation(draggedAnnotation(drag, event, place));
    else if (drag && actions.tool() === "patch") move({ y: place.y + drag.dy, x: place.x + drag.dx });
  });

  const release = (event) => {
    if (!pointers.delete(event.pointerId)) return;
    if (event.type === "pointerup" && !pinch) {
      if (actions.tool() === "extrema") actions.choose(stage.markerAt(event, actions.extrema()));
      if (actions.tool() === "count" && drag && !(isClick(drag, event) && actions.removeMark(drag.from))) within(drag.from, (at) => actions.annotate({ ...at, ...draggedAnnotation(drag, event, stage.pixelAt(event)), ...at }));
      if (actions.tool() === "cut") cutAt(stage.pixelAt(event), event);
      if (actions.tool() === "draw" && drag) actions.stroke("end", stage.pixelAt(event));
    }
    drag = null;
    actions.previewAnnotation(null);
    if (!pointers.size) pinch = false;
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);

  // Act on a click on the image, in whole pixels; one beside it does nothing.
  const within = ({ y, x }, act) => {
    const { height, width } = actions.image();
    if (y < -0.5 || x < -0.5 || y > height - 0.5 || x > width - 0.5) return;
    act({ y: clamp(Math.round(y), 0, height - 1), x: clamp(Math.round(x), 0, width - 1) });
  };
  const cutAt = (place, event) => within(place, (at) => actions.cut(at, event));

  const isClick = ({ x, y }, event) => Math.hypot(event.clientX - x, event.clientY - y) <= 5;

  // An annotated object: dragged from its middle to its border, or clicked without a size.
  const draggedAnnotation = ({ from, x, y }, event, place) => {
    return { ...from, diameter: !isClick({ x, y }, event) ? Math.max(3, Math.round(2 * Math.hypot(place.x - from.x, place.y - from.y))) : 0, negative: false };
  };
  canvas.addEventListener("contextmenu", (event) => {
    if (actions.tool() !== "count" || !actions.image()) return;
    event.preventDefault();
    const place = stage.pixelAt(event);
    if (!actions.removeMark(place)) within(place, (at) => actions.annotate({ ...at, diameter: 0, negative: true }));
  });

  canvas.addEventListener("wheel", (event) => {
    if (!actions.image() || !event.shiftKey || !["patch", "draw"].includes(actions.tool())) return;
    event.preventDefault();
    const steps = wheelSteps(event);
    if (steps) move({ size: stepSize(actions.patch().size, -steps) });
  }, { passive: false });

  // Keys work before the image was clicked, too.
  const OWN_KEYS = /^(Arrow\w+|Home|Enter|[+=_zZ0-])$/;
  window.addEventListener("keydown", (event) => {
    if (event.target !== document.body || event.ctrlKey || event.metaKey || !OWN_KEYS.test(event.key)) return;
    canvas.focus({ preventScroll: true });
    if (!canvas.dispatchEvent(new KeyboardEvent("keydown", event))) event.preventDefault();
  });

  const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  canvas.addEventListener("keydown", (event) => {
    if (!actions.image() || event.ctrlKey || event.metaKey) return;
    const { y, x, size } = actions.patch();
    if (actions.tool() === "extrema") { // no patch to move: keys go from marker to marker
      const [dy, dx] = ARROWS[event.key] ?? [0, 0];
      if (dy || dx) actions.chooseNext(dy + dx);
      else if (event.key === "Home") actions.choose(1);
      else if (event.key === "Escape") actions.choose(null);
      else return;
    } else if (event.key in ARROWS) {
      const step = event.shiftKey ? 10 : 1;
      const [dy, dx] = ARROWS[event.key];
      move({ y: y + step * dy, x: x + step * dx });
    } else if (event.key === "+" || event.key === "=") move({ size: stepSize(size, 1) });
    else if (event.key === "-" || event.key === "_") move({ size: stepSize(size, -1) });
    else if (event.key === "Home") actions.home();
    else if (event.key === "Enter" && actions.tool() === "cut") cutAt({ y, x }, event);
    else if (event.key === "Enter" && actions.tool() === "count") actions.annotate({ y, x, diameter: 0, negative: event.altKey });
    else return;
    event.preventDefault();
  });
}
