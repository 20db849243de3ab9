"""Examples of a class of shapes: masks or contours, with their images or without."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque.core.types import BoolArray, Edges, FloatArray, Image
from imtorque.edges import detect_edges
from imtorque.images import CheckedImage

SIGMA = 1.5  # of the edges; untuned


def shape_edges(image: Image | CheckedImage) -> Edges:
    """Return the edges that shapes are looked for in: Canny's at a sigma of 1.5 pixels, of unit force."""
    return detect_edges(image, sigma=SIGMA)


def read_examples(shapes: Iterable[ArrayLike], images: Iterable[Image] | None) -> list[tuple[Edges, FloatArray]]:
    """Return the edges and the box (y0, x0, y1, x1) of every example."""
    masks = [_mask(np.asarray(shape)) for shape in shapes]
    if not masks:
        raise ValueError("shapes must hold at least one mask or contour, got none")
    if images is None:
        # The rim of a mask is the outline; one pixel more all around, where the outermost rows have no edges.
        padded = [np.pad(mask, 2).astype(np.float32) for mask in masks]
        return [(detect_edges(mask, sigma=SIGMA, low=0.02, high=0.05), _box(mask > 0)) for mask in padded]
    pairs = list(zip(masks, images, strict=True))
    for mask, image in pairs:
        if np.asarray(image).shape[:2] != mask.shape:
            raise ValueError(f"images must have their masks' size {mask.shape}, got {np.asarray(image).shape[:2]}")
    return [(shape_edges(image), _box(mask)) for mask, image in pairs]


def _mask(shape: NDArray[Any]) -> BoolArray:
    """Return a mask, or draw that of a contour."""
    if shape.ndim == 2 and shape.dtype == bool:
        if not shape.any():
            raise ValueError("masks must have some True, got none")
        return shape
    if shape.ndim != 2 or shape.shape[1] != 2 or len(shape) < 3 or shape.dtype.kind not in "fiu":
        raise ValueError(f"shapes must be bool masks (H, W) or contours (n, 2) of y, x, got shape {shape.shape}")
    return contour_mask(shape)


def contour_mask(contour: NDArray[Any]) -> BoolArray:
    """Draw the mask of a closed contour (n, 2) of y, x, one pixel from the border of its array."""
    points = contour.astype(np.float64) - contour.astype(np.float64).min(axis=0) + 1
    height, width = (math.ceil(v) + 2 for v in points.max(axis=0))
    rows, columns = np.indices((height, width))
    inside = np.zeros((height, width), bool)
    for (y0, x0), (y1, x1) in zip(points, np.roll(points, -1, axis=0), strict=True):
        crossed = (y0 > rows) != (y1 > rows)
        with np.errstate(divide="ignore", invalid="ignore"):
            inside ^= crossed & (columns < x0 + (rows - y0) * (x1 - x0) / (y1 - y0))
    return inside


def _box(mask: BoolArray) -> FloatArray:
    rows, columns = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
    return np.array([rows[0], columns[0], rows[-1] + 1, columns[-1] + 1], float)
