"""What a torque cue must be compared with: cuts that know no torque, or the object's usual place and size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque._types import BoolArray
from imtorque.segmentation.boxes import ASPECTS, SMALLEST, STRIP, smooth_lab

Box = tuple[float, float, float, float]
ELLIPSE = 0.6  # of the image's sides
DISC = 5  # pixels around the fixation that are figure for sure
ITERATIONS = 5
BOX_SIZES, BOX_STEPS = 16, 9  # sizes of boxes around a fixation, and places of it in them along each side
SLACK = 3  # pixels by which such boxes may leave the image
TORQUE_MARGIN = 1.5  # by which the box of strongest torque is enlarged


def ellipse(shape: tuple[int, int]) -> BoolArray:
    """Return an ellipse in the middle of the image: no image data at all."""
    y, x = (np.linspace(-1, 1, side) for side in shape)
    return np.asarray((y[:, None] / ELLIPSE) ** 2 + (x / ELLIPSE) ** 2 <= 1)


def centred_box(shape: tuple[int, int], part: float) -> Box:
    """Return the box in the middle of the image with this part of its sides."""
    (top, bottom), (left, right) = ((side * (1 - part) / 2, side * (1 + part) / 2) for side in shape)
    return top, left, bottom, right


def fixated_box(shape: tuple[int, int], fixation: tuple[int, int], part: float) -> Box:
    """Return the square around the fixation whose side is this part of the square root of the image's area."""
    reach = part * math.sqrt(shape[0] * shape[1]) / 2
    return fixation[0] - reach, fixation[1] - reach, fixation[0] + reach, fixation[1] + reach


def torque_box(image: NDArray[Any], fixation: tuple[int, int], score: str) -> Box:
    """Return the best box around the fixation, somewhat enlarged: no size is known beforehand.

    `score`: "torque", the gradient torque of L, a and b; "both", its geometric mean with the contrast across the
    weakest side.
    """
    planes = smooth_lab(image)
    boxes = _boxes_around(fixation, (planes.shape[1], planes.shape[2]))
    torque, sides = _native.box_scores(planes, boxes, *STRIP)
    scores = torque if score == "torque" else np.sqrt(torque * sides.min(axis=1))
    return _enlarged(boxes[int(scores.argmax())].tolist(), TORQUE_MARGIN)


def _boxes_around(fixation: tuple[int, int], shape: tuple[int, int]) -> NDArray[np.int64]:
    """Return boxes of many sizes and shapes, with the fixation in their middle half, that lie in the image."""
    sizes = np.geomspace(SMALLEST, 1, BOX_SIZES) * math.sqrt(shape[0] * shape[1])
    stretch, steps = np.sqrt(ASPECTS), np.linspace(-0.25, 0.25, BOX_STEPS)
    size, aspect, down, across = (grid.ravel() for grid in np.meshgrid(sizes, stretch, steps, steps, indexing="ij"))
    height, width = size * aspect, size / aspect
    y, x = fixation[0] + down * height, fixation[1] + across * width
    corners = np.stack([y - height / 2, x - width / 2, y + height / 2, x + width / 2], axis=1).round()
    slack = np.array([-SLACK, -SLACK, shape[0] + SLACK, shape[1] + SLACK])
    inside = np.all((corners - slack) * [1, 1, -1, -1] >= 0, axis=1)
    clipped = np.clip(corners[inside], 0, [*shape, *shape]).astype(np.int64)
    kept = clipped[(clipped[:, 2] > clipped[:, 0]) & (clipped[:, 3] > clipped[:, 1])]
    whole = np.array([[0, 0, *shape]], np.int64)
    return np.ascontiguousarray(np.concatenate([whole, kept]))


def _enlarged(box: Sequence[int], factor: float) -> Box:
    y, x, height, width = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2, box[2] - box[0], box[3] - box[1]
    return y - factor * height / 2, x - factor * width / 2, y + factor * height / 2, x + factor * width / 2


def grab_cut(image: NDArray[Any], box: Box, fixation: tuple[int, int]) -> BoolArray:
    """Return OpenCV's GrabCut within a box, with a sure disc at the fixation: the part that holds it."""
    from scipy import ndimage

    cv2: Any = import_module("cv2")
    shape = (image.shape[0], image.shape[1])
    y, x = np.arange(shape[0])[:, None], np.arange(shape[1])
    within = (y >= round(box[0])) & (y < round(box[2])) & (x >= round(box[1])) & (x < round(box[3]))
    if within.all():  # some ground there must be
        within[[0, -1]] = within[:, [0, -1]] = False
    labels = np.where(within, cv2.GC_PR_FGD, cv2.GC_BGD).astype(np.uint8)
    labels[(y - fixation[0]) ** 2 + (x - fixation[1]) ** 2 <= DISC**2] = cv2.GC_FGD
    colours = image if image.ndim == 3 else np.repeat(image[:, :, None], 3, axis=2)
    models = np.zeros((1, 65)), np.zeros((1, 65))
    cv2.setNumThreads(1)
    cv2.setRNGSeed(0)
    bgr = np.ascontiguousarray(colours[:, :, ::-1])
    cv2.grabCut(bgr, labels, None, *models, ITERATIONS, cv2.GC_INIT_WITH_MASK)
    parts, _ = ndimage.label((labels == cv2.GC_FGD) | (labels == cv2.GC_PR_FGD))
    return np.asarray(parts == parts[fixation])


def chan_vese_cut(grey: NDArray[Any], fixation: tuple[int, int]) -> BoolArray:
    """Return scikit-image's Chan-Vese segmentation: the part that holds the fixation."""
    from scipy import ndimage

    skimage: Any = import_module("skimage.segmentation")
    sides = skimage.chan_vese(grey.astype(np.float64), max_num_iter=200)
    parts, _ = ndimage.label(sides == sides[fixation])
    return np.asarray(parts == parts[fixation])
