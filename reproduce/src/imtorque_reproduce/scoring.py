"""What experiments share: score every image, choose images and settings, compare methods."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from imtorque import evaluation
from imtorque.datasets import BerkeleyImage
from imtorque.jobs.processes import each
from imtorque_reproduce.report import Request, difference

Item = TypeVar("Item")
Key = TypeVar("Key")
Value = TypeVar("Value")
Floats = NDArray[np.float64]
Scores = Mapping[str, NDArray[np.floating[Any]]]  # of all images, (images, ...) by method


def gather(images: Sequence[Mapping[Key, Value]]) -> dict[Key, list[Value]]:
    """Turn the scores by method of each image into the scores of all images by method."""
    return {key: [image[key] for image in images] for key in images[0]}


def score_images(
    score: Callable[[Item], Mapping[Key, Any]],
    items: Sequence[Item],
    request: Request,
    label: str,
    unit: str = "images",
) -> dict[Key, Floats]:
    """Score every method on every image, in processes: arrays of (images, ...) by method."""
    scored = gather(list(each(score, items, request.jobs, label, unit)))
    return {key: np.array(values) for key, values in scored.items()}


def compare(
    scores: Scores,
    pairs: Iterable[tuple[str, str]],
    metric: str,
    suffix: str = "",
    **options: Any,
) -> list[dict[str, Any]]:
    """Return the differences of pairs of methods, with paired bootstrap intervals; names in the table end in `suffix`.

    Pairs of which one has no scores are left out. `options` are those of `evaluation.bootstrap_difference`.
    """
    return [
        difference(a + suffix, b + suffix, metric, evaluation.bootstrap_difference(scores[a], scores[b], **options))
        for a, b in pairs
        if a in scores and b in scores
    ]


def mean_rows(scores: Mapping[str, Mapping[str, Floats]]) -> list[dict[str, Any]]:
    """Return a row for each method from its scores by metric: their means over images."""
    return [{"method": name, **{key: float(v.mean()) for key, v in own.items()}} for name, own in scores.items()]


def evenly(items: Sequence[Item], count: int | None) -> list[Item]:
    """Return so many items, from the first to the last, evenly spread; all where `count` is None or too large."""
    if count is None or count >= len(items):
        return list(items)
    return [items[k] for k in np.linspace(0, len(items) - 1, count).round().astype(int)]


def stride(items: Sequence[Item], count: int) -> list[Item]:
    """Return so many items, every so many-th from the first on."""
    return list(items[:: max(1, len(items) // count)][:count])


def berkeley_files(records: Iterable[BerkeleyImage]) -> list[Path]:
    """Return the files that Berkeley images and their annotations are read from."""
    return [path for record in records for path in (record.image_path, *record.truth_paths)]
