"""Images of many small objects: `images/`, `objects.csv` and, where masks are known, `labels/NAME.png`.

A row of `objects.csv` is a box, `image,y0,x0,y1,x1,kind` with y1 and x1 exclusive, or a point, `image,y,x`.
"""

import csv
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from imtorque.datasets.images import read_image

IGNORED_KINDS = frozenset({"Platelets"})  # neither right nor wrong
IMAGE_KINDS = frozenset({"fluorescence", "grey", "stained"})  # say how the whole image was taken: a set each
TRAINING_IMAGES = 8  # convention: of a set, the first by the SHA-256 of their names
MIN_OBJECTS = 5  # in a training image; untuned
BOX_COLUMNS, POINT_COLUMNS = ("image", "y0", "x0", "y1", "x1"), ("image", "y", "x")


@dataclass(frozen=True)
class CountingImage:
    """One image with its objects; the image and its masks are read when asked for.

    Parameters
    ----------
    name
        Of the image's file.
    image_path, labels_path
        The image; its label image, None where there is none.
    boxes
        Shape (n, 4): y0, x0, y1, x1 of each object to be found; empty with points.
    points
        Shape (n, 2): y, x of each object, the middle of its box where it has one.
    ignored
        Shape (m, 4): boxes of what is neither right nor wrong to find.
    """

    name: str
    image_path: Path
    labels_path: Path | None
    boxes: NDArray[np.float64]
    points: NDArray[np.float64]
    ignored: NDArray[np.float64]

    def image(self) -> NDArray[Any]:
        """Read the image, uint8."""
        return read_image(self.image_path)

    def labels(self) -> NDArray[np.int32] | None:
        """Read the label image, 0 for the ground; None where masks are not known."""
        if self.labels_path is None:
            return None
        with PillowImage.open(self.labels_path) as image:
            return np.asarray(image).astype(np.int32)

    @property
    def has_boxes(self) -> bool:
        """Whether the objects have boxes, not points alone."""
        return len(self.boxes) == len(self.points)


@dataclass(frozen=True)
class CountingSet:
    """A set of images with its split: `training` and `test`, in order of the names' SHA-256 and of the names."""

    name: str
    training: list[CountingImage]
    test: list[CountingImage]


def counting_sets(root: str | Path) -> list[CountingSet]:
    """List the sets of a folder: every folder in it, or in its `counting/`, that holds `images/` and `objects.csv`.

    Where the column `kind` says how images were taken (fluorescence, grey, stained), each kind is a set of its own,
    FOLDER-KIND. Training images of a set are the eight whose file names have the smallest SHA-256 among those with
    at least five objects; all others are test images.
    """
    for folder in (Path(root) / "counting", Path(root)):
        found = [path.parent for path in sorted(folder.glob("*/objects.csv"))]
        if found:
            return [part for path in found for part in _sets_of(path)]
    raise ValueError(f"{root} must hold SET/objects.csv and SET/images, or counting/SET/..., got neither")


def _sets_of(folder: Path) -> list[CountingSet]:
    rows = _rows(folder / "objects.csv")
    by_image: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        by_image.setdefault(row["image"], []).append(row)
    groups: dict[str, list[CountingImage]] = {}
    for name, objects in sorted(by_image.items()):
        kind = objects[0].get("kind", "")
        group = f"{folder.name}-{kind}" if kind in IMAGE_KINDS else folder.name
        groups.setdefault(group, []).append(_record(folder, name, objects))
    return [_split(name, images) for name, images in sorted(groups.items())]


def _rows(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        columns = reader.fieldnames or []
        if not (set(BOX_COLUMNS) <= set(columns) or set(POINT_COLUMNS) <= set(columns)):
            raise ValueError(
                f"{path} must have the columns {','.join(BOX_COLUMNS)} or {','.join(POINT_COLUMNS)}, "
                f"got {','.join(columns)}"
            )
        return list(reader)


def _record(folder: Path, name: str, rows: Sequence[dict[str, str]]) -> CountingImage:
    image_path = folder / "images" / name
    if not image_path.is_file():
        raise ValueError(f"{folder / 'objects.csv'} must name images of {folder / 'images'}, got {name}")
    labels_path = folder / "labels" / f"{Path(name).stem}.png"
    wanted = [row for row in rows if row.get("kind") not in IGNORED_KINDS]
    boxes, ignored = _numbers(wanted, BOX_COLUMNS), _numbers([row for row in rows if row not in wanted], BOX_COLUMNS)
    points = _numbers(wanted, POINT_COLUMNS)
    if len(boxes):
        points = (boxes[:, :2] + boxes[:, 2:] - 1) / 2
    return CountingImage(name, image_path, labels_path if labels_path.is_file() else None, boxes, points, ignored)


def _numbers(rows: Sequence[dict[str, str]], columns: Sequence[str]) -> NDArray[np.float64]:
    keys = columns[1:]
    return np.array([[float(row[key]) for key in keys] for row in rows if keys[0] in row]).reshape(-1, len(keys))


def _split(name: str, images: Sequence[CountingImage]) -> CountingSet:
    enough = [p for p in images if len(p.points) + len(p.ignored) >= MIN_OBJECTS]
    training = sorted(enough, key=lambda p: hashlib.sha256(p.name.encode()).hexdigest())[:TRAINING_IMAGES]
    names = {p.name for p in training}
    return CountingSet(name, training, [p for p in images if p.name not in names])
