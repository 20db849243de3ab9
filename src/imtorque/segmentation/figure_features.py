"""Features of cuts: agreement with other cuts, edges along the outline, shape, and contrast to the surround."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.types import BoolArray, FloatArray
from imtorque.segmentation.appearance import WORDS
from imtorque.segmentation.boxes import STRIP
from imtorque.segmentation.figure_cuts import View
from imtorque.segmentation.fixated_boxes import bounding_box

Features = dict[str, FloatArray]
RING_WIDTH = 0.15  # of the ring around a cut, over the square root of its area; measured (0, +.003)
NEAREST_CUTS = 5  # the most similar cut in so many makes up the feature `overlap_nearest`; measured (+.002, 0)
CLOSED_EDGE, STRONG_EDGE = 0.15, 0.5  # edge strength from which an outline is closed, is strong; measured (-.013, 0)
TYPICAL_GRADIENT = 0.98  # quantile that becomes 1; unrecorded


def cut_features(view: View, cuts: Sequence[BoolArray]) -> tuple[tuple[str, ...], FloatArray]:
    """Return the names and the features of cuts at half of the working size, (cuts, features)."""
    masks = np.stack(cuts)
    flat = masks.reshape(len(masks), -1).astype(np.float32)
    area = flat.sum(axis=1)
    found: Features = {"area": np.log(area / flat.shape[1])}
    found |= _agreement_features(flat, area)
    found |= _outline_features(view, masks, area)
    found |= _shape_features(view, masks, flat, area)
    found |= _appearance_features(view, masks, flat)
    return tuple(found), np.stack([values.astype(np.float64) for values in found.values()], axis=1)


def _agreement_features(flat: NDArray[np.float32], area: FloatArray) -> Features:
    """Return how much the cuts overlap each other."""
    shared = flat @ flat.T
    overlap = shared / (area[:, None] + area - shared)
    nearest = max(2, len(flat) // NEAREST_CUTS)
    return {
        "overlap": overlap.mean(axis=1),
        "overlap_nearest": np.sort(overlap, axis=1)[:, -nearest - 1 : -1].mean(axis=1),
        "votes": shared.mean(axis=1) / area,  # of the other cuts, for a pixel of the cut
        "missed": (area.mean() - shared.mean(axis=1)) / flat.shape[1],  # votes for pixels outside of it
    }


def _outline_features(view: View, masks: BoolArray, area: FloatArray) -> Features:
    """Return the strength of edges along and within the outlines, and their share on the image's border."""
    from scipy import ndimage

    around = np.pad(masks, ((0, 0), (1, 1), (1, 1)))
    within = masks & around[:, :-2, 1:-1] & around[:, 2:, 1:-1] & around[:, 1:-1, :-2] & around[:, 1:-1, 2:]
    rim = masks & ~within
    length = np.array([np.count_nonzero(part) for part in rim])
    rim[:, [0, -1]] = rim[:, :, [0, -1]] = False
    free = rim.reshape(len(masks), -1).astype(np.float32)
    inner = within.reshape(len(masks), -1).astype(np.float32)
    free_length, inner_area = np.maximum(free.sum(axis=1), 1), np.maximum(inner.sum(axis=1), 1)
    sides = [masks[:, 0], masks[:, -1], masks[:, :, 0], masks[:, :, -1]]
    found = {
        "border": 1 - free.sum(axis=1) / length,
        "sides": np.sum([side.any(axis=1) for side in sides], axis=0),
        "raggedness": np.log(length**2 / area.astype(np.float64)),
    }
    gradient = np.hypot(*view.gradient)
    steep = np.minimum(gradient / (np.quantile(gradient, TYPICAL_GRADIENT) or 1.0), 1.0)
    for name, edges in (("edges", view.edges), ("gradient", steep)):
        near = ndimage.maximum_filter(edges, 3).ravel().astype(np.float32)
        found |= {
            name: free @ near / free_length,
            f"{name}_closed": free @ (near > CLOSED_EDGE) / free_length,
            f"{name}_strong": free @ (near > STRONG_EDGE) / free_length,
            f"{name}_within": inner @ near / inner_area,
        }
    return found


def _shape_features(view: View, masks: BoolArray, flat: NDArray[np.float32], area: FloatArray) -> Features:
    """Return how a cut fills its box, its offset from the click, and the gradient torque and sides of the box."""
    boxes = np.array([bounding_box(mask) for mask in masks], np.int64)
    # Whole numbers below 2^24, so that float32 holds their sums, in whichever order.
    places = np.indices(view.shape, np.float32).reshape(2, -1)
    middle_y, middle_x = (flat @ places.T).T.astype(np.float64) / area
    torque, sides = _native.box_scores(view.colours, boxes, *STRIP)
    unit = float(view.colours.std()) or 1.0
    found = {
        "fill": area / ((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])),
        "click_offset": np.hypot(middle_y - view.fixation[0], middle_x - view.fixation[1]) / np.sqrt(area),
        "weakest_side": sides.min(axis=1) / unit,
    }
    return {**found, "torque": torque / unit} if view.torque else found


def _appearance_features(view: View, masks: BoolArray, flat: NDArray[np.float32]) -> Features:
    """Return the contrast of a cut's words and colours to the surround."""
    words = view.levels[1].words
    rings = np.stack([_ring(mask) for mask in masks])
    inside, ring = (_histograms(words, parts) for parts in (masks, rings))
    outside = np.bincount(words.ravel(), minlength=WORDS) - inside
    own, other, near = _shares(inside), _shares(outside), _shares(ring)
    distinct = own > other
    pixels = view.levels[1].lab.reshape(3, -1).T.astype(np.float32)
    around = rings.reshape(len(rings), -1).astype(np.float32)
    means = [part @ pixels / np.maximum(part.sum(axis=1, keepdims=True), 1) for part in (flat, around)]
    unit = float(view.colours.std()) or 1.0
    return {
        "contrast": _chi_squared(own, other),
        "ring_contrast": _chi_squared(own, near),
        "ring_colour": np.sqrt(((means[0] - means[1]) ** 2).sum(axis=1)) / unit,
        "own_words": (own * distinct).sum(axis=1),
        "ring_words": (near * ~distinct).sum(axis=1),
    }


def _ring(mask: BoolArray) -> BoolArray:
    """Return the ring of pixels around a mask, as wide as a share of its size."""
    from scipy import ndimage

    reach = max(1, int(RING_WIDTH * math.sqrt(mask.sum())))
    return np.asarray(ndimage.maximum_filter(mask, 2 * reach + 1, mode="constant") & ~mask)


def _histograms(words: NDArray[np.int64], parts: BoolArray) -> FloatArray:
    """Return how often each word occurs in each part, (parts, words)."""
    none = np.zeros(words.shape, np.uint8)
    return np.stack([_native.count_words(words, 0, 0, part, none, none, WORDS) for part in parts.view(np.uint8)])


def _shares(counts: FloatArray) -> FloatArray:
    return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))


def _chi_squared(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the chi-squared distances, from 0 to 1, of rows of shares."""
    return np.asarray(0.5 * ((a - b) ** 2 / np.maximum(a + b, 1e-12)).sum(axis=1))
