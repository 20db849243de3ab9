"""Centres and sizes by other means than torque: Laplacian of Gaussian, fast radial symmetry."""

from __future__ import annotations

import numpy as np

from imtorque.core.types import Float32Array, IntArray, TorqueVolume
from imtorque.detection.levels import block_means
from imtorque.detection.planes import smoothed

FINEST = 2.5  # sigma in blocks, at least, when a layer is computed on a reduced image


def log_volume(plane: Float32Array, sides: IntArray) -> TorqueVolume:
    """Return the scale-normalised Laplacian of Gaussian, positive on bright blobs, for blobs of these diameters."""
    layers = [_log_layer(plane, side / (2 * np.sqrt(2))) for side in sides.tolist()]
    return TorqueVolume(np.ascontiguousarray(np.stack(layers), np.float32), sides)


def _log_layer(plane: Float32Array, sigma: float) -> Float32Array:
    """Return one layer, computed on blocks of half of sigma where that is more than a pixel, and enlarged."""
    from scipy import ndimage

    factor = max(1, int(sigma / FINEST))
    small = block_means(plane, factor)
    layer = -((sigma / factor) ** 2) * ndimage.gaussian_laplace(small, sigma / factor, truncate=3)
    if factor > 1:
        layer = ndimage.zoom(layer, factor, order=1, grid_mode=True, mode="nearest")
    return np.asarray(layer[: plane.shape[0], : plane.shape[1]], np.float32)


def radial_volume(gx: Float32Array, gy: Float32Array, sides: IntArray) -> TorqueVolume:
    """Return how many gradients point at each pixel from half of each size away (Loy and Zelinsky 2003).

    Every pixel votes by the length of its gradient; votes are spread by a quarter of the radius.
    """
    height, width = gx.shape
    strength = np.hypot(gx, gy)
    y, x = np.nonzero(strength > 0.3)
    weight = strength[y, x]
    dy, dx = gy[y, x] / weight, gx[y, x] / weight
    layers = []
    for side in sides:
        radius = side / 2
        ty, tx = np.rint(y + radius * dy).astype(int), np.rint(x + radius * dx).astype(int)
        inside = (ty >= 0) & (tx >= 0) & (ty < height) & (tx < width)
        places = ty[inside] * width + tx[inside]
        votes = np.bincount(places, weights=weight[inside], minlength=height * width).reshape(height, width)
        layers.append(smoothed(votes.astype(np.float32), radius / 4, truncate=3) * (radius / 8))
    return TorqueVolume(np.ascontiguousarray(np.stack(layers), np.float32), sides)
