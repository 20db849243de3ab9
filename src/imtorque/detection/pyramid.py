"""The image pyramid: each octave of object sizes at an image reduced to suit it, with its saturated gradient."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from imtorque import _native
from imtorque.core.types import Edges, Float32Array
from imtorque.detection.noise import noise_level

WORKING_SIZE = 11.0  # pixels across the smallest objects of an octave, once it is shrunk; unrecorded
LEVEL_SIGMA = 1.2  # of the edges there; in proportion where no whole factor fits; measured (-.015, -.010)
MIN_SIGMA = 0.8  # pixels of the level; measured (+.001, +.001)
MIN_NOISE = 1e-3  # least noise taken for granted, as a share of the range of grey values; measured (0, 0)
EDGE_QUANTILE = 0.8  # quantile of these edges that is their typical strength; measured (+.018, -.174)
EDGE_NOISE_RATIO = 4.0  # gradients above this many standard deviations of the noise are edges; measured (0, -.006)


@dataclass(frozen=True, eq=False)
class Level:
    """One octave: the shrunk image, its noise, and its saturated gradient.

    Parameters
    ----------
    factor
        Pixels of the image per pixel here, a whole number.
    smallest, largest
        Diameters looked for at this level, in pixels of the image.
    grey
        The image, every block of `factor` x `factor` pixels its mean.
    noise
        Standard deviation of the noise of `grey`.
    gx, gy
        The gradient g / (|g| + k): close to 1 on edges, small where there is noise only.
    """

    factor: int
    smallest: float
    largest: float
    grey: Float32Array
    noise: float
    gx: Float32Array
    gy: Float32Array

    @property
    def offset(self) -> float:
        """Place of this level's pixel 0 in the image: the middle of its block."""
        return (self.factor - 1) / 2


def image_pyramid(
    grey: Float32Array,
    smallest: float,
    largest: float,
    *,
    sigma: float | None = None,
    saturation: float = 0.35,
    working: float = WORKING_SIZE,
) -> Iterator[Level]:
    """Yield the levels at which objects from `smallest` to `largest` pixels across are to be looked for.

    Each has objects about `working` to twice as many pixels across, so that edges are taken at a scale in proportion to
    the objects, at a cost that falls with their size. Smaller objects are looked for in the image as it is.

    Parameters
    ----------
    grey
        The image, shape (H, W).
    smallest, largest
        Diameters in pixels.
    sigma
        Smoothing of the edges, in pixels of the image; by default in proportion to the smallest object of a level.
    saturation
        k over the typical gradient of the edges: gradients of this strength count half.
    working
        Pixels across the smallest objects of a level, once it is shrunk.
    """
    span = float(np.ptp(grey))
    for factor, low, high in _octaves(smallest, largest, working):
        shrunk = block_means(grey, factor)
        if min(shrunk.shape) < 5 or span == 0:
            continue
        noise = max(noise_level(shrunk, span), MIN_NOISE * span / factor)
        width = max(MIN_SIGMA, LEVEL_SIGMA * low / factor / working) if sigma is None else max(0.3, sigma / factor)
        gx, gy = saturated_gradient(shrunk, noise, width, saturation)
        yield Level(factor, low, high, shrunk, noise, gx, gy)


def edge_pyramid(edges: Edges, smallest: float, largest: float) -> Iterator[Level]:
    """Yield levels as `image_pyramid` does, of edges alone: there are no grey values, and all of them are NaN.

    Edges are gathered into larger pixels and smoothed a little, so that a contour one pixel wide can be followed.
    """
    from scipy import ndimage  # here, because it takes longer to load than the rest of the library

    for factor, low, high in _octaves(smallest, largest):
        gx, gy = (block_means(plane, factor) for plane in (-edges.fy, edges.fx))
        gx, gy = (ndimage.gaussian_filter(plane, LEVEL_SIGMA, mode="constant") for plane in (gx, gy))
        strength = np.hypot(gx, gy)
        crests = strength[strength > 0.1 * strength.max(initial=0)]
        if not crests.size:
            continue
        gx, gy = saturate(gx, gy, strength, 0.5 * float(np.median(crests)))
        yield Level(factor, low, high, np.full_like(gx, np.nan), math.nan, gx, gy)


def block_means(grey: Float32Array, factor: int) -> Float32Array:
    """Return the mean of each block of `factor` x `factor` pixels; blocks over the rim repeat the last pixels."""
    if factor == 1:
        return grey
    rows, columns = (-(-n // factor) for n in grey.shape)
    padding = ((0, rows * factor - grey.shape[0]), (0, columns * factor - grey.shape[1]))
    whole = np.pad(grey, padding, mode="edge") if np.any(padding) else grey
    means = whole.reshape(rows, factor, columns, factor).mean(axis=(1, 3), dtype=np.float32)
    return np.ascontiguousarray(means, np.float32)


def saturated_gradient(
    grey: Float32Array, noise: float, sigma: float, saturation: float
) -> tuple[Float32Array, Float32Array]:
    """Return g / (|g| + k) of the smoothed image: k from its own edges, and not below two noise standard deviations.

    The edges are the gradients above four standard deviations of what noise alone gives: a choice that an empty margin
    does not change.
    """
    gx, gy = _native.smoothed_gradient(grey, sigma)
    strength = np.hypot(gx, gy)
    of_noise = noise / (math.sqrt(8 * math.pi) * sigma**2)
    edges = strength[strength > EDGE_NOISE_RATIO * of_noise]
    typical = float(np.quantile(edges, EDGE_QUANTILE)) if edges.size else 0.0
    return saturate(gx, gy, strength, max(2 * of_noise, saturation * typical))


def saturate(
    gx: Float32Array, gy: Float32Array, strength: Float32Array, half: float
) -> tuple[Float32Array, Float32Array]:
    """Return g / (|g| + half): gradients of the strength `half` count one half, far stronger ones 1."""
    weight: Float32Array = np.float32(1) / (strength + np.float32(half))
    return gx * weight, gy * weight


def _octaves(smallest: float, largest: float, working: float = WORKING_SIZE) -> Iterator[tuple[int, float, float]]:
    """Yield factor, smallest and largest diameter of each octave."""
    low = smallest
    while True:
        factor = max(1, int(low / working))
        high = min(largest, 2 * max(low, working * factor))
        yield factor, low, high
        if high >= largest:
            return
        low = high
