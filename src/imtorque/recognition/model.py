"""A trained recogniser: features, words and machines, in one file that holds arrays and text, and no code."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from imtorque._atomic import replacing
from imtorque._types import Float32Array, FloatArray, Image
from imtorque.recognition.bags import bag, describe, parameters, with_words
from imtorque.recognition.presets import BLOCKS, METHODS

FORMAT = 1  # of the file; raised whenever what it holds changes its meaning


@dataclass(frozen=True)
class Recognition:
    """What a recogniser says of one picture: classes from the best to the worst, and their scores.

    Parameters
    ----------
    classes
        Names, best first.
    scores
        Of the machines, falling; above 0 where a machine claims the picture.
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
    """Recognise the class of pictures. `train_recogniser` makes one; `save` and `load` keep it.

    Parameters
    ----------
    method
        Name of the features, one of `METHODS`.
    classes
        Names.
    words
        The words of each block of the method.
    weights, intercepts
        Of the machines, (classes, features) and (classes,).
    counts
        How many pictures of each class it learned from.
    """

    method: str
    classes: tuple[str, ...]
    words: Mapping[str, Float32Array]
    weights: Float32Array
    intercepts: Float32Array
    counts: tuple[int, ...]
    blocks: Mapping[str, Pipeline] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Put the words into the method's blocks."""
        blocks = {name: with_words(BLOCKS[name](), self.words[name]) for name in METHODS[self.method]}
        object.__setattr__(self, "blocks", blocks)

    def recognise(self, image: Image) -> Recognition:
        """Return the classes of a picture, best first."""
        rows = {name: bag(block, describe(block, image)) for name, block in self.blocks.items()}
        scores = self.weights @ joined_row(rows, METHODS[self.method]) + self.intercepts
        order = np.argsort(-scores, kind="stable")
        return Recognition(tuple(self.classes[k] for k in order), scores[order].astype(float))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the recogniser to a file, complete or not at all, and return its path."""
        arrays = {f"words {name}": words for name, words in self.words.items()}
        arrays |= {"weights": self.weights, "intercepts": self.intercepts}
        header = {
            "format": FORMAT,
            "version": version("imtorque"),
            "method": self.method,
            "parameters": method_parameters(self.method),
            "classes": list(self.classes),
            "counts": list(self.counts),
            "sha256": _checksum(arrays),
        }
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = np.frombuffer(json.dumps(header).encode(), np.uint8)
        with replacing(target) as partial, open(partial, "wb") as file:
            np.savez(file, allow_pickle=False, header=text, **arrays)
        return target

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a recogniser; nothing in the file is executed. One of another version or a damaged one is refused."""
        header, arrays = _read(Path(path))
        if header.get("format") != FORMAT or header.get("version") != version("imtorque"):
            raise ValueError(
                f"{path}: must be a model of imtorque {version('imtorque')}, got one of {header.get('version')} "
                f"(format {header.get('format')}); train it anew"
            )
        if header.get("sha256") != _checksum(arrays):
            raise ValueError(f"{path}: must be the model as it was written, got one that is damaged; train it anew")
        method = header["method"]
        if method not in METHODS or header["parameters"] != method_parameters(method):
            raise ValueError(f"{path}: must have the parameters that {method!r} has here, got others; train it anew")
        words = {name.removeprefix("words "): array for name, array in arrays.items() if name.startswith("words ")}
        return cls(
            method,
            tuple(header["classes"]),
            words,
            arrays["weights"],
            arrays["intercepts"],
            tuple(header["counts"]),
        )


def joined_row(rows: Mapping[str, NDArray[Any]], weights: Mapping[str, float]) -> Float32Array:
    """Return the blocks' vectors of one picture as one, each with its weight, of length 1."""
    row = np.concatenate([np.float32(weights[name]) * rows[name].astype(np.float32) for name in weights])
    length = np.sqrt(np.dot(row, row))
    return row / length if length > 0 else row


def method_parameters(method: str) -> dict[str, Any]:
    """Return the parameters of a method, as JSON holds them."""
    return {
        name: {"weight": round(weight, 9), **parameters(BLOCKS[name]())} for name, weight in METHODS[method].items()
    }


def _checksum(arrays: Mapping[str, NDArray[Any]]) -> str:
    total = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        total.update(f"{name} {array.dtype} {array.shape}\n".encode())
        total.update(array.tobytes())
    return total.hexdigest()


def _read(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such file") from None
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        header: dict[str, Any] = json.loads(arrays.pop("header").tobytes())
    except (BadZipFile, OSError, ValueError, KeyError, AttributeError, EOFError, NotImplementedError) as error:
        raise ValueError(f"{path}: must be a model that `imtorque train` wrote, whole, got something else") from error
    return header, arrays
