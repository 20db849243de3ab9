"""From points to maps: Gaussians of one width around weighted points, as the paper turns extrema into saliency."""

import math

import numpy as np

from imtorque.core.resizing import resize
from imtorque.core.types import FloatArray, IntArray
from imtorque.saliency.maps import Map, is_constant, unit_range

SHORTER_SIDE = 150  # pixels, to which the paper resizes images (Sec. 4.1)
MAX_LONGER_SIDE = 3000  # pixels, which bounds the work on a narrow strip; bound: time
DEFAULT_SIGMA = 25.0  # pixels of such an image; paper, Sec. 4.1


def splatted(y: IntArray, x: IntArray, weight: FloatArray, shape: tuple[int, int], sigma: float) -> Map:
    """Return the sum of Gaussians around points."""
    points = np.zeros(shape)
    np.add.at(points, (y, x), weight)
    return blurred(points, sigma)


def blurred(values: Map, sigma: float) -> Map:
    """Blur a map with a Gaussian, not truncated; nothing lies beyond the border."""
    rows, columns = (_gaussians(side, sigma) for side in values.shape)
    result: Map = rows @ values @ columns
    return result


def widened(values: Map, sigma: float, shape: tuple[int, int]) -> Map:
    """Return a map of a working image blurred, enlarged to another shape and scaled to [0, 1].

    A constant map becomes 0: the blur, which knows nothing beyond the border, would make it a hill.
    """
    own = working_sigma(sigma, values.shape)
    return np.zeros(shape) if is_constant(values) else unit_range(resize(blurred(values, own), shape))


def working_shape(shape: tuple[int, int]) -> tuple[int, int]:
    """Return the working size: a shorter side of 150 pixels at most."""
    scale = max(1.0, _scale(shape))
    return max(1, round(shape[0] / scale)), max(1, round(shape[1] / scale))


def working_sigma(sigma: float, shape: tuple[int, ...]) -> float:
    """Return a sigma meant for images whose shorter side is 150 in pixels of this working image."""
    if not (math.isfinite(sigma) and sigma > 0):
        raise ValueError(f"sigma must be positive, got {sigma}")
    return sigma * min(1.0, _scale(shape))


def _scale(shape: tuple[int, ...]) -> float:
    return max(min(shape) / SHORTER_SIDE, max(shape) / MAX_LONGER_SIDE)


def _gaussians(side: int, sigma: float) -> Map:
    """Return a Gaussian around every pixel of a line, peak 1."""
    steps = np.arange(side)
    return np.exp(-0.5 * ((steps[:, None] - steps) / sigma) ** 2)
