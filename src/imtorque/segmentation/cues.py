"""Edge maps for figure-ground cuts, by name, with and without torque (Sec. 4.3.2 of the paper)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from imtorque.boundaries.strength import boundary_strength
from imtorque.core.contribution import contribution_map, dense_contribution
from imtorque.core.extrema import find_extrema
from imtorque.core.types import Edges, FloatArray, Image
from imtorque.edges import RECIPES, detect_edges
from imtorque.edges.canny import Force
from imtorque.images import CheckedImage, ValueRange
from imtorque.paper import PAPER_EXTREMA

TYPICAL_QUANTILE = 0.99  # quantile of a cue over its edge pixels that becomes 1
Cue = Literal["canny", "magnitude", "torque-paper", "torque", "contribution", "product", "blend", "strengthened"]
LARGEST_VOTING_PATCH = 0.8  # of the square root of the image's area, for the patches that vote


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
        "torque-paper" (the contribution to the 5000 strongest extrema, unit forces), "torque" (the same with forces in
        proportion to the gradient), "contribution" (`dense_contribution`), "product" (magnitude times that), "blend"
        (their mean). "strengthened": `boundary_strength`, on all maxima of the gradient.

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


def _votes(image: CheckedImage, force: Force) -> FloatArray:
    """Return the contribution of Canny's edges to the strongest extrema, the paper's d_tau."""
    edges = detect_edges(image, force=force)
    largest = LARGEST_VOTING_PATCH * math.sqrt(edges.shape[0] * edges.shape[1])
    extrema = find_extrema(edges, sizes=range(3, max(4, int(largest) + 1), 2), count=PAPER_EXTREMA)
    return _typical_is_one(contribution_map(edges, extrema))


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
    "torque-paper": lambda image: _votes(image, "unit"),
    "torque": lambda image: _votes(image, "strength"),
    "contribution": _contribution,
    "product": _product,
    "blend": _blend,
    "strengthened": boundary_strength,
}
