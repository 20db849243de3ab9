"""Training a recogniser on folders of pictures, with what was computed kept on disk."""

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

from imtorque._types import Float32Array
from imtorque.files import read_image
from imtorque.recognition.bags import (
    bag,
    describe,
    drawn,
    fingerprint,
    learn_words,
    parameters,
    samples_per_picture,
    with_words,
)
from imtorque.recognition.cache import ArrayCache
from imtorque.recognition.machine import LinearMachines
from imtorque.recognition.model import Recogniser, joined_row
from imtorque.recognition.presets import BLOCKS, METHODS


class Each(Protocol):
    """Applies a function to every item, in order, possibly several at a time, and says how far it is."""

    def __call__(self, function: Callable[[Any], Any], items: Sequence[Any], label: str) -> Iterable[Any]: ...  # noqa: D102


def one_by_one(function: Callable[[Any], Any], items: Sequence[Any], label: str) -> Iterable[Any]:  # noqa: ARG001
    """Apply a function to every item, without a word."""
    return map(function, items)


@dataclass(frozen=True)
class Work:
    """One block, and where its results are kept."""

    block: Pipeline
    folder: Path
    words: Float32Array | None = None

    def key(self, kind: str, path: Path, *further: Any) -> str:
        """Return a key that names all a result depends on: the picture's content, the parameters, the version."""
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        return fingerprint(kind, version("imtorque"), parameters(self.block), content, *further)


def train_recogniser(
    classes: Mapping[str, Sequence[Path]],
    *,
    method: str = "sift+torque",
    folder: Path,
    each: Each = one_by_one,
    cost: float = 10.0,
) -> Recogniser:
    """Learn to recognise classes from pictures of them.

    Parameters
    ----------
    classes
        Pictures of each class.
    method
        Name of the features, one of `METHODS`.
    folder
        Cache: what was computed for a picture is kept here, and found again by its content and the parameters.
    each
        How to go through the pictures.
    cost
        Of the machines.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if len(classes) < 2:
        raise ValueError(f"there must be at least 2 classes to tell apart, got {len(classes)}: {', '.join(classes)}")
    for name, own in classes.items():
        if not own:
            raise ValueError(f"class {name} must have at least one picture, got none")
    paths = [path for own in classes.values() for path in own]
    names = list(METHODS[method])
    words, bags = {}, {}
    for name in names:
        work = Work(BLOCKS[name](), folder)
        count = samples_per_picture(work.block, len(paths))
        samples = list(each(partial(sample_file, work, count), paths, f"{name}: words"))
        words[name] = kept_words(work, samples)
        fitted = Work(with_words(work.block, words[name]), folder, words[name])
        bags[name] = list(each(partial(bag_file, fitted), paths, f"{name}: codes"))
    rows = [joined_row({name: bags[name][i] for name in names}, METHODS[method]) for i in range(len(paths))]
    labels = np.repeat(np.arange(len(classes)), [len(own) for own in classes.values()])
    machines = LinearMachines(cost).fit(np.stack(rows), labels)
    counts = tuple(len(own) for own in classes.values())
    return Recogniser(method, tuple(classes), words, machines.coef_, machines.intercept_, counts)


def kept_words(work: Work, samples: Sequence[Float32Array]) -> Float32Array:
    """Return the words learned from samples."""
    cache = ArrayCache(work.folder)
    key = fingerprint("words", version("imtorque"), parameters(work.block), *samples)
    kept = cache.load(key)
    if kept is None:
        kept = learn_words(work.block, samples)
        cache.store(key, kept)
    return kept.astype(np.float32)


def sample_file(work: Work, count: int, path: Path) -> Float32Array:
    """Return some of a picture's descriptors."""
    cache = ArrayCache(work.folder)
    key = work.key("sample", path, count)
    kept = cache.load(key)
    if kept is None:
        kept = drawn(_described(work.block, path), count, seed=0)
        cache.store(key, kept)
    return kept.astype(np.float32)


def bag_file(work: Work, path: Path) -> NDArray[np.float16]:
    """Return the vector of a picture."""
    cache = ArrayCache(work.folder)
    key = work.key("bag", path, work.words)
    kept = cache.load(key)
    if kept is None:
        kept = bag(work.block, _described(work.block, path)).astype(np.float16)
        cache.store(key, kept)
    return kept


def _described(block: Pipeline, path: Path) -> Any:
    try:
        return describe(block, read_image(path))
    except ValueError as error:
        text = str(error)
        raise ValueError(text if str(path) in text else f"{path}: {text}") from error
