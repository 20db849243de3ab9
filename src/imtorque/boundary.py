"""From extrema back to the edges: which edge pixels made them (Sec. 4.2 of the paper)."""

from __future__ import annotations

import numpy as np

from imtorque import _native
from imtorque._types import Edges, Extrema, FloatArray


def contribution_map(
    edges: Edges, extrema: Extrema, *, sign: str = "supporting", weight: str = "one", patch: str = "square"
) -> FloatArray:
    """Sum each edge pixel's moments about the extrema whose patches hold it (eq. 21).

        v(q) = sum over extrema k with q in P_k of  w_k sgn(tau_k) (q - p_k) x F(q)

    Parameters
    ----------
    edges
        Edge vectors.
    extrema
        The patches that vote.
    sign
        "supporting": an edge counts positive where it turns with the extremum, negative against it. "absolute": by the
        size of its moment alone. "separate": the supporting sums of maxima and of minima apart, the larger of the two.
    weight
        w_k: "one" (the paper's), "area" (1 / (2 |P_k|), so that an extremum's votes sum to its torque) or "torque"
        (|tau_k|).
    patch
        "square" (or rectangles, as the extrema say) or "disk".

    Returns
    -------
    ndarray
        Shape (H, W), float64, zero where there is no edge. Not normalised: with "supporting" and "one" the sum over
        the image is the sum of 2 |P_k| |tau_k|.
    """
    if sign not in ("supporting", "absolute", "separate"):
        raise ValueError(f'sign must be "supporting", "absolute" or "separate", got {sign!r}')
    if weight not in ("one", "area", "torque"):
        raise ValueError(f'weight must be "one", "area" or "torque", got {weight!r}')
    if patch not in ("square", "disk"):
        raise ValueError(f'patch must be "square" or "disk", got {patch!r}')
    if sign == "separate":
        parts = [contribution_map(edges, extrema[extrema.value * s > 0], weight=weight, patch=patch) for s in (1, -1)]
        return np.maximum(*parts)
    turns = np.sign(extrema.value) if sign == "supporting" else np.ones(len(extrema))
    votes = np.ascontiguousarray(turns * _weights(extrema, weight, patch), np.float64)
    sides = (extrema.height, extrema.width)
    y, x, height, width = (np.ascontiguousarray(a, np.int64) for a in (extrema.y, extrema.x, *sides))
    return _native.contributions(edges.fx, edges.fy, y, x, height, width, votes, patch == "disk", sign == "absolute")


def _weights(extrema: Extrema, weight: str, patch: str) -> FloatArray:
    if weight == "torque":
        return np.abs(extrema.value)
    if weight == "one":
        return np.ones(len(extrema))
    if patch == "disk":
        return 1 / (2 * np.pi * np.maximum((extrema.size - 1) / 2, 0.5) ** 2)
    return 1 / (2.0 * extrema.height * extrema.width)
