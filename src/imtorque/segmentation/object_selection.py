"""Objects among the proposed figures: scored by two logistic models, selected in turn, without near-duplicates.

The first model gives the probability that a figure is the object. It was learned mostly from large objects, of which
there are many figures each. The second was learned from images where the first model's best figure is wrong. Figures
are selected by the two in turn, and the logits of what overlaps a selected one are lowered.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from imtorque.core.logistic import LogisticModel
from imtorque.core.types import BoolArray, FloatArray
from imtorque.images import CheckedImage
from imtorque.io.weights import read_weights
from imtorque.segmentation.figure_cuts import SMALLEST_SIDE, View, at_half_size, at_working_size, working_shape
from imtorque.segmentation.figure_features import cut_features
from imtorque.segmentation.object_candidates import object_candidates

CLICK_FEATURE = "click_offset"  # the one feature that needs a click
MAX_SHARE = 0.5  # of the smaller of two figures, beyond which they are one object; chosen by cross-validation
# Subtracted from a figure's logit, times its largest overlap with those selected before; chosen as MAX_SHARE was.
OVERLAP_PENALTY = 4.0
MODELS = ("first", "second")


@dataclass(frozen=True, eq=False)
class ScoredFigures:
    """Figures of an image, as they were cut and at half of the working size, with their logits by both models."""

    view: View | None  # None where the image is too small to have any
    cuts: list[BoolArray]
    halves: list[BoolArray]
    logits: FloatArray  # (models, figures)

    def select(self, count: int, iou: float | None) -> list[BoolArray]:
        """Return the best distinct figures at the working size; `iou` as for `best_objects`."""
        if self.view is None or not self.cuts:
            return []
        kept = select_in_turn(np.stack(self.halves), self.logits, count, iou)
        return [at_working_size(self.view, self.cuts[k]) for k in kept]


@cache
def object_model(torque: bool, which: str, names: tuple[str, ...]) -> LogisticModel:
    """Return one of the models that `imtorque_reproduce.objects.weights` learned, with torque or without."""
    return LogisticModel.from_dict(read_weights("object")["torque" if torque else "no-torque"][which], names)


def object_features(view: View, figures: Sequence[BoolArray]) -> tuple[tuple[str, ...], FloatArray]:
    """Return the names and the features of figures at half of the working size, (figures, features)."""
    names, features = cut_features(view, figures)
    kept = [k for k, name in enumerate(names) if name != CLICK_FEATURE]
    return tuple(names[k] for k in kept), features[:, kept]


def best_objects(image: CheckedImage, count: int, iou: float | None, *, torque: bool = True) -> list[BoolArray]:
    """Return the figures of highest score, best first, at the working size.

    None overlaps a better one by more than `iou`; without it, none shares more than half of either with a better one.
    """
    return scored_figures(image, torque=torque).select(count, iou)


def scored_figures(image: CheckedImage, *, torque: bool = True) -> ScoredFigures:
    """Propose figures and return all with their logits."""
    if min(working_shape(image.shape)) < SMALLEST_SIDE:
        return ScoredFigures(None, [], [], np.zeros((len(MODELS), 0)))
    view, cuts = object_candidates(image, torque=torque)
    halves = [at_half_size(view, cut) for cut in cuts]
    if len(cuts) < 2:  # nothing to compare
        return ScoredFigures(view, cuts, halves, np.zeros((len(MODELS), len(cuts))))
    return ScoredFigures(view, cuts, halves, _logits(view, halves, MODELS))


def object_logits(view: View, halves: Sequence[BoolArray]) -> FloatArray:
    """Return the first model's logits of at least two figures at half of the working size."""
    return np.asarray(_logits(view, halves, MODELS[:1])[0])


def _logits(view: View, halves: Sequence[BoolArray], models: Sequence[str]) -> FloatArray:
    """Return the logits by each of the models, (models, figures)."""
    names, features = object_features(view, halves)
    chosen = [object_model(view.torque, which, names) for which in models]
    return np.stack([model.terms(features).sum(axis=1) + model.bias for model in chosen])


def select_in_turn(masks: BoolArray, logits: FloatArray, count: int, iou: float | None) -> list[int]:
    """Select masks greedily, by each row of logits in turn, lowered by the overlap with masks selected before.

    Near-duplicates of a selected mask are dropped: `iou` as for `best_objects`.
    """
    flat = masks.reshape(len(masks), -1).astype(np.float32)
    shared = flat @ flat.T
    area = np.diag(shared)
    union = np.maximum(area[:, None] + area - shared, 1)
    duplicate = shared > (MAX_SHARE * np.minimum(area[:, None], area) if iou is None else iou * union)
    overlap = shared / union
    left = np.ones(len(masks), bool)
    covered = np.zeros(len(masks))  # largest overlap with a selected mask
    chosen: list[int] = []
    while len(chosen) < count and left.any():
        now = logits[len(chosen) % len(logits)] - OVERLAP_PENALTY * covered
        best = int(np.where(left, now, -np.inf).argmax())
        chosen.append(best)
        left &= ~duplicate[best]
        left[best] = False  # an empty mask is no duplicate of itself
        covered = np.maximum(covered, overlap[best])
    return chosen
