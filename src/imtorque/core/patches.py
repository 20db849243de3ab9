"""Patch shapes, in one registry, and the patches of a field as the kernels take them.

A shape is a `PatchShape` in `SHAPES`; the command line, the explorer and the checks of every function draw their
choices from there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.patterns import Polarity, check_polarity
from imtorque.io.arrays import Float32Array, IntArray

if TYPE_CHECKING:
    from imtorque.core.types import Edges

LARGEST_DIVISOR = 2.0**136  # bound: of sums, whose inverse keeps 13 bits as a float32 number, where usual ones have 24
LARGEST_TORQUE = 3e38  # bound: just below the largest float32
Patch = Literal["square", "disk"]
Sides = NDArray[np.int64]
Areas = NDArray[np.float64]
PatchArrays = tuple[Sides, Sides, Areas, int, bool]


@dataclass(frozen=True)
class PatchShape:
    """A shape of patches: how large it is, and which kernels compute with it.

    Parameters
    ----------
    name
        What users call it.
    code
        Its number in the kernels (`Shape` in native/core/torque.hpp).
    rectangles
        Whether its sizes may be (height, width) pairs.
    half_size
        R of the normalisation, from heights and widths.
    area
        Z of the normalisation, from heights, widths and alpha.
    moments
        Kernel of `patch_moments`, from edges, height and width.
    gradient_torque
        Kernel of `gradient_torque`, from the grey image, heights and widths.
    on_tensors
        Whether `imtorque.torch` has a kernel for it.
    """

    name: str
    code: int
    rectangles: bool
    half_size: Callable[[Sides, Sides], Areas]
    area: Callable[[Sides, Sides, float], Areas]
    moments: Callable[[Edges, int, int], Sequence[Float32Array]]
    gradient_torque: Callable[[NDArray[np.float64], Sides, Sides], Float32Array]
    on_tensors: bool

    def check_sizes(self, sizes: IntArray) -> None:
        """Refuse sizes that this shape cannot have."""
        if sizes.ndim == 2 and not self.rectangles:
            raise ValueError(f"a {self.name} has one size, got (height, width) pairs")


def patch_shape(patch: str, sizes: IntArray | None = None) -> PatchShape:
    """Return the shape of this name; refuse one that does not exist, or not with these sizes."""
    if patch not in SHAPES:
        names = " or ".join(f'"{name}"' for name in SHAPES)
        raise ValueError(f"patch must be {names}, got {patch!r}")
    shape = SHAPES[patch]
    if sizes is not None:
        shape.check_sizes(sizes)
    return shape


def patch_arrays(edges: Edges, sizes: IntArray, patch: str, alpha: float, polarity: Polarity = "signed") -> PatchArrays:
    """Return heights, widths and normalisations Z of the patches, their shape's code, and whether polarity is free."""
    shape = patch_shape(patch, sizes)
    if not (isinstance(alpha, int | float | np.number) and math.isfinite(alpha) and -10 <= alpha <= 10):
        raise ValueError(f"alpha must be a number from -10 to 10, got {alpha}")
    heights, widths = sides(sizes)
    free = check_polarity(polarity) == "free"
    if free:
        areas = math.pi * np.maximum(shape.half_size(heights, widths), 0.5) ** (1 + alpha)
        _check_closure_range(edges, heights, widths, areas, alpha)
    else:
        areas = shape.area(heights, widths, alpha)
        _check_range(edges, heights, widths, areas, alpha)
    return heights, widths, areas, shape.code, free


