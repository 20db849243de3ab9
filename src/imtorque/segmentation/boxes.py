"""Boxes that may hold an object, scored by the gradient torque of the colours in them and around them."""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.boxes import Boxes
from imtorque.core.types import FloatArray, Image, IntArray, Planes
from imtorque.images import CheckedImage

# Boxes, the power of their size and the ring: chosen on the dev part of small objects (docs/measured/segmentation.md).
GRADIENT_SIGMA = 1.4  # pixels, of the smoothing before gradients are taken
# Side of the smallest boxes, of the square root of the image's area: 2 % of it; chosen as above.
SMALLEST_SIDE_SHARE = 0.14
SIZE_STEPS = 13  # from the smallest by default to the side of a square image; chosen as above
ASPECTS = (0.4, 0.63, 1.0, 1.6, 2.5)  # height over width; chosen as above
PLACES_PER_SIDE = 8  # places per box side; chosen as above
MIN_BOX_SIDE = 5  # pixels; bound: of what has an inside
STRIP = (0.8, 1.1)  # where the contrast across a side is taken, as parts of half the box; chosen as above
SCORES = ("both", "side", "torque")
SIZE_POWER = 0.5  # of the size: parts are not to come before wholes; as alpha = 1.5; chosen as above
GRADIENT_STEP = 2  # rows and columns from one sample of the mean gradient to the next; bound: time
RING_DIVISOR = 4  # the ring around a box reaches as far as its sides over this; chosen as above
GRADIENT_FLOOR = 0.3  # of the image's mean gradient, added to that of a ring: a ring may have none; chosen as above
FIRST_COMPARED = 6_000  # boxes, best first, among which distinct ones are searched for: mostly enough; bound: time
MAX_COMPARED = 12_000  # bound: boxes among which they are searched for at all


def best_boxes(
    planes: Planes, candidates: NDArray[np.int64], count: int, score: str, iou: float, *, contrast: bool = True
) -> Boxes:
    """Return the candidates of highest score, none of which overlaps a better one too much.

    A score is that of `box_scores`, with `contrast` times its `gradient_contrast`.
    """
    scores = box_scores(planes, candidates, score)
    likely = _highest(scores, MAX_COMPARED)
    candidates, scores = candidates[likely], scores[likely]
    if contrast:
        scores *= gradient_contrast(planes, candidates)
    for most in (FIRST_COMPARED, MAX_COMPARED):
        order = _best(scores, most)
        ranked = np.ascontiguousarray(candidates[order])
        kept = _native.distinct_boxes(ranked, iou, count)
        if len(kept) == count or len(order) == len(scores):
            break
    y0, x0, y1, x1 = ranked[kept].T
    return Boxes(y0, x0, y1, x1, scores[order[kept]])


def _best(scores: FloatArray, count: int) -> IntArray:
    """Return the indices of the highest scores, best first; ties keep their order."""
    places = _highest(scores, count)
    best: IntArray = places[np.argsort(-scores[places], kind="stable")[:count]]
    return best


def _highest(scores: FloatArray, count: int) -> IntArray:
    """Return the indices of the highest scores, in their own order, with all ties of the last."""
    if len(scores) <= count:
        return np.arange(len(scores))
    return np.flatnonzero(scores >= np.partition(scores, -count)[-count])


def box_scores(planes: Planes, boxes: NDArray[np.int64], score: str) -> NDArray[np.float64]:
    """Score boxes by |torque|, by the contrast across the weakest side, or by their geometric mean.

    All are multiplied by a power of the box's size, without which parts would come before wholes.
    """
    torque, sides = _native.box_scores(planes, boxes, *STRIP)
    weakest = np.minimum(np.minimum(sides[:, 0], sides[:, 1]), np.minimum(sides[:, 2], sides[:, 3]))
    found = {"torque": torque, "side": weakest, "both": np.sqrt(torque * weakest)}[score]
    size = np.sqrt((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]))
    return np.asarray(found * size**SIZE_POWER)


