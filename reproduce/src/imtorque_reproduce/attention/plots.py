"""Images of the attention experiment: precision and recall, ROC curves, and images with all their maps."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from imtorque.evaluation import FixationScores, fixation_density, summarise_fixations
from imtorque.evaluation.saliency_folders import Observed
from imtorque.images import CheckedImage
from imtorque.plotting import figure_of, new_axes, show_precision_recall
from imtorque.render.saliency import heat_image, labelled_sheet
from imtorque.saliency.gaussians import DEFAULT_SIGMA
from imtorque.saliency.maps import Map

Curves = Mapping[str, Sequence[FixationScores]]

DRAWN = (
    "itti",
    "gbvs",
    "torque-paper",
    "torque",
    "gbvs+torque-paper",
    "gbvs+torque",
    "control:centre",
    "control:edge-density",
)
SHOWN = (
    "itti",
    "gbvs",
    "torque-paper",
    "gbvs+torque-paper",
    "torque",
    "gbvs+torque",
    "control:edge-density",
    "control:centre",
)


def precision_recall_image(curves: Curves) -> bytes:
    """Draw precision over recall, averaged over images, with the best F of each method."""
    axes = new_axes((6.4, 6.4))
    for method in DRAWN:
        precision, recall = _averages(curves[method])
        best = summarise_fixations(curves[method])
        label = f"{method}: F {best.f:.3f}"
        show_precision_recall(recall, precision, best=(best.recall, best.precision), label=label, ax=axes)
    return _png(axes)


def roc_image(curves: Curves, areas: NDArray[np.float64]) -> bytes:
    """Draw the share of the fixated region found over the share of the rest taken with it, averaged over images.

    Parameters
    ----------
    curves
        Precision and recall of every image, by method.
    areas
        The fixated region's share of each image.
    """
    axes = new_axes((6.4, 6.0))
    axes.plot([0, 1], [0, 1], color="0.8", linewidth=0.8)
    for method in DRAWN:
        alarms = np.mean(
            [_false_alarms(curve, area) for curve, area in zip(curves[method], areas, strict=True)], axis=0
        )
        found = _averages(curves[method])[1]
        area = float(np.trapezoid(np.r_[0, found[::-1]], np.r_[0, alarms[::-1]]))
        axes.plot(alarms, found, linewidth=2, label=f"{method}: area {area:.3f}")
    axes.set(xlabel="false alarms", ylabel="recall", xlim=(0, 1), ylim=(0, 1.005), aspect="equal")
    axes.legend(loc="lower right")
    return _png(axes)


def example_sheet(examples: Sequence[tuple[Observed, Mapping[str, Map]]], f: Sequence[Mapping[str, float]]) -> bytes:
    """Draw one row for each image: itself, where people looked, and its maps with their F, as in the paper."""
    rows = []
    for (observed, maps), scores in zip(examples, f, strict=True):
        fixations = observed.image.fixations()
        looked = fixation_density(fixations.y, fixations.x, observed.image.shape, sigma=DEFAULT_SIGMA)
        cells = [(observed.image.name, CheckedImage(observed.image.image()).as_bytes()), ("people", heat_image(looked))]
        rows.append(
            [
                *cells,
                *((f"{name.removeprefix('control:')} {scores[name]:.3f}", heat_image(maps[name])) for name in SHOWN),
            ]
        )
    buffer = io.BytesIO()
    PillowImage.fromarray(labelled_sheet(rows)).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _averages(curves: Sequence[FixationScores]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.mean([c.precision for c in curves], axis=0), np.mean([c.recall for c in curves], axis=0)


def _false_alarms(curve: FixationScores, area: float) -> NDArray[np.float64]:
    """Return FP / N from precision and recall: FP = TP (1 / P - 1) and TP = R times the region's area."""
    predicted = curve.precision > 0
    hits = curve.recall * area
    alarms = np.where(predicted, hits * (1 / np.where(predicted, curve.precision, 1) - 1), 0)
    share: NDArray[np.float64] = alarms / (1 - area)
    return share


def _png(axes: Any) -> bytes:
    buffer = io.BytesIO()
    figure_of(axes).savefig(buffer, format="png", dpi=100)
    return buffer.getvalue()
