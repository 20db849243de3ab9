"""Objects in volumes: the voxels that belong to each box that was found, and what is measured on them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque.core import export
from imtorque.core.repr import with_first_rows
from imtorque.core.types import Float32Array, FloatArray, IntArray
from imtorque.detection.noise import noise_level
from imtorque.volumes.extrema import VolumeExtrema
from imtorque.volumes.surfaces import Spacing, relative_spacing
from imtorque.volumes.torque import box_sides

# Of half the box, how far from its centre an object reaches; tuned on nuclei_volume, seeds 0 and 1, by mean IoU.
REACH = 1.8
# Of the grey values between the box and the reach: what lies around, other objects aside; tuned likewise.
GROUND_QUANTILE = 0.1
BOUNDARY_LEVEL = 0.45  # of the way from the ground to the core, where an object ends; tuned likewise
CORE = 0.5  # of half the box: what certainly belongs to it; convention
NOISE_SLICES = 16  # on which noise is measured, at most; bound: time
WHOLE_VOLUME = ("labels", "spacing")  # fields of the volume, not of its objects
SHOWN = ("z", "y", "x", "diameter", "volume", "contrast", "value")
MEASURED = (
    "z", "y", "x", "diameter", "volume", "major", "middle", "minor", "contrast", "snr", "intensity", "value",
    "front", "top", "left", "back", "bottom", "right", "size",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class VolumeBlobs(VolumeExtrema):
    """Objects found in a volume, strongest first: `VolumeExtrema` with more columns, and a label volume.

    Masks, slices and index arrays select rows, and the label volume follows: row i has the label i + 1. Lengths are in
    voxels of the closest spacing, as sizes are.

    Parameters
    ----------
    z, y, x
        Centroid of the object's voxels, in voxels, shape (n,).
    size
        Size of the box that found it, odd.
    value
        Torque of that box: positive for bright objects, negative for dark ones.
    diameter
        Of the ball of the same volume.
    volume
        In cubes of the closest spacing.
    major, middle, minor
        Axes, whole lengths, of the ellipsoid with the same second moments.
    contrast
        Median grey value of the object's core less that of the ground around it.
    snr
        |contrast| over the standard deviation of the volume's noise.
    intensity
        Mean grey value of the object's voxels.
    front, top, left, back, bottom, right
        Box of its voxels; back, bottom and right are exclusive.
    labels
        Shape (Z, Y, X): i + 1 in the voxels of row i, 0 elsewhere.
    spacing
        Distance of the voxels along z, y and x.
    """

    diameter: FloatArray
    volume: FloatArray
    major: FloatArray
    middle: FloatArray
    minor: FloatArray
    contrast: FloatArray
    snr: FloatArray
    intensity: FloatArray
    front: IntArray
    top: IntArray
    left: IntArray
    back: IntArray
    bottom: IntArray
    right: IntArray
    labels: NDArray[np.int32]
    spacing: Spacing

    def __post_init__(self) -> None:
        """Check that rows come by falling strength, as labels count them."""
        order = np.argsort(-np.abs(np.asarray(self.value)), kind="stable")
        if np.any(order != np.arange(len(order))):
            raise ValueError("objects must come strongest first, as their labels count them, got another order")

    def __getitem__(self, index: slice | ArrayLike) -> VolumeBlobs:
        """Return the rows chosen, strongest first, with their labels."""
        chosen = index if isinstance(index, slice) else np.atleast_1d(np.asarray(index))
        if isinstance(chosen, np.ndarray) and chosen.size == 0 and chosen.dtype != bool:
            chosen = chosen.astype(np.intp)
        rows = np.arange(len(self))[chosen]
        rows = rows[np.argsort(-np.abs(self.value[rows]), kind="stable")]
        new = np.zeros(len(self) + 1, np.int32)
        new[rows + 1] = np.arange(1, len(rows) + 1)
        columns = {one.name: getattr(self, one.name)[rows] for one in fields(self) if one.name not in WHOLE_VOLUME}
        return replace(self, **columns, labels=new[self.labels])

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name, in the order of tables, the label last: ready for any table library."""
        columns: dict[str, NDArray[Any]] = {name: getattr(self, name) for name in MEASURED}
        return columns | {"label": np.arange(1, len(self) + 1)}

    def to_dataframe(self) -> Any:
        """Return the table as a pandas DataFrame, indexed by label; needs pandas."""
        return export.to_dataframe(self.to_dict()).set_index("label")

    def to_napari(self) -> export.Layer:
        """Return a Labels layer: data, arguments and type for napari's `Layer.create`."""
        table = {"index": np.arange(1, len(self) + 1), **self._columns()}
        return self.labels, {"scale": self.spacing, "features": table, "name": "objects"}, "labels"

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {"torque" if name == "value" else name: column for name, column in self.to_dict().items()}

    def __repr__(self) -> str:
        """Say how many there are, and show the first."""
        title = f"VolumeBlobs({len(self)}: {np.sum(self.value > 0)} bright, {np.sum(self.value < 0)} dark)"
        return with_first_rows(title, {name: getattr(self, name) for name in SHOWN})


