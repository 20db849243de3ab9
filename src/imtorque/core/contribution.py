"""From torque back to the edges: which edge pixels made it (Sec. 4.2 of the paper).

Two forms: `contribution_map` counts the patches of extrema (the paper's), `dense_contribution` all patches, each by how
coherently its edges turn. The second tells object boundaries from texture much better.
"""

import math
import threading
from typing import Literal

import numpy as np

from imtorque import _native
from imtorque.core.patches import PatchShape, patch_shape
from imtorque.core.patterns import Pattern, Polarity, check_polarity, pattern_edges
from imtorque.core.torque import torque_volume
from imtorque.core.types import Edges, Extrema, Float32Array, FloatArray, Patch, Sizes, check_sizes, require_edges

BOUNDARY_SIZES = (5, 9, 17, 31, 55, 97)  # convention: about a factor of 1.8 apart, for images of about 500 pixels
VOLUME_PIXELS = 1 << 24  # bound: torques held at a time; sizes that vote together share their tables
SCRATCH_PIXELS = 1 << 20  # bound: 4 MB for each thread; more comes in large pages, whose first touch costs less
Votes = Literal["supporting", "absolute", "separate"]
Weight = Literal["one", "area", "torque"]


def contribution_map(
    edges: Edges,
    extrema: Extrema,
    *,
    votes: Votes = "supporting",
    weight: Weight = "one",
    patch: Patch = "square",
    pattern: Pattern = "circle",
    polarity: Polarity = "signed",
) -> FloatArray:
    """Sum each edge pixel's moments about the extrema whose patches hold it (eq. 21).

        v(q) = sum over extrema k with q in P_k of  w_k sgn(tau_k) (q - p_k) x F(q)

    Parameters
    ----------
    edges
        Edge vectors.
    extrema
        The patches that vote.
    votes
        "supporting": an edge counts positive where it turns with the extremum, negative against it. "absolute": by the
        size of its moment alone. "separate": the supporting sums of maxima and of minima apart, the larger of the two.
    weight
        w_k: "one" (the paper's), "area" (1 / (2 |P_k|), so that an extremum's votes sum to its torque) or "torque"
        (|tau_k|).
    patch
        "square" (or rectangles, as the extrema say) or "disk".
    pattern, polarity
        Those of the extrema, as `find_extrema` was given them. "free": an edge's moment is its squared part across the
        lever less its squared part along it.

    Returns
    -------
    ndarray
        Shape (H, W), float64, zero where there is no edge. Not normalised: with "supporting" and "one" the sum over
        the image is the sum of 2 |P_k| |tau_k|.

    See Also
    --------
    find_extrema, dense_contribution, strengthen_edges
    """
    if not isinstance(extrema, Extrema):
        raise TypeError(f"extrema must be Extrema, as find_extrema returns them, got {type(extrema).__name__}")
    require_edges(edges)
    if votes not in ("supporting", "absolute", "separate"):
        raise ValueError(f'votes must be "supporting", "absolute" or "separate", got {votes!r}')
    if weight not in ("one", "area", "torque"):
        raise ValueError(f'weight must be "one", "area" or "torque", got {weight!r}')
    shape = patch_shape(patch, extrema.size)
    if votes == "separate":
        field = pattern_edges(edges, pattern)
        signed = (extrema[extrema.value > 0], extrema[extrema.value < 0])
        parts = [contribution_map(field, part, weight=weight, patch=patch, polarity=polarity) for part in signed]
        return np.asarray(np.maximum(*parts))
    turns = np.sign(extrema.value) if votes == "supporting" else np.ones(len(extrema))
    weights = np.ascontiguousarray(turns * _weights(extrema, weight, shape), np.float64)
    field = pattern_edges(edges, pattern)
    free = check_polarity(polarity) == "free"
    return _native.contributions(field.fx, field.fy, *extrema.boxes(), weights, shape.code, votes == "absolute", free)


def dense_contribution(edges: Edges, sizes: Sizes = BOUNDARY_SIZES, *, pattern: Pattern = "circle") -> FloatArray:
    """Sum each edge pixel's moments about all pixels, weighed by the coherence of the torque there.

        X(q) = sum over sizes L of  1 / L^3 * sum over p with q in P_L(p) of  c_L(p) (q - p) x U(q),      U = F / |F|

    with c the `torque_coherence`: every square votes for the edges that turn the way its edges turn as a whole. An edge
    between two regions that are each coherent has support from both sides; an edge of a texture has little. Unweighted,
    the sum over all patches would vanish: opposite patches cancel.

    Parameters
    ----------
    edges
        Edge vectors; forces in proportion to edge strength serve best, on one scale for all images:
        ``detect_edges(image, low=0.004, high=0.004, force="strength", strength_scale=0.13)``.
    sizes
        Odd, increasing side lengths of the squares.
    pattern
        As for `torque_map`.

    Returns
    -------
    ndarray
        Shape (H, W), float64, zero where there is no edge. On photographs with the default sizes half of the edge
        pixels lie between 0.26 and 0.46, and 1 % above 0.9. Scale it no further.

    See Also
    --------
    contribution_map, torque_coherence, boundary_strength

    Notes
    -----
    For one size, the sum over q of |F(q)| X(q) is the sum over p of 2 c(p) tau(p) / L. Cost is linear in pixels and
    sizes, and does not depend on the sizes themselves.
    """
    sides = check_sizes(sizes)
    if sides.ndim != 1:
        raise ValueError(f"sizes must be sides of squares, got (height, width) pairs {sides.tolist()}")
    field = pattern_edges(edges, pattern)
    total = np.zeros(edges.shape)
    sizes_at_once = max(1, VOLUME_PIXELS // total.size)
    for start in range(0, len(sides), sizes_at_once):
        part = sides[start : start + sizes_at_once]
        halves = np.ascontiguousarray(part // 2, np.int64)
        volume = torque_volume(field, part, out=_scratch((len(part), *edges.shape)))
        _native.add_coherent_votes(field.field, halves, volume.tau, total)
    return total


_thread = threading.local()


def _scratch(shape: tuple[int, ...]) -> Float32Array:
    """Return an array to work in. Small ones are kept: the first touch of new memory costs as much as the torque."""
    size = math.prod(shape)
    if size > SCRATCH_PIXELS:
        return np.empty(shape, np.float32)
    if getattr(_thread, "scratch", None) is None or _thread.scratch.size < size:
        _thread.scratch = np.empty(size, np.float32)
    scratch: Float32Array = _thread.scratch[:size].reshape(shape)
    return scratch


def _weights(extrema: Extrema, weight: str, shape: PatchShape) -> FloatArray:
    if weight == "torque":
        return np.abs(extrema.value)
    if weight == "one":
        return np.ones(len(extrema))
    _, _, height, width = extrema.boxes()
    return 1 / (2 * shape.area(height, width, 2.0))
