"""Regions as images of bytes, and a table of their measures."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import BoolArray, Image, IntArray
from imtorque.images import CheckedImage
from imtorque.render.torque import MIN_READABLE_SIDE, Bytes

OUTLINE, RIM = (255, 217, 47), (0, 0, 0)  # colours of outlines, and of what sets them off from the image; convention


def outline_image(image: Image, labels: IntArray) -> Bytes:
    """Draw the borders between regions over the image, yellow between black.

    Images smaller than about 640 pixels are enlarged.
    """
    ground = CheckedImage(image).as_bytes()
    zoom = min(16, max(1, math.ceil(MIN_READABLE_SIDE / max(ground.shape[:2]))))
    large = ground.repeat(zoom, axis=0).repeat(zoom, axis=1)
    numbers = np.asarray(labels).repeat(zoom, axis=0).repeat(zoom, axis=1)
    width = max(1, round(max(large.shape[:2]) / 640))
    line = _borders(numbers)
    for _ in range(width):
        line = _widened(line)
    large[_widened(line)] = RIM
    large[line] = OUTLINE
    return large


def mean_colour_image(image: Image, labels: IntArray) -> Bytes:
    """Paint each region in its mean colour."""
    colours = mean_colours(image, labels)
    return np.round(colours).astype(np.uint8)[np.asarray(labels)]


def mean_colours(image: Image, labels: IntArray) -> NDArray[np.float64]:
    """Return the mean colour of each region as it is shown, (n, 3) from 0 to 255."""
    flat = np.asarray(labels).ravel()
    pixels = CheckedImage(image).as_bytes().reshape(-1, 3)
    sums = [np.bincount(flat, channel) for channel in pixels.T.astype(np.float64)]
    return np.stack(sums, axis=1) / np.maximum(np.bincount(flat), 1)[:, None]


def region_rows(image: Image, labels: IntArray) -> list[dict[str, Any]]:
    """Return number from 1, area, bounding box (y1, x1 just beyond it), centroid and mean colour of each region."""
    from scipy import ndimage  # here, because it takes longer to load than the rest of the library

    numbers = np.asarray(labels) + 1
    areas = np.bincount(numbers.ravel())[1:]
    centroids = ndimage.center_of_mass(np.ones(numbers.shape), numbers, np.arange(1, len(areas) + 1))
    boxes, colours = ndimage.find_objects(numbers), mean_colours(image, labels)
    return [
        {
            "number": k + 1,
            "area": int(areas[k]),
            "y0": boxes[k][0].start,
            "x0": boxes[k][1].start,
            "y1": boxes[k][0].stop,
            "x1": boxes[k][1].stop,
            "centroid_y": round(float(centroids[k][0]), 2),
            "centroid_x": round(float(centroids[k][1]), 2),
            **{name: round(float(value), 1) for name, value in zip(("red", "green", "blue"), colours[k], strict=True)},
        }
        for k in range(len(areas))
    ]


def _borders(labels: IntArray) -> BoolArray:
    """Return the pixels that differ from the one to the right or below."""
    border = np.zeros(labels.shape, bool)
    border[:, :-1] |= labels[:, :-1] != labels[:, 1:]
    border[:-1] |= labels[:-1] != labels[1:]
    return border


def _widened(line: BoolArray) -> BoolArray:
    padded = np.pad(line, 1)
    return line | padded[:-2, 1:-1] | padded[2:, 1:-1] | padded[1:-1, :-2] | padded[1:-1, 2:]
