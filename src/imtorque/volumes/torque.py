"""Torque of the boxes around every voxel.

    tau(P) = -1 / (3 |P|) * sum over q in P of (q - p) . g(q)

is the part of the box P around p that bright surfaces enclose. Vectors are rounded once to fixed point, as forces in
the plane are, and all sums of the rounded ones are exact. Beyond the border there are no surfaces.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque import _native
from imtorque.core.types import Float32Array, FloatArray, IntArray, Sizes, check_sizes
from imtorque.volumes.surfaces import ISOTROPIC, Spacing, Surfaces, check_volume, relative_spacing

BOUND_BLOCK = 8  # convention: voxels along each side of the blocks by which sums are bounded
WIDEST_SUM = 2.0**30  # bound: that 32 bits hold with a bit to spare
LEAST_NORM = 2.0**-136  # bound: of factors that keep 13 bits as float32 numbers, where the usual ones have 24
MOST_GREY_VOXELS = 2**41  # bound: of boxes, whose sums of rounded grey values fit 63 bits
SIZE_STEP = 1.15  # convention: ratio of a default size to the next
GREY_STEPS = 2.0**22  # into which the range of grey values is divided for gradient torque; bound: overflow
Boxes = tuple[NDArray[np.int32], Float32Array]


def torque_volume_3d(surfaces: Surfaces, sizes: Sizes, *, spacing: Spacing = ISOTROPIC) -> Float32Array:
    """Compute the torque of the box of every size around every voxel.

    Parameters
    ----------
    surfaces
        As `detect_surfaces` returns them.
    sizes
        Odd, increasing sides of the boxes, in voxels of the closest spacing; `box_sides` says what they are in voxels.
    spacing
        Distance of the voxels along z, y and x.

    Returns
    -------
    ndarray
        Shape (S, Z, Y, X), float32: positive around bright objects, negative around dark ones.

    Notes
    -----
    Time per voxel and size does not depend on the size: a box is a few look-ups in summed-volume tables. These are
    kept for as many slices as the largest box is deep; nothing else but the result grows with the volume.

    Examples
    --------
    >>> volume = np.zeros((21, 21, 21))
    >>> volume[8:13, 8:13, 8:13] = 1
    >>> from imtorque.volumes import gradient_surfaces
    >>> round(float(torque_volume_3d(gradient_surfaces(volume), [15])[0, 10, 10, 10]) * 15**3)
    125
    """
    field = require_surfaces(surfaces)
    halves, norms = field_boxes(field, box_sides(sizes, spacing))
    return _native.volume_torque(field.gz, field.gy, field.gx, field.steps, halves, norms, is_wide(field, halves))


def value_and_scale_maps(
    surfaces: Surfaces, sizes: Sizes | None = None, *, spacing: Spacing = ISOTROPIC
) -> tuple[Float32Array, NDArray[np.int32]]:
    """Return the strongest torque at each voxel, and its size with the torque's sign; the volume is never stored."""
    field = require_surfaces(surfaces)
    array = check_sizes(default_sizes(field.shape, spacing) if sizes is None else sizes)
    halves, norms = field_boxes(field, box_sides(array, spacing))
    wide, labels = is_wide(field, halves), array.astype(np.int32)
    return _native.volume_value_and_scale(field.gz, field.gy, field.gx, field.steps, halves, norms, wide, labels)


def gradient_torque(volume: ArrayLike, sizes: Sizes, *, spacing: Spacing = ISOTROPIC) -> Float32Array:
    """Compute the torque of the whole gradient without a gradient: the mean of each box minus the mean of its faces.

    The faces are the six layers of voxels just outside the box; the mean is taken over each pair, then over the three.
    Beyond the border the volume repeats its border voxels. Grey values are rounded to 2^-22 of their range, and the
    sums of the rounded ones are exact.

    Parameters
    ----------
    volume
        Grey values, shape (Z, Y, X).
    sizes, spacing
        As for `torque_volume_3d`.

    Returns
    -------
    ndarray
        Shape (S, Z, Y, X), float32, in grey values.

    Examples
    --------
    >>> volume = np.zeros((9, 9, 9))
    >>> volume[3:6, 3:6, 3:6] = 1
    >>> float(gradient_torque(volume, [3])[0, 4, 4, 4])
    1.0
    """
    levels, unit = rounded_greys(volume)
    halves = grey_boxes(box_sides(sizes, spacing))
    return _native.volume_gradient_torque(levels, unit, halves, np.ones(len(halves), np.float32))


