"""Which figures are objects: a logistic rule over what can be measured of them, and no two that are nearly the same."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from imtorque._types import BoolArray, FloatArray
from imtorque.images import Picture
from imtorque.segmentation.best_figure import at_working_size, standardised
from imtorque.segmentation.figure_cuts import SMALLEST_SIDE, View, working_shape
from imtorque.segmentation.figure_measures import measure_cuts
from imtorque.segmentation.object_candidates import halved, object_candidates

WEIGHTS_FILE = "object_weights.json"
OF_THE_CLICK = "off_click"  # the one measure that needs a click
SHARED = 0.5  # of the smaller of two figures, beyond which they are one object


@dataclass(frozen=True, eq=False)
class Rule:
    """A logistic rule: the odds are a weighted sum of measures less their means, over their scales."""

    names: tuple[str, ...]
    means: FloatArray
    scales: FloatArray
    weights: FloatArray
    bias: float

    def odds(self, measures: FloatArray) -> FloatArray:
        """Return the logarithm of the odds that figures are objects, from their measures, (figures, measures)."""
        return np.asarray(standardised(measures, self.means, self.scales) @ self.weights + self.bias)


@dataclass(frozen=True, eq=False)
class Ranked:
    """Figures of a picture, those most like objects first: as they were cut, and at half of the working size."""

    view: View | None  # None where the picture is too small to have any
    cuts: list[BoolArray]
    halves: list[BoolArray]

    def first(self, count: int, iou: float | None) -> list[BoolArray]:
        """Return the first of them that differ, at the working size; `iou` as for `best_objects`."""
        if self.view is None or not self.cuts:
            return []
        kept = distinct(np.stack(self.halves), count, iou)
        return [at_working_size(self.view, self.cuts[k]) for k in kept]


@cache
def learned_rule(torque: bool) -> Rule:
    """Return the rule that `imtorque.experiments.object_weights` learned, with torque or without."""
    text = resources.files("imtorque.segmentation").joinpath(WEIGHTS_FILE).read_text("utf-8")
    stored = json.loads(text)["torque" if torque else "no-torque"]
    names, bias = tuple(stored.pop("names")), float(stored.pop("bias"))
    return Rule(names, bias=bias, **{name: np.array(values) for name, values in stored.items()})


def measure_objects(view: View, figures: Sequence[BoolArray]) -> tuple[tuple[str, ...], FloatArray]:
    """Return the names of measures, and the measures of figures at half of the working size, (figures, measures)."""
    names, measures = measure_cuts(view, figures)
    kept = [k for k, name in enumerate(names) if name != OF_THE_CLICK]
    return tuple(names[k] for k in kept), measures[:, kept]


def best_objects(picture: Picture, count: int, iou: float | None, *, torque: bool = True) -> list[BoolArray]:
    """Return the figures most like objects, best first, at the working size.

    None overlaps a better one by more than `iou`; without it, none shares more than half of either with a better one.
    """
    return ranked_objects(picture, torque=torque).first(count, iou)


def ranked_objects(picture: Picture, *, torque: bool = True) -> Ranked:
    """Return all figures, those most like objects first."""
    if min(working_shape(picture.shape)) < SMALLEST_SIDE:
        return Ranked(None, [], [])
    view, cuts = object_candidates(picture, torque=torque)
    halves = [halved(view, cut) for cut in cuts]
    if len(cuts) < 2:  # nothing to compare
        return Ranked(view, cuts, halves)
    order = np.argsort(-object_odds(view, halves), kind="stable")
    return Ranked(view, [cuts[k] for k in order], [halves[k] for k in order])


def object_odds(view: View, halves: Sequence[BoolArray]) -> FloatArray:
    """Return the logarithm of the odds that each of at least two figures, at half of the working size, is an object."""
    names, measures = measure_objects(view, halves)
    rule = learned_rule(view.torque)
    if names != rule.names:
        raise ValueError(f"{WEIGHTS_FILE} must hold the measures {', '.join(names)}, got {', '.join(rule.names)}")
    return rule.odds(measures)


def distinct(masks: BoolArray, count: int, iou: float | None) -> list[int]:
    """Return which of ranked masks are kept: those too much like none that was kept before."""
    flat = masks.reshape(len(masks), -1).astype(np.float32)
    shared = flat @ flat.T
    area = np.diag(shared)
    apart = np.minimum(area[:, None], area) if iou is None else area[:, None] + area - shared
    alike = shared > (SHARED if iou is None else iou) * apart
    kept: list[int] = []
    for k in range(len(masks)):
        if len(kept) == count:
            break
        if not alike[k, kept].any():
            kept.append(k)
    return kept
