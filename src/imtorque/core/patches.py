"""Patches as the kernels take them: their sides, what they are normalised by, and whether the result fits."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from imtorque.core.patterns import Polarity, check_polarity
from imtorque.core.types import Edges, FloatArray, IntArray

LARGEST_TORQUE = 3e38  # of float32
PatchArrays = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], bool, bool]


def patch_arrays(edges: Edges, sizes: IntArray, patch: str, alpha: float, polarity: Polarity = "signed") -> PatchArrays:
    """Return heights, widths and normalisations Z of the patches, whether they are disks, and free of polarity."""
    check_patch(patch, sizes)
    if not (isinstance(alpha, int | float | np.number) and math.isfinite(alpha) and -10 <= alpha <= 10):
        raise ValueError(f"alpha must be a number from -10 to 10, got {alpha}")
    heights, widths = sides(sizes)
    free = check_polarity(polarity) == "free"
    sizes_of_norm = (heights - 1) / 2 if patch == "disk" else np.sqrt(heights * widths) / 2
    if free:
        areas = math.pi * np.maximum(sizes_of_norm, 0.5) ** (1 + alpha)
        _check_closure_range(edges, heights, widths, areas, alpha)
    elif patch == "disk":
        # A disk of radius 0 has no area, and no torque: its one pixel has no lever.
        areas = np.where(sizes_of_norm > 0, math.pi * np.maximum(sizes_of_norm, 0.5) ** alpha, 1.0)
        _check_range(edges, heights, widths, areas, alpha)
    else:
        areas = heights * widths * sizes_of_norm ** (alpha - 2)
        _check_range(edges, heights, widths, areas, alpha)
    return heights, widths, areas, patch == "disk", free


def check_patch(patch: str, sizes: IntArray) -> None:
    """Refuse a shape of patches that there is not, or not with these sizes."""
    if patch not in ("square", "disk"):
        raise ValueError(f'patch must be "square" or "disk", got {patch!r}')
    if patch == "disk" and sizes.ndim == 2:
        raise ValueError("a disk has one size, got (height, width) pairs")


def _check_range(edges: Edges, heights: IntArray, widths: IntArray, areas: FloatArray, alpha: float) -> None:
    """Refuse an exponent with which the torque of these edges might not fit a float32."""
    # With the usual one the area is at least a quarter of the box, and no lever longer than the image: no arrays.
    if alpha == 2 and 4 * max(edges.shape) * edges.survey.largest + 1 / edges.steps <= LARGEST_TORQUE:
        return
    lever = np.minimum(np.maximum(heights, widths) / 2, max(edges.shape))
    mass = np.minimum(edges.field.mass, 2 * edges.survey.largest * heights * widths)
    most = np.maximum(lever * mass / (2 * areas), 1 / (4 * areas * edges.steps)).max()
    if most > LARGEST_TORQUE:
        raise ValueError(f"alpha must keep the torque of these sizes below {LARGEST_TORQUE:g}, got alpha {alpha}")


def _check_closure_range(edges: Edges, heights: IntArray, widths: IntArray, areas: FloatArray, alpha: float) -> None:
    """Refuse forces and exponents whose closure might not fit a float32: it grows with the square of the forces."""
    lever = np.minimum(np.hypot(heights, widths) / 2, math.hypot(*edges.shape))
    largest = edges.survey.largest
    mass = np.minimum(edges.field.mass, 2 * largest * heights * widths)
    most = np.maximum(lever**2 * (2 * largest * mass) / (2 * areas), 1 / (8 * areas)).max()
    if most > LARGEST_TORQUE:
        raise ValueError(
            f"alpha and forces must keep the closure of these sizes below {LARGEST_TORQUE:g}, "
            f"got alpha {alpha} and forces up to {largest:g}"
        )


def sides(sizes: IntArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return heights and widths."""
    if sizes.ndim == 1:
        both = np.ascontiguousarray(sizes, np.int64)
        return both, both
    return np.ascontiguousarray(sizes[:, 0], np.int64), np.ascontiguousarray(sizes[:, 1], np.int64)
