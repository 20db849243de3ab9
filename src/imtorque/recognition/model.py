"""A trained recogniser: features, words and SVMs, in one file of arrays and text, without code.

The file carries a format number and the parameters of every step, and is read by these alone: neither the version that
wrote it nor what a method's name stands for today matters. Format 1 holds a JSON header (format, version, method,
parameters, classes, counts, sha256) and the arrays `weights`, `intercepts` and, for each block, `words NAME`.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from imtorque.core.types import Float32Array, FloatArray, Image
from imtorque.files import write_arrays
from imtorque.io.arrays import Layout, read_arrays
from imtorque.io.errors import reading_file
from imtorque.recognition.bag_of_words import bag, block_of, describe, parameters, with_words
from imtorque.recognition.presets import BLOCKS, METHODS
from imtorque.recognition.working_image import working_image

LAYOUT: Layout = {"header": ("u1", ("n",)), "weights": ("f", ("classes", "m")), "intercepts": ("f", ("classes",))}
MOST_MODEL_BYTES = 2**30  # bound: of a file, unpacked; 1000 classes of the largest method have some 500 MB
MOST_VALUES, LARGEST_VALUE = 1000, 100_000  # bound: of the parameters of blocks; those of `BLOCKS` stay below
# Of the file; raised whenever what it holds changes its meaning, and older ones are still read; format: version.
MODEL_FORMAT = 1


@dataclass(frozen=True)
class Recognition:
    """The classes of one image from best to worst, with their scores.

    Parameters
    ----------
    classes
        Names, best first.
    scores
        Of the SVMs, falling; above 0 where an SVM accepts the image.
    """

    classes: tuple[str, ...]
    scores: FloatArray

    @property
    def name(self) -> str:
        """The class of largest score."""
        return self.classes[0]

    @property
    def margin(self) -> float:
        """By how much its score exceeds the next one's."""
        return float(self.scores[0] - self.scores[1])


@dataclass(frozen=True, eq=False)
class Recogniser:
    """Recognise the class of images. `train_recogniser` makes one; `save` and `load` keep it.

    Parameters
    ----------
    method
        Name of the features.
    classes
        Names.
    words
        The words of each block of the method.
    weights, intercepts
        Of the machines, (classes, features) and (classes,).
    counts
        How many images of each class it learned from.
    parameters
        Weight and parameters of each block; by default what `METHODS` has under the method's name.
    """

    method: str
    classes: tuple[str, ...]
    words: Mapping[str, Float32Array]
    weights: Float32Array
    intercepts: Float32Array
    counts: tuple[int, ...]
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    blocks: Mapping[str, Pipeline] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Put the words into the method's blocks."""
        given = self.parameters or method_parameters(self.method)
        _check_plain(given)
        if set(given) != set(self.words):
            raise ValueError(f"words must be those of {', '.join(given)}, got {', '.join(self.words)}")
        blocks = {name: with_words(block_of(own), self.words[name]) for name, own in given.items()}
        object.__setattr__(self, "parameters", given)
        object.__setattr__(self, "blocks", blocks)
        classes, length = len(self.classes), sum(_length(block) for block in blocks.values())
        if not classes or not all(isinstance(name, str) for name in self.classes) or len(self.counts) != classes:
            raise ValueError(f"classes must be names, at least one, each with its count, got {len(self.counts)} counts")
        for name, array in {**self.words, "weights": self.weights, "intercepts": self.intercepts}.items():
            if array.dtype.kind != "f" or not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite numbers, got others among {array.dtype}")
        if self.weights.shape != (classes, length) or self.intercepts.shape != (classes,):
            raise ValueError(
                f"weights and intercepts must have shapes {(classes, length)} and {(classes,)}, "
                f"got {self.weights.shape} and {self.intercepts.shape}"
            )

    def recognise(self, image: Image) -> Recognition:
        """Return the classes of an image, best first."""
        checked = working_image(image)
        rows = {name: bag(block, describe(block, checked)) for name, block in self.blocks.items()}
        shares = {name: own["weight"] for name, own in self.parameters.items()}
        scores = self.weights @ joined_row(rows, shares) + self.intercepts
        order = np.argsort(-scores, kind="stable")
        return Recognition(tuple(self.classes[k] for k in order), scores[order].astype(float))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the recogniser to a file, complete or not at all, and return its path."""
        arrays = {f"words {name}": words for name, words in self.words.items()}
        arrays |= {"weights": self.weights, "intercepts": self.intercepts}
        header = {
            "format": MODEL_FORMAT,
            "version": version("imtorque"),
            "method": self.method,
            "parameters": self.parameters,
            "classes": list(self.classes),
            "counts": list(self.counts),
            "sha256": _checksum(arrays),
        }
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = np.frombuffer(json.dumps(header).encode(), np.uint8)
        return write_arrays(target, {"header": text, **arrays})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a recogniser that this version or an earlier one wrote; nothing in the file is executed.

        A file of a newer format is refused, and so is a damaged one.
        """
        header, arrays = _read(Path(path))
        _check_format(path, header)
        if header.get("sha256") != _checksum(arrays):
            raise ValueError(f"{path}: must be the model as it was written, got one that is damaged; train it anew")
        words = {name.removeprefix("words "): array for name, array in arrays.items() if name.startswith("words ")}
        try:
            return cls(
                header["method"],
                tuple(header["classes"]),
                words,
                arrays["weights"],
                arrays["intercepts"],
                tuple(header["counts"]),
                header["parameters"],
            )
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"{path}: must hold what a model of format {MODEL_FORMAT} holds, got: {error}") from error


