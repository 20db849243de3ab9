"""From selected proposals to the table: shape, grey values and label image of each object."""

from __future__ import annotations

from typing import Any

import numpy as np

from imtorque.core.types import Edges, FloatArray, Image, IntArray
from imtorque.detection.proposals import Proposals
from imtorque.detection.ring_torque import odd_sizes
from imtorque.detection.selection import label_image
from imtorque.detection.table import Blobs
from imtorque.images import CheckedImage


def measure_objects(contours: Proposals, image: Image | Edges, shape: tuple[int, int]) -> Blobs:
    """Measure the objects that contours outline.

    Parameters
    ----------
    contours
        Their outlines.
    image
        The image they were found in, or its edges.
    shape
        Of the image.
    """
    contours = contours[np.argsort(-contours.closure, kind="stable")]
    shapes = contours.moments
    labels = label_image(contours, shape)
    scale, intensity = _grey_values(image, labels, len(contours))
    ratio = np.minimum(shapes.short / np.maximum(shapes.long, 1e-9), 1)
    columns: dict[str, Any] = {
        "y": shapes.y,
        "x": shapes.x,
        "size": odd_sizes(contours.size),
        "value": contours.sign * contours.closure,
        "diameter": np.sqrt(shapes.area * (4 / np.pi)),
        "area": shapes.area,
        "major": 2 * shapes.long,
        "minor": 2 * shapes.short,
        "eccentricity": np.sqrt(1 - ratio**2),
        "orientation": shapes.turn,
        "contrast": contours.contrast * scale,
        "snr": np.abs(contours.contrast) / contours.noise,
        "intensity": intensity,
        "score": contours.score,
        "outline": np.stack([contours.y, contours.x], axis=2),
    }
    return Blobs(**columns, **_boxes(contours, shape), labels=labels)


def _boxes(contours: Proposals, shape: tuple[int, int]) -> dict[str, Any]:
    """Return the boxes of the pixels that the outlines touch, in the image."""

    def pixel(points: FloatArray, limit: int) -> IntArray:
        whole: IntArray = np.clip(np.floor(points + 0.5).astype(np.int64), 0, limit - 1)
        return whole

    return {
        "top": pixel(contours.y.min(axis=1), shape[0]),
        "left": pixel(contours.x.min(axis=1), shape[1]),
        "bottom": pixel(contours.y.max(axis=1), shape[0]) + 1,
        "right": pixel(contours.x.max(axis=1), shape[1]) + 1,
    }


def _grey_values(image: Image | Edges, labels: IntArray, count: int) -> tuple[float, FloatArray]:
    """Return how many of the image's own values make 1, and the mean own value under each label."""
    if isinstance(image, Edges):
        return np.nan, np.full(count, np.nan)
    checked = CheckedImage(image)
    grey, scale = checked.grey(), checked.high - checked.low
    held = np.flatnonzero(labels)  # most pixels are of no object
    label = labels.ravel()[held]
    pixels = np.bincount(label, minlength=count + 1)[1:]
    sums = np.bincount(label, grey.ravel()[held], minlength=count + 1)[1:]
    mean = np.where(pixels > 0, sums / np.maximum(pixels, 1), np.nan)
    return scale, mean * scale + checked.low
