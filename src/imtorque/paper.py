"""Edges strengthened as the paper does it (Sec. 4.2): binary Canny edges, votes of extrema, its coefficients.

The paper leaves open how strong a Canny edge is, its thresholds, the sizes of patches, and what contributions to maxima
and to minima are to each other: this is one reading, the nearest to its words and numbers that we found. What each
other choice does: `imtorque reproduce car-side` and `boundary`. `imtorque.boundary_strength` serves better.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from imtorque.boundaries.strength import strengthen_edges
from imtorque.core.contribution import Votes, Weight, contribution_map
from imtorque.core.deprecation import deprecated_name
from imtorque.core.extrema import find_extrema
from imtorque.core.torque import default_sizes
from imtorque.core.types import Edges, Extrema, FloatArray, Image, Sizes
from imtorque.edges import SQRT2, detect_edges
from imtorque.images import CheckedImage, ValueRange

PAPER_EXTREMA = 5000  # paper, Sec. 4.2, for its cars; for its Berkeley images it gives no number

__getattr__ = partial(deprecated_name, __name__)


def strengthened_edges(
    source: Image | CheckedImage | Edges,
    *,
    sigma: float = SQRT2,
    low: float | None = None,
    high: float | None = None,
    sizes: Sizes | None = None,
    count: int | None = PAPER_EXTREMA,
    share: float | None = None,
    value_range: ValueRange | None = None,
) -> FloatArray:
    """Return Canny's edges as the paper strengthens them: one reading of its Sec. 4.2.

        d_s = 1 / (1 + exp(-(-2.54 + 1.86 d_o + 2.69 d_tau)))      (eq. 22), or      (1 - share) d_o + share d_tau  (23)

    with d_o = 1 on every edge and d_tau the `normalised_contribution` of eq. 21.

    Parameters
    ----------
    source
        An image, as for `detect_edges`, or edges; their strength does not count.
    sigma, low, high, value_range
        Of an image's edges, as for `detect_edges`.
    sizes
        Of the patches; by default from 3 pixels in steps of 2 up to 21 % of the image's area.
    count
        How many of the strongest extrema vote; None for all.
    share
        Of d_tau in eq. 23, the paper's alpha, 0.5 for its cars; by default eq. 22.

    Returns
    -------
    ndarray
        Shape (H, W), in [0, 1]; zero where there is no edge, everywhere if there is none.

    Examples
    --------
    >>> image = np.zeros((40, 40))
    >>> image[10:31, 10:31] = 1
    >>> strength = strengthened_edges(image)
    >>> float(strength.max().round(3)), float(strength[20, 20])
    (0.882, 0.0)
    """
    if isinstance(source, Edges):
        edges = source
    else:
        edges = detect_edges(source, sigma=sigma, low=low, high=high, value_range=value_range)
    if not edges.mask.any():
        return np.zeros(edges.shape)
    patches = default_sizes(edges.shape, smallest=3, growth=1.0) if sizes is None else sizes
    votes = normalised_contribution(edges, find_extrema(edges, sizes=patches, count=count))
    base = edges.mask.astype(np.float64)
    if share is None:
        return strengthen_edges(base, votes, coefficients="paper")
    return strengthen_edges(base, votes, method="blend", share=share)


def normalised_contribution(
    edges: Edges, extrema: Extrema, *, votes: Votes = "supporting", weight: Weight = "one", full: float = 1.0
) -> FloatArray:
    """Return the paper's d_tau: the `contribution_map`, cut off below 0, over a quantile of what is above, in [0, 1].

    Parameters
    ----------
    edges, extrema, votes, weight
        As for `contribution_map`.
    full
        Which quantile of the contributions above 0 becomes 1; by default the largest.
    """
    return in_unit_range(contribution_map(edges, extrema, votes=votes, weight=weight), full)


def in_unit_range(contribution: FloatArray, full: float = 1.0) -> FloatArray:
    """Return a contribution, cut off below 0, over a quantile of what is above, in [0, 1]."""
    total = np.maximum(contribution, 0)
    present = total[total > 0]
    top = float(np.quantile(present, full)) if present.size else 1.0
    return np.asarray(np.minimum(total / top, 1))