def joined_row(rows: Mapping[str, NDArray[Any]], weights: Mapping[str, float]) -> Float32Array:
    """Return the blocks' vectors of one image as one, each with its weight, of length 1."""
    row = np.concatenate([np.float32(weights[name]) * rows[name].astype(np.float32) for name in weights])
    length = np.sqrt(np.dot(row, row))
    return row / length if length > 0 else row


def method_parameters(method: str) -> dict[str, Any]:
    """Return the weight and the parameters of each block of a method, as JSON holds them."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    return {name: {"weight": weight, **parameters(BLOCKS[name]())} for name, weight in METHODS[method].items()}


def _check_plain(values: Any) -> None:
    """Refuse parameters that no block has: files can hold anything."""
    if isinstance(values, Mapping):
        values = [*values.keys(), *values.values()]
    if isinstance(values, list | tuple) and len(values) <= MOST_VALUES:
        for value in values:
            _check_plain(value)
    elif isinstance(values, str):
        if len(values) > MOST_VALUES:
            raise ValueError(f"a parameter must be a short text, got one of {len(values)} characters")
    elif values is not None and not (isinstance(values, int | float) and abs(values) <= LARGEST_VALUE):
        raise ValueError(f"a parameter must be a number from -{LARGEST_VALUE} to {LARGEST_VALUE}, got {values!r:.80}")


def _length(block: Pipeline) -> int:
    """Return the length of an image's vector under a block that has learned its words."""
    cells: int = sum(level**2 for level in block["pool"].levels)
    return cells * len(block["encode"].codebook_.words_)


def _check_format(path: str | os.PathLike[str], header: Mapping[str, Any]) -> None:
    found = header.get("format")
    if not isinstance(found, int) or found < 1:
        raise ValueError(f"{path}: must be a model with a format number from 1 on, got {found!r}")
    if found > MODEL_FORMAT:
        raise ValueError(
            f"{path}: must be a model of format {MODEL_FORMAT} or below, got format {found}, "
            f"written by imtorque {header.get('version')}; update imtorque"
        )


def _checksum(arrays: Mapping[str, NDArray[Any]]) -> str:
    total = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        total.update(f"{name} {array.dtype} {array.shape}\n".encode())
        total.update(array.tobytes())
    return total.hexdigest()


def _read(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    with reading_file(path, "a model that `imtorque train-classifier` wrote, whole"):
        arrays = read_arrays(path, LAYOUT, MOST_MODEL_BYTES, ("words [a-z0-9-]{1,60}", ("f", ("words", "d"))))
        header: dict[str, Any] = dict(json.loads(arrays.pop("header").tobytes()))
    return header, arrays
