"""Blob filters other than torque: Laplacian of Gaussian, fast radial symmetry; responses of shape (S, H, W)."""

from __future__ import annotations

import numpy as np

from imtorque.core.types import Float32Array, IntArray
from imtorque.detection.filters import smoothed
from imtorque.detection.pyramid import block_means

MIN_BLOCK_SIGMA = 2.5  # derived: sigma in blocks, at least, where a layer is computed on a reduced image
MIN_VOTE = 0.3  # saturated gradients below do not vote; unrecorded


def log_responses(plane: Float32Array, sizes: IntArray) -> Float32Array:
    """Return the scale-normalised Laplacian of Gaussian, positive on bright blobs, for blobs of these diameters."""
    layers = [_log_layer(plane, size / (2 * np.sqrt(2))) for size in sizes.tolist()]
    return np.ascontiguousarray(np.stack(layers), np.float32)


def _log_layer(plane: Float32Array, sigma: float) -> Float32Array:
    """Return one layer, computed on blocks of half of sigma where that is more than a pixel, and enlarged."""
    from scipy import ndimage

    factor = max(1, int(sigma / MIN_BLOCK_SIGMA))
    small = block_means(plane, factor)
    layer = -((sigma / factor) ** 2) * ndimage.gaussian_laplace(small, sigma / factor, truncate=3)
    if factor > 1:
        layer = ndimage.zoom(layer, factor, order=1, grid_mode=True, mode="nearest")
    return np.asarray(layer[: plane.shape[0], : plane.shape[1]], np.float32)


def radial_responses(gx: Float32Array, gy: Float32Array, sizes: IntArray) -> Float32Array:
    """Return how many gradients point at each pixel from half of each size away (Loy and Zelinsky 2003).

    Every pixel votes by the length of its gradient; votes are spread by a quarter of the radius.
    """
    height, width = gx.shape
    strength = np.hypot(gx, gy)
    y, x = np.nonzero(strength > MIN_VOTE)
    weight = strength[y, x]
    dy, dx = gy[y, x] / weight, gx[y, x] / weight
    layers = []
    for size in sizes:
        radius = size / 2
        ty, tx = np.rint(y + radius * dy).astype(int), np.rint(x + radius * dx).astype(int)
        inside = (ty >= 0) & (tx >= 0) & (ty < height) & (tx < width)
        places = ty[inside] * width + tx[inside]
        votes = np.bincount(places, weights=weight[inside], minlength=height * width).reshape(height, width)
        layers.append(smoothed(votes.astype(np.float32), radius / 4, truncate=3) * (radius / 8))
    return np.ascontiguousarray(np.stack(layers), np.float32)
