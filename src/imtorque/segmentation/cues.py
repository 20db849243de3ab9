"""Edge maps for figure-ground cuts, by name, with and without torque (Sec. 4.3.2 of the paper)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np

from imtorque.boundaries.strength import boundary_strength
from imtorque.core.contribution import dense_contribution
from imtorque.core.types import Edges, FloatArray, Image
from imtorque.edges import RECIPES, detect_edges
from imtorque.images import CheckedImage, ValueRange
from imtorque.paper import FIGURES, contribution, extrema

TYPICAL_QUANTILE = 0.99  # quantile of a cue over its edge pixels that is 1; convention: detect_edges' strength_scale
Cue = Literal["canny", "magnitude", "torque-paper", "torque", "contribution", "product", "blend", "strengthened"]
JOINED = replace(FIGURES, votes="supporting")


def edge_cue(
    image: Image | CheckedImage, cue: Cue = "strengthened", *, value_range: ValueRange | None = None
) -> FloatArray:
    """Return an edge map for `segment_figure` by its name.

    Parameters
    ----------
    image, value_range
        As for `detect_edges`.
    cue
        Without torque: "canny" (1 on Canny's edges) or "magnitude" (the gradient there). With it, on the same edges:
        "torque-paper" (the contribution to the 5000 strongest extrema, maxima and minima apart, unit forces:
        `imtorque.paper.FIGURES`), "torque" (the same joined, forces in proportion to the gradient), "contribution"
        (`dense_contribution`), "product" (magnitude times that), "blend" (their mean). "strengthened":
        `boundary_strength`, on all maxima of the gradient.

    Returns
    -------
    ndarray
        Shape (H, W), in [0, 1], zero where there is no edge. All but "canny" and "strengthened" are scaled so that 1 %
        of the edge pixels reach 1.
    """
    if cue not in CUES:
        raise ValueError(f"cue must be one of {', '.join(CUES)}, got {cue!r}")
    grey = CheckedImage(image, value_range).grey()  # once, for all detectors that a cue takes
    return CUES[cue](CheckedImage(grey, (0.0, 1.0)))


def _canny(image: CheckedImage) -> FloatArray:
    return detect_edges(image).mask.astype(np.float64)


def _magnitude(image: CheckedImage) -> FloatArray:
    return _typical_is_one(_strong(image).strength)


def _paper(image: CheckedImage) -> FloatArray:
    """Return the paper's d_tau, in the reading of the tables of results."""
    found = detect_edges(image)
    return contribution(found, extrema(found, FIGURES), FIGURES)


def _votes(image: CheckedImage) -> FloatArray:
    """Return the contribution of Canny's edges to the strongest extrema, by the gradient's strength."""
    found = _strong(image)
    return contribution(found, extrema(found, JOINED), JOINED)


def _contribution(image: CheckedImage) -> FloatArray:
    return _typical_is_one(_dense(image))


def _product(image: CheckedImage) -> FloatArray:
    return _typical_is_one(_strong(image).strength * np.maximum(_dense(image), 0))


def _blend(image: CheckedImage) -> FloatArray:
    return 0.5 * _magnitude(image) + 0.5 * _contribution(image)


def _strong(image: CheckedImage) -> Edges:
    """Return Canny's edges with forces in proportion to the gradient."""
    return detect_edges(image, force="strength")


def _dense(image: CheckedImage) -> FloatArray:
    """Return the dense contribution on Canny's edges."""
    return np.where(detect_edges(image).mask, dense_contribution(RECIPES["canny"].edges(image)), 0.0)


def _typical_is_one(values: FloatArray) -> FloatArray:
    present = values[values > 0]
    top = float(np.quantile(present, TYPICAL_QUANTILE)) if present.size else 1.0
    return np.asarray(np.clip(values / top, 0.0, 1.0))


CUES: dict[str, Callable[[CheckedImage], FloatArray]] = {
    "canny": _canny,
    "magnitude": _magnitude,
    "torque-paper": _paper,
    "torque": _votes,
    "contribution": _contribution,
    "product": _product,
    "blend": _blend,
    "strengthened": boundary_strength,
}
