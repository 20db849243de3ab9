"""From image to edge vectors by Canny's method (Sec. 3.1 of the paper)."""

import math
import operator
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from imtorque import _native
from imtorque.core.types import Edges, FloatArray, Image
from imtorque.images import CheckedImage, ValueRange

# Convention: MATLAB's automatic thresholds, as in native/edges/canny.hpp: bins of the histogram, share of the pixels
# below the high threshold, low over high threshold.
HISTOGRAM_BINS, NON_EDGE_SHARE, LOW_OF_HIGH = 64, 0.7, 0.4
SQRT2 = math.sqrt(2.0)  # pixels; convention: MATLAB's default sigma
# Gradient by central differences, in parts of the value range: half of it along either axis; derived.
MAX_GRADIENT = math.sqrt(0.5)
UNSCALED = -1.0  # scale of forces that are gradients still; convention
Force = Literal["unit", "strength"]


def detect_edges(
    image: Image | CheckedImage,
    *,
    sigma: float = SQRT2,
    low: float | None = None,
    high: float | None = None,
    use_quantiles: bool = False,
    force: Force = "unit",
    directions: Literal[8] | None = None,
    strength_scale: float | None = None,
    length_correction: bool = False,
    value_range: ValueRange | None = None,
    mask: ArrayLike | None = None,
) -> Edges:
    """Detect edges with Canny's method and give each a force along it.

    The gradient g is taken by central differences of the Gaussian-smoothed image; pixels whose magnitude is a maximum
    across the edge and that connect to a strong one are edges, with the force F = (g_y, -g_x) / |g|: the brighter side
    on its right, so that bright objects have positive torque (Sec. 3.1).

    Parameters
    ----------
    image
        Grey (H, W) or colour (H, W, 3 or 4), of any real dtype; `imtorque.images` says what is black and white. Masked
        pixels of a masked array have no edges.
    sigma
        Standard deviation of the Gaussian, in pixels.
    low, high
        Hysteresis thresholds of |g| per pixel, in parts of the value range: 0.02 is 5 grey values of a uint8 image.
        By default `high` is the value that 70 % of the pixels stay below (in a histogram of 64 bins) and `low` is 0.4
        of `high`.
    use_quantiles
        Whether `low` and `high` are quantiles of |g| over the image, in [0, 1].
    force
        "unit": all edge pixels have unit force (the paper's choice). "strength": in proportion to |g|.
    directions
        8 snaps the forces to the paper's eight directions (Sec. 3.5); None keeps them continuous.
    strength_scale
        Gradient magnitude that becomes force 1 with force="strength", in parts of the value range per pixel; by default
        the 99 % quantile over this image's edge pixels. Give a constant to compare images.
    length_correction
        Whether a pixel counts by the length of contour it stands for, 1 / max(|F_x|, |F_y|), instead of 1. Then a
        disc that fills its disk patch has torque 1.
    value_range
        (black, white), where the rule of `imtorque.images` is not to choose them.
    mask
        Shape (H, W), bool: edges are detected where it is True; its own outline makes none.

    Returns
    -------
    Edges
        Empty where the image is constant. The outermost pixels are never edges.

    See Also
    --------
    edges_from_map, gradient_edges, boundary_map, boundary_strength

    Examples
    --------
    >>> image = np.zeros((20, 20))
    >>> image[5:15, 5:15] = 1
    >>> detect_edges(image)
    Edges(20 x 20, 32 edge pixels)
    """
    check_sigma(sigma)
    check_force(force)
    if directions is not None and operator.index(directions) != 8:
        raise ValueError(f"directions must be 8 or None, got {directions}")
    if strength_scale is not None and not (math.isfinite(strength_scale) and strength_scale > 0):
        raise ValueError(f"strength_scale must be positive, got {strength_scale}")
    checked = CheckedImage(image, value_range, mask)
    _check_thresholds(low, high, use_quantiles, checked)

    grey, unit = checked.levelled()
    top = high if high is not None else low  # one threshold alone is both
    bottom = low if low is not None else 0.4 * (top or 0.0)
    per_unit = 1.0 if use_quantiles else unit
    scale = 0.0 if force == "unit" else UNSCALED if strength_scale is None else strength_scale / unit
    thresholds = ((bottom or 0.0) / per_unit, (top or 0.0) / per_unit, use_quantiles, top is None)
    if scale != UNSCALED and checked.mask is None:
        return Edges.from_field(
            _native.canny_field(grey, sigma, *thresholds, scale, directions or 0, length_correction)
        )
    fx, fy = _native.canny(grey, sigma, *thresholds, UNSCALED)
    if checked.mask is not None:
        fx[~checked.mask] = fy[~checked.mask] = 0
    if scale == UNSCALED:
        scale = _typical_strength(fx, fy)
    if scale > 0 or force == "unit":
        _native.shape_forces(fx, fy, scale, directions or 0, length_correction)
    return Edges.adopt(fx, fy)


def automatic_thresholds(image: Image | CheckedImage, sigma: float = SQRT2) -> tuple[float, float]:
    """Return the thresholds `low` and `high` that `detect_edges` chooses by itself, in parts of the value range."""
    check_sigma(sigma)
    grey, unit = CheckedImage(image).levelled()
    low, high = _native.automatic_thresholds(grey, sigma)
    return low * unit, high * unit


def check_sigma(sigma: float) -> None:
    """Refuse a standard deviation that no image can be smoothed by."""
    if not (math.isfinite(sigma) and 0 < sigma <= 1000):
        raise ValueError(f"sigma must be positive and at most 1000, got {sigma}")


def check_force(force: str) -> None:
    """Refuse an unknown kind of force."""
    if force not in ("unit", "strength"):
        raise ValueError(f'force must be "unit" or "strength", got {force!r}')


def _check_thresholds(low: float | None, high: float | None, use_quantiles: bool, image: CheckedImage) -> None:
    for name, value in (("low", low), ("high", high)):
        if value is not None and not (math.isfinite(value) and value >= 0):
            raise ValueError(f"{name} must not be negative, got {value}")
        if use_quantiles and value is not None and value > 1:
            raise ValueError(f"{name} must be a quantile in [0, 1], got {value}")
        if not use_quantiles and value is not None and value > MAX_GRADIENT:
            raise ValueError(
                f"{name} must be a gradient that a pixel can reach, at most {MAX_GRADIENT:.2f}: it counts in parts of "
                f"the value range {image.low:g} to {image.high:g} per pixel, got {value:g}"
            )
    if low is not None and high is not None and low > high:
        raise ValueError(f"low must not exceed high, got low {low} and high {high}")
    if use_quantiles and (low is None or high is None):
        raise ValueError("use_quantiles needs both low and high")


def _typical_strength(fx: FloatArray, fy: FloatArray) -> float:
    """Return the 99 % quantile of the gradient magnitude over the edge pixels, 0 where there are none."""
    edge = (fx != 0) | (fy != 0)
    strengths = np.hypot(fx[edge], fy[edge])
    return float(np.quantile(strengths, 0.99)) if strengths.size else 0.0
