"""From image to edge vectors: Canny, the whole gradient, or any edge map given (Sec. 3.1 of the paper)."""

from __future__ import annotations

import math
import operator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque import _native
from imtorque._types import Edges, Float32Array, FloatArray, Image

SQRT2 = math.sqrt(2.0)
FULL_RANGE = {np.dtype(np.uint8): 255.0, np.dtype(np.uint16): 65535.0}


def detect_edges(
    image: Image,
    *,
    sigma: float = SQRT2,
    low: float | None = None,
    high: float | None = None,
    use_quantiles: bool = False,
    force: str = "unit",
    directions: int | None = None,
    strength_scale: float | None = None,
    length_correction: bool = False,
) -> Edges:
    """Detect edges with Canny's method and give each a force along it.

    The gradient g is taken by central differences of the Gaussian-smoothed image; pixels whose magnitude is a maximum
    across the edge and that connect to a strong one are edges, with the force F = (g_y, -g_x) / |g|: the brighter side
    on its right, so that bright objects have positive torque (Sec. 3.1).

    Parameters
    ----------
    image
        Grey (H, W) or colour (H, W, 3 or 4). uint8, uint16 and bool are scaled by their full range to [0, 1]; floats
        are taken as they are.
    sigma
        Standard deviation of the Gaussian, in pixels.
    low, high
        Hysteresis thresholds of |g|, in grey values per pixel. By default `high` is the value that 70 % of the pixels
        stay below (in a histogram of 64 bins) and `low` is 0.4 of `high`.
    use_quantiles
        Whether `low` and `high` are quantiles of |g| over the image, in [0, 1].
    force
        "unit": every edge pixel pulls alike (the paper's choice). "strength": in proportion to |g|.
    directions
        8 snaps the forces to the paper's eight directions (Sec. 3.5); None keeps them continuous.
    strength_scale
        Gradient magnitude that becomes force 1 with force="strength"; by default the 99 % quantile over this image's
        edge pixels. Give a constant to compare images.
    length_correction
        Whether a pixel counts by the length of contour it stands for, 1 / max(|F_x|, |F_y|), instead of 1. Then a
        disc that fills its disk patch has torque 1.

    Returns
    -------
    Edges
        Empty where the image is constant. The outermost pixels are never edges.

    Examples
    --------
    >>> image = np.zeros((20, 20))
    >>> image[5:15, 5:15] = 1
    >>> detect_edges(image)
    Edges(20 x 20, 32 edge pixels)
    """
    if not (math.isfinite(sigma) and 0 < sigma <= 1000):
        raise ValueError(f"sigma must be positive and at most 1000, got {sigma}")
    if force not in ("unit", "strength"):
        raise ValueError(f'force must be "unit" or "strength", got {force!r}')
    _check_directions(directions)
    if strength_scale is not None and not (math.isfinite(strength_scale) and strength_scale > 0):
        raise ValueError(f"strength_scale must be positive, got {strength_scale}")
    _check_thresholds(low, high, use_quantiles)

    grey, unit = grey_image(image)
    automatic = low is None and high is None
    top = high if high is not None else low  # one threshold alone is both
    bottom = low if low is not None else 0.4 * (top or 0.0)
    per_unit = 1.0 if use_quantiles else unit
    fx, fy = _native.canny(grey, sigma, (bottom or 0.0) / per_unit, (top or 0.0) / per_unit, use_quantiles, automatic)

    scale = 0.0
    if force == "strength":
        scale = strength_scale / unit if strength_scale is not None else _typical_strength(fx, fy)
    if scale > 0 or force == "unit":
        _native.shape_forces(fx, fy, scale, directions or 0, length_correction)
    return Edges(fx, fy)


def gradient_edges(image: Image) -> Edges:
    """Return the whole gradient as a force field, F = (g_y, -g_x), for gradient torque (Appendix A).

    Central differences inside, one-sided ones on the border. The torque of a bright shape is then its area over the
    area of the patch.

    Examples
    --------
    >>> image = np.zeros((9, 9))
    >>> image[:, 5:] = 1
    >>> gradient_edges(image).fy[4, 3:7].tolist()
    [0.0, -0.5, -0.5, 0.0]
    """
    grey, unit = grey_image(image)
    gy = np.gradient(grey, axis=0) if grey.shape[0] > 1 else np.zeros_like(grey)
    gx = np.gradient(grey, axis=1) if grey.shape[1] > 1 else np.zeros_like(grey)
    return Edges(gy * unit, -gx * unit + 0.0)


