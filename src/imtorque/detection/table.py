"""What finding returns: a table of objects, a row each, and the label image with their outlines."""

from __future__ import annotations

import csv
import io
import math
import os
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque.core import export
from imtorque.core.repr import with_first_rows
from imtorque.core.types import Extrema, FloatArray, IntArray
from imtorque.detection.rois import geojson, imagej_rois
from imtorque.io.atomic import write_bytes, write_text

EXTREMA = ("y", "x", "size", "value")
SHOWN = ("y", "x", "diameter", "area", "contrast", "score")
WHOLE_IMAGE = ("labels", "plane", "trust", "warning", "size_ranges")  # fields of the image, not of its objects
WHOLE = ("size", "top", "left", "bottom", "right")
OBJECT_COLUMNS = (
    "y", "x", "diameter", "area", "major", "minor", "eccentricity", "orientation", "contrast", "snr", "intensity",
    "score", "value", "top", "left", "bottom", "right", "size",
)  # fmt: skip


class SizeRange(NamedTuple):
    """A range of diameters, in pixels, and how many objects of a clear score lie in it."""

    smallest: float
    largest: float
    objects: int


@dataclass(frozen=True, eq=False)
class Blobs(Extrema):
    """Objects found in an image, strongest first: `Extrema` with more columns, and a label image.

    Masks, slices and index arrays select rows, and the label image follows: row i has the label i + 1.

    Parameters
    ----------
    y, x
        Centroid of the object's inside, in fractions of pixels, shape (n,).
    size
        Side of the patch that found it, odd.
    value
        Torque of the object's own outline: +1 for a bright one with a strong edge all around, -1 for a dark one.
    diameter
        Of the disc of the same area.
    area
        Inside the outline, in pixels.
    major, minor
        Axes, whole lengths, of the ellipse with the same second moments.
    eccentricity
        Of that ellipse: 0 for a circle, below 1.
    orientation
        Angle of its major axis in radians, from the x axis towards the y axis (down), in (-pi/2, pi/2].
    contrast
        Mean grey value along the inside of the outline less that along its outside, in the image's own values. NaN
        where only edges were given; so are snr and intensity.
    snr
        |contrast| over the standard deviation of the image's noise.
    intensity
        Mean grey value of the object's pixels in the label image, in the image's own values.
    score
        How much its outline looks like that of an object, 0 to 1; NaN for the paper's form, which does not ask.
    top, left, bottom, right
        Box of the outline, in whole pixels; bottom and right are exclusive.
    outline
        Points (y, x) of the outline, shape (n, k, 2).
    labels
        Shape (H, W): i + 1 on the pixels of row i, 0 elsewhere. What lies in an object of at least four times its area
        lies on top; an object may have no pixel left to show.
    plane
        In what they were found: "grey", "red", "green", "blue", a mixture such as "0.60 red -0.40 green +0.00 blue", or
        "edges".
    trust
        How far the image is like those that a trained finder learned from: 1 for one like them, below one half for one
        that is not; NaN without a trained finder.
    warning
        What it has that they had not, such as "lower scores", where trust is below one half.
    size_ranges
        Where no sizes were given: the range of diameters that was taken, that of the objects which hold most of what
        the image shows. Where most objects are of other sizes than these the image is torn, and their range is second.
        Where a range was given and many objects like those in it lie just beyond: that range, and one that holds both.
    """

    diameter: FloatArray
    area: FloatArray
    major: FloatArray
    minor: FloatArray
    eccentricity: FloatArray
    orientation: FloatArray
    contrast: FloatArray
    snr: FloatArray
    intensity: FloatArray
    score: FloatArray
    top: IntArray
    left: IntArray
    bottom: IntArray
    right: IntArray
    outline: FloatArray
    labels: NDArray[np.int32]
    plane: str = "grey"
    trust: float = math.nan
    warning: str = ""
    size_ranges: tuple[SizeRange, ...] = ()

    def __post_init__(self) -> None:
        """Check the fields and sort the rows by falling strength."""
        order = np.argsort(-np.abs(np.asarray(self.value)), kind="stable")
        super().__post_init__()
        for name in _rows():
            column = np.asarray(getattr(self, name))
            if len(column) != len(order):
                raise ValueError(f"{name} must have a row for each object, got {len(column)} for {len(order)}")
            if name not in EXTREMA:
                object.__setattr__(self, name, column[order])
        if np.any(order != np.arange(len(order))):
            object.__setattr__(self, "labels", _renumbered(self.labels, order))

    def __getitem__(self, index: slice | ArrayLike) -> Blobs:
        """Return the rows chosen, with their labels."""
        rows = np.arange(len(self))[index if isinstance(index, slice) else np.atleast_1d(_as_index(index))]
        columns = {name: getattr(self, name)[rows] for name in _rows()}
        return replace(self, **columns, labels=_renumbered(self.labels, rows))

    def enlarged(self, factor: int, shape: tuple[int, ...]) -> Blobs:
        """Return objects of an image shrunk by a factor, in the pixels of the whole one, which has this shape."""
        if factor == 1:
            return self
        places = {name: getattr(self, name) * float(factor) + (factor - 1) / 2 for name in ("y", "x", "outline")}
        lengths = {name: getattr(self, name) * float(factor) for name in ("diameter", "major", "minor")}
        whole = {name: getattr(self, name) * factor for name in ("size", "top", "left", "bottom", "right")}
        labels = self.labels.repeat(factor, axis=0).repeat(factor, axis=1)
        rest = [(0, side - shrunk) for side, shrunk in zip(shape[:2], labels.shape, strict=True)]  # filled no block
        labels = np.pad(labels, rest)
        return replace(self, **places, **lengths, **whole, area=self.area * float(factor) ** 2, labels=labels)

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name, in the order of tables, the label last: ready for any table library."""
        columns: dict[str, NDArray[Any]] = {name: getattr(self, name) for name in OBJECT_COLUMNS}
        return columns | {"label": np.arange(1, len(self) + 1)}

    def to_dataframe(self) -> Any:
        """Return the table as a pandas DataFrame, indexed by label; needs pandas."""
        return export.to_dataframe(self.to_dict()).set_index("label")

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the table as CSV text, a row each, and write it to `path` where one is given."""
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        table = self.to_dict()
        rows.writerow(["torque" if name == "value" else name for name in table])
        for row in zip(*table.values(), strict=True):
            rows.writerow([int(v) if n in (*WHOLE, "label") else f"{v:.6g}" for n, v in zip(table, row, strict=True)])
        if path is not None:
            write_text(path, text.getvalue())
        return text.getvalue()

    def to_points(self) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Return centres (n, 2) and the arguments of napari's `viewer.add_points(centres, **arguments)`."""
        centres = np.stack([self.y, self.x], axis=1).astype(np.float64)
        return centres, {"size": self.diameter, "features": self.to_dict(), "name": "blobs"}

    def to_shapes(self) -> tuple[list[NDArray[np.float64]], dict[str, Any]]:
        """Return outlines and the arguments of napari's `viewer.add_shapes(outlines, **arguments)`."""
        return list(self.outline), {"shape_type": "polygon", "features": self.to_dict(), "name": "outlines"}

    def to_napari(self) -> export.Layer:
        """Return a Shapes layer of outlines: data, arguments and type for napari's `Layer.create`."""
        return export.shapes_layer(list(self.outline), self.to_dict(), "outlines")

    def to_geojson(self, path: str | os.PathLike[str] | None = None, *, scale: float = 1.0) -> str:
        """Return outlines and measurements as GeoJSON text, which QuPath imports, and write it where a path is given.

        Parameters
        ----------
        path
            Where to write it, such as cells.geojson.
        scale
            How many pixels of the program's image are one of the image that was searched, by side.
        """
        text = geojson(self, scale)
        if path is not None:
            write_text(path, text)
        return text

    def to_imagej_rois(self, path: str | os.PathLike[str] | None = None, *, scale: float = 1.0) -> bytes:
        """Return outlines as a .zip of regions for ImageJ's ROI Manager, and write it where a path is given.

        Needs roifile (`pip install 'imtorque[rois]'`). Parameters are those of `to_geojson`.
        """
        content = imagej_rois(self, scale)
        if path is not None:
            write_bytes(path, content)
        return content

    def __repr__(self) -> str:
        """Say how many there are, and show the first."""
        title = f"Blobs({len(self)}: {np.sum(self.value > 0)} bright, {np.sum(self.value < 0)} dark)"
        return with_first_rows(title, {name: getattr(self, name) for name in SHOWN})


def _rows() -> list[str]:
    """Return the names of the fields with a row for each object."""
    return [field.name for field in fields(Blobs) if field.name not in WHOLE_IMAGE]


def _as_index(index: ArrayLike) -> NDArray[Any]:
    chosen = np.asarray(index)
    return chosen.astype(np.intp) if chosen.size == 0 and chosen.dtype != bool else chosen


def _renumbered(labels: NDArray[np.int32], rows: IntArray) -> NDArray[np.int32]:
    """Return the label image of these rows, numbered from 1 in their order."""
    new = np.zeros(int(labels.max(initial=0)) + 1, np.int32)
    held = rows + 1 < len(new)  # a row without pixels may have the highest numbers
    new[rows[held] + 1] = np.arange(1, len(rows) + 1)[held]
    renumbered: NDArray[np.int32] = new[labels]
    return renumbered
