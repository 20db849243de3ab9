"""What the recognition experiment is to do: images by class, nested training sets, blocks, and where work is kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from imtorque.datasets.images import IMAGE_SUFFIXES, files_by_stem
from imtorque.recognition.bag_of_words import fingerprint

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Plan:
    """Everything the stages need; small, so that processes can be handed it."""

    classes: tuple[str, ...]  # names, in order
    paths: tuple[Path, ...]  # the images
    labels: tuple[int, ...]  # the place of each image's class in `classes`
    orders: tuple[tuple[Indices, ...], ...]  # by split and class, its images in the order in which they train
    train: tuple[int, ...]  # sizes of the training sets, rising
    blocks: dict[str, Pipeline]  # to encode, by name
    folder: Path  # where work is kept until the experiment has ended

    @property
    def splits(self) -> int:
        """How many there are."""
        return len(self.orders)

    def training(self, split: int, size: int) -> Indices:
        """Return the training images of a split: `size` of each class, or all but one where there are no more."""
        return np.concatenate([order[: min(size, len(order) - 1)] for order in self.orders[split]])

    def small_classes(self, size: int) -> list[str]:
        """Return the classes that have fewer than `size` training images."""
        return [name for name, order in zip(self.classes, self.orders[0], strict=True) if len(order) <= size]

    def members(self, label: int) -> Indices:
        """Return the images of a class."""
        return np.flatnonzero(np.asarray(self.labels) == label)


def make_plan(
    classes: dict[str, list[Path]],
    *,
    train: Sequence[int],
    splits: int,
    seed: int,
    blocks: dict[str, Pipeline],
    cache: Path,
    content: str,
) -> Plan:
    """Return a plan. The name of its folder stands for the images and the splits; files in it name their block.

    `classes` are the images of each class, `seed` that of the first split, whose successors the others have; `cache`
    holds the folders of all plans, and `content` is the checksum of the images.
    """
    for name, paths in classes.items():
        if len(paths) < 2:
            raise ValueError(
                f"class {name} must have at least 2 images, one to learn and one to test, got {len(paths)}"
            )
    labels = np.repeat(np.arange(len(classes)), [len(paths) for paths in classes.values()])
    members = [np.flatnonzero(labels == k) for k in range(len(classes))]
    orders = []
    for split in range(splits):
        rng = np.random.default_rng(seed + split)
        orders.append(tuple(rng.permutation(own) for own in members))
    key = fingerprint(version("imtorque"), content, sorted(train)[0], splits, seed)
    return Plan(
        tuple(classes),
        tuple(path for paths in classes.values() for path in paths),
        tuple(int(k) for k in labels),
        tuple(orders),
        tuple(sorted(train)),
        blocks,
        cache / f"recognition-{key}",
    )


def class_folders(data: Path, count: int | None) -> tuple[Path, dict[str, list[Path]]]:
    """Return the folder of class folders, which is or lies below `data`, and the images of the first `count`."""
    names = ("101_ObjectCategories", "caltech101/101_ObjectCategories")
    root = next((data / name for name in names if (data / name).is_dir()), data)
    folders = sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))[:count]
    if len(folders) < 2:
        raise ValueError(f"{root} must hold a folder of images for each of at least 2 classes, got {len(folders)}")
    found = {folder.name: list(files_by_stem(folder, IMAGE_SUFFIXES).values()) for folder in folders}
    empty = [name for name, paths in found.items() if not paths]
    if empty:
        raise ValueError(f"{root}: every class must have images, got none in {', '.join(empty)}")
    return root, found
