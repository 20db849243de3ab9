"""From torque to extrema: where objects are, and how large (Sec. 3.3 of the paper)."""

from __future__ import annotations

import math
import operator

import numpy as np

from imtorque import _native
from imtorque._types import Edges, Extrema, Image, Patch, Sign, Sizes, TorqueVolume
from imtorque.edges import detect_edges
from imtorque.torque import default_sizes, patch_arrays, sizes_for


def find_extrema(
    source: Edges | TorqueVolume,
    sizes: Sizes | None = None,
    *,
    count: int | None = None,
    sign: Sign | None = None,
    patch: Patch = "square",
    alpha: float = 2.0,
    end_scales: bool = True,
) -> Extrema:
    """Find the local extrema of the torque over space and patch size.

    A maximum is positive, not below any of its 26 neighbours in (y, x, size) and above at least one; a minimum likewise
    below. Neighbours outside the volume do not count; of adjacent equal extrema the first in (size, y, x) stands for
    all.

    Parameters
    ----------
    source
        A `TorqueVolume`, or `Edges`: then the volume is never stored, with the same result.
    sizes, patch, alpha
        As for `torque_volume`, only with `Edges`; by default the sizes of `default_sizes`.
    count
        How many to return at most, the strongest of the signs asked for together; all by default.
    sign
        +1 for maxima (bright objects), -1 for minima (dark ones), None for both.
    end_scales
        Whether extrema at the smallest and the largest size count.

    Returns
    -------
    Extrema
        Sorted by falling |torque|; empty where there are none.

    Examples
    --------
    >>> image = np.zeros((60, 60))
    >>> image[20:41, 15:36] = 1
    >>> find_extrema(detect_edges(image), sizes=range(3, 40, 2), count=1).to_csv().split()[1]
    '30,25,21,0.902483'
    """
    _check_sign(sign)
    if count is not None and operator.index(count) < 0:
        raise ValueError(f"count must not be negative, got {count}")
    request = (sign or 0, -1 if count is None else operator.index(count), end_scales)
    return _strongest(source, sizes, patch, alpha, request, 0.0)


def _strongest(
    source: Edges | TorqueVolume,
    sizes: Sizes | None,
    patch: str,
    alpha: float,
    request: tuple[int, int, bool],
    least: float,
) -> Extrema:
    """Return the extrema asked for (sign, count, end scales) whose |torque| is at least `least`."""
    if isinstance(source, TorqueVolume):
        if sizes is not None:
            raise ValueError("sizes must be left out with a TorqueVolume, which has its own")
        array = source.sizes
        k, y, x, value = _native.extrema_of_volume(source.tau, *request, least)
    elif isinstance(source, Edges):
        array = sizes_for(source, sizes)
        k, y, x, value = _native.extrema_of_field(
            source._field, *patch_arrays(source, array, patch, alpha), *request, least
        )
    else:
        raise TypeError(f"source must be Edges or a TorqueVolume, got {type(source).__name__}")
    return Extrema(y, x, array[k], value)


def find_blobs(
    image: Image,
    *,
    sizes: Sizes | None = None,
    sign: Sign | None = None,
    threshold: float = 0.4,
    overlap: float = 0.5,
    count: int | None = None,
) -> Extrema:
    """Find bright and dark blobs: torque extrema after overlap suppression.

    Parameters
    ----------
    image
        As for `detect_edges`, whose defaults are used.
    sizes
        Patch sizes to look at; by default `default_sizes` of the image.
    sign
        +1 for bright blobs, -1 for dark ones, None for both.
    threshold
        Smallest |torque|. A closed contour that fills its patch has about 0.5 to 1, random texture stays below 0.4
        (Sec. 3.2).
    overlap
        A blob goes when it shares more than this part of the smaller patch's area with a stronger one of the same
        sign.
    count
        How many to return at most; all by default.

    Returns
    -------
    Extrema
        Centre, size (the side of the patch that fits the blob) and torque of each, strongest first.

    Examples
    --------
    >>> image = np.ones((60, 60))
    >>> image[20:41, 15:36] = 0
    >>> find_blobs(image)
    Extrema(1: 0 positive, 1 negative)
    """
    for name, value in (("threshold", threshold), ("overlap", overlap)):
        if not (math.isfinite(value) and value >= 0):
            raise ValueError(f"{name} must not be negative, got {value}")
    if count is not None and operator.index(count) < 0:
        raise ValueError(f"count must not be negative, got {count}")
    _check_sign(sign)
    edges = detect_edges(image)
    array = default_sizes(edges.shape) if sizes is None else sizes
    extrema = _strongest(edges, array, "square", 2.0, (sign or 0, -1, True), threshold)
    return suppress_overlaps(extrema, overlap)[:count]


def _check_sign(sign: int | None) -> None:
    if sign not in (None, 1, -1):
        raise ValueError(f"sign must be +1, -1 or None, got {sign!r}")


def suppress_overlaps(extrema: Extrema, overlap: float = 0.5) -> Extrema:
    """Keep the strongest of extrema whose patches overlap.

    Parameters
    ----------
    extrema
        The candidates.
    overlap
        Largest part of the smaller patch's area that two kept patches of the same sign may share.
    """
    keep = _native.suppress_overlaps(*extrema._boxes(), np.ascontiguousarray(extrema.value, np.float32), overlap)
    return extrema[keep]
