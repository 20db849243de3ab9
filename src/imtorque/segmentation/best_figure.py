"""The best of many cuts around a click: the one of highest overlap with the object, as learned from its measures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from imtorque.core.logistic import LogisticModel
from imtorque.core.resizing import shrunk
from imtorque.core.types import BoolArray, FloatArray
from imtorque.images import CheckedImage
from imtorque.io.weights import read_weights
from imtorque.segmentation.colour_cut import Hints, sharpened
from imtorque.segmentation.figure_cuts import View, figure_cuts, view_image
from imtorque.segmentation.figure_measures import measure_cuts
from imtorque.segmentation.fixated_boxes import Box
from imtorque.segmentation.working_size import enlarge

Pixel = tuple[int, int]


@cache
def figure_model(torque: bool, names: tuple[str, ...]) -> LogisticModel:
    """Return the model of a cut's overlap with the object, learned by `imtorque_reproduce.figure_ground.weights`.

    It is linear in the overlap itself: its logit is the expected overlap, up to a constant.
    """
    return LogisticModel.from_dict(read_weights("figure")["torque" if torque else "no-torque"], names)


def best_cuts(
    image: CheckedImage, clicks: Sequence[Pixel], removed: Iterable[Pixel], box: Box | None, *, torque: bool = True
) -> tuple[list[BoolArray], FloatArray] | None:
    """Return the best cut for every click that none before it holds, and the edges, at the working size.

    All points are in pixels of that size. None, where the image has no edges to choose by.
    """
    view = view_image(image, Hints(clicks[:1], tuple(removed), box), torque=torque)
    if not view.edges.any():
        return None
    found: list[BoolArray] = []
    for click in clicks:
        if not any(cut[click] for cut in found):
            found.append(best_cut(replace(view, hints=replace(view.hints, on=[click]))))
    return found, view.strength


def best_cut(view: View) -> BoolArray:
    """Return the cut of highest score, sharpened, at the working size."""
    cuts = list(figure_cuts(view).values())
    names, measures = measure_cuts(view, [at_half_size(view, cut) for cut in cuts])
    scores = figure_model(view.torque, names).logit(measures)
    chosen = at_working_size(view, cuts[int(scores.argmax())])
    return sharpened(view.levels[0], chosen, view.hints.on)


def at_working_size(view: View, cut: BoolArray) -> BoolArray:
    """Return a cut of either level at the working size."""
    height, width = view.levels[0].shape
    if cut.shape == (height, width):
        return cut
    doubled = enlarge(cut, (2 * cut.shape[0], 2 * cut.shape[1]))
    return np.ascontiguousarray(doubled[:height, :width])


def at_half_size(view: View, cut: BoolArray) -> BoolArray:
    """Return a cut at half of the working size; it holds the fixation."""
    half = cut.copy() if cut.shape == view.shape else np.asarray(shrunk(cut.astype(np.float64), 2) >= 0.5)
    half[view.fixation] = True
    return half
