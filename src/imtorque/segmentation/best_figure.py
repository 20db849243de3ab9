"""The best of many cuts around a click: the one of highest overlap with the object, as learned from its measures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

import numpy as np

from imtorque.core.resizing import shrunk
from imtorque.core.types import BoolArray, FloatArray
from imtorque.images import CheckedImage
from imtorque.segmentation.colour_cut import Hints, sharpened
from imtorque.segmentation.figure_cuts import View, figure_cuts, view_image
from imtorque.segmentation.figure_measures import measure_cuts
from imtorque.segmentation.fixated_boxes import Box
from imtorque.segmentation.working_size import enlarge

Pixel = tuple[int, int]
FARTHEST = 3.0  # standard deviations from its mean that a measure counts
WEIGHTS_FILE = "figure_weights.json"


@dataclass(frozen=True, eq=False)
class Weights:
    """How measures tell the overlap of a cut: by a sum, and by one that the logarithm of the area multiplies.

    With z the measures less their means, over their scales, and a that of the area, a cut scores
    sum(plain z) + a sum(by_area z): what speaks for a small cut need not speak for a large one.
    """

    names: tuple[str, ...]
    means: FloatArray
    scales: FloatArray
    plain: FloatArray
    by_area: FloatArray

    def scores(self, measures: FloatArray) -> FloatArray:
        """Return the scores of cuts, (..., cuts), from their measures, (..., cuts, measures)."""
        z = standardised(measures, self.means, self.scales)
        area = z[..., self.names.index("area")]
        return np.asarray(z @ self.plain + area * (z @ self.by_area))


def standardised(measures: FloatArray, means: FloatArray, scales: FloatArray) -> FloatArray:
    """Return measures less their means, over their scales; none far off counts for more."""
    return np.asarray(np.clip((measures - means) / scales, -FARTHEST, FARTHEST))


@cache
def learned_weights(torque: bool) -> Weights:
    """Return the weights learned by `imtorque_reproduce.figure_ground.weights`, with or without torque features."""
    text = resources.files("imtorque.segmentation").joinpath(WEIGHTS_FILE).read_text("utf-8")
    stored = json.loads(text)["torque" if torque else "no-torque"]
    names = tuple(stored.pop("names"))
    return Weights(names, **{name: np.array(values) for name, values in stored.items()})


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
    weights = learned_weights(view.torque)
    if names != weights.names:
        raise ValueError(f"{WEIGHTS_FILE} must hold the measures {', '.join(names)}, got {', '.join(weights.names)}")
    chosen = at_working_size(view, cuts[int(weights.scores(measures).argmax())])
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
