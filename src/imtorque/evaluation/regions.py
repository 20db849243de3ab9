"""The Berkeley region benchmark: how well segmentations agree with those of several annotators.

P. Arbelaez, M. Maire, C. Fowlkes, J. Malik: Contour detection and hierarchical image segmentation. PAMI 33(5), 2011,
section 2.3.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque.evaluation.contours import nested_regions, regions_from_ucm
from imtorque.evaluation.strengths import Floats, shared_thresholds, threshold_levels
from imtorque.io.arrays import shaped_array

Row = tuple[Floats, float, float]  # pixels covered of each true region, Rand index, variation of information


def covering(segmentation: ArrayLike, truth: ArrayLike) -> float:
    """Return how well the regions of a segmentation cover those of the truth, from 0 to 1.

        C = 1/N * sum over true regions R of |R| * max over regions S of |R & S| / |R | S|

    with N pixels in all.

    Examples
    --------
    >>> covering([[1, 1, 2, 2]], [[1, 1, 1, 2]])  # 3/4 * 2/3 + 1/4 * 1/2
    0.625
    """
    table = overlap_table(segmentation, truth)
    return float(_covered(table).sum() / table.sum())


def rand_index(segmentation: ArrayLike, truth: ArrayLike) -> float:
    """Return the share of pixel pairs on which two segmentations agree: in one region in both, or in two in both.

    Averaged over annotators it is the probabilistic Rand index.

    References
    ----------
    W. M. Rand: Objective criteria for the evaluation of clustering methods. JASA 66, 1971.
    R. Unnikrishnan, C. Pantofaru, M. Hebert: Toward objective evaluation of image segmentation algorithms. PAMI 29(6),
    2007.

    Examples
    --------
    >>> rand_index([[1, 1, 2, 2]], [[1, 1, 1, 2]])
    0.5
    """
    return _rand_index(overlap_table(segmentation, truth))


def variation_of_information(segmentation: ArrayLike, truth: ArrayLike) -> float:
    """Return H(S) + H(T) - 2 I(S, T) in bits: 0 when two segmentations are the same, larger when they are not.

    References
    ----------
    M. Meila: Comparing clusterings: an axiomatic view. ICML 2005.

    Examples
    --------
    >>> variation_of_information([[1, 1, 2, 2]], [[1, 1, 1, 1]])
    1.0
    """
    return _variation_of_information(overlap_table(segmentation, truth))


@dataclass(frozen=True)
class RegionScores:
    """Scores of one image's segmentations, one per threshold, against its annotators.

    Attributes
    ----------
    thresholds
        (T,) the thresholds, or 1, 2, ..., T for a list of segmentations.
    covered
        (T,) pixels covered, |R| times the best overlap summed over true regions and annotators.
    best_covered
        The same with the best of all T segmentations for each true region.
    area
        Pixels times annotators: what `covered` would be at best.
    rand_index, variation_of_information
        (T,) means over annotators.
    """

    thresholds: Floats
    covered: Floats
    best_covered: float
    area: int
    rand_index: Floats
    variation_of_information: Floats


def region_scores(
    segmentations: Iterable[ArrayLike], truths: Iterable[ArrayLike], *, thresholds: Sequence[float] | None = None
) -> RegionScores:
    """Score one or more segmentations of an image against the segmentations of its annotators.

    Parameters
    ----------
    segmentations
        (H, W) integer labels each, from coarse to fine or fine to coarse; every distinct
        label is a region.
    truths
        (H, W) integer labels, one per annotator.
    thresholds
        What to call the segmentations; by default 1, 2, ..., T.
    """
    humans = _as_truths(truths)
    given = (as_labels(labels, "segmentation") for labels in segmentations)
    rows = [_score_tables([_overlaps(labels, truth) for truth in humans]) for labels in given]
    if not rows:
        raise ValueError("segmentations must hold at least one label map, got none")
    levels = np.arange(1.0, len(rows) + 1) if thresholds is None else threshold_levels(thresholds)
    if len(levels) != len(rows):
        raise ValueError(f"thresholds must name each of the {len(rows)} segmentations, got {len(levels)}")
    return _gathered(rows, levels, humans)


def _gathered(rows: Sequence[Row], levels: Floats, humans: Sequence[NDArray[np.int64]]) -> RegionScores:
    per_region = np.stack([covered for covered, _, _ in rows])
    return RegionScores(
        thresholds=levels,
        covered=per_region.sum(axis=1),
        best_covered=float(per_region.max(axis=0).sum()),
        area=sum(human.size for human in humans),
        rand_index=np.array([rand for _, rand, _ in rows]),
        variation_of_information=np.array([variation for _, _, variation in rows]),
    )


def ucm_region_scores(
    ucm: ArrayLike, truths: Iterable[ArrayLike], *, thresholds: int | Sequence[float] = 99
) -> RegionScores:
    """Score the regions of a double-size ultrametric contour map, cut at each threshold.

    `ucm` is (2H+1, 2W+1), `truths` are (H, W) labels; a threshold t joins what contours
    of at most t separate. `thresholds` is a number n, for 1/(n+1), ..., n/(n+1), or the thresholds.
    """
    levels = threshold_levels(thresholds)
    given = np.asarray(ucm)
    if given.ndim != 2 or given[1::2, 1::2].size == 0 or not np.all(given[1::2, 1::2] <= levels[0]):
        return region_scores((regions_from_ucm(ucm, t) for t in levels), truths, thresholds=list(levels))
    humans = _as_truths(truths)
    finest, joined = nested_regions(ucm, levels)
    tables = [_overlaps(finest.astype(np.int64), human) for human in humans]
    rows = [_score_tables([_summed(table, where) for table in tables]) for where in joined]
    return _gathered(rows, levels, humans)


@dataclass(frozen=True)
class RegionSummary:
    """The region benchmark over a set of images.

    `covering_ods`, `pri_ods` and `voi_ods` are at the one threshold best for the set
    (`..._threshold`), `..._ois` with the best threshold of each image, and
    `covering_best` with the best region of any threshold for each true region.
    """

    covering_ods: float
    covering_threshold: float
    covering_ois: float
    covering_best: float
    pri_ods: float
    pri_threshold: float
    pri_ois: float
    voi_ods: float
    voi_threshold: float
    voi_ois: float


def summarise_regions(scores: Sequence[RegionScores]) -> RegionSummary:
    """Summarise the region scores of many images.

    Coverings are weighted by area, Rand index and variation of information are plain
    means over images, as in the Berkeley benchmark.
    """
    thresholds = shared_thresholds(scores)
    area = sum(score.area for score in scores)
    cover = np.sum([score.covered for score in scores], axis=0) / area
    rand = np.array([score.rand_index for score in scores])
    variation = np.array([score.variation_of_information for score in scores])
    best_rand, best_variation = rand.mean(axis=0).argmax(), variation.mean(axis=0).argmin()
    return RegionSummary(
        covering_ods=float(cover.max()),
        covering_threshold=float(thresholds[cover.argmax()]),
        covering_ois=float(sum(score.covered.max() for score in scores) / area),
        covering_best=float(sum(score.best_covered for score in scores) / area),
        pri_ods=float(rand.mean(axis=0)[best_rand]),
        pri_threshold=float(thresholds[best_rand]),
        pri_ois=float(rand.max(axis=1).mean()),
        voi_ods=float(variation.mean(axis=0)[best_variation]),
        voi_threshold=float(thresholds[best_variation]),
        voi_ois=float(variation.min(axis=1).mean()),
    )


def overlap_table(segmentation: ArrayLike, truth: ArrayLike) -> NDArray[np.int64]:
    """Count the pixels in each pair of regions: (regions of the segmentation, regions of the truth)."""
    return _overlaps(as_labels(segmentation, "segmentation"), as_labels(truth, "truth"))


def as_labels(labels: ArrayLike, name: str) -> NDArray[np.int64]:
    """Return labels renumbered 0, 1, ..., checked."""
    array = shaped_array(labels, name)
    if not (np.issubdtype(array.dtype, np.integer) or array.dtype == bool):
        raise TypeError(f"{name} must hold integer labels, got {array.dtype}")
    low = int(array.min())
    if int(array.max()) - low < array.size:  # the usual case: count instead of sorting
        shifted = array.astype(np.int64) - low
        rank = np.cumsum(np.bincount(shifted.ravel()) > 0) - 1
        return rank[shifted]
    _, compact = np.unique(array, return_inverse=True)
    return compact.reshape(array.shape).astype(np.int64)


def _overlaps(labels: NDArray[np.int64], truth: NDArray[np.int64]) -> NDArray[np.int64]:
    if labels.shape != truth.shape:
        raise ValueError(f"truth must have the segmentation's shape {labels.shape}, got {truth.shape}")
    rows, columns = int(labels.max()) + 1, int(truth.max()) + 1
    return np.bincount((labels * columns + truth).ravel(), minlength=rows * columns).reshape(rows, columns)


def _summed(table: NDArray[np.int64], where: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return the table of regions that hold the rows of another: row k is part of region where[k]."""
    columns = table.shape[1]
    cells = (where[: len(table), None] * columns + np.arange(columns)).ravel()
    summed = np.bincount(cells, table.ravel(), minlength=(int(where.max()) + 1) * columns)
    found = summed.astype(np.int64).reshape(-1, columns)
    return found[found.any(axis=1)]


