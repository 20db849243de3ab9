"""Which figures are objects: two logistic rules over what can be measured of them, and no two that are nearly the same.

The first rule says how likely a figure is the object. Images with a large object teach it most, for of that there are
many figures; alternatives of one and the same place would fill its list. So the second rule was learned from images
where the first figure of the first rule is wrong, and the two choose in turn; what overlaps a chosen one comes later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from imtorque.core.logistic import LogisticModel
from imtorque.core.types import BoolArray, FloatArray
from imtorque.images import CheckedImage
from imtorque.io.weights import read_weights
from imtorque.segmentation.best_figure import at_working_size
from imtorque.segmentation.figure_cuts import SMALLEST_SIDE, View, working_shape
from imtorque.segmentation.figure_measures import measure_cuts
from imtorque.segmentation.object_candidates import halved, object_candidates

OF_THE_CLICK = "off_click"  # the one measure that needs a click
SHARED = 0.5  # of the smaller of two figures, beyond which they are one object
ELSEWHERE = 4.0  # taken off the logarithm of a figure's odds, times its largest overlap with those chosen before
RULES = ("first", "second")


@dataclass(frozen=True, eq=False)
class Ranked:
    """Figures of an image, as they were cut and at half of the working size, with the odds that both rules give."""

    view: View | None  # None where the image is too small to have any
    cuts: list[BoolArray]
    halves: list[BoolArray]
    odds: FloatArray  # logarithms, (rules, figures)

    def first(self, count: int, iou: float | None) -> list[BoolArray]:
        """Return those most like objects that differ, at the working size; `iou` as for `best_objects`."""
        if self.view is None or not self.cuts:
            return []
        kept = in_turn(np.stack(self.halves), self.odds, count, iou)
        return [at_working_size(self.view, self.cuts[k]) for k in kept]


@cache
def object_model(torque: bool, which: str, names: tuple[str, ...]) -> LogisticModel:
    """Return one of the models that `imtorque_reproduce.objects.weights` learned, with torque or without."""
    return LogisticModel.from_dict(read_weights("object")["torque" if torque else "no-torque"][which], names)


def measure_objects(view: View, figures: Sequence[BoolArray]) -> tuple[tuple[str, ...], FloatArray]:
    """Return the names of measures, and the measures of figures at half of the working size, (figures, measures)."""
    names, measures = measure_cuts(view, figures)
    kept = [k for k, name in enumerate(names) if name != OF_THE_CLICK]
    return tuple(names[k] for k in kept), measures[:, kept]


def best_objects(image: CheckedImage, count: int, iou: float | None, *, torque: bool = True) -> list[BoolArray]:
    """Return the figures most like objects, best first, at the working size.

    None overlaps a better one by more than `iou`; without it, none shares more than half of either with a better one.
    """
    return ranked_objects(image, torque=torque).first(count, iou)


def ranked_objects(image: CheckedImage, *, torque: bool = True) -> Ranked:
    """Return all figures with their odds."""
    if min(working_shape(image.shape)) < SMALLEST_SIDE:
        return Ranked(None, [], [], np.zeros((len(RULES), 0)))
    view, cuts = object_candidates(image, torque=torque)
    halves = [halved(view, cut) for cut in cuts]
    if len(cuts) < 2:  # nothing to compare
        return Ranked(view, cuts, halves, np.zeros((len(RULES), len(cuts))))
    return Ranked(view, cuts, halves, odds_of(view, halves, RULES))


def object_odds(view: View, halves: Sequence[BoolArray]) -> FloatArray:
    """Return the logarithm of the odds that each of at least two figures, at half of the working size, is an object."""
    return np.asarray(odds_of(view, halves, RULES[:1])[0])


def odds_of(view: View, halves: Sequence[BoolArray], rules: Sequence[str]) -> FloatArray:
    """Return the same by each of some rules, (rules, figures)."""
    names, measures = measure_objects(view, halves)
    models = [object_model(view.torque, which, names) for which in rules]
    return np.stack([model.terms(measures).sum(axis=1) + model.bias for model in models])


def in_turn(masks: BoolArray, odds: FloatArray, count: int, iou: float | None) -> list[int]:
    """Return which masks are chosen, by each row of log odds in turn, and first where none was chosen before.

    None is too much like an earlier one: `iou` as for `best_objects`.
    """
    flat = masks.reshape(len(masks), -1).astype(np.float32)
    shared = flat @ flat.T
    area = np.diag(shared)
    union = np.maximum(area[:, None] + area - shared, 1)
    alike = shared > (SHARED * np.minimum(area[:, None], area) if iou is None else iou * union)
    overlap = shared / union
    left = np.ones(len(masks), bool)
    covered = np.zeros(len(masks))  # the largest overlap with a chosen one
    chosen: list[int] = []
    while len(chosen) < count and left.any():
        now = odds[len(chosen) % len(odds)] - ELSEWHERE * covered
        best = int(np.where(left, now, -np.inf).argmax())
        chosen.append(best)
        left &= ~alike[best]
        left[best] = False  # an empty one is not even like itself
        covered = np.maximum(covered, overlap[best])
    return chosen
