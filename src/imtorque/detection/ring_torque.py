"""Torque of rings, patches without their middle, so that what an object holds does not matter; the size ladder."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from imtorque.core.torque import torque_volume
from imtorque.core.types import Edges, Float32Array, FloatArray, IntArray, Patch

HOLE = 0.6  # of the patch's side left out of a ring, as find_blobs has it by default; unrecorded


def odd_sizes(sizes: ArrayLike) -> IntArray:
    """Return the nearest odd whole numbers."""
    return 2 * np.rint((np.asarray(sizes) - 1) / 2).astype(np.int64) + 1


def size_ladder(smallest: float, largest: float, steps: int, *, beyond: int = 0, least: int = 5) -> IntArray:
    """Return odd patch sizes in equal ratios from smallest to largest, and `beyond` steps more at either end."""
    if largest <= smallest:
        return odd_sizes(np.maximum([smallest], least))
    exponents = np.arange(-beyond, steps + beyond + 1) / steps
    return np.unique(odd_sizes(np.maximum(smallest * (largest / smallest) ** exponents, least)))


def ring_torque(edges: Edges, sizes: IntArray, hole: float = HOLE, patch: Patch = "disk") -> Float32Array:
    """Return the torque of patches without their inner `hole` share, over the area that is left; shape (S, H, W)."""
    return plain_and_ring_torque(edges, sizes, hole, patch)[1]


def plain_and_ring_torque(
    edges: Edges, sizes: IntArray, hole: float = HOLE, patch: Patch = "disk"
) -> tuple[Float32Array, Float32Array]:
    """Return the torque of whole patches and of rings, from one volume; shapes (S, H, W)."""
    if hole == 0:
        volume = torque_volume(edges, sizes, patch=patch).tau
        return volume, volume
    inner = hole_sizes(sizes, hole)
    every = np.union1d(sizes, inner)
    volume = torque_volume(edges, every, patch=patch).tau
    outside, inside = np.searchsorted(every, sizes), np.searchsorted(every, inner)
    whole_share, hole_share = (share.astype(np.float32) for share in ring_shares(sizes, inner, patch))
    ring = np.empty((len(sizes), *volume.shape[1:]), np.float32)
    for k, plane in enumerate(ring):  # plane by plane, which stays in the processor's cache
        np.multiply(volume[outside[k]], whole_share[k], out=plane)
        plane -= volume[inside[k]] * hole_share[k]
    return volume[outside], ring


def hole_sizes(sizes: IntArray, hole: float = HOLE) -> IntArray:
    """Return the odd sides of the holes of rings."""
    return odd_sizes(np.maximum(hole * sizes, 1))


def ring_shares(sizes: IntArray, inner: IntArray, patch: Patch) -> tuple[FloatArray, FloatArray]:
    """Return a and b with ring = a whole - b hole, where torque is divided by the area of its patch.

    With areas A and B of the patch and its hole, the ring's area is A - B, so a = A / (A - B) and b = B / (A - B).
    """
    whole, hole = (_area(side, patch) for side in (sizes, inner))
    return whole / (whole - hole), hole / (whole - hole)


def _area(sizes: IntArray, patch: Patch) -> FloatArray:
    sides = sizes.astype(np.float64)
    return sides**2 if patch == "square" else math.pi * ((sides - 1) / 2) ** 2
