"""How good a candidate is, by what was marked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.types import FloatArray, IntArray
from imtorque.detection.features import Measured
from imtorque.detection.truth import Marks

WORST, BEST = 0.4, 0.8  # intersection over union that counts 0 and 1
CENTRAL = 0.5  # of the object's radius: a centre this far from the point counts half


@dataclass(frozen=True)
class Judged:
    """What candidates are worth.

    Parameters
    ----------
    value
        From 0 to 1, how well each is one of the marked objects; NaN where nobody can say.
    place, overlap
        The object each lies on by its place, and the one it overlaps by at least one half; -1 for none.
    marked
        How many objects there are.
    wrong
        Which ones hold a place that was marked as no object.
    """

    value: FloatArray
    place: IntArray
    overlap: IntArray
    marked: int
    wrong: NDArray[np.bool_]

    def __getitem__(self, chosen: NDArray[np.bool_]) -> Judged:
        """Return these candidates alone."""
        place, overlap, wrong = self.place[chosen], self.overlap[chosen], self.wrong[chosen]
        return Judged(self.value[chosen], place, overlap, self.marked, wrong)

    def counts(self, chosen: NDArray[np.bool_]) -> tuple[int, int, int, int]:
        """Return how many objects chosen candidates lie on, how many they overlap, how many were chosen and marked."""
        hits = [len(np.unique(kind[chosen & (kind >= 0)])) for kind in (self.place, self.overlap)]
        return hits[0], hits[1], int((chosen & np.isfinite(self.value)).sum()), self.marked


def judge(measured: Measured, marks: Marks, shape: tuple[int, int], diameter: float) -> Judged:
    """Return what the candidates of an image of this shape, with objects of this diameter, are worth."""
    if not len(marks):
        none = np.full(len(measured.pool), -1)
        return Judged(np.zeros(len(measured.pool)), none, none, 0, _wrong(measured, marks))
    if marks.form == "points":
        return _by_points(measured, marks, diameter)
    iou = overlaps_with_marks(measured, marks, shape)
    best, object_ = iou.max(axis=1), iou.argmax(axis=1)
    value = ((best - WORST) / (BEST - WORST)).clip(0, 1)
    value = np.where(_ignored(measured, marks) & (value < 0.5), np.nan, value)
    y, x = measured.shapes[:, 1], measured.shapes[:, 2]
    y0, x0, y1, x1 = marks.boxes[object_].T
    inside = (y >= y0 - 0.5) & (x >= x0 - 0.5) & (y < y1 - 0.5) & (x < x1 - 0.5) & (best > 0)
    place, overlap = np.where(inside, object_, -1), np.where(best >= 0.5, object_, -1)
    return Judged(value, place, overlap, len(marks), _wrong(measured, marks))


def overlaps_with_marks(measured: Measured, marks: Marks, shape: tuple[int, int]) -> FloatArray:
    """Return each candidate's intersection over union with each marked object: of outlines, or of boxes."""
    if marks.form == "boxes":
        boxes, truth = measured.shapes[:, None, 3:7], marks.boxes[None]
        sides = np.minimum(boxes[..., 2:], truth[..., 2:]) - np.maximum(boxes[..., :2], truth[..., :2])
        common = sides.clip(0).prod(axis=-1)
        areas = [(b[..., 2:] - b[..., :2]).prod(axis=-1) for b in (boxes, truth)]
        return np.asarray(common / (areas[0] + areas[1] - common))
    pool, n = measured.pool, len(measured.pool)
    y, x = (np.concatenate([own, marks.points[:, i].astype(np.float32)]) for i, own in ((0, pool.y), (1, pool.x)))
    radii = np.concatenate([pool.radii, marks.radii])
    area = _native.outline_shapes(y, x, radii, *shape)[:, 0]
    first, second, common = _native.outline_overlaps(y, x, radii, *shape, 0.1)
    across = (first < n) & (second >= n)
    a, b, shared = first[across], second[across], common[across]
    iou = np.zeros((n, len(marks)))
    iou[a, b - n] = shared / (area[a] + area[b] - shared)
    return iou


def _held(measured: Measured, points: FloatArray) -> NDArray[np.bool_]:
    """Return which points lie in each candidate's outline, (candidates, points)."""
    pool = measured.pool
    dy, dx = points[None, :, 0] - pool.y[:, None], points[None, :, 1] - pool.x[:, None]
    count = pool.radii.shape[1]
    place = np.rint(np.arctan2(dy, dx) % (2 * np.pi) / (2 * np.pi) * count).astype(int) % count
    return np.asarray(np.hypot(dy, dx) < np.take_along_axis(pool.radii, place, axis=1))


def _by_points(measured: Measured, marks: Marks, diameter: float) -> Judged:
    """Judge by points: 1 for candidates that hold one near their middle, 0 for those that hold two or none."""
    held = _held(measured, marks.points)
    distance = np.hypot(*(marks.points[None, :, i] - measured.shapes[:, None, 1 + i] for i in (0, 1)))
    near = np.where(held, distance, np.inf).min(axis=1)
    value = np.where(held.sum(axis=1) == 1, 1 / (1 + (near / (CENTRAL * diameter / 2)) ** 4), 0.0)
    value = np.where(_ignored(measured, marks) & (value < 0.5), np.nan, value)
    object_ = np.where(distance.min(axis=1) <= diameter / 2, distance.argmin(axis=1), -1)
    return Judged(value, object_, object_, len(marks), _wrong(measured, marks))


def _wrong(measured: Measured, marks: Marks) -> NDArray[np.bool_]:
    """Return which candidates hold a place that was marked as no object."""
    return np.asarray(_held(measured, marks.wrong).any(axis=1))


def _ignored(measured: Measured, marks: Marks) -> NDArray[np.bool_]:
    y, x = measured.shapes[:, 1, None], measured.shapes[:, 2, None]
    boxes = marks.ignored
    inside = (y >= boxes[:, 0]) & (x >= boxes[:, 1]) & (y < boxes[:, 2]) & (x < boxes[:, 3])
    return np.asarray(inside.any(axis=1))
