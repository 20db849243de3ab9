"""Thin boundary maps, and match their pixels one to one to the pixels of a true boundary."""

import math
from collections.abc import Iterable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque import _native
from imtorque.io.arrays import shaped_array

Matching = Literal["min_cost", "cardinality"]

OUTLIER_COST = 100  # of an unmatched pair, in multiples of the largest distance: the Berkeley benchmark's; convention
MAX_RADIUS = 200  # pixels; keeps the kernel's costs within 64 bits; bound: overflow


def thin_boundary(boundary: ArrayLike) -> NDArray[np.bool_]:
    """Thin a binary map to lines one pixel wide.

    The parallel thinning of Guo & Hall, repeated until nothing changes: what
    MATLAB's ``bwmorph(boundary, 'thin', Inf)`` does.

    Parameters
    ----------
    boundary
        (H, W), True on the boundary.

    Returns
    -------
    ndarray
        (H, W), a subset of `boundary` with the same 8-connected components.

    References
    ----------
    Z. Guo, R. W. Hall: Parallel thinning with two-subiteration algorithms. Communications of the ACM 32(3), 1989.

    Examples
    --------
    >>> bar = np.zeros((5, 9), bool)
    >>> bar[1:4, 1:8] = True
    >>> thin_boundary(bar).sum(axis=0)
    array([0, 0, 1, 1, 1, 1, 1, 0, 0])
    """
    return _native.thin(as_binary(boundary, "boundary")).astype(bool)


def match_boundaries(
    prediction: ArrayLike, truth: ArrayLike, *, max_distance: float = 0.0075, matching: Matching = "min_cost"
) -> NDArray[np.intp]:
    """Match the pixels of a boundary one to one to those of a true boundary.

    Two pixels can be matched when they are at most r = `max_distance` times the
    image diagonal apart. ``"min_cost"`` minimises

        sum of the distances of the matched pairs + 100 r * (number of pixels - number of pairs)

    with distances in hundredths of a pixel: the Berkeley benchmark's problem,
    solved exactly. ``"cardinality"`` makes as many pairs as possible and does not
    care which; it is faster on single maps.

    Parameters
    ----------
    prediction, truth
        (H, W), True on the boundary; one pixel wide to be meaningful.
    max_distance
        Largest distance of a pair, as a fraction of the image diagonal.
    matching
        What the matching optimises.

    Returns
    -------
    ndarray
        (H, W): at each matched pixel of `prediction` the flat index of its partner
        in `truth`, -1 elsewhere.

    Examples
    --------
    >>> prediction, truth = np.eye(100, dtype=bool), np.eye(100, k=1, dtype=bool)
    >>> int((match_boundaries(prediction, truth) >= 0).sum())
    99
    """
    boundary = as_binary(prediction, "prediction")
    partners, _ = match_maps(
        [boundary], as_truths([truth], boundary.shape), max_distance=max_distance, matching=matching
    )
    matched = np.full(boundary.shape, -1, dtype=np.intp)
    matched[boundary.astype(bool)] = partners[0]
    return matched


def match_maps(
    maps: Iterable[NDArray[np.uint8]], truths: NDArray[np.uint8], *, max_distance: float, matching: Matching
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Match each of several maps to each of several truths.

    Returns the partners, (truths, pixels of all maps in scan order), and where each
    map's pixels start among them. Consecutive maps that share most of their pixels are fast.
    """
    radius = _radius(max_distance, truths.shape[1:])
    if truths[0].size > np.iinfo(np.int32).max:
        raise ValueError(f"images must have fewer than 2^31 pixels, got {truths[0].size}")
    pixels = [np.flatnonzero(boundary).astype(np.int32) for boundary in maps]
    starts = np.cumsum([0, *map(len, pixels)], dtype=np.int64)
    flat = np.concatenate(pixels) if pixels else np.empty(0, np.int32)
    if matching == "min_cost":
        return _native.match_min_cost(flat, starts, truths, radius, OUTLIER_COST * radius), starts
    if matching == "cardinality":
        return _native.match_cardinality(flat, starts, truths, radius), starts
    raise ValueError(f"matching must be 'min_cost' or 'cardinality', got {matching!r}")


def _radius(max_distance: float, shape: tuple[int, ...]) -> float:
    radius = max_distance * math.hypot(*shape)
    if not 0 < radius <= MAX_RADIUS:
        raise ValueError(
            f"max_distance times the image diagonal must be above 0 and at most {MAX_RADIUS} pixels, "
            f"got {max_distance} on an image of {shape[0]} x {shape[1]}"
        )
    return radius


def as_binary(boundary: ArrayLike, name: str) -> NDArray[np.uint8]:
    """Check a binary map and return it as 0 and 1."""
    array = shaped_array(boundary, name)
    if array.dtype != bool and not np.isin(array, (0, 1)).all():
        raise ValueError(f"{name} must hold only 0 and 1, got values from {array.min()} to {array.max()}")
    return np.ascontiguousarray(array, dtype=np.uint8)


def as_truths(truths: Iterable[ArrayLike], shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Stack the truths of one image, checked against the prediction's shape."""
    stack = [as_binary(truth, "truth") for truth in truths]
    if not stack:
        raise ValueError("truths must hold at least one boundary map, got none")
    for truth in stack:
        if truth.shape != shape:
            raise ValueError(f"truth must have the prediction's shape {shape}, got {truth.shape}")
    return np.stack(stack)
