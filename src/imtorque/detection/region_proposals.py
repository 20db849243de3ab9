"""Proposals by brightness: extremal regions, and regions above a threshold split where they are narrow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.types import Float32Array
from imtorque.detection.filters import smoothed
from imtorque.detection.proposals import ANGLES

AREA_STEP = 1.2  # ratio of areas between kept extremal regions; untuned
OTSU_SHARES = (0.5, 0.8, 1.15)  # parts of the way from the background to Otsu's; untuned
Regions = tuple[Float32Array, Float32Array, Float32Array, Float32Array]  # y, x, radii, strength


def extremal_regions(plane: Float32Array, smallest: float, largest: float, diameter: float) -> Regions:
    """Return the bright components at all levels of the smoothed plane, within the range of diameters."""
    smooth = smoothed(plane, max(0.7, diameter / 25))
    low, high = np.quantile(smooth, [0.002, 0.998])
    scaled = ((smooth - low) / max(high - low, 1e-6)).clip(0, 1)
    areas = (0.5 * smallest**2, 1.1 * largest**2)
    y, x, radii, _, stability, _ = _native.extremal_regions(
        (scaled * 255).astype(np.uint8), int(areas[0]), int(areas[1]), AREA_STEP, ANGLES
    )
    return y, x, radii, -stability


def split_regions(plane: Float32Array, smallest: float, largest: float, diameter: float) -> Regions:
    """Return the pieces of regions above several thresholds, split by their distance from the background."""
    smooth = smoothed(plane, max(0.7, diameter / 25))
    ground, cut = float(np.median(smooth[::2, ::2])), otsu(smooth)
    ground = min(ground, cut)
    local = _native.box_mean(smooth, int(3 * diameter) | 1)
    offset = 0.15 * float(smooth.std())
    masks = [smooth > ground + part * (cut - ground) for part in OTSU_SHARES] + [smooth > local + offset]
    widths = (diameter / 12, diameter / 6)
    parts = [piece for mask in masks for piece in _pieces(mask, smallest, largest, widths)]
    y, x, radii = (np.concatenate([part[i] for part in parts]) for i in range(3))
    level = np.repeat(np.arange(len(parts), dtype=np.float32), [len(part[0]) for part in parts])
    return y, x, radii, level


def otsu(plane: Float32Array) -> float:
    """Return the threshold that parts the histogram into the two classes with the least spread (Otsu 1979)."""
    counts, edges = np.histogram(plane, 256)
    centres = (edges[:-1] + edges[1:]) / 2
    below = np.cumsum(counts)
    above = below[-1] - below
    sums = np.cumsum(counts * centres)
    between = (
        below[:-1]
        * above[:-1]
        * (sums[:-1] / np.maximum(below[:-1], 1) - (sums[-1] - sums[:-1]) / np.maximum(above[:-1], 1)) ** 2
    )
    return float(centres[between.argmax()])


Pieces = tuple[Float32Array, Float32Array, Float32Array]


def _pieces(mask: NDArray[np.bool_], smallest: float, largest: float, widths: tuple[float, ...]) -> list[Pieces]:
    """Return centres and outlines of the pieces of a mask: the hills of its distance transform, smoothed."""
    filled = without_holes(mask)
    distance = _native.distance_transform(filled.view(np.uint8))
    areas = (0.4 * smallest**2, 1.3 * largest**2)
    return [_hills(smoothed(distance, max(width, 0.5), truncate=3), filled, *areas) for width in widths]


def without_holes(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a mask and whatever of the ground the image's rim does not reach."""
    return _native.fill_holes(np.ascontiguousarray(mask).view(np.uint8)).view(bool)


def _hills(plane: Float32Array, inside: NDArray[np.bool_], smallest: float, largest: float) -> Pieces:
    """Return centres and outlines of the hills of a plane whose areas lie in a range."""
    labels, hills = _native.label_hills(plane, inside.view(np.uint8))
    area = hills[:, 0]
    wanted = np.flatnonzero((area >= smallest) & (area <= largest))
    y, x = np.ascontiguousarray((hills[wanted, 1:3] / area[wanted, None]).T, np.float32)
    y0, x0, y1, x1 = hills[wanted, 3:].T
    far = np.hypot(np.maximum(y - y0, y1 - y), np.maximum(x - x0, x1 - x)) + 1  # no pixel of the hill is as far
    reach = np.minimum(np.sqrt(largest), far).astype(np.float32)
    return y, x, _native.label_outlines(labels, (1 + wanted).astype(np.int32), y, x, ANGLES, reach)
