"""What the verb that counts does to one image, and what it reads of marked objects."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from imtorque.cli.blob_tasks import BLOB_NAMES, blob_rows, label_bytes
from imtorque.cli.opening import AS_IT_IS, Opening
from imtorque.cli.rois import Form, write_rois
from imtorque.cli.tasks import Written, table
from imtorque.core.types import Image
from imtorque.detection import Blobs, ObjectFinder, find_blobs
from imtorque.files import SUFFIXES, pixel_size, read_image, write_image, write_text
from imtorque.render.objects import numbered_overlay

BOXES, POINTS = ("y0", "x0", "y1", "x1"), ("y", "x")
LENGTHS = ("y", "x", "diameter")  # columns that come in micrometres too, as does the area


@dataclass(frozen=True)
class CountObjects:
    """Objects, by a finder that was taught or without one: a table, the image with their numbers, labels."""

    verb: ClassVar[str] = "count"
    model: str | None
    sizes: tuple[float, float] | None
    in_micrometres: bool
    sign: Literal[1, -1, 0] | None
    pixel: float | None
    sure: float | None = None
    opening: Opening = AS_IT_IS
    rois: Form | None = None

    def inputs(self, source: Path) -> list[Path]:
        """Return the image and the finder."""
        return [source] if self.model is None else [source, Path(self.model)]

    def run(self, source: Path, stem: str) -> Written:
        """Write the objects of one image."""
        image, found, result = self._measured(source)
        rows = result["objects"]
        outputs = [
            write_text(f"{stem}.csv", table(object_columns(result["pixel_size_um"] is not None), rows)),
            write_image(
                f"{stem}.png",
                numbered_overlay(image, found.labels, *(v.astype(np.float64) for v in (found.y, found.x))),
            ),
            write_image(f"{stem}.labels.tiff", label_bytes(found)),
            *write_rois(stem, found, self.rois, self.opening.reduce),
        ]
        return outputs, result

    def measure(self, source: Path) -> dict[str, Any]:
        """Return the result for one image."""
        return self._measured(source)[-1]

    def rows(self, result: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the objects."""
        found: list[dict[str, Any]] = result["objects"]
        return found

    def _measured(self, source: Path) -> tuple[Image, Blobs, dict[str, Any]]:
        image = self.opening.read(source)
        pixel = self._pixel(source)
        found = self._found(image, source, pixel)
        rows = [_with_lengths(row, pixel) for row in blob_rows(found)]
        diameters = [row["diameter"] for row in rows]
        mean = {"mean_diameter": float(f"{np.mean(diameters):.6g}") if rows else None}
        if pixel is not None:
            mean["mean_diameter_um"] = float(f"{np.mean(diameters) * pixel:.6g}") if rows else None
        shape = {"height": image.shape[0], "width": image.shape[1], "pixel_size_um": pixel}
        return image, found, {**shape, "count": len(rows), **mean, "objects": rows}

    def _pixel(self, source: Path) -> float | None:
        """Return micrometres per pixel of the image that is worked on."""
        own = self.pixel
        if own is None and (sides := pixel_size(source)) is not None:
            own = math.sqrt(sides[0] * sides[1])
        return None if own is None else own * self.opening.reduce

    def _found(self, image: Image, source: Path, pixel: float | None) -> Blobs:
        if self.model is not None:
            return _finder(self.model).predict(image)
        sizes = self.sizes
        if sizes is not None and self.in_micrometres:
            if pixel is None:
                raise ValueError(f"{source}: --sizes in um needs a --pixel-size, got none, nor one in the file")
            sizes = (sizes[0] / pixel, sizes[1] / pixel)
        return find_blobs(image, sizes=sizes, sign=self.sign, min_score=self.sure)


@cache
def _finder(path: str) -> ObjectFinder:
    return ObjectFinder.load(path)


def object_columns(in_micrometres: bool) -> list[str]:
    """Return the columns of a table of objects, with or without rows."""
    lengths = [f"{name}_um" for name in LENGTHS] + ["area_um2"]
    return [*BLOB_NAMES.values(), *(lengths if in_micrometres else [])]