def edges_from_map(
    strength: ArrayLike,
    *,
    image: Image | None = None,
    orientation: ArrayLike | None = None,
    threshold: float = 0.1,
    force: str = "unit",
    sigma: float = SQRT2,
    thin: bool = True,
) -> Edges:
    """Turn any edge-strength map into edge vectors: pb, gPb, a network's output, depth or motion edges.

    The map is thinned across the edge and cut at `threshold`. What the map lacks is the side: which way along the edge
    the force points. It is taken from the gradient of `image` (brighter side on the right), or given.

    Parameters
    ----------
    strength
        Edge strength, shape (H, W), not negative.
    image
        The picture the map belongs to, or any field whose sides matter, such as depth (nearer = larger).
    orientation
        Angle of the edge in radians, shape (H, W), from the x axis towards the y axis (down). With `image`, only the
        line counts and the image says which way; without, the force is (cos, sin) of the angle as it is.
    threshold
        Strengths up to this are no edges.
    force
        "unit" or "strength" (the map's value).
    sigma
        Smoothing of `image` before its gradient is taken.
    thin
        Whether to thin the map across the edge. Leave it out for maps that are one pixel wide, such as UCM contours.
    """
    values = np.asarray(strength)
    if values.dtype.kind not in "fiub":
        raise TypeError(f"strength must be real numbers, got dtype {values.dtype}")
    if values.ndim != 2 or values.size == 0 or not np.all(np.isfinite(values)) or values.min() < 0:
        raise ValueError(f"strength must be finite, not negative, of shape (H, W), got {_describe(values)}")
    if image is None and orientation is None:
        raise ValueError("edges_from_map needs an image or an orientation to know which side is which, got neither")
    if force not in ("unit", "strength"):
        raise ValueError(f'force must be "unit" or "strength", got {force!r}')
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


def grey_image(image: Image) -> tuple[Float32Array, float]:
    """Return the luminance as float32 in [0, 1], and how many of the image's grey values make 1.

    This is the door every image comes in by: dtype, shape and values are checked here.
    """
    pixels = np.asarray(image)
    if pixels.dtype == bool:
        pixels = pixels.astype(np.uint8) * np.uint8(255)
    if pixels.dtype not in FULL_RANGE and pixels.dtype.kind != "f":
        raise TypeError(f"image must be uint8, uint16, bool or float, got dtype {pixels.dtype}")
    if pixels.size == 0 or not (pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in (1, 3, 4))):
        raise ValueError(f"image must be grey (H, W) or colour (H, W, 3 or 4) and not empty, got shape {pixels.shape}")
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    white = FULL_RANGE.get(pixels.dtype)
    if white is not None:
        return _native.to_grey(np.ascontiguousarray(pixels), white, 0.0, 1 / white), 1.0
    if pixels.dtype not in (np.float32, np.float64):
        pixels = pixels.astype(np.float64)
    low, high = float(pixels.min()), float(pixels.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError("image must be finite, got NaN or infinity")
    if pixels.shape[2] == 4:
        low, high = min(low, 1.0), max(high, 1.0)
    if high - low > 1e30:
        raise ValueError(f"image values must lie within a range of 1e30, got {low:g} to {high:g}")
    unit = high - low or 1.0
    return _native.to_grey(np.ascontiguousarray(pixels), 1.0, low, 1 / unit), unit


def _check_directions(directions: int | None) -> None:
    if directions is not None and operator.index(directions) != 8:
        raise ValueError(f"directions must be 8 or None, got {directions}")


def _check_thresholds(low: float | None, high: float | None, use_quantiles: bool) -> None:
    for name, value in (("low", low), ("high", high)):
        if value is not None and not (math.isfinite(value) and value >= 0):
            raise ValueError(f"{name} must not be negative, got {value}")
        if use_quantiles and value is not None and value > 1:
            raise ValueError(f"{name} must be a quantile in [0, 1], got {value}")
    if low is not None and high is not None and low > high:
        raise ValueError(f"low must not exceed high, got low {low} and high {high}")
    if use_quantiles and (low is None or high is None):
        raise ValueError("use_quantiles needs both low and high")


def _typical_strength(fx: FloatArray, fy: FloatArray) -> float:
    """Return the 99 % quantile of the gradient magnitude over the edge pixels, 0 where there are none."""
    strengths = np.hypot(fx, fy)
    strengths = strengths[strengths > 0]
    return float(np.quantile(strengths, 0.99)) if strengths.size else 0.0


def _sides(
    shape: tuple[int, ...], image: Image | None, orientation: ArrayLike | None, sigma: float
) -> tuple[Float32Array, Float32Array]:
    """Return the direction across each edge, towards its brighter side."""
    if not (math.isfinite(sigma) and 0 < sigma <= 1000):
        raise ValueError(f"sigma must be positive and at most 1000, got {sigma}")
    gradient = None
    if image is not None:
        gradient = _native.smoothed_gradient(grey_image(image)[0], sigma)
        if gradient[0].shape != shape:
            raise ValueError(f"image and strength must have one size, got {gradient[0].shape} and {shape}")
        if orientation is None:
            return gradient
    angle = np.asarray(orientation, dtype=np.float64)
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
