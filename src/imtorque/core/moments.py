"""The four first moments of every patch: all that forces around a point can do together, up to their first order."""

from typing import NamedTuple

import numpy as np

from imtorque import _native
from imtorque.core.patches import patch_shape, sides
from imtorque.core.patterns import Pattern, pattern_matrix
from imtorque.core.types import Edges, Extrema, Float32Array, FloatArray, Patch, check_sizes, require_edges


class Moments(NamedTuple):
    """Sums of (q - p)_i F(q)_j over the patch around every pixel p: four maps (H, W), float32.

    Torque is their antisymmetric part, xy - yx, divergence their trace, xx + yy, and the rest are two saddles.
    """

    xx: Float32Array
    xy: Float32Array
    yx: Float32Array
    yy: Float32Array

    def __repr__(self) -> str:
        """Say how large they are."""
        return f"Moments({self.xx.shape[0]} x {self.xx.shape[1]})"

    def response(self, pattern: Pattern) -> Float32Array:
        """Return the sum a pattern stands for: 2 Z times its `torque_map`, up to rounding.

        Parameters
        ----------
        pattern
            As for `torque_map`.
        """
        (a, b), (c, d) = pattern_matrix(pattern)
        terms = ((c, self.xx), (d, self.xy), (-a, self.yx), (-b, self.yy))  # dx Gy - dy Gx, G the patterned force
        return np.asarray(sum(np.float32(factor) * sums for factor, sums in terms if factor), np.float32)


def patch_moments(edges: Edges, size: int | tuple[int, int], *, patch: Patch = "square") -> Moments:
    """Compute the sums of (q - p)_i F(q)_j over the patch of one size around every pixel, i and j being x and y.

    Parameters
    ----------
    edges, size, patch
        As for `torque_map`.

    Returns
    -------
    Moments
        Named maps xx, xy, yx, yy, in units of force times pixels, not normalised: the sums are exact on the rounded
        forces, and each is rounded once, to float32.

    Notes
    -----
    Squares and rectangles: one pass, constant time per pixel. Disks: as long as four torque maps.

    Examples
    --------
    >>> y, x = np.indices((9, 9)) - 4.0
    >>> moments = patch_moments(Edges(x, y), 3)  # forces point away from the middle
    >>> [float(sums[4, 4]) for sums in moments]
    [6.0, 0.0, 0.0, 6.0]
    """
    sizes = check_sizes(np.asarray([size]))
    shape = patch_shape(patch, sizes)
    height, width = (int(side[0]) for side in sides(sizes))
    return Moments(*shape.moments(require_edges(edges), height, width))


def openness(edges: Edges, extrema: Extrema) -> FloatArray:
    """Measure how far the edges in the patch of each extremum are from a closed contour: 0 for one, 1 for a line.

    Along a closed contour forces sum to zero, and so do all their first moments but the torque. A line or a corner
    leaves a force F over, a bar with two parallel sides a saddle S of its moments:

        openness = max(|F| L / 2, S) / |2 L^2 tau|,      S = |(xy + yx, xx - yy)|

    with L the side of the patch. Half a contour has about 0.5, three sides of a square 1/3.

    Parameters
    ----------
    edges
        The field in which the extrema were found.
    extrema
        Where to measure; each in its own patch, a square or the square around a disk.

    Returns
    -------
    ndarray
        A number for each extremum; infinite where nothing turns.

    Examples
    --------
    >>> from imtorque import detect_edges
    >>> image = np.zeros((60, 60))
    >>> image[20:41, 15:36] = 1
    >>> image[:, 45:52] = 1
    >>> at = Extrema([30, 30], [25, 48], [23, 9], [1.0, 1.0])
    >>> openness(detect_edges(image), at).round(2)
    array([0., 1.])
    """
    y, x, height, width = extrema.boxes()
    fx, fy, xx, xy, yx, yy = _native.moments_at(require_edges(edges).field, y, x, height, width).T
    left = np.hypot(fx, fy) * np.sqrt(height * width) / 2
    saddle = np.hypot(xy + yx, xx - yy)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(xy != yx, np.maximum(left, saddle) / np.abs(xy - yx), np.inf)