def _with_lengths(row: dict[str, Any], pixel: float | None) -> dict[str, Any]:
    """Return a row with its place and measures in micrometres as well, where a pixel's size is known."""
    if pixel is None:
        return row
    lengths = {f"{name}_um": float(f"{row[name] * pixel:.6g}") for name in LENGTHS}
    return {**row, **lengths, "area_um2": float(f"{row['area'] * pixel**2:.6g}")}


@contextmanager
def _reading_table(place: Path) -> Iterator[None]:
    """Name the file that is no table."""
    try:
        yield
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{place}: must be a CSV table in UTF-8, got: {error}") from None


@dataclass(frozen=True)
class Marked:
    """What is marked in one image: boxes, points or a label image, and points (n, 2) of what is no object."""

    objects: NDArray[Any]
    wrong: NDArray[np.float64]


def read_objects(place: Path) -> dict[str, Marked]:
    """Return what is marked, by file name: boxes or points of a CSV table, or the label images of a folder.

    A row is image,y0,x0,y1,x1 (y1 and x1 just beyond the box) or image,y,x; 1 in a column `wrong` marks what is no
    object. Label images are named as their images.
    """
    if place.is_dir():
        paths = [path for path in sorted(place.iterdir()) if path.suffix.lower() in SUFFIXES]
        found = {path.name: Marked(read_image(path), np.zeros((0, 2))) for path in paths}
        if not found:
            raise ValueError(f"{place}: must hold label images, got none")
        return found
    with _reading_table(place), open(place, newline="", encoding="utf-8-sig") as file:
        rows = csv.DictReader(file)
        columns = set(rows.fieldnames or ())
        names = next((names for names in (BOXES, POINTS) if {"image", *names} <= columns), None)
        if names is None:
            raise ValueError(f"{place}: must have the columns image,y0,x0,y1,x1 or image,y,x, got {sorted(columns)}")
        marked: dict[str, list[list[float]]] = {}
        wrong: dict[str, list[list[float]]] = {}
        for number, row in enumerate(rows, start=2):
            try:
                image, numbers = str(Path(row["image"])), [float(row[name]) for name in names]
                is_wrong = {"": False, "0": False, "1": True}[(row.get("wrong") or "").strip()]
            except (KeyError, TypeError, ValueError):
                must = f"numbers in {', '.join(names)}, and in wrong 0 or 1"
                raise ValueError(f"{place}: line {number} must hold {must}, got {row}") from None
            (wrong if is_wrong else marked).setdefault(image, []).append(_middle(numbers) if is_wrong else numbers)
    return {
        image: Marked(np.array(marked.get(image, [])), np.array(wrong.get(image, [])).reshape(-1, 2))
        for image in sorted({*marked, *wrong})
    }


def marks_of(paths: list[Path], marked: dict[str, Marked], place: Path) -> dict[Path, Marked]:
    """Return what is marked in each of the images that have marks, in their order.

    They go by their names, with folders where both have them, or less the ending: label images may be TIFF files beside
    JPEG images, and tables may leave the ending out.
    """
    found: dict[Path, Marked] = {}
    for image, marks in marked.items():
        name = Path(image)
        same = [path for path in paths if path.parts[-len(name.parts) :] == name.parts]
        same = same or [path for path in paths if path.name == name.name]
        same = same or [path for path in paths if path.stem == name.stem]
        if len(same) > 1:
            raise ValueError(f"{place}: {image} must be the name of one image, got {same[0]} and {same[1]}")
        if same and same[0] in found:
            raise ValueError(f"{place}: must mark {same[0].name} under one name, got a second one, {image}")
        found.update((path, marks) for path in same)
    if not found:
        raise ValueError(f"{place}: must mark objects of the images given, got none of {paths[0].name} ...")
    return {path: found[path] for path in paths if path in found}


def _middle(numbers: list[float]) -> list[float]:
    """Return the middle of a box, or a point itself."""
    return numbers if len(numbers) == 2 else [(numbers[i] + numbers[i + 2] - 1) / 2 for i in (0, 1)]
