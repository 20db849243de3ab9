"""Assignment of proposals to annotations: what each is worth as a training example."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.types import FloatArray, IntArray
from imtorque.detection.annotations import Annotations
from imtorque.detection.features import FeatureTable

IOU_NONE, IOU_FULL = 0.4, 0.8  # intersection over union that counts 0 and 1; untuned
HALF_VALUE_DISTANCE = 0.5  # of the object's radius: a centre this far from the point counts half; untuned


@dataclass(frozen=True)
class Assignment:
    """What proposals are worth, and which annotated object each belongs to.

    Parameters
    ----------
    value
        From 0 to 1, how well each is one of the annotated objects; NaN where nobody can say.
    place, overlap
        The object each lies on by its place, and the one it overlaps by at least one half; -1 for none.
    annotated
        How many objects there are.
    negative
        Which ones hold a place that was annotated as no object.
    """

    value: FloatArray
    place: IntArray
    overlap: IntArray
    annotated: int
    negative: NDArray[np.bool_]

    def __getitem__(self, chosen: NDArray[np.bool_]) -> Assignment:
        """Return these proposals alone."""
        place, overlap, negative = self.place[chosen], self.overlap[chosen], self.negative[chosen]
        return Assignment(self.value[chosen], place, overlap, self.annotated, negative)

    def counts(self, chosen: NDArray[np.bool_]) -> tuple[int, int, int, int]:
        """Return how many objects the chosen lie on, how many they overlap, how many were chosen and annotated."""
        hits = [len(np.unique(kind[chosen & (kind >= 0)])) for kind in (self.place, self.overlap)]
        return hits[0], hits[1], int((chosen & np.isfinite(self.value)).sum()), self.annotated


def assign(table: FeatureTable, annotations: Annotations, shape: tuple[int, int], diameter: float) -> Assignment:
    """Return what the proposals of an image of this shape, with objects of this diameter, are worth."""
    if not len(annotations):
        none = np.full(len(table.proposals), -1)
        return Assignment(np.zeros(len(table.proposals)), none, none, 0, _negative(table, annotations))
    if annotations.form == "points":
        return _by_points(table, annotations, diameter)
    iou = overlaps_with_annotations(table, annotations, shape)
    best, object_ = iou.max(axis=1), iou.argmax(axis=1)
    value = ((best - IOU_NONE) / (IOU_FULL - IOU_NONE)).clip(0, 1)
    value = np.where(_ignored(table, annotations) & (value < 0.5), np.nan, value)
    y, x = table.shapes[:, 1], table.shapes[:, 2]
    y0, x0, y1, x1 = annotations.boxes[object_].T
    inside = (y >= y0 - 0.5) & (x >= x0 - 0.5) & (y < y1 - 0.5) & (x < x1 - 0.5) & (best > 0)
    place, overlap = np.where(inside, object_, -1), np.where(best >= 0.5, object_, -1)
    return Assignment(value, place, overlap, len(annotations), _negative(table, annotations))


def overlaps_with_annotations(table: FeatureTable, annotations: Annotations, shape: tuple[int, int]) -> FloatArray:
    """Return each proposal's intersection over union with each annotated object: of outlines, or of boxes."""
    if annotations.form == "boxes":
        boxes, truth = table.shapes[:, None, 3:7], annotations.boxes[None]
        sides = np.minimum(boxes[..., 2:], truth[..., 2:]) - np.maximum(boxes[..., :2], truth[..., :2])
        common = sides.clip(0).prod(axis=-1)
        areas = [(b[..., 2:] - b[..., :2]).prod(axis=-1) for b in (boxes, truth)]
        return np.asarray(common / (areas[0] + areas[1] - common))
    n = len(table.proposals)
    centre_y, centre_x, radii = table.proposals.outlines.polar
    both = ((centre_y, annotations.points[:, 0]), (centre_x, annotations.points[:, 1]), (radii, annotations.radii))
    y, x, radii = (np.concatenate([own, other.astype(np.float32)]) for own, other in both)
    area = _native.outline_shapes(y, x, radii, *shape)[:, 0]
    first, second, common = _native.outline_overlaps(y, x, radii, *shape, 0.1)
    across = (first < n) & (second >= n)
    a, b, shared = first[across], second[across], common[across]
    iou = np.zeros((n, len(annotations)))
    iou[a, b - n] = shared / (area[a] + area[b] - shared)
    return iou


def _contained(table: FeatureTable, points: FloatArray) -> NDArray[np.bool_]:
    """Return which points lie in each proposal's outline, (proposals, points)."""
    y, x, radii = table.proposals.outlines.polar
    dy, dx = points[None, :, 0] - y[:, None], points[None, :, 1] - x[:, None]
    count = radii.shape[1]
    place = np.rint(np.arctan2(dy, dx) % (2 * np.pi) / (2 * np.pi) * count).astype(int) % count
    return np.asarray(np.hypot(dy, dx) < np.take_along_axis(radii, place, axis=1))


def _by_points(table: FeatureTable, annotations: Annotations, diameter: float) -> Assignment:
    """Assign by points: 1 for proposals that hold one near their middle, 0 for those that hold two or none."""
    held = _contained(table, annotations.points)
    distance = np.hypot(*(annotations.points[None, :, i] - table.shapes[:, None, 1 + i] for i in (0, 1)))
    near = np.where(held, distance, np.inf).min(axis=1)
    value = np.where(held.sum(axis=1) == 1, 1 / (1 + (near / (HALF_VALUE_DISTANCE * diameter / 2)) ** 4), 0.0)
    value = np.where(_ignored(table, annotations) & (value < 0.5), np.nan, value)
    object_ = np.where(distance.min(axis=1) <= diameter / 2, distance.argmin(axis=1), -1)
    return Assignment(value, object_, object_, len(annotations), _negative(table, annotations))


def _negative(table: FeatureTable, annotations: Annotations) -> NDArray[np.bool_]:
    """Return which proposals hold a place that was annotated as no object."""
    return np.asarray(_contained(table, annotations.negatives).any(axis=1))


def _ignored(table: FeatureTable, annotations: Annotations) -> NDArray[np.bool_]:
    y, x = table.shapes[:, 1, None], table.shapes[:, 2, None]
    boxes = annotations.ignored
    inside = (y >= boxes[:, 0]) & (x >= boxes[:, 1]) & (y < boxes[:, 2]) & (x < boxes[:, 3])
    return np.asarray(inside.any(axis=1))
