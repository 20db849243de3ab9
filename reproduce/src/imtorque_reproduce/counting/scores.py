"""Detections of any method, scored alike: by centre, by box, by mask, by number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque import evaluation
from imtorque.datasets.counting import CountingImage
from imtorque.evaluation.counting import (
    CountingScores,
    box_scores,
    centre_scores,
    mask_average_precision,
    mean_count_error,
    pooled_f1,
)

POINT_RADIUS = 12.0  # pixels from a point at which an object of unknown size is still found; untuned


@dataclass(frozen=True)
class Detections:
    """What a method found in an image: centres (n, 2), boxes (n, 4), and the label image where it makes one."""

    centres: NDArray[np.floating[Any]]
    boxes: NDArray[np.floating[Any]]
    labels: NDArray[np.int32] | None = None


def discs(y: ArrayLike, x: ArrayLike, diameter: ArrayLike) -> Detections:
    """Return detections that are discs."""
    centres = np.stack([np.asarray(y, float), np.asarray(x, float)], axis=1)
    half = np.asarray(diameter, float)[:, None] / 2
    return Detections(centres, np.concatenate([centres - half + 0.5, centres + half + 0.5], axis=1))


def paint_discs(found: Detections, shape: tuple[int, ...]) -> NDArray[np.int32]:
    """Return the label image of detections: their own, or of the ellipses in their boxes, earlier ones on top."""
    if found.labels is not None:
        return found.labels
    labels = np.zeros(shape[:2], np.int32)
    for number, (y0, x0, y1, x1) in reversed(list(enumerate(found.boxes, start=1))):
        top, left, bottom, right = max(int(y0), 0), max(int(x0), 0), int(np.ceil(y1)), int(np.ceil(x1))
        part = labels[top:bottom, left:right]
        y, x = np.ogrid[top : top + part.shape[0], left : left + part.shape[1]]
        inside = ((2 * y - y0 - y1 + 1) / (y1 - y0)) ** 2 + ((2 * x - x0 - x1 + 1) / (x1 - x0)) ** 2 <= 1
        part[inside] = number
    return labels


@dataclass(frozen=True)
class ImageScores:
    """One image's scores; by box and by mask where the truth has them."""

    centre: CountingScores
    box: CountingScores | None
    mask_ap: float | None


def score_image(
    found: Detections, truth: CountingImage, *, masks: bool = True, radius: float | None = None
) -> ImageScores:
    """Score detections against what was marked in an image; what was marked by points, within this radius."""
    if not truth.has_boxes:
        return ImageScores(centre_scores(found.centres, truth.points, radius=radius or POINT_RADIUS), None, None)
    centre = centre_scores(found.centres, truth.points, boxes=truth.boxes, ignored=truth.ignored)
    box = box_scores(found.boxes, truth.boxes, ignored=truth.ignored)
    labels = truth.labels() if masks else None
    mask_ap = None if labels is None else mask_average_precision(paint_discs(found, labels.shape), labels)
    return ImageScores(centre, box, mask_ap)


def summary(scores: Sequence[ImageScores]) -> dict[str, float]:
    """Return the numbers of a row: f1, f1_iou, mask_ap, errors of the count and their shares of it."""
    centre = [score.centre for score in scores]
    row = {"f1": pooled_f1(centre)}
    boxes = [score.box for score in scores if score.box is not None]
    if boxes:
        row["f1_iou"] = pooled_f1(boxes)
    masks = [score.mask_ap for score in scores if score.mask_ap is not None]
    if masks:
        row["mask_ap"] = float(np.mean(masks))
    row["mae"] = mean_count_error(centre)
    row["bias"] = float(np.mean([score.found - score.marked for score in centre]))
    row["count"] = float(np.mean([score.marked for score in centre]))
    row |= {f"{name}_share": row[name] / max(row["count"], 1e-9) for name in ("mae", "bias")}
    return row


def goal(scores: Sequence[ImageScores]) -> float:
    """Return what settings are chosen by: the mean of f1 and f1_iou, or f1 where there are points alone."""
    row = summary(scores)
    return (row["f1"] + row.get("f1_iou", row["f1"])) / 2


def f1_difference(a: Sequence[ImageScores], b: Sequence[ImageScores], metric: str) -> evaluation.Difference:
    """Return the difference in pooled F1 of two methods on the same images, with its paired bootstrap interval."""
    return evaluation.bootstrap_difference(_counts(a, metric), _counts(b, metric), statistic=_f1)


def _counts(scores: Sequence[ImageScores], metric: str) -> NDArray[np.float64]:
    parts = [score.centre if metric == "f1" else score.box for score in scores]
    return np.array([[part.matched, part.found, part.marked] for part in parts if part is not None], float)


def _f1(means: NDArray[np.float64]) -> NDArray[np.float64]:
    total = means[:, 1] + means[:, 2]
    return np.asarray(2 * means[:, 0] / np.maximum(total, 1e-9))
