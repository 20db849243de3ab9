"""Boxes around a fixation: of sizes that are given, and those of strongest torque."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.types import BoolArray, FloatArray, Planes
from imtorque.segmentation.boxes import ASPECTS, SMALLEST_SIDE_SHARE, STRIP

Box = tuple[float, float, float, float]  # top, left, bottom, right
# Sizes of boxes around a fixation, and places of it in them along each side; bound: time.
FIXATED_SIZES, FIXATED_STEPS = 16, 9
BORDER_SLACK = 3  # pixels by which such boxes may leave the image; untuned
BOX_GROWTH = 1.5  # by which the box of strongest torque is enlarged; measured (+.012, +.002)


def centred_box(shape: tuple[int, int], part: float) -> Box:
    """Return the box in the middle of the image with this part of its sides."""
    (top, bottom), (left, right) = ((side * (1 - part) / 2, side * (1 + part) / 2) for side in shape)
    return top, left, bottom, right


def fixated_box(shape: tuple[int, int], fixation: tuple[int, int], part: float) -> Box:
    """Return the square around the fixation whose side is this part of the square root of the image's area."""
    reach = part * math.sqrt(shape[0] * shape[1]) / 2
    return fixation[0] - reach, fixation[1] - reach, fixation[0] + reach, fixation[1] + reach


def torque_boxes(planes: Planes, fixation: tuple[int, int]) -> dict[str, Box]:
    """Return the best boxes around the fixation, somewhat enlarged: no size is known beforehand.

    "torque": by the gradient torque of the planes; "both": by its geometric mean with the contrast across the weakest
    side.
    """
    boxes = boxes_around(fixation, (planes.shape[1], planes.shape[2]))
    torque, sides = _native.box_scores(planes, boxes, *STRIP)
    scores = {"torque": torque, "both": np.sqrt(torque * sides.min(axis=1))}
    return {name: enlarged(boxes[int(score.argmax())].tolist(), BOX_GROWTH) for name, score in scores.items()}


def boxes_around(fixation: tuple[int, int], shape: tuple[int, int]) -> NDArray[np.int64]:
    """Return boxes of many sizes and shapes, with the fixation in their middle half, that lie in the image."""
    sizes = np.geomspace(SMALLEST_SIDE_SHARE, 1, FIXATED_SIZES)[:, None] * math.sqrt(shape[0] * shape[1])
    stretch = np.sqrt(ASPECTS)
    # By size, aspect and place, along either side.
    (top, bottom, tall), (left, right, wide) = (
        _spans_around(at, lengths, side)
        for at, lengths, side in zip(fixation, (sizes * stretch, sizes / stretch), shape, strict=True)
    )
    boxes = np.empty((*top.shape, FIXATED_STEPS, 4), np.int64)
    boxes[..., 0], boxes[..., 2] = top[..., None], bottom[..., None]
    boxes[..., 1], boxes[..., 3] = left[..., None, :], right[..., None, :]
    whole = np.array([[0, 0, *shape]], np.int64)
    return np.concatenate([whole, boxes[tall[..., None] & wide[..., None, :]]])


def _spans_around(at: int, lengths: FloatArray, side: int) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return the ends of spans of these lengths at all offsets from a point, and which lie in the image."""
    length = lengths[..., None]
    middle = at + np.linspace(-0.25, 0.25, FIXATED_STEPS) * length
    first, last = (middle - length / 2).round(), (middle + length / 2).round()
    inside = (first >= -BORDER_SLACK) & (last <= side + BORDER_SLACK)
    first, last = first.clip(0, side), last.clip(0, side)
    return first, last, inside & (last > first)


def bounding_box(mask: BoolArray) -> tuple[int, int, int, int]:
    """Return the bounding box of a mask that is not empty: y0, x0 and, exclusive, y1, x1."""
    rows, columns = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
    return int(rows[0]), int(columns[0]), int(rows[-1]) + 1, int(columns[-1]) + 1


def enlarged(box: Sequence[float], factor: float) -> Box:
    """Scale a box about its centre."""
    y, x, height, width = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2, box[2] - box[0], box[3] - box[1]
    return y - factor * height / 2, x - factor * width / 2, y + factor * height / 2, x + factor * width / 2
