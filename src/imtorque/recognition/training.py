"""Training a recogniser on folders of images, with results cached on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from imtorque.core.caching import cached_property
from imtorque.core.types import Float32Array
from imtorque.files import decode_image
from imtorque.recognition.bag_of_words import (
    bag,
    describe,
    drawn,
    fingerprint,
    learn_words,
    parameters,
    samples_per_image,
    with_words,
)
from imtorque.recognition.cache import ArrayCache
from imtorque.recognition.linear_svm import LinearSVM
from imtorque.recognition.local import Descriptors
from imtorque.recognition.model import Recogniser, joined_row
from imtorque.recognition.presets import BLOCKS, METHODS, Method
from imtorque.recognition.working_image import WorkingImage, working_image


class Each(Protocol):
    """Maps a function over items in order, possibly several at a time, and reports progress."""

    def __call__(self, function: Callable[[Any], Any], items: Sequence[Any], label: str) -> Iterable[Any]: ...  # noqa: D102


def one_by_one(function: Callable[[Any], Any], items: Sequence[Any], label: str) -> Iterable[Any]:  # noqa: ARG001
    """Map a function over items, without reports."""
    return map(function, items)


@dataclass(frozen=True)
class Work:
    """The blocks of a method, and where their results are kept."""

    blocks: Mapping[str, Pipeline]
    folder: Path

    def key(self, kind: str, name: str, image: ImageFile, further: Any) -> str:
        """Return the cache key of a result: a checksum of the image, the parameters and the version."""
        return fingerprint(kind, version("imtorque"), parameters(self.blocks[name]), image.checksum, further)


class ImageFile:
    """An image in a file that is read once, and decoded once where something must be computed from it."""

    def __init__(self, path: Path) -> None:
        """Read the file."""
        self.path = path
        self.content = path.read_bytes()

    @cached_property
    def checksum(self) -> str:
        """Of the file's content."""
        return hashlib.sha256(self.content).hexdigest()

    @cached_property
    def image(self) -> WorkingImage:
        """The image at its working size, for all blocks."""
        return working_image(decode_image(self.content, name=str(self.path)))

    def described(self, block: Pipeline) -> Descriptors:
        """Return the image's descriptors under a block."""
        try:
            return describe(block, self.image)
        except ValueError as error:
            text = str(error)
            raise ValueError(text if str(self.path) in text else f"{self.path}: {text}") from error


def train_recogniser(
    classes: Mapping[str, Sequence[Path]],
    *,
    method: Method = "sift+torque",
    folder: Path,
    each: Each = one_by_one,
    cost: float = 10.0,
) -> Recogniser:
    """Learn to recognise classes from images of them.

    Parameters
    ----------
    classes
        Images of each class.
    method
        Name of the features, one of `METHODS`.
    folder
        Cache: what was computed for an image is kept here, and found again by its content and the parameters.
    each
        How to go through the images.
    cost
        Of the machines.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if len(classes) < 2:
        raise ValueError(f"there must be at least 2 classes to tell apart, got {len(classes)}: {', '.join(classes)}")
    for name, own in classes.items():
        if not own:
            raise ValueError(f"class {name} must have at least one image, got none")
    paths = [path for own in classes.values() for path in own]
    names = list(METHODS[method])
    work = Work({name: BLOCKS[name]() for name in names}, folder)
    samples = list(each(partial(sample_file, work, len(paths)), paths, "words"))
    words = {name: kept_words(work, name, [own[name] for own in samples]) for name in names}
    fitted = Work({name: with_words(block, words[name]) for name, block in work.blocks.items()}, folder)
    bags = list(each(partial(bag_file, fitted), paths, "codes"))
    rows = [joined_row(own, METHODS[method]) for own in bags]
    labels = np.repeat(np.arange(len(classes)), [len(own) for own in classes.values()])
    machines = LinearSVM(cost).fit(np.stack(rows), labels)
    counts = tuple(len(own) for own in classes.values())
    return Recogniser(method, tuple(classes), words, machines.coef_, machines.intercept_, counts)


def kept_words(work: Work, name: str, samples: Sequence[Float32Array]) -> Float32Array:
    """Return the words of a block, learned from samples."""
    block = work.blocks[name]
    key = fingerprint("words", version("imtorque"), parameters(block), *samples)
    return _kept_or_made(work, key, lambda: learn_words(block, samples)).astype(np.float32)


def sample_file(work: Work, images: int, path: Path) -> dict[str, Float32Array]:
    """Return some of an image's descriptors under each block, for words to be learned from so many images."""
    image = ImageFile(path)
    samples = {}
    for name, block in work.blocks.items():
        count = samples_per_image(block, images)
        key = work.key("sample", name, image, count)
        kept = _kept_or_made(work, key, partial(_sample, image, block, count))
        samples[name] = kept.astype(np.float32)
    return samples


def bag_file(work: Work, path: Path) -> dict[str, NDArray[np.float16]]:
    """Return the vector of an image under each block, all of which have learned their words."""
    image = ImageFile(path)
    bags = {}
    for name, block in work.blocks.items():
        key = work.key("bag", name, image, block["encode"].codebook_.words_)
        bags[name] = _kept_or_made(work, key, partial(_bag, image, block))
    return bags


def _kept_or_made(work: Work, key: str, make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    cache = ArrayCache(work.folder)
    kept = cache.load(key)
    if kept is None:
        kept = make()
        cache.store(key, kept)
    return kept


def _sample(image: ImageFile, block: Pipeline, count: int) -> Float32Array:
    return drawn(image.described(block), count, seed=0)


def _bag(image: ImageFile, block: Pipeline) -> NDArray[np.float16]:
    return bag(block, image.described(block)).astype(np.float16)
