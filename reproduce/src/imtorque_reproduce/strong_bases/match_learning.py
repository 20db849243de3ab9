"""Re-weighing a strong detector's edges by torque, learned from the benchmark's own one-to-one matches.

"Drawn within 3 pixels" rewards edges that run beside a boundary that another edge has already found; the benchmark
counts these as wrong. Here an edge pixel is right where the benchmark matches it to what somebody drew.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from imtorque import evaluation
from imtorque.boundaries.strength import LOG_SHIFT, fit_logistic, logistic
from imtorque.core.contribution import BOUNDARY_SIZES, dense_contribution
from imtorque.core.types import BoolArray, Edges, FloatArray
from imtorque_reproduce.boundary.rows import densities

MATCHED_ABOVE = 0.08  # strength of the edges that are matched: about half of gPb's best threshold; derived
PIXEL_STEP = 4  # every so many-th pixel is learned from; bound: memory
TORQUE = tuple(range(1, 1 + len(BOUNDARY_SIZES)))  # places among the features: the dense contribution of each size
DENSITY = tuple(range(1 + len(BOUNDARY_SIZES), 5 + len(BOUNDARY_SIZES)))  # how many edges are nearby, at four sizes
FORMS: dict[str, tuple[int, ...]] = {
    "gpb+torque": (0, *TORQUE),
    "control:gpb+density": (0, *DENSITY),
    "control:gpb+density+torque": (0, *TORQUE, *DENSITY),
}


@dataclass(frozen=True)
class EdgePixels:
    """The edge pixels of one image: where they are, (n,), their features, (n, m), and whether each is matched.

    The first feature is the logarithm of the strength. `matched` is 1 or 0, or NaN where the benchmark thins.
    """

    shape: tuple[int, int]
    at: BoolArray
    features: FloatArray
    matched: FloatArray

    def strengthened(self, form: Sequence[int], coefficients: FloatArray) -> FloatArray:
        """Return the map after these features have re-weighed it."""
        found = np.zeros(self.shape)
        found[self.at] = logistic(coefficients[0] + self.features[:, list(form)] @ coefficients[1:])
        return found


def edge_pixels(edges: Edges, truths: Sequence[BoolArray]) -> EdgePixels:
    """Return the edge pixels of one image."""
    strength = np.minimum(edges.strength, 1).astype(np.float64)
    at = strength > 0
    cues = [*(dense_contribution(edges, [size]) for size in BOUNDARY_SIZES), *densities(edges)]
    features = np.column_stack([np.log(strength[at] + LOG_SHIFT), *(cue[at] for cue in cues)])
    return EdgePixels(edges.shape, at, features, _matched(strength, truths)[at])


def fit_forms(pixels: Iterable[EdgePixels]) -> dict[str, FloatArray]:
    """Return the coefficients of every form."""
    parts = [(one.features[::PIXEL_STEP], one.matched[::PIXEL_STEP]) for one in pixels]
    features, matched = (np.concatenate(part) for part in zip(*parts, strict=True))
    known = np.isfinite(matched)
    return {name: fit_logistic(features[known][:, list(form)], matched[known]) for name, form in FORMS.items()}


def _matched(strength: FloatArray, truths: Sequence[BoolArray]) -> FloatArray:
    thin = evaluation.thin_boundary(strength > MATCHED_ABOVE)
    right = np.any([evaluation.match_boundaries(thin, truth) >= 0 for truth in truths], axis=0)
    return np.where(thin, right.astype(float), np.nan)