def _as_truths(truths: Iterable[ArrayLike]) -> list[NDArray[np.int64]]:
    humans = [as_labels(truth, "truth") for truth in truths]
    if not humans:
        raise ValueError("truths must hold at least one segmentation, got none")
    return humans


def _score_tables(tables: Sequence[NDArray[np.int64]]) -> Row:
    """Return the pixels covered of each true region of all annotators, the Rand index and the variation."""
    covered = np.concatenate([_covered(table) for table in tables])
    return covered, _mean(_rand_index(t) for t in tables), _mean(_variation_of_information(t) for t in tables)


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def _covered(table: NDArray[np.int64]) -> Floats:
    """Return the size of each true region times its best overlap (intersection over union)."""
    truth = table.sum(axis=0)
    union = table.sum(axis=1, keepdims=True) + truth - table
    covered: Floats = truth * (table / union).max(axis=0)
    return covered


def _rand_index(table: NDArray[np.int64]) -> float:
    n = table.sum(dtype=float)
    if n < 2:
        return 1.0
    apart = (table.sum(axis=1, dtype=float) ** 2).sum() / 2 + (table.sum(axis=0, dtype=float) ** 2).sum() / 2
    return float(1 - (apart - (table.astype(float) ** 2).sum()) / (n * (n - 1) / 2))


def _variation_of_information(table: NDArray[np.int64]) -> float:
    joint = table[table > 0] / table.sum()
    entropies = [_entropy(table.sum(axis=axis) / table.sum()) for axis in (0, 1)]
    # I(S, T) = H(S) + H(T) - H(S, T); what rounding leaves below 0 is 0.
    return max(0.0, 2 * _entropy(joint) - sum(entropies))


def _entropy(share: Floats) -> float:
    return float(-(share * np.log2(share)).sum())
