"""Summary over images: the best F at one threshold, at one per image, and the precision-recall curve."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imtorque.evaluation.boundaries import BoundaryScores
from imtorque.evaluation.strengths import Floats, f_measure, ratio, shared_thresholds

INTERPOLATION_STEPS = 100  # between two thresholds, in the search for the best F; convention of the Berkeley benchmark


@dataclass(frozen=True)
class OperatingPoint:
    """A place on a precision-recall curve; the threshold may lie between two that were tried."""

    threshold: float
    precision: float
    recall: float
    f: float


@dataclass(frozen=True)
class BoundarySummary:
    """The benchmark's result over a set of images.

    Attributes
    ----------
    ods
        Optimal data-set scale: the best F of the summed counts, at one threshold for
        all images, with precision and recall interpolated between thresholds.
    ois
        Optimal image scale: counts summed with each image at its own best threshold;
        `threshold` is the mean of those.
    ap
        Average precision: the sum of the precision, interpolated over recall, at
        recall 0, 0.01, ..., 1, times 0.01; 0 outside the curve's recalls.
    r50
        Recall where precision is one half, interpolated over precision: at the lowest
        precision where all are higher, 0 where all are lower.
    thresholds, precision, recall, f
        The curve, (T,) each.
    images
        The best point of each image alone.
    """

    ods: OperatingPoint
    ois: OperatingPoint
    ap: float
    r50: float
    thresholds: Floats
    precision: Floats
    recall: Floats
    f: Floats
    images: tuple[OperatingPoint, ...]


def summarise_boundaries(scores: Sequence[BoundaryScores]) -> BoundarySummary:
    """Summarise the scores of many images as the Berkeley benchmark does.

    Examples
    --------
    >>> from imtorque.evaluation import boundary_scores
    >>> truth = np.zeros((60, 80), bool)
    >>> truth[20, 10:70] = True
    >>> summary = summarise_boundaries([boundary_scores(0.4 * truth, [truth], thresholds=9)])
    >>> round(summary.ods.f, 3), round(summary.ods.threshold, 3)
    (1.0, 0.1)
    """
    counts = boundary_counts(scores)
    thresholds = scores[0].thresholds
    precision, recall = precision_and_recall(counts.sum(axis=0))
    per_image = [precision_and_recall(image) for image in counts]
    return BoundarySummary(
        ods=best_point(thresholds, precision, recall),
        ois=_optimal_image_scale(thresholds, counts, per_image),
        ap=_average_precision(precision, recall),
        r50=_recall_at_half_precision(precision, recall),
        thresholds=thresholds,
        precision=precision,
        recall=recall,
        f=f_measure(precision, recall),
        images=tuple(best_point(thresholds, p, r) for p, r in per_image),
    )


def boundary_counts(scores: Sequence[BoundaryScores]) -> NDArray[np.int64]:
    """Stack the counts of many images: (images, 4, T), in the order of `BoundaryScores`."""
    shared_thresholds(scores)
    return np.array(
        [[s.matched_truth, s.total_truth, s.matched_prediction, s.total_prediction] for s in scores], dtype=np.int64
    )


def precision_and_recall(counts: NDArray[np.number]) -> tuple[Floats, Floats]:
    """Return precision and recall, (..., T), of counts (..., 4, T)."""
    matched_truth, total_truth, matched_prediction, total_prediction = np.moveaxis(counts, -2, 0)
    return ratio(matched_prediction, total_prediction), ratio(matched_truth, total_truth)


def best_point(thresholds: Floats, precision: Floats, recall: Floats) -> OperatingPoint:
    """Return the point of highest F on the curve drawn with straight lines between thresholds."""
    t, p, r = (interpolate(values) for values in (thresholds, precision, recall))
    f = f_measure(p, r)
    best = int(f.argmax())
    return OperatingPoint(float(t[best]), float(p[best]), float(r[best]), float(f[best]))


def interpolate(values: Floats) -> Floats:
    """Insert the benchmark's steps between neighbours along the last axis."""
    if values.shape[-1] == 1:
        return values
    step = np.linspace(0, 1, INTERPOLATION_STEPS)
    low, high = values[..., :-1, None], values[..., 1:, None]
    # Each of the two ends keeps its exact value.
    between = high * step + low * (1 - step)
    return between.reshape(*values.shape[:-1], -1)


def _optimal_image_scale(
    thresholds: Floats, counts: NDArray[np.int64], curves: Sequence[tuple[Floats, Floats]]
) -> OperatingPoint:
    best = [int(f_measure(p, r).argmax()) for p, r in curves]
    chosen = np.stack([image[:, k] for image, k in zip(counts, best, strict=True)]).sum(axis=0)
    precision, recall = precision_and_recall(chosen[:, None])
    f = f_measure(precision, recall)
    return OperatingPoint(float(thresholds[best].mean()), float(precision[0]), float(recall[0]), float(f[0]))


def _average_precision(precision: Floats, recall: Floats) -> float:
    distinct, first = np.unique(recall, return_index=True)
    if len(distinct) < 2:
        return 0.0
    at = np.arange(101) / 100
    return float(np.interp(at, distinct, precision[first], left=0, right=0).sum() / 100)


def _recall_at_half_precision(precision: Floats, recall: Floats) -> float:
    distinct, first = np.unique(precision, return_index=True)
    if distinct[-1] < 0.5:
        return 0.0
    return float(np.interp(max(0.5, distinct[0]), distinct, recall[first]))
