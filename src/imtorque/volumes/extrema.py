"""Where objects are in a volume, and how large: extrema of the torque over place and size."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque import _native
from imtorque.core import export
from imtorque.core.extrema import check_wanted
from imtorque.core.repr import with_first_rows
from imtorque.core.types import FloatArray, IntArray, Sign, Sizes, check_sizes
from imtorque.io.arrays import whole_array
from imtorque.volumes.surfaces import ISOTROPIC, Spacing, Surfaces
from imtorque.volumes.torque import box_sides, default_sizes, field_boxes, grey_boxes, is_wide, rounded_greys

FIELDS = ("z", "y", "x", "size", "value")


@dataclass(frozen=True, eq=False)
class VolumeExtrema:
    """Extrema of the torque of a volume, strongest first; masks, slices and index arrays select.

    Parameters
    ----------
    z, y, x
        Centres of the boxes in voxels, shape (n,).
    size
        Sizes of the boxes, shape (n,).
    value
        Torque, shape (n,): positive for bright objects, negative for dark ones.
    """

    z: IntArray
    y: IntArray
    x: IntArray
    size: IntArray
    value: FloatArray

    def __post_init__(self) -> None:
        """Check the fields and sort them by falling strength."""
        fields = {name: whole_array(getattr(self, name), name) for name in FIELDS}
        shapes = {name: array.shape for name, array in fields.items()}
        if len(set(shapes.values())) > 1 or fields["z"].ndim != 1:
            raise ValueError(f"z, y, x, size and value must be 1-D of one length, got shapes {shapes}")
        order = np.argsort(-np.abs(fields["value"]), kind="stable")
        for name, array in fields.items():
            object.__setattr__(self, name, array[order])

    @property
    def radius(self) -> FloatArray:
        """Half the size."""
        return self.size / 2

    def __len__(self) -> int:
        """Return how many."""
        return len(self.value)

    def __getitem__(self, index: slice | ArrayLike) -> VolumeExtrema:
        """Select by a mask, a slice or indices."""
        chosen = index if isinstance(index, slice) else np.atleast_1d(np.asarray(index))
        if isinstance(chosen, np.ndarray) and chosen.size == 0 and chosen.dtype != bool:
            chosen = chosen.astype(np.intp)
        return VolumeExtrema(*(getattr(self, name)[chosen] for name in FIELDS))

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the extrema as CSV text, a row each, and write it to `path` where one is given."""
        return export.to_csv(self._columns(), path)

    def to_dataframe(self) -> Any:
        """Return the rows as a pandas DataFrame; needs pandas."""
        return export.to_dataframe(self._columns())

    def to_napari(self) -> export.Layer:
        """Return a Points layer: data, arguments and type for napari's `Layer.create`."""
        centres = np.stack([self.z, self.y, self.x], axis=1).astype(float)
        return export.points_layer(centres, self.size, self._columns(), "extrema")

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {"torque" if name == "value" else name: getattr(self, name) for name in FIELDS}

    def __repr__(self) -> str:
        """Say how many of each sign, and show the first."""
        bright = int(np.sum(self.value > 0))
        title = f"VolumeExtrema({len(self)}: {bright} positive, {len(self) - bright} negative)"
        return with_first_rows(title, {name: getattr(self, name) for name in FIELDS})


def find_extrema(
    source: Surfaces | ArrayLike,
    sizes: Sizes | None = None,
    *,
    count: int | None = None,
    sign: Sign | None = None,
    threshold: float = 0.0,
    spacing: Spacing = ISOTROPIC,
) -> VolumeExtrema:
    """Find the local extrema of the torque over place and size, three slices at a time.

    A maximum is positive, not below any of its up to 80 neighbours in (size, z, y, x) and above at least one; a minimum
    likewise below. Of adjacent equal extrema the first stands for all.

    Parameters
    ----------
    source
        `Surfaces`; or a volume, of which the gradient torque is taken.
    sizes, spacing
        As for `torque_volume_3d`; by default the sizes of `default_sizes`.
    count
        How many to return at most.
    sign
        +1 for maxima (bright objects), -1 for minima (dark ones), None for both.
    threshold
        Least |torque|.
    """
    check_wanted(sign, count, threshold)
    if isinstance(source, Surfaces):
        array = check_sizes(default_sizes(source.shape, spacing) if sizes is None else sizes)
        halves, norms = field_boxes(source, box_sides(array, spacing))
        wide = is_wide(source, halves)
        components = (source.gz, source.gy, source.gx)
        found = _native.volume_extrema(*components, source.steps, halves, norms, wide, sign or 0, threshold)
    else:
        levels, unit = rounded_greys(source)
        array = check_sizes(default_sizes(levels.shape, spacing) if sizes is None else sizes)
        halves = grey_boxes(box_sides(array, spacing))
        norms = np.ones(len(halves), np.float32)
        found = _native.volume_gradient_extrema(levels, unit, halves, norms, sign or 0, threshold)
    k, z, y, x, value = found
    return VolumeExtrema(z, y, x, array[k], value)[:count]


def suppress_overlaps(extrema: VolumeExtrema, overlap: float = 0.5, *, spacing: Spacing = ISOTROPIC) -> VolumeExtrema:
    """Keep the strongest of extrema whose boxes overlap.

    Parameters
    ----------
    extrema
        The candidates.
    overlap
        Largest part of the smaller box that two kept boxes of the same sign may share.
    spacing
        Of the voxels, as the extrema were found with.
    """
    if not len(extrema):
        return extrema
    every, place = np.unique(extrema.size, return_inverse=True)
    sides = np.ascontiguousarray(box_sides(every, spacing)[place], np.int64)
    centres = np.stack([extrema.z, extrema.y, extrema.x], axis=1).astype(np.int64)
    keep = _native.volume_suppress(centres, sides, np.ascontiguousarray(extrema.value, np.float32), overlap)
    return extrema[keep]
