"""Discontinuities of depth or motion, separated from slopes by a line fitted on either side.

At a pixel, the values before it and those behind it along a row (a column) are each continued to the pixel by the line
that fits them best. Where the surface goes on, however steep, the two continuations meet; where it jumps, they differ
by the jump. A line that was fitted across another jump would invent one here, so what counts is the smaller of this
difference and the plain difference of the nearest values, 0 where their signs differ. Beyond the border the surface
goes on straight (an odd reflection).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.types import BoolArray, Edges

Plane = NDArray[np.float64]
JUMP_SIGMA = 0.5  # sigma, in gaps, of the smoothing across the edge by which its middle is found; untuned
MIN_NOISE_RATIO = 5.0  # smallest jump, in standard deviations of the noise; convention: five sigmas
WEAK_JUMP_SHARE = 0.5  # low hysteresis threshold, as a share of the high one; convention
MAD_TO_SIGMA = 1.4826  # derived: standard deviation of normal noise over its median magnitude
# A hole's sides may differ by this many times the typical slope and still be one surface; untuned.
MAX_SLOPE_RATIO = 3.0


@dataclass(frozen=True)
class Window:
    """The values on either side by which a jump is measured.

    Parameters
    ----------
    gap
        Distance of the nearest value on either side, in pixels.
    length
        How many values a side is judged by.
    along
        Sigma in pixels of the smoothing along the edge, which takes noise and leaves jumps.
    """

    gap: int
    length: int
    along: float = 1.0

    @property
    def reach(self) -> int:
        """Distance of the farthest value, in pixels."""
        return self.gap + self.length - 1


def jumps(plane: Plane, axis: int, window: Window) -> tuple[Plane, float]:
    """Return the jump at each pixel along an axis (0 down, 1 across), and the standard deviation noise gives it."""
    from scipy import ndimage  # here, because it takes longer to load than the rest of the library

    reach, places = window.reach, np.arange(window.gap, window.reach + 1)
    middle = places.mean()
    fit = 1 / window.length - middle * (places - middle) / np.sum((places - middle) ** 2)  # the line's value at 0
    weights, nearest = np.zeros(2 * reach + 1), np.zeros(2 * reach + 1)
    weights[reach + places], weights[reach - places] = fit, -fit
    nearest[reach + window.gap], nearest[reach - window.gap] = 1, -1
    continued = _continued(plane, axis, reach)
    inside = tuple(slice(reach, -reach) if a == axis else slice(None) for a in (0, 1))
    both = [ndimage.correlate1d(continued, kernel, axis)[inside] for kernel in (weights, nearest)]
    lines, nearest = (ndimage.gaussian_filter1d(v, window.along, 1 - axis, mode="nearest") for v in both)
    noise = MAD_TO_SIGMA * float(np.median(np.abs(lines)))
    smaller = np.where(np.abs(lines) < np.abs(nearest), lines, nearest)
    return np.where(lines * nearest > 0, smaller, 0.0), noise


def slopes(plane: Plane, axis: int, window: Window) -> Plane:
    """Return the derivative along an axis of the smoothed plane: at a jump, its direction."""
    from scipy import ndimage

    continued = _continued(plane, axis, 4 * window.gap)
    order = (1, 0) if axis == 0 else (0, 1)
    smooth: Plane = ndimage.gaussian_filter(continued, window.gap, order=order, mode="nearest")
    return smooth[tuple(slice(4 * window.gap, -4 * window.gap) if a == axis else slice(None) for a in (0, 1))]


def filled(plane: Plane, valid: BoolArray, axis: int, together: float) -> Plane:
    """Fill pixels without a value from the nearest ones before and behind along an axis.

    Where these two differ by no more than the share `together` of the larger and three times what the typical slope
    makes over the hole, a straight line joins them: a hole in a surface. Else the smaller one fills: what is hidden
    from one eye of a sensor belongs to what lies behind, so the jump stays at the nearer surface's rim. Lines without
    any value become 0.
    """
    along, known = np.moveaxis(plane, axis, -1), np.moveaxis(valid, axis, -1)
    length = along.shape[-1]
    places = np.broadcast_to(np.arange(length), along.shape)
    last = np.maximum.accumulate(np.where(known, places, -1), axis=-1)
    after = np.minimum.accumulate(np.where(known, places, length)[..., ::-1], axis=-1)[..., ::-1]
    before = np.where(last < 0, after, last)
    behind = np.where(after == length, before, after)
    some = known.any(axis=-1, keepdims=True)
    first, second = (np.take_along_axis(along, np.where(some, at, 0), axis=-1) for at in (before, behind))
    share = (places - before) / np.maximum(behind - before, 1)
    allowed = together * np.maximum(np.abs(first), np.abs(second)) + MAX_SLOPE_RATIO * _slope(along, known) * (
        behind - before
    )
    values = np.where(np.abs(first - second) > allowed, np.minimum(first, second), first + share * (second - first))
    return np.moveaxis(np.where(known, along, np.where(some, values, 0.0)), -1, axis)


def jump_edges(strength: Plane, across: Plane, down: Plane, least: float, window: Window, force: str) -> Edges:
    """Return edges along the middle of the jumps that reach `least`; from half of it on where they join one that does.

    Parameters
    ----------
    strength
        How large the jump is, not negative.
    across, down
        The direction across the edge, towards its inner side.
    least
        Strength from which on a jump is an edge.
    window
        By which the jumps were judged: they are as wide.
    force
        "unit" or "strength".
    """
    from scipy import ndimage

    gx, gy = (np.ascontiguousarray(plane, np.float32) for plane in (across, down))
    smooth = ndimage.gaussian_filter(strength, JUMP_SIGMA * window.gap, mode="nearest").astype(np.float32)
    crest = _native.suppress_non_maxima(smooth, gx, gy, 0.25 * least) > 0
    crest &= strength >= WEAK_JUMP_SHARE * least
    labels, _ = ndimage.label(crest, np.ones((3, 3)))
    strong = np.zeros(int(labels.max()) + 1, bool)
    strong[labels[crest & (strength >= least)]] = True
    edge = strong[labels]
    fx, fy = (np.ascontiguousarray(np.where(edge, v, 0), np.float32) for v in (gy, -gx))
    _native.shape_forces(fx, fy, 0.0, 0, False)
    if force == "strength":
        fx, fy = (f * strength.astype(np.float32) for f in (fx, fy))
    return Edges(fx, fy)


def least_jump(least: float, *noises: float) -> float:
    """Return the least jump that is both wanted and significant over the noise."""
    return max(least, MIN_NOISE_RATIO * max(noises))


def check_jump(jump: float) -> None:
    """Refuse a least jump that is not positive."""
    if not (isinstance(jump, int | float | np.number) and math.isfinite(jump) and jump > 0):
        raise ValueError(f"jump must be positive, got {jump}")


def _continued(plane: Plane, axis: int, reach: int) -> Plane:
    """Extrapolate a plane by `reach` pixels at both ends of an axis."""
    return np.pad(plane, [(reach, reach) if a == axis else (0, 0) for a in (0, 1)], "reflect", reflect_type="odd")


def _slope(along: Plane, known: BoolArray) -> float:
    """Return the median difference of neighbours along the last axis."""
    both = known[..., 1:] & known[..., :-1]
    return float(np.median(np.abs(np.diff(along, axis=-1)[both]))) if both.any() else 0.0
