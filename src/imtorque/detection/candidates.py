"""Where objects may be: the extrema of plain or ring torque over place and size, at every level of an image."""

from __future__ import annotations

import math

import numpy as np

from imtorque.core.extrema import find_extrema
from imtorque.core.torque import torque_volume
from imtorque.core.types import Edges, Extrema, Float32Array, FloatArray, IntArray, Patch, Sign, TorqueVolume
from imtorque.detection.levels import Level

GROWTH = 1.13  # ratio of neighbouring sizes, where it makes more than 2 pixels
LEAST_TORQUE = 0.7  # of a candidate: low, because contours decide


def torque_candidates(
    level: Level,
    *,
    sign: Sign | None = None,
    ring: float = 0.6,
    patch: Patch = "disk",
    least: float = LEAST_TORQUE,
    sizes: FloatArray | None = None,
) -> Extrema:
    """Return the torque extrema of one level, in pixels of that level.

    Parameters
    ----------
    level
        As `image_levels` yields them.
    sign
        +1 for bright objects, -1 for dark ones, None for both.
    ring
        Share of the patch, by side, whose edges are left out in its middle: what an object holds does not matter then.
        0 counts the whole patch.
    patch
        "disk" or "square".
    least
        Smallest |torque|.
    sizes
        Patch sizes in pixels of the level, rounded to odd ones; by default the level's range in steps of about 13 %.

    Returns
    -------
    Extrema
        Strongest first; multiply by `level.factor` and add `level.offset` for places in the image.
    """
    edges = Edges(level.gy, -level.gx)
    steps = level_sizes(level) if sizes is None else np.unique(_odd(np.maximum(sizes, 5)))
    extrema = find_extrema(TorqueVolume(ring_torque(edges, steps, ring, patch), steps), sign=sign)
    return extrema[np.abs(extrema.value) >= least]


def level_sizes(level: Level) -> IntArray:
    """Return the odd sizes looked at: the level's range in steps of about 13 %, and one step more at either end."""
    low, high = level.smallest / level.factor, level.largest / level.factor
    steps = max(1, math.ceil(math.log(high / low) / math.log(GROWTH)))
    sizes = low * (high / low) ** (np.arange(-1, steps + 2) / steps) if high > low else np.array([low])
    return np.unique(_odd(np.maximum(sizes, 5)))


def ring_torque(edges: Edges, sizes: IntArray, ring: float, patch: Patch) -> Float32Array:
    """Return the torque of patches without their inner `ring` share, by the area that is left; shape (S, H, W)."""
    if ring == 0:
        return torque_volume(edges, sizes, patch=patch).tau
    inner = _odd(np.maximum(ring * sizes, 1))
    every = np.union1d(sizes, inner)
    volume = torque_volume(edges, every, patch=patch).tau
    area = every.astype(np.float64) ** 2 if patch == "square" else math.pi * ((every - 1) / 2) ** 2
    out, hole = np.searchsorted(every, sizes), np.searchsorted(every, inner)
    left = area[out] - area[hole]
    whole, part = (area[out] / left).astype(np.float32), (area[hole] / left).astype(np.float32)
    torque = np.empty((len(sizes), *volume.shape[1:]), np.float32)
    for k, plane in enumerate(torque):  # plane by plane, which stays in the processor's cache
        np.multiply(volume[out[k]], whole[k], out=plane)
        plane -= volume[hole[k]] * part[k]
    return torque


def _odd(sizes: FloatArray) -> IntArray:
    """Return the nearest odd whole numbers."""
    return 2 * np.rint((sizes - 1) / 2).astype(np.int64) + 1
