"""Eye-tracking sets: folders of images with fixations, and MIT1003 as it was published."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from imtorque.datasets.images import IMAGE_SUFFIXES, files_by_stem, image_shape, read_grey, read_image
from imtorque.io.atomic import open_regular

# A fixation may miss the image by this many pixels, from rounding; it is moved to the edge; bound: rounding.
ROUNDING_MARGIN = 1.0
FIXATION_COLUMNS = {"subject": "observer", "observer": "observer", "order": "order", "duration_ms": "duration"}


@dataclass(frozen=True)
class Fixations:
    """Fixations in one image, (n,) each, in pixels; what a set does not provide is None.

    `y` and `x` have pixel centres at integers; `observer` says who, `order` the number
    of the fixation in that person's viewing, `duration` its length in milliseconds.
    """

    y: NDArray[np.float64]
    x: NDArray[np.float64]
    observer: NDArray[np.str_] | None = None
    order: NDArray[np.int64] | None = None
    duration: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        """Return the number of fixations."""
        return len(self.y)


@dataclass(frozen=True)
class EyeTrackingImage:
    """One image and its fixations; no image is read before it is asked for.

    `source` holds the fixations, or is the image that marks them. Where `file_shape` is not None the file is of that
    shape, and the image and the fixations are made to fit `shape`.
    """

    name: str
    image_path: Path
    shape: tuple[int, int]
    source: Fixations | Path
    file_shape: tuple[int, int] | None = None

    def image(self) -> NDArray[Any]:
        """Read the image, uint8."""
        image = read_image(self.image_path)
        if self.file_shape is None:
            return image
        return np.asarray(Image.fromarray(image).resize(self.shape[::-1], Image.Resampling.LANCZOS))

    def fixations(self) -> Fixations:
        """Return the fixations."""
        shape = self.file_shape or self.shape
        found = self.source if isinstance(self.source, Fixations) else _read_points(self.source, shape)
        if self.file_shape is None:
            return found
        y, x = (
            (place + 0.5) * new / old - 0.5
            for place, new, old in zip((found.y, found.x), self.shape, shape, strict=True)
        )
        return replace(found, y=y, x=x)

    def reduced(self, shorter: int) -> "EyeTrackingImage":
        """Return the image with a shorter side of so many pixels, or itself where it has no more."""
        scale = shorter / min(self.shape)
        if scale >= 1:
            return self
        height, width = (round(scale * side) for side in self.shape)
        return replace(self, shape=(height, width), file_shape=self.file_shape or self.shape)


def eye_tracking(root: str | Path) -> list[EyeTrackingImage]:
    """List the images of a folder that holds `images/`, `images.csv` and `fixations.csv`.

    `images.csv` has the columns image, width, height; `fixations.csv` image, x, y, and
    where known subject (or observer), order and duration_ms. Images without a fixation are listed too.
    """
    base = Path(root)
    sizes = {row["image"]: row for row in _rows(base / "images.csv", ("image", "width", "height"))}
    rows: dict[str, list[dict[str, str]]] = {name: [] for name in sizes}
    for number, row in enumerate(_rows(base / "fixations.csv", ("image", "x", "y")), start=2):
        if row["image"] not in rows:
            raise ValueError(
                f"{base / 'fixations.csv'} line {number} must name an image of images.csv, got {row['image']}"
            )
        rows[row["image"]].append(row)
    images = []
    for name, size in sizes.items():
        path = base / "images" / name
        if not path.is_file():
            raise ValueError(f"{base / 'images'} must hold every image of images.csv, got no {name}")
        try:
            shape = int(size["height"]), int(size["width"])
            fixations = _fixations(rows[name], shape)
        except ValueError as error:
            raise ValueError(f"{base}: {name}: {error}") from error
        images.append(EyeTrackingImage(Path(name).stem, path, shape, fixations))
    return images


def mit1003(root: str | Path) -> list[EyeTrackingImage]:
    """List the images of MIT1003 (Judd et al. 2009), unpacked as published.

    `root` holds `ALLSTIMULI/*.jpeg` and `ALLFIXATIONMAPS/*_fixPts.jpg`; the latter mark each
    fixated pixel, the first six fixations of each of 15 people together.
    """
    base = Path(root)
    stimuli = files_by_stem(base / "ALLSTIMULI", IMAGE_SUFFIXES)
    maps = base / "ALLFIXATIONMAPS"
    maps = maps / "ALLFIXATIONMAPS" if (maps / "ALLFIXATIONMAPS").is_dir() else maps
    images = []
    for name, path in stimuli.items():
        points = maps / f"{name}_fixPts.jpg"
        if not points.is_file():
            raise ValueError(f"{maps} must hold the fixations of every stimulus, got no {points.name}")
        images.append(EyeTrackingImage(name, path, image_shape(path), points))
    return images


def _read_points(path: Path, shape: tuple[int, int]) -> Fixations:
    # Stored as JPEG, so marked pixels are near white and ringing around them is dark.
    fixated = read_grey(path) > 127
    if fixated.shape != shape:
        raise ValueError(f"{path} must have the stimulus's shape {shape}, got {fixated.shape}")
    y, x = np.nonzero(fixated)
    return Fixations(y.astype(float), x.astype(float))


def _rows(path: Path, needed: Sequence[str]) -> list[dict[str, str]]:
    try:
        with open_regular(path) as data, io.TextIOWrapper(data, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            columns = reader.fieldnames or []
            missing = [name for name in needed if name not in columns]
            if missing:
                raise ValueError(f"columns {', '.join(needed)} are needed, {', '.join(missing)} missing")
            rows = list(reader)
            short = next((k for k, row in enumerate(rows, start=2) if None in [row[name] for name in needed]), None)
            if short is not None:
                raise ValueError(f"line {short} must have {len(columns)} columns")
            return rows
    except (OSError, UnicodeDecodeError, csv.Error, ValueError) as error:
        raise ValueError(f"{path} must be a readable table: {error}") from error


def _fixations(rows: Sequence[dict[str, str]], shape: tuple[int, int]) -> Fixations:
    y, x = (_on_image([float(row[axis]) for row in rows], side) for axis, side in zip("yx", shape, strict=True))
    known = {field: column for column, field in FIXATION_COLUMNS.items() if rows and rows[0].get(column) is not None}
    return Fixations(
        y,
        x,
        observer=np.array([row[known["observer"]] for row in rows]) if "observer" in known else None,
        order=np.array([int(row["order"]) for row in rows]) if "order" in known else None,
        duration=np.array([float(row["duration_ms"]) for row in rows]) if "duration" in known else None,
    )


def _on_image(places: Sequence[float], side: int) -> NDArray[np.float64]:
    array: NDArray[np.float64] = np.array(places, dtype=float)
    off = ~((array >= -0.5 - ROUNDING_MARGIN) & (array <= side - 0.5 + ROUNDING_MARGIN))
    if off.any():
        raise ValueError(f"fixations must lie on the image, got {array[off][0]:g} on a side of {side}")
    return array.clip(-0.5, side - 0.5)
