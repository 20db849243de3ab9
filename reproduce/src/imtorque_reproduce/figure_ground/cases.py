"""Images with one object to segment, its mask and a fixation on it: Caltech's outlines, the horses, any folders."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from imtorque import datasets
from imtorque.core.types import BoolArray
from imtorque.datasets import CaltechImage, MaskedImage, PastedObject
from imtorque.evaluation.masks import true_figure
from imtorque_reproduce.report import data_folder
from imtorque_reproduce.scoring import evenly

LONG_SIDE = 200  # pixels: larger images are shrunk to this; bound: time
CALTECH_PER_CATEGORY = 15  # of Caltech's outlines; bound: time
TEST_SCENES = 144  # of small objects; bound: time
Source = CaltechImage | MaskedImage | PastedObject


@dataclass(frozen=True)
class Scene:
    """An image, where its object is, where that is known, and a fixation (y, x)."""

    image: NDArray[Any]
    figure: BoolArray
    known: BoolArray
    fixation: tuple[int, int]

    def iou(self, mask: BoolArray) -> float:
        """Return the overlap of a mask with the object, over the pixels that are known."""
        union = int(((mask | self.figure) & self.known).sum())
        return int((mask & self.figure & self.known).sum()) / union if union else 1.0


def read_scene(source: Source) -> Scene:
    """Read one scene."""
    if isinstance(source, PastedObject):
        made = source.read()
        return Scene(made.image, made.mask, np.ones_like(made.mask), made.fixation)
    image = source.image()
    if isinstance(source, MaskedImage):
        mask = source.mask()
        if mask.shape != image.shape[:2]:
            raise ValueError(f"{source.mask_path} must have its image's size {image.shape[:2]}, got {mask.shape}")
        figure, known = true_figure(mask)
    else:
        figure = source.outline().mask((image.shape[0], image.shape[1]))
        known = np.ones_like(figure)
    if not figure.any():
        where = source.mask_path if isinstance(source, MaskedImage) else source.outline_path
        raise ValueError(f"{where} must have some figure, got none")
    size = _small(image.shape)
    shrunk = np.asarray(PillowImage.fromarray(image).resize(size, PillowImage.Resampling.LANCZOS))
    figure = _shrunk(figure, size) >= 0.5
    if not figure.any():
        raise ValueError(f"{source.image_path}: the figure must not vanish in {size[0]} x {size[1]} pixels")
    return Scene(shrunk, figure, _shrunk(known, size) >= 0.999, centroid_pixel(figure))


def centroid_pixel(figure: BoolArray) -> tuple[int, int]:
    """Return the pixel of the figure that is nearest to its centroid."""
    y, x = np.nonzero(figure)
    nearest = int(np.argmin((y - y.mean()) ** 2 + (x - x.mean()) ** 2))
    return int(y[nearest]), int(x[nearest])


def caltech_cases(data: Path, per_category: int = CALTECH_PER_CATEGORY) -> list[CaltechImage]:
    """Return outlined images, as many of every category, spread over each."""
    root = data_folder(data, "caltech101")
    outlined = [image for image in datasets.caltech101(root) if image.outline_path is not None]
    if not outlined:
        raise ValueError(f"{root} must hold Annotations/, got no outline")
    chosen: list[CaltechImage] = []
    for category in sorted({image.category for image in outlined}):
        members = [image for image in outlined if image.category == category]
        chosen += evenly(members, per_category)
    return chosen


def horse_cases(data: Path) -> list[MaskedImage]:
    """Return the horses."""
    return datasets.mask_folder(data / "figure_ground" / "weizmann_horses")


def any_pixel(figure: BoolArray, seed: int) -> tuple[int, int]:
    """Return a pixel of a figure drawn at random."""
    y, x = np.nonzero(figure)
    k = int(np.random.default_rng(seed).integers(len(y)))
    return int(y[k]), int(x[k])


def source_files(sources: Sequence[Source]) -> list[Path]:
    """Return the files that the scenes are read from."""
    found: list[Path | None] = []
    for source in sources:
        if isinstance(source, PastedObject):
            found += [source.source.image_path, source.source.outline_path, source.background.image_path]
        elif isinstance(source, MaskedImage):
            found += [source.image_path, source.mask_path]
        else:
            found += [source.image_path, source.outline_path]
    return [path for path in found if path is not None]


def _small(shape: tuple[int, ...]) -> tuple[int, int]:
    scale = min(1.0, LONG_SIDE / max(shape[:2]))
    return max(1, round(shape[1] * scale)), max(1, round(shape[0] * scale))


def _shrunk(mask: BoolArray, size: tuple[int, int]) -> NDArray[np.float64]:
    shares = PillowImage.fromarray(mask.astype(np.float32)).resize(size, PillowImage.Resampling.BOX)
    return np.asarray(shares, np.float64)