def measure_objects(grey: Float32Array, smooth: Float32Array, found: VolumeExtrema, spacing: Spacing) -> VolumeBlobs:
    """Return the objects in the boxes found, with the voxels that each holds; boxes that hold none are left out.

    An object is what hangs together around the centre of its box and is brighter (or darker) than a level between its
    core and the ground around it. What two objects reach belongs to the one in whose box it lies deeper.

    Parameters
    ----------
    grey, smooth
        Grey values (Z, Y, X), as they are and smoothed, by which voxels are told apart.
    found
        Boxes, strongest first.
    spacing
        Distance of the voxels along z, y and x.
    """
    from scipy import ndimage  # here, because it takes longer to load than the rest of the library

    depth = np.full(grey.shape, np.inf, np.float32)
    labels, contrast = np.zeros(grey.shape, np.int32), np.zeros(len(found), np.float32)
    for row, (centre, halves) in enumerate(zip(_centres(found), _halves(found, spacing), strict=True)):
        window = _window(centre, REACH * halves, grey.shape)
        lines = (index - middle for index, middle in zip(np.ogrid[window], centre, strict=True))
        near = np.sqrt(sum((line / half) ** 2 for line, half in zip(lines, halves, strict=True)))
        values = smooth[window] * np.sign(found.value[row])
        around = values[(near > 1) & (near <= REACH)]
        core = float(np.median(values[near <= CORE]))
        ground = float(np.quantile(around, GROUND_QUANTILE)) if around.size else float(values.min())
        parts, _ = ndimage.label((values > ground + BOUNDARY_LEVEL * (core - ground)) & (near <= REACH))
        part = parts[tuple(c - cut.start for c, cut in zip(centre, window, strict=True))]
        inside = ndimage.binary_fill_holes(parts == part) if part else near <= CORE
        mine = inside & (near < depth[window])
        depth[window][mine], labels[window][mine] = near[mine], row + 1
        contrast[row] = np.sign(found.value[row]) * (core - ground)
    _drop_crumbs(labels)
    return _measured(grey, labels, contrast, found, spacing)


def _drop_crumbs(labels: NDArray[np.int32]) -> None:
    """Leave of each object only its largest part: others are what a neighbour has cut off."""
    from scipy import ndimage

    for row, box in enumerate(ndimage.find_objects(labels), start=1):
        if box is not None:
            parts, count = ndimage.label(labels[box] == row)
            if count > 1:
                labels[box][(parts > 0) & (parts != np.bincount(parts.ravel())[1:].argmax() + 1)] = 0


def _measured(
    grey: Float32Array, labels: NDArray[np.int32], contrast: FloatArray, found: VolumeExtrema, spacing: Spacing
) -> VolumeBlobs:
    """Return the table of objects whose voxels are labelled."""
    from scipy import ndimage

    counts = np.bincount(labels.ravel(), minlength=len(found) + 1)
    kept = np.flatnonzero(counts[1:])
    new = np.zeros(len(counts), np.int32)
    new[kept + 1] = np.arange(1, len(kept) + 1)
    labels, counts = new[labels], counts[kept + 1]
    steps = np.asarray(relative_spacing(spacing))
    boxes = ndimage.find_objects(labels)
    places = [np.nonzero(labels[box] == k) for k, box in enumerate(boxes, start=1)]
    corners = np.array([[cut.start for cut in box] + [cut.stop for cut in box] for box in boxes]).reshape(-1, 6)
    centroids = np.array([np.mean(place, axis=1) for place in places]).reshape(-1, 3) + corners[:, :3]
    # A voxel is a box, not a point: a twelfth of its sides squared, and so no axis is 0.
    spread = (np.cov(np.array(p, float) * steps[:, None], bias=True) + np.diag(steps**2) / 12 for p in places)
    axes = np.array([2 * np.sqrt(5 * np.linalg.eigvalsh(one)) for one in spread]).reshape(-1, 3)
    volume = counts * steps.prod()
    slices = np.unique(np.linspace(0, len(grey) - 1, NOISE_SLICES).astype(int))
    noise = float(np.median([noise_level(grey[k]) for k in slices]))
    with np.errstate(divide="ignore"):
        snr = np.abs(contrast[kept]) / np.float32(noise)
    return VolumeBlobs(
        **dict(zip(("z", "y", "x"), centroids.T, strict=True)),
        size=found.size[kept],
        value=found.value[kept],
        diameter=np.cbrt(6 * volume / np.pi),
        volume=volume,
        **dict(zip(("minor", "middle", "major"), axes.T, strict=True)),
        contrast=contrast[kept],
        snr=snr,
        intensity=np.bincount(labels.ravel(), grey.ravel(), len(kept) + 1)[1:] / counts,
        **dict(zip(("front", "top", "left", "back", "bottom", "right"), corners.T, strict=True)),
        labels=labels,
        spacing=spacing,
    )


def _centres(found: VolumeExtrema) -> IntArray:
    return np.stack([found.z, found.y, found.x], axis=1).astype(np.int64)


def _halves(found: VolumeExtrema, spacing: Spacing) -> FloatArray:
    """Return half the sides of each box in voxels, (n, 3)."""
    every, place = np.unique(found.size, return_inverse=True)
    return box_sides(every, spacing)[place] / 2 if len(every) else np.zeros((0, 3))


def _window(centre: IntArray, reach: FloatArray, shape: tuple[int, ...]) -> tuple[slice, ...]:
    """Return what lies at most so far from a centre along each axis, within the volume."""
    far = np.ceil(reach).astype(int)
    return tuple(slice(max(c - r, 0), min(c + r + 1, n)) for c, r, n in zip(centre, far, shape, strict=True))
