"""Caltech-101: photographs of 101 kinds of object, with hand-drawn outlines."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from imtorque.datasets.images import IMAGE_SUFFIXES, files_by_stem, read_image
from imtorque.datasets.matlab import read_mat

# The published outlines have other folder names for four categories.
ANNOTATION_FOLDERS = {
    "airplanes": "Airplanes_Side_2",
    "Faces": "Faces_2",
    "Faces_easy": "Faces_3",
    "Motorbikes": "Motorbikes_16",
}


@dataclass(frozen=True)
class Outline:
    """A closed polygon in pixels, pixel centres at integers: the last point joins the first."""

    y: NDArray[np.float64]
    x: NDArray[np.float64]

    def boundary(self, shape: tuple[int, int]) -> NDArray[np.bool_]:
        """Draw the outline, one pixel wide, on an (H, W) map."""
        return self._draw(shape, fill=False)

    def mask(self, shape: tuple[int, int]) -> NDArray[np.bool_]:
        """Fill the outline on an (H, W) map."""
        return self._draw(shape, fill=True)

    def _draw(self, shape: tuple[int, int], *, fill: bool) -> NDArray[np.bool_]:
        canvas = Image.new("L", (shape[1], shape[0]))
        points = [(round(float(x)), round(float(y))) for y, x in zip(self.y, self.x, strict=True)]
        ImageDraw.Draw(canvas).polygon(points, fill=1 if fill else 0, outline=1)
        return np.asarray(canvas).astype(bool)


@dataclass(frozen=True)
class CaltechImage:
    """One image of Caltech-101; nothing is read before it is asked for."""

    name: str
    category: str
    image_path: Path
    outline_path: Path | None

    def image(self) -> NDArray[Any]:
        """Read the photograph, (H, W, 3) or, where it is grey, (H, W); uint8."""
        return read_image(self.image_path)

    def outline(self) -> Outline:
        """Read the hand-drawn outline."""
        if self.outline_path is None:
            raise ValueError(f"{self.category}/{self.name} must have an outline, got none in this copy")
        return read_outline(self.outline_path)


def caltech101(root: str | Path, categories: list[str] | None = None) -> list[CaltechImage]:
    """List the images of Caltech-101, of all categories or of those named.

    `root` holds `101_ObjectCategories/` and, for outlines, `Annotations/`.
    """
    base = Path(root)
    folder = base / "101_ObjectCategories"
    if not folder.is_dir():
        raise ValueError(f"{base} must hold 101_ObjectCategories/, got nothing by that name")
    present = sorted(path.name for path in folder.iterdir() if path.is_dir())
    for category in categories or ():
        if category not in present:
            raise ValueError(f"categories must be among the {len(present)} of {folder}, got {category!r}")
    return [image for category in categories or present for image in _category(base, category)]


def read_outline(path: Path) -> Outline:
    """Read an annotation file: `obj_contour` relative to `box_coord`, both counted from 1."""
    contents = read_mat(path)
    try:
        contour = np.asarray(contents["obj_contour"], dtype=float)
        top, _, left, _ = np.asarray(contents["box_coord"], dtype=float).ravel()
    except (KeyError, ValueError, TypeError) as error:
        raise ValueError(f"{path} must hold obj_contour and box_coord = [top bottom left right]") from error
    if contour.ndim != 2 or contour.shape[0] != 2 or contour.shape[1] < 3 or not np.isfinite(contour).all():
        raise ValueError(f"{path} must hold obj_contour of 2 rows and at least 3 points, got shape {contour.shape}")
    return Outline(y=contour[1] + top - 1, x=contour[0] + left - 1)


def _category(base: Path, category: str) -> list[CaltechImage]:
    images = files_by_stem(base / "101_ObjectCategories" / category, IMAGE_SUFFIXES)
    folders = (base / "Annotations" / name for name in (category, ANNOTATION_FOLDERS.get(category, category)))
    outlines = {path.stem: path for folder in folders for path in folder.glob("annotation_*.mat")}
    return [
        CaltechImage(name, category, path, outlines.get(name.replace("image_", "annotation_")))
        for name, path in images.items()
    ]
