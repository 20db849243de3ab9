"""Centres and sizes by other means than torque: Laplacian of Gaussian, fast radial symmetry."""

from __future__ import annotations

import numpy as np

from imtorque._types import Float32Array, IntArray, TorqueVolume


def log_volume(plane: Float32Array, sides: IntArray) -> TorqueVolume:
    """Return the scale-normalised Laplacian of Gaussian, positive on bright blobs, for blobs of these diameters."""
    from scipy import ndimage

    sigmas = sides / (2 * np.sqrt(2))
    layers = [-(s**2) * ndimage.gaussian_laplace(plane, s, truncate=3) for s in sigmas]
    return TorqueVolume(np.ascontiguousarray(np.stack(layers), np.float32), sides)


def radial_volume(gx: Float32Array, gy: Float32Array, sides: IntArray) -> TorqueVolume:
    """Return how many gradients point at each pixel from half of each size away (Loy and Zelinsky 2003).

    Every pixel votes by the length of its gradient; votes are spread by a quarter of the radius.
    """
    from scipy import ndimage

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
        layers.append(ndimage.gaussian_filter(votes.astype(np.float32), radius / 4, truncate=3) * (radius / 8))
    return TorqueVolume(np.ascontiguousarray(np.stack(layers), np.float32), sides)