def gradient_contrast(planes: Planes, boxes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mean gradient in each box over that in the ring around it, as far as the ring lies in the image.

    It is low for half an object, which has the other half beside it, and for a box that is too large.
    """
    gradient = _steps(planes[:, ::GRADIENT_STEP, ::GRADIENT_STEP])
    height, width = gradient.shape
    table = np.zeros((height + 1, width + 1))
    np.cumsum(gradient, axis=0, out=table[1:, 1:])
    np.cumsum(table[1:, 1:], axis=1, out=table[1:, 1:])
    y0, x0, y1, x1 = (np.ascontiguousarray(boxes.T) + GRADIENT_STEP - 1) // GRADIENT_STEP
    down, across = (np.maximum(1, side // RING_DIVISOR) for side in (y1 - y0, x1 - x0))
    ring = (
        np.maximum(y0 - down, 0),
        np.maximum(x0 - across, 0),
        np.minimum(y1 + down, height),
        np.minimum(x1 + across, width),
    )
    own, own_area = _sums(table, y0, x0, y1, x1)
    whole, whole_area = _sums(table, *ring)
    around = np.maximum(whole - own, 0.0) / np.maximum(whole_area - own_area, 1)
    floor = GRADIENT_FLOOR * float(gradient.mean()) or 1.0  # 1 where there is no gradient at all
    return np.asarray(own / np.maximum(own_area, 1) / (around + floor))


def _steps(planes: Planes) -> NDArray[np.float64]:
    """Return the sum over planes of the absolute differences to the pixels below and to the right."""
    found = np.zeros(planes.shape[1:])
    for plane in planes:
        found[:-1] += np.abs(plane[1:] - plane[:-1])
        found[:, :-1] += np.abs(plane[:, 1:] - plane[:, :-1])
    return found


def _sums(
    table: NDArray[np.float64], y0: IntArray, x0: IntArray, y1: IntArray, x1: IntArray
) -> tuple[NDArray[np.float64], IntArray]:
    """Return the sums over boxes, from a summed-area table, and the areas."""
    flat, top, bottom = table.ravel(), y0 * table.shape[1], y1 * table.shape[1]
    found = flat.take(bottom + x1) - flat.take(bottom + x0) - flat.take(top + x1) + flat.take(top + x0)
    return np.maximum(found, 0.0), (y1 - y0) * (x1 - x0)  # rounding can leave less than nothing


@lru_cache(maxsize=2)  # images of one set are often of one shape, or lie or stand
def candidate_boxes(shape: tuple[int, int], smallest: float = SMALLEST_SIDE_SHARE) -> NDArray[np.int64]:
    """Return boxes (n, 4) of many sizes and aspects, a share of their size apart, and the whole image.

    `smallest` is the side of the smallest, as a part of the square root of the image's area. Not to be written to.
    """
    least, largest = smallest * math.sqrt(shape[0] * shape[1]), max(shape)
    growth = (1 / SMALLEST_SIDE_SHARE) ** (1 / SIZE_STEPS)
    steps = max(2, round(math.log(largest / least) / math.log(growth)) + 1) if largest > least else 1
    found = [np.array([[0, 0, *shape]])]
    for size in np.geomspace(least, largest, steps):
        for aspect in ASPECTS:
            height, width = round(size * math.sqrt(aspect)), round(size / math.sqrt(aspect))
            if MIN_BOX_SIDE <= height <= shape[0] and MIN_BOX_SIDE <= width <= shape[1]:
                y, x = (_places(side, own) for side, own in zip(shape, (height, width), strict=True))
                boxes = np.empty((len(y), len(x), 4), np.int64)
                boxes[..., 0], boxes[..., 2] = y[:, None], y[:, None] + height
                boxes[..., 1], boxes[..., 3] = x, x + width
                found.append(boxes.reshape(-1, 4))
    candidates = np.concatenate(found)
    candidates.flags.writeable = False
    return candidates


def smooth_lab(image: Image | CheckedImage) -> Planes:
    """Return the image's L, a and b, smoothed, (3, H, W)."""
    from scipy import ndimage  # here, because it takes longer to load than the rest of the library

    planes = CheckedImage(image).lab()
    for plane in planes:
        ndimage.gaussian_filter(plane, GRADIENT_SIGMA, mode="nearest", output=plane)
    return planes


def _places(side: int, own: int) -> IntArray:
    """Return where boxes start along a side, evenly spaced."""
    room = side - own
    places = np.round(np.linspace(0, room, int(room * PLACES_PER_SIDE / own) + 1)).astype(np.int64)
    places = places[np.diff(places, prepend=-1) > 0]  # each once
    return places
