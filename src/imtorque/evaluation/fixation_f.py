"""The torque paper's attention protocol: precision, recall and F against a binary fixation map.

M. Nishigaki, C. Fermueller: The image torque operator for contour processing. arXiv 1601.04669, the section on
visual attention.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque.evaluation.fixations import as_saliency, fixation_density
from imtorque.evaluation.strengths import Floats, f_measure, ratio
from imtorque.io.arrays import whole_array

FIXATION_SIGMA = 25.0  # pixels, on images whose shorter side is 150; paper, Sec. 4.1
THRESHOLD_COUNT = 101  # thresholds 0, 0.01, ..., 1; convention


@dataclass(frozen=True)
class FixationScores:
    """Precision, recall and F of one saliency map at each threshold, (T,) each."""

    thresholds: Floats
    precision: Floats
    recall: Floats

    @property
    def f(self) -> Floats:
        """The harmonic mean of precision and recall."""
        return f_measure(self.precision, self.recall)


@dataclass(frozen=True)
class FixationSummary:
    """Scores of a set of images, in two aggregations.

    `f` is the largest F, over thresholds, of the precision and recall averaged over
    images (at `threshold`); `f_per_image` is the mean over images of each one's largest F.
    """

    f: float
    threshold: float
    precision: float
    recall: float
    f_per_image: float


def fixated_region(
    y: ArrayLike, x: ArrayLike, shape: tuple[int, int], *, sigma: float = FIXATION_SIGMA
) -> NDArray[np.bool_]:
    """Return where people looked: the sum of Gaussians at the fixations, scaled to [0, 1], at least 0.5."""
    region: NDArray[np.bool_] = _unit_range(fixation_density(y, x, shape, sigma=sigma)) >= 0.5
    return region


def fixation_scores(saliency: ArrayLike, region: ArrayLike) -> FixationScores:
    """Score a saliency map against the region where people looked.

    The map is scaled to [0, 1] and cut at 0, 0.01, ..., 1 (>=): P = TP / (TP + FP),
    R = TP / (TP + FN). Both are 0 where nothing is predicted or nothing is true.

    Parameters
    ----------
    saliency
        (H, W), any finite range.
    region
        (H, W) bool, such as `fixated_region` returns.

    Examples
    --------
    >>> scores = fixation_scores([[0, 1], [2, 3]], [[False, False], [True, True]])
    >>> float(scores.f.max())
    1.0
    """
    values, true = _unit_range(as_saliency(saliency)), whole_array(region, "region")
    if true.dtype != bool or true.shape != values.shape:
        raise ValueError(f"region must be bool of the saliency's shape {values.shape}, got {true.dtype} {true.shape}")
    thresholds = np.arange(THRESHOLD_COUNT) / (THRESHOLD_COUNT - 1)
    hits = _count_at_least(values[true], thresholds)
    chosen = _count_at_least(values.ravel(), thresholds)
    return FixationScores(thresholds, ratio(hits, chosen), ratio(hits, np.array(true.sum())))


def summarise_fixations(scores: Sequence[FixationScores]) -> FixationSummary:
    """Summarise the scores of many images in both aggregations that the paper leaves open."""
    if len(scores) == 0:
        raise ValueError("scores must hold at least one image, got none")
    precision = np.mean([score.precision for score in scores], axis=0)
    recall = np.mean([score.recall for score in scores], axis=0)
    f = f_measure(precision, recall)
    best = int(f.argmax())
    return FixationSummary(
        f=float(f[best]),
        threshold=float(scores[0].thresholds[best]),
        precision=float(precision[best]),
        recall=float(recall[best]),
        f_per_image=float(np.mean([score.f.max() for score in scores])),
    )


def _unit_range(values: Floats) -> Floats:
    low, high = values.min(), values.max()
    scaled: Floats = (values - low) / (high - low) if high > low else np.zeros_like(values)
    return scaled


def _count_at_least(values: Floats, thresholds: Floats) -> NDArray[np.int64]:
    counts: NDArray[np.int64] = len(values) - np.searchsorted(np.sort(values), thresholds, side="left")
    return counts
