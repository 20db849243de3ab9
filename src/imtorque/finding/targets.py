"""How good a candidate is, by what was marked."""

from __future__ import annotations

import numpy as np

from imtorque import _native
from imtorque._types import FloatArray
from imtorque.finding.features import Measured
from imtorque.finding.truth import Marks

WORST, BEST = 0.35, 0.75  # intersection over union that counts 0 and 1
CENTRAL = 0.5  # of the object's radius: a centre this far from the point counts half


def candidate_values(measured: Measured, marks: Marks, shape: tuple[int, int], diameter: float) -> FloatArray:
    """Return for each candidate from 0 to 1 how well it is one of the marked objects; NaN where nobody can say."""
    if marks.form == "points":
        value = _by_points(measured, marks, diameter)
    else:
        iou = overlap_with_marks(measured, marks, shape)
        value = ((iou - WORST) / (BEST - WORST)).clip(0, 1)
    return np.where(_ignored(measured, marks) & (value < 0.5), np.nan, value)


def overlap_with_marks(measured: Measured, marks: Marks, shape: tuple[int, int]) -> FloatArray:
    """Return each candidate's largest overlap with a marked object: of outlines, or of boxes."""
    best = np.zeros(len(measured.pool))
    if not len(marks):
        return best
    if marks.form == "boxes":
        boxes, truth = measured.shapes[:, None, 3:7], marks.boxes[None]
        sides = np.minimum(boxes[..., 2:], truth[..., 2:]) - np.maximum(boxes[..., :2], truth[..., :2])
        common = sides.clip(0).prod(axis=-1)
        areas = [(b[..., 2:] - b[..., :2]).prod(axis=-1) for b in (boxes, truth)]
        return np.asarray((common / (areas[0] + areas[1] - common)).max(axis=1))
    pool, n = measured.pool, len(measured.pool)
    y, x = (np.concatenate([a, m.astype(np.float32)]) for a, m in ((pool.y, marks.points[:, 0]), (pool.x, marks.points[:, 1])))
    radii = np.concatenate([pool.radii, marks.radii])
    area = _native.outline_shapes(y, x, radii, *shape)[:, 0]
    first, second, common = _native.outline_overlaps(y, x, radii, *shape, 0.2)
    across = (first < n) & (second >= n)
    a, b, shared = first[across], second[across], common[across]
    np.maximum.at(best, a, shared / (area[a] + area[b] - shared))
    return best


def _by_points(measured: Measured, marks: Marks, diameter: float) -> FloatArray:
    """Return 1 for candidates that hold one point near their middle, less the farther, 0 where they hold two or none."""
    pool = measured.pool
    dy, dx = marks.points[None, :, 0] - pool.y[:, None], marks.points[None, :, 1] - pool.x[:, None]
    angle = np.arctan2(dy, dx) % (2 * np.pi)
    count = pool.radii.shape[1]
    place = np.rint(angle / (2 * np.pi) * count).astype(int) % count
    distance = np.hypot(dy, dx)
    held = distance < np.take_along_axis(pool.radii, place, axis=1)
    centre = np.hypot(
        marks.points[None, :, 0] - measured.shapes[:, None, 1], marks.points[None, :, 1] - measured.shapes[:, None, 2]
    )
    near = np.where(held, centre, np.inf).min(axis=1, initial=np.inf)
    value = 1 / (1 + (near / (CENTRAL * diameter / 2)) ** 4)
    return np.where(held.sum(axis=1) == 1, value, 0.0)


def _ignored(measured: Measured, marks: Marks) -> np.ndarray:
    y, x = measured.shapes[:, 1, None], measured.shapes[:, 2, None]
    boxes = marks.ignored
    inside = (y >= boxes[:, 0]) & (x >= boxes[:, 1]) & (y < boxes[:, 2]) & (x < boxes[:, 3])
    return np.asarray(inside.any(axis=1))
