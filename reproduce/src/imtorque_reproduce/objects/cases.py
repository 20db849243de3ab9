"""Images whose objects are to be found without a click: with one object, or with the regions that people drew."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from imtorque import datasets
from imtorque.core.types import BoolArray
from imtorque.datasets import BerkeleyImage
from imtorque_reproduce.figure_ground.cases import (
    LONG_SIDE,
    Source,
    caltech_cases,
    horse_cases,
    read_scene,
    source_files,
)
from imtorque_reproduce.scoring import berkeley_files, evenly

PER_CATEGORY, HORSES, SMALL, BERKELEY = 1, 24, 36, 16  # images of each set; bound: time
LEAST_REGION = 0.01  # of the image: smaller regions of people are not looked for; untuned
Finding = Source | BerkeleyImage


@dataclass(frozen=True)
class Truth:
    """An image, the objects in it, and the pixels of which something is known."""

    image: NDArray[Any]
    objects: BoolArray  # (n, H, W)
    known: BoolArray

    def overlaps(self, masks: Sequence[BoolArray]) -> NDArray[np.float64]:
        """Return the overlap of each mask with each object, over the pixels that are known, (masks, objects)."""
        if not len(masks):
            return np.zeros((0, len(self.objects)))
        true = self.objects[:, self.known].astype(np.float32)
        found = np.stack(masks)[:, self.known].astype(np.float32)
        shared = found @ true.T
        return np.asarray(shared / np.maximum(found.sum(axis=1)[:, None] + true.sum(axis=1) - shared, 1))


def read_truth(source: Finding) -> Truth:
    """Read an image and its objects; grey images in three equal colours."""
    if isinstance(source, BerkeleyImage):
        return _regions(source)
    scene = read_scene(source)
    image = scene.image if scene.image.ndim == 3 else np.repeat(scene.image[:, :, None], 3, axis=2)
    return Truth(image, scene.figure[None], scene.known)


def finding_cases(data: Path, limit: int | None) -> dict[str, Sequence[Finding]]:
    """Return the images of every set, spread over it by file names."""
    return {
        "caltech": evenly(caltech_cases(data, PER_CATEGORY), limit),
        "horses": evenly(horse_cases(data), limit or HORSES),
        "small": datasets.small_objects(data, "test", count=SMALL)[:limit],
        "berkeley": evenly(datasets.bsds500(data / "bsds500", "val"), limit or BERKELEY),
    }


def finding_files(sources: Sequence[Finding]) -> list[Path]:
    """Return the files that images and truths are read from."""
    berkeley = [source for source in sources if isinstance(source, BerkeleyImage)]
    others = [source for source in sources if not isinstance(source, BerkeleyImage)]
    return source_files(others) + berkeley_files(berkeley)


def _regions(source: BerkeleyImage) -> Truth:
    """Return the regions of all people who divided an image, but the smallest, at the working size."""
    checked = PillowImage.fromarray(source.image()).convert("RGB")
    share = min(1.0, LONG_SIDE / max(checked.size))
    width, height = (round(side * share) for side in checked.size)
    image = np.asarray(checked.resize((width, height), PillowImage.Resampling.LANCZOS))
    found = []
    for person in source.annotations():
        labels = person.segmentation.astype(np.int32)
        small = np.asarray(PillowImage.fromarray(labels).resize((width, height), PillowImage.Resampling.NEAREST))
        found += [mask for label in np.unique(small) if (mask := small == label).mean() >= LEAST_REGION]
    return Truth(image, np.stack(found), np.ones((height, width), bool))
