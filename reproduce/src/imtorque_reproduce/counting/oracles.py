"""Where a trained finder loses: what it would reach with the best thresholds, a perfect ranking, perfect outlines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.datasets.counting import CountingImage
from imtorque.detection import ObjectFinder
from imtorque.detection.annotations import read_annotations
from imtorque.detection.assignment import assign
from imtorque.detection.training import select
from imtorque_reproduce.counting.controls import objects_of

THRESHOLDS = np.arange(0.1, 0.8, 0.05)  # of which the best for an image is taken
RIGHT = 0.5  # convention: value of a proposal that is chosen where the ranking is perfect
ORACLES = ("as-is", "best-threshold", "perfect-ranking", "perfect-outlines")


@dataclass(frozen=True)
class Losses:
    """One image: for each oracle the objects met by place and by overlap, the found and the annotated ones.

    `recalled` counts the annotated objects that some proposal overlaps by at least one half (holds near its middle,
    where there are points alone).
    """

    counts: dict[str, NDArray[np.float64]]
    recalled: int


def losses(finder: ObjectFinder, truth: CountingImage) -> Losses:
    """Return what a finder would reach in an image."""
    image = truth.image()
    maps, table, score = finder.scored_proposals(image)
    shape: tuple[int, int] = (image.shape[0], image.shape[1])
    factor = round(finder.diameters[1] / maps.diameter)
    annotated = read_annotations(objects_of(truth), shape, truth.ignored).reduced(factor)
    right = assign(table, annotated, maps.shape, maps.diameter)
    params = finder.best_params_

    def counts(values: Any, threshold: float) -> NDArray[np.float64]:
        chosen = select(table, values, threshold, threshold * params.cost / params.threshold)
        return np.array(right.counts(chosen), float)

    as_is = counts(score, params.threshold)
    found = [counts(score, threshold) for threshold in THRESHOLDS]
    best = max(found, key=lambda row: row[:2].sum() / max(row[2:].sum(), 1))
    outlined = as_is.copy()
    outlined[1] = as_is[0]  # whatever lies at an object would overlap it
    ranked = counts(np.nan_to_num(right.value), RIGHT)
    recalled = len(np.unique(right.overlap[right.overlap >= 0]))
    return Losses(dict(zip(ORACLES, (as_is, best, ranked, outlined), strict=True)), recalled)


def oracle_rows(name: str, found: Sequence[Losses]) -> list[dict[str, Any]]:
    """Return rows oracle:WHICH@SET with f1 and f1_iou, and oracle:recall@SET: the share of objects with a proposal."""
    rows: list[dict[str, Any]] = []
    for oracle in ORACLES:
        placed, overlapping, chosen, annotated = np.sum([image.counts[oracle] for image in found], axis=0)
        total = max(chosen + annotated, 1)
        rows.append({"method": f"oracle:{oracle}@{name}", "f1": 2 * placed / total, "f1_iou": 2 * overlapping / total})
    annotated = sum(image.counts["as-is"][3] for image in found)
    recall = sum(image.recalled for image in found) / max(annotated, 1)
    return [*rows, {"method": f"oracle:recall@{name}", "recall": recall}]