def _check_range(edges: Edges, heights: Sides, widths: Sides, areas: Areas, alpha: float) -> None:
    """Refuse an exponent with which the torque of these edges might not fit a float32."""
    if np.max(4 * areas) * edges.steps > LARGEST_DIVISOR and edges.mass:
        side, largest = max(heights.max(), widths.max()), edges.statistics.largest
        raise ValueError(f"sizes must be smaller, or forces larger, for float32 numbers, got {side} and {largest:.2g}")
    # With the usual one the area is at least a quarter of the box, and no lever longer than the image: no arrays.
    if alpha == 2 and 4 * max(edges.shape) * edges.statistics.largest + 1 / edges.steps <= LARGEST_TORQUE:
        return
    lever = np.minimum(np.maximum(heights, widths) / 2, max(edges.shape))
    mass = np.minimum(edges.mass, 2 * edges.statistics.largest * heights * widths)
    most = np.maximum(lever * mass / (2 * areas), 1 / (4 * areas * edges.steps)).max()
    if most > LARGEST_TORQUE:
        raise ValueError(f"alpha must keep the torque of these sizes below {LARGEST_TORQUE:g}, got alpha {alpha}")


def _check_closure_range(edges: Edges, heights: Sides, widths: Sides, areas: Areas, alpha: float) -> None:
    """Refuse forces and exponents whose closure might not fit a float32: it grows with the square of the forces."""
    lever = np.minimum(np.hypot(heights, widths) / 2, math.hypot(*edges.shape))
    largest = edges.statistics.largest
    mass = np.minimum(edges.mass, 2 * largest * heights * widths)
    most = np.maximum(lever**2 * (2 * largest * mass) / (2 * areas), 1 / (8 * areas)).max()
    if most > LARGEST_TORQUE:
        raise ValueError(
            f"alpha and forces must keep the closure of these sizes below {LARGEST_TORQUE:g}, "
            f"got alpha {alpha} and forces up to {largest:g}"
        )


def sides(sizes: IntArray) -> tuple[Sides, Sides]:
    """Return heights and widths."""
    if sizes.ndim == 1:
        both = np.ascontiguousarray(sizes, np.int64)
        return both, both
    return np.ascontiguousarray(sizes[:, 0], np.int64), np.ascontiguousarray(sizes[:, 1], np.int64)


def _box_half_size(heights: Sides, widths: Sides) -> Areas:
    half: Areas = np.sqrt(heights * widths) / 2
    return half


def _box_area(heights: Sides, widths: Sides, alpha: float) -> Areas:
    area: Areas = heights * widths * _box_half_size(heights, widths) ** (alpha - 2)
    return area


def _box_moments(edges: Edges, height: int, width: int) -> Sequence[Float32Array]:
    return tuple(_native.patch_moments(edges.field, height, width))


def _disk_radius(heights: Sides, widths: Sides) -> Areas:  # noqa: ARG001  # a disk is as wide as high
    radius: Areas = (heights - 1) / 2
    return radius


def _disk_area(heights: Sides, widths: Sides, alpha: float) -> Areas:
    radius = _disk_radius(heights, widths)
    # A disk of radius 0 has no area, and no torque: its one pixel has no lever.
    return np.where(radius > 0, math.pi * np.maximum(radius, 0.5) ** alpha, 1.0)


def _disk_moments(edges: Edges, height: int, width: int) -> Sequence[Float32Array]:
    """Return the torque of fields that hold one component each, not divided by anything."""
    heights, widths, halves = np.array([height]), np.array([width]), np.array([0.5])
    moments = np.empty((4, *edges.shape), np.float32)
    # Gy = Fx; Gy = Fy; Gx = -Fx; Gx = -Fy
    for out, matrix in zip(moments, ((0, 0, 1, 0), (0, 0, 0, 1), (-1, 0, 0, 0), (0, -1, 0, 0)), strict=True):
        field = edges.mapped(*matrix).field
        _native.torque_volume(field, heights, widths, halves, SHAPES["disk"].code, False, out[None])
    return tuple(moments)


def _disk_gradient_torque(image: NDArray[np.float64], heights: Sides, widths: Sides) -> Float32Array:  # noqa: ARG001
    return _native.gradient_disks(image, heights)


SHAPES: dict[str, PatchShape] = {
    shape.name: shape
    for shape in (
        PatchShape("square", 0, True, _box_half_size, _box_area, _box_moments, _native.gradient_torque, True),
        PatchShape("disk", 1, False, _disk_radius, _disk_area, _disk_moments, _disk_gradient_torque, False),
    )
}
