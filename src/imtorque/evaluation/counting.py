"""Score detected objects against annotated ones: one to one, by centre, by box, by mask, by count.

Every matching is the largest one-to-one matching (of the largest sum of overlaps, where overlaps decide), so no object
counts twice and the order of what was found does not matter. What lies on something marked as to be ignored, and
matches nothing, is neither right nor wrong.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Pairs = NDArray[np.int64]
MASK_OVERLAPS = np.arange(0.5, 0.96, 0.05)  # of the mean over overlaps, as in the Data Science Bowl 2018


@dataclass(frozen=True)
class CountingScores:
    """Counts of one image: `matched` of `found` objects and of `marked` ones."""

    matched: int
    found: int
    marked: int

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 1 where nothing was marked and nothing found."""
        total = self.found + self.marked
        return 2 * self.matched / total if total else 1.0


def centre_scores(
    centres: ArrayLike,
    points: ArrayLike,
    *,
    boxes: ArrayLike | None = None,
    labels: NDArray[np.integer] | None = None,
    radius: float | None = None,
    ignored: ArrayLike = (),
) -> CountingScores:
    """Match found centres with marked objects that they lie in.

    Parameters
    ----------
    centres
        Of what was found, (n, 2): y, x.
    points
        Of what was marked, (m, 2).
    boxes, labels, radius
        What a centre must lie in: the object's box, (m, 4) with y1, x1 exclusive; its mask, numbered from 1 in order of
        `points`, or the box where labels are left out; or the circle of this radius around its point.
    ignored
        Boxes, (k, 4), of what is neither right nor wrong.
    """
    found, marked = _table(centres, 2), _table(points, 2)
    distance = np.hypot(*(found[:, None, i] - marked[None, :, i] for i in (0, 1)))
    if boxes is not None:
        inside = _in_boxes(found, _table(boxes, 4))
    elif labels is not None:
        inside = labels[tuple(_pixels(found, labels.shape).T)][:, None] == np.arange(1, len(marked) + 1)
    elif radius is not None:
        inside = distance <= radius
    else:
        raise ValueError("boxes, labels or radius must be given, got none")
    pairs = match_one_to_one(np.where(inside, 1 + 1 / (1 + distance), 0.0))
    return _scores(pairs, found, len(marked), _table(ignored, 4))


def box_scores(found: ArrayLike, marked: ArrayLike, *, overlap: float = 0.5, ignored: ArrayLike = ()) -> CountingScores:
    """Match boxes, (n, 4) and (m, 4): y0, x0, y1, x1, whose intersection over union is at least `overlap`."""
    boxes, truth = _table(found, 4), _table(marked, 4)
    iou = box_iou(boxes, truth)
    pairs = match_one_to_one(np.where(iou >= overlap, 1 + iou, 0.0))
    return _scores(pairs, (boxes[:, :2] + boxes[:, 2:] - 1) / 2, len(truth), _table(ignored, 4))


def mask_average_precision(found: NDArray[np.integer], marked: NDArray[np.integer]) -> float:
    """Return the mean, over overlaps of 0.5 to 0.95, of matched / (matched + missed + wrong) masks.

    This is the score of the Data Science Bowl 2018, of one image. Both are label images, 0 for the ground. 1 where
    both are empty.
    """
    iou = label_iou(found, marked)
    if iou.size == 0:
        return float(sum(iou.shape) == 0)
    matched = np.array([len(match_one_to_one(np.where(iou >= least - 1e-9, 1 + iou, 0.0))) for least in MASK_OVERLAPS])
    return float(np.mean(matched / (sum(iou.shape) - matched)))


def match_one_to_one(gain: Floats) -> Pairs:
    """Return the pairs (row, column), (k, 2), of the one-to-one matching with the largest sum; only gains above 0."""
    from scipy.optimize import linear_sum_assignment  # here, because it takes longer to load than the rest

    rows, columns = linear_sum_assignment(gain, maximize=True)
    pairs = np.stack([rows, columns], axis=1)
    chosen: Pairs = pairs[gain[rows, columns] > 0]
    return chosen


def box_iou(a: ArrayLike, b: ArrayLike) -> Floats:
    """Return intersection over union of boxes, (n, m)."""
    first, second = _table(a, 4)[:, None], _table(b, 4)[None]
    sides = np.minimum(first[..., 2:], second[..., 2:]) - np.maximum(first[..., :2], second[..., :2])
    common = sides.clip(0).prod(axis=-1)
    union = (first[..., 2:] - first[..., :2]).prod(axis=-1) + (second[..., 2:] - second[..., :2]).prod(axis=-1) - common
    iou: Floats = common / np.maximum(union, 1e-12)
    return iou


def label_iou(a: NDArray[np.integer], b: NDArray[np.integer]) -> Floats:
    """Return intersection over union of the labels above 0 that occur in two label images, (n, m)."""
    if a.shape != b.shape:
        raise ValueError(f"label images must have one shape, got {a.shape} and {b.shape}")
    first, a_places = np.unique(a, return_inverse=True)
    second, b_places = np.unique(b, return_inverse=True)
    table = np.zeros((len(first), len(second)))
    np.add.at(table, (a_places.ravel(), b_places.ravel()), 1)
    areas_a, areas_b = table.sum(axis=1), table.sum(axis=0)
    iou: Floats = table / (areas_a[:, None] + areas_b[None] - table)
    return np.asarray(iou[first > 0][:, second > 0])


def pooled_f1(scores: Iterable[CountingScores]) -> float:
    """Return F1 over the objects of all images together."""
    rows = list(scores)
    return CountingScores(*(sum(getattr(row, key) for row in rows) for key in ("matched", "found", "marked"))).f1


def mean_count_error(scores: Iterable[CountingScores]) -> float:
    """Return the mean over images of |found - marked|; what lies on something ignored is not counted as found."""
    return float(np.mean([abs(row.found - row.marked) for row in scores]))


def _scores(pairs: Pairs, centres: Floats, marked: int, ignored: Floats) -> CountingScores:
    set_aside = np.asarray(_in_boxes(centres, ignored).any(axis=1)).reshape(len(centres))
    set_aside[pairs[:, 0]] = False
    return CountingScores(len(pairs), len(centres) - int(set_aside.sum()), marked)


def _in_boxes(points: Floats, boxes: Floats) -> NDArray[np.bool_]:
    y, x = points[:, None, 0], points[:, None, 1]
    inside: NDArray[np.bool_] = (
        (y >= boxes[:, 0] - 0.5) & (x >= boxes[:, 1] - 0.5) & (y < boxes[:, 2] - 0.5) & (x < boxes[:, 3] - 0.5)
    )
    return inside


def _pixels(points: Floats, shape: tuple[int, ...]) -> NDArray[np.int64]:
    return np.clip(np.rint(points).astype(np.int64), 0, np.array(shape[:2]) - 1)


def _table(values: ArrayLike, columns: int) -> Floats:
    table = np.asarray(values, dtype=np.float64)
    if table.size == 0:
        return table.reshape(0, columns)
    if table.ndim != 2 or table.shape[1] != columns:
        raise ValueError(f"objects must have shape (n, {columns}), got {table.shape}")
    return table
