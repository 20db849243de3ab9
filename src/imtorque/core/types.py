"""The three small structures of the pipeline, and names for the arrays between its functions.

Arrays are indexed [y, x], y down. A size is the odd side length of a patch in pixels, or a (height, width) pair for
rectangles; lists of rectangles are arrays of shape (n, 2).
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from imtorque import _native
from imtorque.core import export
from imtorque.core.caching import cached_property
from imtorque.core.deprecation import deprecated_attribute
from imtorque.core.patches import Patch
from imtorque.core.quantisation import LEAST_STEPS, MOST_STEPS, ForceStatistics
from imtorque.core.repr import with_first_rows
from imtorque.io.arrays import (
    BoolArray,
    Float32Array,
    FloatArray,
    Image,
    IntArray,
    Planes,
    read_arrays,
    real_array,
    whole_array,
)
from imtorque.io.atomic import replacing
from imtorque.io.errors import reading_file

__all__ = [
    "BoolArray",
    "Edges",
    "Extrema",
    "Float32Array",
    "FloatArray",
    "Image",
    "IntArray",
    "Patch",
    "Planes",
    "Sign",
    "Sizes",
    "TorqueVolume",
]

Sign = Literal[1, -1]  # of bright and of dark objects
Sizes = Sequence[int] | Sequence[tuple[int, int]] | IntArray | range

LARGEST_FORCE = float(np.float32(1e30))  # bound: keeps every torque inside a float32, in which it is given
SMALLEST_FORCE = 1e-29  # bound: of the largest one; below, too few steps are left for torque within 1e-4
LARGEST_SIZE = 1_000_001  # bound: patches of it fit the kernels' integers
MAX_COORDINATE = 2**31  # bound: of a patch's centre, for the kernels' integers


@dataclass(frozen=True, eq=False)
class Edges:
    """Edge vectors: the force F = (fx, fy) at each pixel, zero where there is no edge.

    F points along the edge with the brighter side on its right: F = (g_y, -g_x) / |g| for an image gradient g.

    Parameters
    ----------
    fx, fy
        Components of the force, shape (H, W), finite. Copied, and kept as read-only float32. Torque is refused of
        fields whose largest component is not 0, but below 1e-29.
    steps
        Steps per unit of force in which the forces are rounded (see `imtorque.core.torque`). Follows from the field;
        give that of a whole image (`ForceStatistics.steps`) to make the torque of its parts agree with it to the bit.

    See Also
    --------
    detect_edges, edges_from_map, gradient_edges

    Examples
    --------
    >>> whole = Edges(np.eye(9) / 3, np.zeros((9, 9)))
    >>> part = Edges(whole.fx[:5], whole.fy[:5], steps=whole.steps)
    """

    fx: Float32Array
    fy: Float32Array
    steps: float = None  # type: ignore[assignment]  # None until it has been chosen
    field: _native.EdgeField = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the fields, copy them and round them."""
        given = self.steps is not None
        self._hold(_plane("fx", self.fx), _plane("fy", self.fy))
        if given:
            _check_steps(self.steps, self.statistics)

    @classmethod
    def adopt(cls, fx: Float32Array, fy: Float32Array) -> Self:
        """Make edges from C-contiguous float32 arrays that nobody else holds, without copying them."""
        edges = cls.__new__(cls)
        object.__setattr__(edges, "steps", None)
        edges._hold(fx, fy)
        return edges

    @classmethod
    def from_field(cls, field: _native.EdgeField, steps: float | None = None) -> Self:
        """Make edges from a field of the kernels.

        `steps` are chosen where they are not given. They may be those of a field that was this one before its forces
        were turned or some of them left out: none got longer by that, and the bounds of the sums rest on lengths.
        """
        edges = cls.__new__(cls)
        object.__setattr__(edges, "steps", steps)
        edges._take(field)
        return edges

    def _hold(self, fx: Float32Array, fy: Float32Array) -> None:
        if fx.shape != fy.shape:
            raise ValueError(f"fx and fy must have one shape, got {fx.shape} and {fy.shape}")
        self._take(_native.EdgeField(fx, fy))

    def _take(self, field: _native.EdgeField) -> None:
        object.__setattr__(self, "field", field)
        object.__setattr__(self, "fx", field.fx)
        object.__setattr__(self, "fy", field.fy)
        if self.statistics.largest > LARGEST_FORCE:
            raise ValueError(f"fx and fy must be finite and within ±{LARGEST_FORCE:g}, got NaN, infinity or more")
        object.__setattr__(self, "steps", self.statistics.steps if self.steps is None else float(self.steps))
        field.round_to(self.steps)

    def __reduce__(self) -> tuple[type[Self], tuple[Float32Array, Float32Array, float]]:
        """Pickle and copy by making anew: a copy is as safe and as well checked as the original."""
        return type(self), (self.fx, self.fy, self.steps)

    @cached_property
    def statistics(self) -> ForceStatistics:
        """Statistics from which the rounding of this field follows; those of parts merge to those of the whole."""
        extent, largest, grain, not_pell, octaves = self.field.statistics()
        height, width = self.shape
        return ForceStatistics(
            (0, 0, height, width), height * width, extent if octaves else None, largest, grain, not_pell, octaves
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the image."""
        return self.fx.shape[0], self.fx.shape[1]

    @property
    def mass(self) -> float:
        """Sum of |fx| + |fy| over the image."""
        return self.field.mass

    def mapped(self, a: float, b: float, c: float, d: float) -> Edges:
        """Return the field of the forces (a fx + b fy, c fx + d fy), in as many steps per unit of force."""
        return Edges.from_field(self.field.turned(a, b, c, d), self.steps)

    @property
    def mask(self) -> BoolArray:
        """Where there is an edge."""
        mask: BoolArray = (self.fx != 0) | (self.fy != 0)
        return mask

    @property
    def strength(self) -> Float32Array:
        """Length of the force at each pixel."""
        return np.hypot(self.fx, self.fy)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return what an old name stands for."""
            return deprecated_attribute(self, name)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the forces as an array (2, H, W): fx, then fy."""
        return as_one_array([self.fx, self.fy], dtype, copy)

    def __repr__(self) -> str:
        return f"Edges({self.shape[0]} x {self.shape[1]}, {np.count_nonzero(self.mask)} edge pixels)"


@dataclass(frozen=True, eq=False)
class TorqueVolume:
    """Torque over space and patch size.

    Parameters
    ----------
    tau
        Torque, shape (S, H, W): `tau[k, y, x]` belongs to the patch of size `sizes[k]` centred at (y, x).
    sizes
        Patch sizes, shape (S,), odd and increasing; or (S, 2), height and width of rectangles.

    See Also
    --------
    torque_volume, find_extrema, value_and_scale_maps
    """

    tau: Float32Array
    sizes: IntArray

    def __post_init__(self) -> None:
        """Check that the volume and its sizes belong together."""
        tau = whole_array(self.tau, "tau")
        if tau.dtype.kind != "f" or tau.ndim != 3 or 0 in tau.shape:
            raise ValueError(f"tau must be a float array of shape (S, H, W), got {tau.dtype} {tau.shape}")
        object.__setattr__(self, "tau", np.ascontiguousarray(tau, dtype=np.float32))
        object.__setattr__(self, "sizes", check_sizes(self.sizes))
        if len(self.sizes) != len(tau):
            raise ValueError(f"sizes must have one entry per slice of tau, got {len(self.sizes)} for {len(tau)} slices")

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the image."""
        return self.tau.shape[1], self.tau.shape[2]

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the volume to an .npz file, complete or not at all, and return its path, which ends in .npz."""
        target = Path(path)
        if target.suffix != ".npz":
            target = target.with_name(target.name + ".npz")
        with replacing(target) as partial, open(partial, "wb") as file:
            np.savez(file, tau=self.tau, sizes=self.sizes)
        return target

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a volume that `save` wrote."""
        with reading_file(path, "a torque volume that save wrote"):
            stored = read_arrays(path, {"tau": ("", ("s", "h", "w")), "sizes": ("", ("s",))})
            return cls(stored["tau"], stored["sizes"])

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the torque, shape (S, H, W)."""
        return np.array(self.tau, dtype, copy=copy)

    def __repr__(self) -> str:
        return f"TorqueVolume({self.shape[0]} x {self.shape[1]}, {len(self.sizes)} sizes)"


@dataclass(frozen=True, eq=False)
class Extrema:
    """Extrema of the torque, strongest first.

    Masks, slices and index arrays select: `extrema[extrema.value < 0][:25]` is the 25 strongest minima.

    Parameters
    ----------
    y, x
        Patch centres in pixels, shape (n,).
    size
        Patch sizes, shape (n,); (n, 2), height and width, for rectangles.
    value
        Torque, shape (n,): positive for bright objects, negative for dark ones.

    See Also
    --------
    find_extrema, contribution_map, suppress_overlaps
    """

    y: IntArray
    x: IntArray
    size: IntArray
    value: FloatArray

    def __post_init__(self) -> None:
        """Check the fields and sort them by falling strength."""
        fields = {name: whole_array(getattr(self, name), name) for name in ("y", "x", "size", "value")}
        shapes = {name: field.shape for name, field in fields.items()}
        n = fields["y"].shape[:1]
        if any(shapes[name] != n for name in ("y", "x", "value")) or shapes["size"] not in (n, (*n, 2)) or not n:
            raise ValueError(f"y, x, size and value must be 1-D of one length, got shapes {shapes}")
        value = fields["value"]
        if not np.all(np.isfinite(value)):
            raise ValueError("value must be finite, got NaN or infinity")
        order = np.argsort(-np.abs(value), kind="stable")
        for name, array in fields.items():
            object.__setattr__(self, name, array[order])

    @property
    def radius(self) -> FloatArray:
        """Half the patch size, in pixels."""
        return self.size / 2

    @property
    def height(self) -> IntArray:
        """Heights of the patches."""
        return self.size if self.size.ndim == 1 else self.size[:, 0]

    @property
    def width(self) -> IntArray:
        """Widths of the patches."""
        return self.size if self.size.ndim == 1 else self.size[:, 1]

    def boxes(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return y, x, height and width of the patches as int64 arrays, checked for the kernels."""
        y, x, height, width = (np.ascontiguousarray(a, np.int64) for a in (self.y, self.x, self.height, self.width))
        if len(self) and max(np.abs(y).max(), np.abs(x).max()) > MAX_COORDINATE:
            raise ValueError(
                f"y and x must lie within ±2^31 pixels, got {y[np.abs(y).argmax()]}, {x[np.abs(x).argmax()]}"
            )
        if len(self) and (min(height.min(), width.min()) < 1 or max(height.max(), width.max()) > LARGEST_SIZE):
            raise ValueError(f"sizes must be between 1 and {LARGEST_SIZE}, got {self.size.min()} to {self.size.max()}")
        return y, x, height, width

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, index: slice | ArrayLike) -> Extrema:
        chosen = index if isinstance(index, slice) else np.atleast_1d(np.asarray(index))
        if isinstance(chosen, np.ndarray) and chosen.size == 0 and chosen.dtype != bool:
            chosen = chosen.astype(np.intp)
        return Extrema(self.y[chosen], self.x[chosen], self.size[chosen], self.value[chosen])

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the extrema as CSV text, a row each, and write it to `path` where one is given."""
        return export.to_csv(self._columns(), path)

    def to_dataframe(self) -> Any:
        """Return the rows as a pandas DataFrame; needs pandas."""
        return export.to_dataframe(self._columns())

    def to_geojson(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the patches as GeoJSON text, which QuPath imports, and write it to `path` where one is given."""
        y, x, half, across = (np.asarray(a, float) for a in (self.y, self.x, self.height / 2, self.width / 2))
        corners = np.stack([y - half, x - across, y + half, x + across], axis=1) + 0.5  # pixel 0 is from 0 to 1
        return export.to_geojson(corners, self._columns(), path)

    def to_napari(self) -> export.Layer:
        """Return a Points layer: data, arguments and type for napari's `Layer.create`."""
        size = np.sqrt(np.asarray(self.height, float) * self.width)
        return export.points_layer(np.stack([self.y, self.x], axis=1).astype(float), size, self._columns(), "extrema")

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the rows as an array (n, 4), or (n, 5) for rectangles: the columns of `to_csv`."""
        return as_one_array(list(self._columns().values()), dtype, copy).T

    def _columns(self) -> dict[str, NDArray[Any]]:
        sides = {"size": self.size} if self.size.ndim == 1 else {"height": self.height, "width": self.width}
        return {"y": self.y, "x": self.x, **sides, "torque": self.value}

    def __repr__(self) -> str:
        title = f"Extrema({len(self)}: {np.sum(self.value > 0)} positive, {np.sum(self.value < 0)} negative)"
        return with_first_rows(title, self._columns())


def require_edges(edges: Edges) -> Edges:
    """Return edges that are Edges, with forces that the kernels can round."""
    if not isinstance(edges, Edges):
        raise TypeError(f"edges must be Edges, as detect_edges returns them, got {type(edges).__name__}")
    largest = edges.statistics.largest
    # A part of a field with larger forces is rounded in its steps.
    if 0 < largest < SMALLEST_FORCE and edges.steps == edges.statistics.steps:
        raise ValueError(f"forces must be 0 or reach {SMALLEST_FORCE:g}, got at most {largest:.2g}")
    return edges


def as_one_array(parts: list[NDArray[Any]], dtype: DTypeLike | None, copy: bool | None) -> NDArray[Any]:
    """Return arrays of one shape as one array, as `__array__` is to."""
    if copy is False:
        raise ValueError("several arrays become one by a copy only, got copy=False")
    return np.array(parts, dtype)


def check_sizes(sizes: Sizes) -> IntArray:
    """Return patch sizes as an integer array: (S,) for squares and disks, (S, 2) for rectangles."""
    try:
        given = np.asarray(list(sizes) if isinstance(sizes, range) else sizes)
    except ValueError as error:
        raise ValueError("sizes must be odd integers, or (height, width) pairs of them") from error
    if given.dtype.kind not in "iu" and given.size:
        raise TypeError(f"sizes must be odd integers, or (height, width) pairs of them, got {_brief(given)}")
    if given.size == 0 or given.ndim not in (1, 2) or (given.ndim == 2 and given.shape[1] != 2):
        raise ValueError(f"sizes must be a list of odd integers, or of (height, width) pairs, got {_brief(given)}")
    if given.min() < 1 or given.max() > LARGEST_SIZE or not (given & 1).all():
        raise ValueError(f"sizes must be odd and between 1 and {LARGEST_SIZE}, got {_brief(given)}")
    array = given.astype(np.int64)
    if array.ndim == 1 and (array[1:] <= array[:-1]).any():
        raise ValueError(f"sizes must be increasing, got {_brief(given)}")
    if array.ndim == 2:
        if len(np.unique(array, axis=0)) < len(array):
            raise ValueError(f"sizes must not repeat, got {_brief(given)}")
        if np.any(np.diff(array.prod(axis=1)) < 0):
            raise ValueError(f"rectangles must come in order of area, got {_brief(given)}")
    return array


def _brief(sizes: NDArray[Any]) -> object:
    return sizes.tolist() if sizes.size <= 12 else f"{sizes.ravel()[:6].tolist()} ..."


def _plane(name: str, array: ArrayLike) -> Float32Array:
    """Return a field of `Edges` as a float32 array, after checking it."""
    given = real_array(array, name)
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, and is refused as that
        return given.astype(np.float32, order="C", copy=True)


def _check_steps(steps: float, statistics: ForceStatistics) -> None:
    """Refuse steps with which the sums of a field so rounded might not be exact."""
    if not LEAST_STEPS <= steps <= MOST_STEPS or float(np.float32(steps)) != steps:
        raise ValueError(
            f"steps must be a float32 number from 2^-100 to 2^112, as ForceStatistics.steps is, got {steps}"
        )
    if steps > statistics.finest_steps:
        raise ValueError(
            f"steps must be at most {statistics.finest_steps:g} for exact sums of these forces, got {steps:g}"
        )
