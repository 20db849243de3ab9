"""Objects with their outlines and numbers on the image they were found in."""

from __future__ import annotations

import math

import numpy as np
from PIL import Image as PillowImage

from imtorque.core.types import FloatArray, Image, IntArray
from imtorque.images import CheckedImage
from imtorque.render.regions import OUTLINE, RIM
from imtorque.render.torque import MAXIMUM_COLOUR, MIN_READABLE_SIDE, Bytes, write_number


def numbered_overlay(image: Image, labels: IntArray, y: FloatArray, x: FloatArray) -> Bytes:
    """Draw the outline of every label, yellow on black, and its number at (y, x); row i of the places is label i + 1.

    Images smaller than about 640 pixels are enlarged.
    """
    ground = CheckedImage(image).as_bytes()
    zoom = min(16, max(1, math.ceil(MIN_READABLE_SIDE / max(ground.shape[:2]))))
    large = ground.repeat(zoom, axis=0).repeat(zoom, axis=1)
    numbers = np.asarray(labels).repeat(zoom, axis=0).repeat(zoom, axis=1)
    large[_near_border(numbers, 2)] = RIM
    large[_near_border(numbers, 1) & (numbers > 0)] = OUTLINE
    canvas = PillowImage.fromarray(large)
    widths = np.sqrt(np.bincount(np.asarray(labels).ravel(), minlength=len(y) + 1)[1:])
    tallest = max(12, round(max(canvas.size) / 55))
    for k in range(len(y) - 1, -1, -1):
        fitting = round(0.9 * float(widths[k]) * zoom / len(str(k + 1)))
        centre = ((float(x[k]) + 0.5) * zoom, (float(y[k]) + 0.5) * zoom)
        write_number(canvas, k + 1, centre, min(tallest, max(8, fitting)), MAXIMUM_COLOUR)
    return np.asarray(canvas)


def _near_border(labels: IntArray, reach: int) -> IntArray:
    """Return where a pixel so many steps along a row or a column has another label."""
    near = np.zeros(labels.shape, bool)
    for step in range(1, reach + 1):
        across, down = labels[:, step:] != labels[:, :-step], labels[step:] != labels[:-step]
        near[:, step:] |= across
        near[:, :-step] |= across
        near[step:] |= down
        near[:-step] |= down
    return near
