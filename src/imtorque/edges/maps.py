"""Edge vectors from any edge map: a network's output, pb, depth or motion edges."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque import _native
from imtorque.core.types import Edges, Float32Array, Image
from imtorque.edges.canny import SQRT2, Force, check_force, check_sigma
from imtorque.images import CheckedImage
from imtorque.io.arrays import whole_array


def edges_from_map(
    strength: ArrayLike,
    *,
    image: Image | CheckedImage | None = None,
    orientation: ArrayLike | None = None,
    threshold: float = 0.1,
    force: Force = "unit",
    sigma: float = SQRT2,
    thin: bool = True,
) -> Edges:
    """Turn any edge-strength map into edge vectors: pb, gPb, a network's output, depth or motion edges.

    The map is thinned across the edge and cut at `threshold`. A map has no polarity: which direction along the edge
    the force points. It is taken from the gradient of `image` (brighter side on the right), or given.

    Parameters
    ----------
    strength
        Edge strength, shape (H, W), not negative.
    image
        The image the map belongs to, or any field whose sides matter, such as depth (nearer = larger).
    orientation
        Angle of the edge in radians, shape (H, W), from the x axis towards the y axis (down). With `image`, only the
        line counts and the image decides its direction; without, the force is (cos, sin) of the angle as it is.
    threshold
        Strengths up to this are no edges.
    force
        "unit" or "strength" (the map's value).
    sigma
        Smoothing of `image` before its gradient is taken.
    thin
        Whether to thin the map across the edge. Leave it out for maps that are one pixel wide, such as UCM contours.

    See Also
    --------
    detect_edges, boundary_map
    """
    values = whole_array(strength, "strength")
    if values.dtype.kind not in "fiub":
        raise TypeError(f"strength must be real numbers, got dtype {values.dtype}")
    if values.ndim != 2 or values.size == 0 or not np.all(np.isfinite(values)) or values.min() < 0:
        raise ValueError(f"strength must be finite, not negative, of shape (H, W), got {_describe(values)}")
    if image is None and orientation is None:
        raise ValueError("edges_from_map needs an image or an orientation to know which side is which, got neither")
    check_force(force)
    if not (math.isfinite(threshold) and threshold >= 0):
        raise ValueError(f"threshold must not be negative, got {threshold}")

    gx, gy = _sides(values.shape, image, orientation, sigma)
    thinned = np.ascontiguousarray(values, np.float32)
    if thin:
        thinned = _native.suppress_non_maxima(thinned, gx, gy, threshold)
    else:
        thinned = np.where(thinned > threshold, thinned, np.float32(0))
    fx, fy = np.where(thinned > 0, gy, 0), np.where(thinned > 0, -gx, 0)
    fx, fy = np.ascontiguousarray(fx, np.float32), np.ascontiguousarray(fy, np.float32)
    _native.shape_forces(fx, fy, 0.0, 0, False)
    if force == "strength":
        fx, fy = fx * thinned, fy * thinned
    return Edges(fx, fy)


def _sides(
    shape: tuple[int, ...], image: Image | CheckedImage | None, orientation: ArrayLike | None, sigma: float
) -> tuple[Float32Array, Float32Array]:
    """Return the direction across each edge, towards its brighter side."""
    check_sigma(sigma)
    gradient = None
    if image is not None:
        gradient = _native.smoothed_gradient(CheckedImage(image).levelled()[0], sigma)
        if gradient[0].shape != shape:
            raise ValueError(f"image and strength must have one size, got {gradient[0].shape} and {shape}")
        if orientation is None:
            return gradient
    angle = whole_array(orientation, "orientation", np.float64)
    if angle.shape != shape or not np.all(np.isfinite(angle)):
        raise ValueError(f"orientation must be finite, of shape {shape}, got {_describe(angle)}")
    # F = (cos, sin) = (n_y, -n_x), so the normal is n = (-sin, cos).
    nx, ny = -np.sin(angle), np.cos(angle)
    if gradient is not None:
        away = nx * gradient[0] + ny * gradient[1] < 0
        nx, ny = np.where(away, -nx, nx), np.where(away, -ny, ny)
    return np.ascontiguousarray(nx, np.float32), np.ascontiguousarray(ny, np.float32)


def _describe(array: NDArray[np.generic]) -> str:
    """Say what was given, for an error."""
    if array.size == 0:
        return f"shape {array.shape}"
    if not np.all(np.isfinite(array)):
        return f"shape {array.shape} with NaN or infinity"
    return f"shape {array.shape} with values from {array.min():g} to {array.max():g}"
