"""Plots of the attention experiment: precision and recall, and images with all their maps."""

from collections.abc import Mapping, Sequence

import numpy as np

from imtorque.evaluation import FixationScores, fixation_density, summarise_fixations
from imtorque.evaluation.saliency_folders import Observed
from imtorque.images import CheckedImage
from imtorque.plotting import new_axes, show_precision_recall
from imtorque.render.saliency import heat_image
from imtorque.saliency.gaussians import DEFAULT_SIGMA
from imtorque.saliency.maps import Map
from imtorque_reproduce.plots import figure_png, sheet_png

SHOWN = (
    *("itti", "gbvs", "torque-paper", "gbvs+torque-paper", "torque", "gbvs+torque"),
    *("control:edge-density", "control:centre"),
)


def precision_recall_image(curves: Mapping[str, Sequence[FixationScores]]) -> bytes:
    """Draw precision over recall, averaged over images, with the best F of each method."""
    axes = new_axes((6.4, 6.4))
    for method in SHOWN:
        precision, recall = (
            np.mean([getattr(c, axis) for c in curves[method]], axis=0) for axis in ("precision", "recall")
        )
        best = summarise_fixations(curves[method])
        label = f"{method}: F {best.f:.3f}"
        show_precision_recall(recall, precision, best=(best.recall, best.precision), label=label, ax=axes)
    return figure_png(axes, 128)


def example_sheet(examples: Sequence[tuple[Observed, Mapping[str, Map]]], f: Sequence[Mapping[str, float]]) -> bytes:
    """Draw one row for each image: itself, where people looked, and its maps with their F, as in the paper."""
    rows = []
    for (observed, maps), scores in zip(examples, f, strict=True):
        fixations = observed.image.fixations()
        looked = fixation_density(fixations.y, fixations.x, observed.image.shape, sigma=DEFAULT_SIGMA)
        cells = [(observed.image.name, CheckedImage(observed.image.image()).as_bytes()), ("people", heat_image(looked))]
        cells += [(f"{name.removeprefix('control:')} {scores[name]:.3f}", heat_image(maps[name])) for name in SHOWN]
        rows.append(cells)
    return sheet_png(rows)
