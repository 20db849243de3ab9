"""Descriptors of pieces of drawn contours: DAISY orientations around a pixel, and the contour's own angle.

E. Tola, V. Lepetit, P. Fua: DAISY: an efficient dense descriptor applied to wide-baseline stereo. PAMI 32(5), 2010.
"""

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import BoolArray, Float32Array

DRAWING_SIGMA = 1.5  # of the drawing, before its gradient is taken; untuned
ANGLE_SIGMA = 2.0  # sigma over which a contour's angle is averaged; untuned
PETALS = 6  # orientations; untuned
RINGS = ((0.0, 1, 1.0), (3.0, 8, 1.0), (6.0, 8, 2.0))  # radius, points and sigma, in pixels of half size; untuned


def tangents(drawing: BoolArray) -> Float32Array:
    """Return the angle of the drawn contour in radians, (H, W), from the x axis towards the y axis (down)."""
    from scipy import ndimage

    gy, gx = _gradient(drawing)
    cosine, sine = (ndimage.gaussian_filter(plane, ANGLE_SIGMA) for plane in (gx**2 - gy**2, 2 * gx * gy))
    angle: Float32Array = (0.5 * np.arctan2(-sine, -cosine)).astype(np.float32)  # across it, and a quarter turn
    return angle


def daisies(drawing: BoolArray, y: NDArray[np.int32], x: NDArray[np.int32]) -> Float32Array:
    """Return how much of each orientation is drawn around each of the pixels, (n, 102): in rings of growing blur."""
    from scipy import ndimage

    gy, gx = _gradient(drawing)
    size, angle = np.hypot(gx, gy), np.arctan2(gy, gx)
    turns = np.pi * np.arange(PETALS)[:, None, None] / PETALS
    petals = size * np.maximum(0, np.cos(2 * (angle - turns))).astype(np.float32)
    half = petals[:, : petals.shape[1] // 2 * 2, : petals.shape[2] // 2 * 2]
    half = half.reshape(PETALS, half.shape[1] // 2, 2, half.shape[2] // 2, 2).mean(axis=(2, 4))
    found = []
    for radius, points, sigma in RINGS:
        blurred = ndimage.gaussian_filter(half, (0, sigma, sigma))
        for turn in 2 * np.pi * np.arange(points) / points:
            at = (np.round(y / 2 + radius * np.sin(turn)), np.round(x / 2 + radius * np.cos(turn)))
            rows, columns = (p.astype(int).clip(0, n - 1) for p, n in zip(at, half.shape[1:], strict=True))
            found.append(blurred[:, rows, columns])
    return np.concatenate(found).T.astype(np.float32, order="C")


def _gradient(drawing: BoolArray) -> tuple[Float32Array, Float32Array]:
    from scipy import ndimage

    smooth = ndimage.gaussian_filter(drawing.astype(np.float32), DRAWING_SIGMA)
    gy, gx = np.gradient(smooth)
    return gy, gx