def box_sides(sizes: Sizes, spacing: Spacing = ISOTROPIC) -> IntArray:
    """Return the sides of the boxes in voxels along z, y and x, shape (S, 3): odd, and about as long along each axis.

    Examples
    --------
    >>> box_sides([5, 9], spacing=(2.0, 1.0, 1.0)).tolist()
    [[3, 5, 5], [5, 9, 9]]
    """
    array = check_sizes(sizes)
    if array.ndim != 1:
        raise ValueError("sizes must be sides of boxes, got (height, width) pairs")
    halves = np.floor((array[:, None] - 1) / 2 / np.asarray(relative_spacing(spacing)) + 0.5)
    return np.asarray(2 * halves + 1, np.int64)


def default_sizes(shape: tuple[int, ...], spacing: Spacing = ISOTROPIC) -> IntArray:
    """Return odd sizes for a volume: at least 2 and about 15 % apart, from 5 up to 46 % of its mean side."""
    sides = [n * step for n, step in zip(shape, relative_spacing(spacing), strict=True)]
    bound = max(5.0, 0.46 * float(np.prod(sides)) ** (1 / 3))
    sizes = [5]
    while (following := max(sizes[-1] + 2, nearest_odd(SIZE_STEP * sizes[-1]))) <= bound:
        sizes.append(following)
    return np.asarray(sizes, np.int64)


def nearest_odd(length: float) -> int:
    """Return the odd whole number nearest to a length."""
    return 2 * math.floor(length / 2) + 1


def require_surfaces(surfaces: Surfaces) -> Surfaces:
    """Return surfaces that are Surfaces."""
    if not isinstance(surfaces, Surfaces):
        raise TypeError(f"surfaces must be Surfaces, as detect_surfaces returns them, got {type(surfaces).__name__}")
    return surfaces


def halves_of(sides: IntArray) -> NDArray[np.int32]:
    """Return half the sides, as the kernels take them."""
    return np.ascontiguousarray(sides // 2, np.int32)


def field_boxes(surfaces: Surfaces, sides: IntArray) -> Boxes:
    """Return the boxes as the kernels take them: half sides, and what turns an integer sum into torque."""
    norms = 1 / (3 * surfaces.steps * sides.prod(axis=1))
    if surfaces.mask.any() and norms.min() < LEAST_NORM:
        raise ValueError(
            f"sizes must be smaller, or vectors longer, for float32 numbers, got boxes of {sides.prod(axis=1).max()} "
            f"voxels and vectors rounded to {1 / surfaces.steps:.2g}"
        )
    return halves_of(sides), norms.astype(np.float32)


def grey_boxes(sides: IntArray) -> NDArray[np.int32]:
    """Return the boxes of gradient torque as the kernels take them; refuse those whose sums might pass 63 bits."""
    voxels = (sides + 2.0).prod(axis=1).max()
    if voxels > MOST_GREY_VOXELS:
        raise ValueError(f"sizes must be of boxes of at most 2^41 voxels for gradient torque, got {voxels:.3g} voxels")
    return halves_of(sides)


def is_wide(surfaces: Surfaces, halves: NDArray[np.int32]) -> bool:
    """Return whether the sum of some box might pass 32 bits, by the vectors in the blocks that it meets."""
    mass: NDArray[np.floating[Any]] = np.abs(surfaces.gz) + np.abs(surfaces.gy) + np.abs(surfaces.gx)
    for axis in range(3):
        mass = np.add.reduceat(mass, np.arange(0, mass.shape[axis], BOUND_BLOCK), axis=axis, dtype=np.float64)
    for half in np.unique(halves, axis=0):
        held = mass
        for axis, reach in enumerate(half):
            held = _running_sums(held, axis, -(-int(2 * reach + 1) // BOUND_BLOCK) + 1)
        if float(held.max()) * max(int(half.max()), 1) * surfaces.steps > WIDEST_SUM:
            return True
    return False


def rounded_greys(volume: ArrayLike) -> tuple[NDArray[np.int32], float]:
    """Return grey values as whole numbers about their middle, and what one step is worth."""
    grey = check_volume(volume)
    low, high = float(grey.min()), float(grey.max())
    unit = (high - low) / GREY_STEPS if high > low else 1.0
    return np.rint((grey.astype(np.float64) - (low + high) / 2) / unit).astype(np.int32), unit


def _running_sums(mass: FloatArray, axis: int, length: int) -> FloatArray:
    """Return the sums of `length` neighbouring blocks along an axis."""
    if length >= mass.shape[axis]:
        return np.asarray(mass.sum(axis=axis, keepdims=True))
    sums = np.cumsum(np.moveaxis(mass, axis, -1), axis=-1)
    sums = np.concatenate([np.zeros((*sums.shape[:-1], 1)), sums], axis=-1)
    return np.moveaxis(sums[..., length:] - sums[..., :-length], -1, axis)
