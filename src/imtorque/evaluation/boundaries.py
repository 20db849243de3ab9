"""The Berkeley boundary benchmark: precision and recall of a boundary map against several annotators.

D. R. Martin, C. C. Fowlkes, J. Malik: Learning to detect natural image boundaries using local brightness, color, and
texture cues. PAMI 26(5), 2004. P. Arbelaez, M. Maire, C. Fowlkes, J. Malik: Contour detection and hierarchical image
segmentation. PAMI 33(5), 2011.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque.evaluation.contours import segmentation_boundary
from imtorque.evaluation.matching import Matching, as_truths, match_maps, thin_boundary
from imtorque.evaluation.strengths import Floats, as_strength, f_measure, ratio, threshold_levels


@dataclass(frozen=True)
class BoundaryScores:
    """Pixel counts of one image at each threshold, all of shape (T,).

    `matched_truth` of `total_truth` annotated pixels are matched, summed over
    annotators; `matched_prediction` of `total_prediction` predicted pixels are matched
    to at least one annotator.
    """

    thresholds: Floats
    matched_truth: NDArray[np.int64]
    total_truth: NDArray[np.int64]
    matched_prediction: NDArray[np.int64]
    total_prediction: NDArray[np.int64]

    @property
    def recall(self) -> Floats:
        """The share of annotated pixels that are matched; 0 where there are none."""
        return ratio(self.matched_truth, self.total_truth)

    @property
    def precision(self) -> Floats:
        """The share of predicted pixels that are matched; 0 where there are none."""
        return ratio(self.matched_prediction, self.total_prediction)

    @property
    def f(self) -> Floats:
        """The harmonic mean of precision and recall."""
        return f_measure(self.precision, self.recall)


def boundary_scores(
    prediction: ArrayLike,
    truths: Iterable[ArrayLike],
    *,
    thresholds: int | Sequence[float] = 99,
    max_distance: float = 0.0075,
    matching: Matching = "min_cost",
    thinning: bool = True,
) -> BoundaryScores:
    """Score a map of boundary strengths against one or more annotators.

    At each threshold t the pixels of strength >= t are thinned and matched one to
    one to each annotator's boundary in turn (`match_boundaries`). Recall counts the
    annotators' matched pixels, summed over annotators; precision counts predicted
    pixels matched to any annotator.

    Parameters
    ----------
    prediction
        (H, W) strengths in [0, 1], or uint8 or uint16, which are divided by the largest
        of their type.
    truths
        One (H, W) binary map per annotator.
    thresholds
        A number n, for t = 1/(n+1), ..., n/(n+1), or the thresholds themselves, rising.
    max_distance
        Largest distance of a matched pair, as a fraction of the image diagonal.
    matching
        ``"min_cost"`` for numbers to be published, ``"cardinality"`` for a quick estimate:
        it is free to choose which pixels to match, and its precision comes out a little higher.
    thinning
        Whether to thin the thresholded map. Leave it on for published numbers.

    Examples
    --------
    >>> truth = np.zeros((60, 80), bool)
    >>> truth[20, 10:70] = True
    >>> scores = boundary_scores(truth, [truth], thresholds=[0.5])
    >>> scores.precision, scores.recall
    (array([1.]), array([1.]))
    """
    strength = as_strength(prediction, "prediction")
    levels = threshold_levels(thresholds)
    human = as_truths(truths, strength.shape)
    # Levels with equally many pixels above them have the same ones: a binary map is matched once.
    _, first, same = np.unique(
        [np.count_nonzero(strength >= t) for t in levels], return_index=True, return_inverse=True
    )
    # Falling thresholds only add pixels (but for thinning), which the matching rewards.
    maps = (_thinned(strength >= levels[k], thinning) for k in first)
    counts = _count(maps, human, max_distance, matching)
    return BoundaryScores(levels, *(row[same] for row in counts))


def segmentation_boundary_scores(
    segmentations: Iterable[ArrayLike],
    truths: Iterable[ArrayLike],
    *,
    max_distance: float = 0.0075,
    matching: Matching = "min_cost",
    thinning: bool = True,
) -> BoundaryScores:
    """Score the boundaries of a sequence of segmentations, one per "threshold" 1, 2, ..., n.

    Parameters are those of `boundary_scores`; each segmentation is a (H, W) array of
    labels whose `segmentation_boundary` is scored.
    """
    boundaries = [segmentation_boundary(labels) for labels in segmentations]
    if not boundaries:
        raise ValueError("segmentations must hold at least one label map, got none")
    for boundary in boundaries:
        if boundary.shape != boundaries[0].shape:
            raise ValueError(f"segmentations must share one shape, got {boundaries[0].shape} and {boundary.shape}")
    human = as_truths(truths, boundaries[0].shape)
    maps = (_thinned(boundary, thinning) for boundary in boundaries)
    return BoundaryScores(np.arange(1.0, len(boundaries) + 1), *_count(maps, human, max_distance, matching))


def _thinned(boundary: NDArray[np.bool_], thinning: bool) -> NDArray[np.uint8]:
    return (thin_boundary(boundary) if thinning else boundary).view(np.uint8)


def _count(
    maps: Iterator[NDArray[np.uint8]], truths: NDArray[np.uint8], max_distance: float, matching: Matching
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the four counts of `BoundaryScores`, in the order of the maps."""
    partners, starts = match_maps(maps, truths, max_distance=max_distance, matching=matching)
    matched = partners >= 0
    annotators = matched.sum(axis=0)  # that each predicted pixel is matched to
    truth_hits = _sum_per_map(annotators, starts)
    prediction_hits = _sum_per_map(annotators > 0, starts)
    total_truth = np.full(len(starts) - 1, truths.sum(dtype=np.int64))
    return truth_hits, total_truth, prediction_hits, np.diff(starts)


def _sum_per_map(counts: NDArray[np.integer | np.bool_], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    running = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    return np.diff(running[starts])
