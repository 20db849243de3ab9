"""Torque saliency: a Gaussian around every torque extremum (Sec. 4.1 of the paper)."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from imtorque.core.extrema import find_extrema
from imtorque.core.resizing import resize
from imtorque.core.torque import MEAN_LEVER
from imtorque.core.types import Edges, Extrema, FloatArray, Image, IntArray, Planes
from imtorque.edges import SQRT2, detect_edges
from imtorque.images import CheckedImage, ValueRange
from imtorque.saliency.gaussians import DEFAULT_SIGMA, splatted, working_shape, working_sigma
from imtorque.saliency.maps import Map, unit_range

LARGEST_PATCH_SHARE = 0.46  # of the square root of the image's area (Sec. 3.3)
TYPICAL_STRENGTH = 0.99  # quantile of the gradients on edges that is force 1; convention: detect_edges' strength_scale
Form = Literal["best", "paper"]
Weight = Literal["torque", "one", "size", "coherence"]
WEIGHTS = ("torque", "one", "size", "coherence")


@dataclass(frozen=True)
class TorqueForm:
    """How torque saliency is computed: from grey or Lab, smoothed by how many pixels, and its defaults."""

    colour: bool
    edge_sigma: float
    count: int
    alpha: float


FORMS = {
    "best": TorqueForm(colour=True, edge_sigma=SQRT2, count=4000, alpha=1.5),
    "paper": TorqueForm(colour=False, edge_sigma=2.0, count=500, alpha=2.0),
}


def torque_saliency(
    image: Image | CheckedImage,
    *,
    form: Form = "best",
    count: int | None = None,
    weight: Weight = "torque",
    sigma: float = DEFAULT_SIGMA,
    alpha: float | None = None,
    inside: bool = False,
    value_range: ValueRange | None = None,
) -> Map:
    """Predict where people look from the extrema of the torque: each becomes a Gaussian (Sec. 4.1).

        S(q) = sum over extrema k of  w_k exp(-|q - p_k|^2 / (2 sigma^2)),  scaled to [0, 1]

    Parameters
    ----------
    image
        Grey or colour, as for `detect_edges`. Images whose shorter side exceeds 150 pixels are shrunk to that first,
        and the map enlarged again.
    form
        "best": the L, a and b channels apart, forces in proportion to the gradient, the strongest extrema of all three.
        "paper": grey, unit forces. Numbers that the
        paper leaves open were chosen on photographs of scenes (docs/guides/saliency.md).
    count
        How many extrema of both signs; by default 4000 ("best") or 500 ("paper", where fewer predict worse).
    weight
        w_k: "torque" (|tau|), "one", "size" (|tau| times the patch size) or "coherence" (|tau| times the share of its
        edges' moments of one sign, which favours lone closed contours over dense edges; for `sigma` up to 10).
    sigma
        In pixels of an image whose shorter side is 150. 25 is the paper's; near 8 places fixations more exactly.
    alpha
        Exponent of the torque's normalisation; below 2 larger patches count more. 1.5 for "best", 2 for "paper" by
        default.
    inside
        Whether only patches that lie inside the image count. This prefers the middle of the image, as people do:
        compare it only with maps that have a centre prior too.
    value_range
        As for `detect_edges`.

    Returns
    -------
    ndarray
        Shape (H, W), from 0 to 1; all 0 where the image has no edges.

    See Also
    --------
    gbvs_saliency, itti_saliency, blend_saliency, scan_path

    Examples
    --------
    >>> image = np.zeros((100, 150))
    >>> image[40:61, 90:111] = 1
    >>> y, x = np.unravel_index(torque_saliency(image).argmax(), image.shape)
    >>> bool(abs(y - 50) < 5 and abs(x - 100) < 5)
    True
    """
    if form not in FORMS:
        raise ValueError(f'form must be "best" or "paper", got {form!r}')
    chosen = FORMS[form]
    checked = CheckedImage(image, value_range)
    points = attended_extrema(
        form_edges(checked, chosen), alpha=chosen.alpha if alpha is None else alpha, inside=inside, weight=weight
    ).strongest(chosen.count if count is None else count)
    return _drawn(points, checked.shape, sigma, checked.shape)


def saliency_of_size(image: CheckedImage, shape: tuple[int, int]) -> Map:
    """Return torque saliency by the default form, at another height and width."""
    chosen = FORMS["best"]
    points = attended_extrema(form_edges(image, chosen), alpha=chosen.alpha).strongest(chosen.count)
    return _drawn(points, image.shape, DEFAULT_SIGMA, shape)


def form_edges(image: CheckedImage, form: TorqueForm) -> list[Edges]:
    """Return the edges that a form's extrema are found in, at the working size."""
    shape = working_shape(image.shape)
    if form.colour:
        return strength_edges(image.resized(shape, colours=True))
    return [detect_edges(image.resized(shape)[0], sigma=form.edge_sigma, value_range=(0.0, 1.0))]


def _drawn(points: Points, whole: tuple[int, int], sigma: float, shape: tuple[int, int]) -> Map:
    """Return the Gaussians around points of an image at its working size, as a map of another size."""
    working = working_shape(whole)
    saliency = splatted(points.y, points.x, points.weight, working, working_sigma(sigma, working))
    return unit_range(resize(saliency, shape))


@dataclass(frozen=True)
class Points:
    """Weighted points, (n,) each, with the strengths that rank them: what Gaussians are drawn around."""

    y: IntArray
    x: IntArray
    weight: FloatArray
    strength: FloatArray

    def strongest(self, count: int) -> Points:
        """Return the points of greatest strength."""
        if operator.index(count) < 1:
            raise ValueError(f"count must be at least 1, got {count}")
        first = np.argsort(-self.strength, kind="stable")[:count]
        return Points(self.y[first], self.x[first], self.weight[first], self.strength[first])


def strength_edges(channels: Planes) -> list[Edges]:
    """Return the edges of each channel, with forces in proportion to the gradient on one scale for all."""
    sigma = FORMS["best"].edge_sigma
    found = [
        detect_edges(channel, sigma=sigma, force="strength", strength_scale=1.0, value_range=(0.0, 1.0))
        for channel in channels
    ]
    strengths = np.concatenate([edges.strength[edges.mask] for edges in found])
    scale = float(np.quantile(strengths, TYPICAL_STRENGTH)) if strengths.size else 1.0
    return [Edges(edges.fx / scale, edges.fy / scale) for edges in found]


def attended_extrema(
    channels: Sequence[Edges], *, alpha: float = 2.0, inside: bool = False, weight: Weight = "torque"
) -> Points:
    """Return the torque extrema of all channels as weighted points."""
    if weight not in WEIGHTS:
        raise ValueError(f"weight must be one of {', '.join(WEIGHTS)}, got {weight!r}")
    parts = [_channel_points(edges, alpha, inside, weight) for edges in channels]
    columns = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Points(*columns)


def patch_sizes(shape: tuple[int, int]) -> range:
    """Return the paper's sizes: 3, 5, ... up to a patch of 21 % of the image's area (Sec. 3.3)."""
    largest = math.floor(LARGEST_PATCH_SHARE * math.sqrt(shape[0] * shape[1]))
    return range(3, max(largest, 3) + 1, 2)


def _channel_points(
    edges: Edges, alpha: float, inside: bool, weight: Weight
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    extrema = find_extrema(edges, sizes=patch_sizes(edges.shape), alpha=alpha)
    if inside:
        extrema = extrema[_lies_inside(extrema, edges.shape)]
    strength = np.abs(extrema.value).astype(np.float64)
    return extrema.y, extrema.x, _weights(edges, extrema, weight), strength


def _lies_inside(extrema: Extrema, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Return which patches lie wholly in the image."""
    room = np.minimum.reduce([extrema.y, shape[0] - 1 - extrema.y, extrema.x, shape[1] - 1 - extrema.x])
    return np.asarray(room >= extrema.size // 2)


def _weights(edges: Edges, extrema: Extrema, weight: Weight) -> FloatArray:
    strength = np.abs(extrema.value).astype(np.float64)
    if weight == "one":
        return np.ones(len(extrema))
    if weight == "size":
        return strength * extrema.size
    return strength * _coherence(edges, extrema) if weight == "coherence" else strength


def _coherence(edges: Edges, extrema: Extrema) -> FloatArray:
    """Return |torque| over edge mass: sum of (q - p) x F over the mean lever times the sum of |F|, in each patch."""
    table = np.zeros((edges.shape[0] + 1, edges.shape[1] + 1))
    table[1:, 1:] = edges.strength.astype(np.float64).cumsum(axis=0).cumsum(axis=1)
    reach = extrema.size // 2
    top, left = np.maximum(extrema.y - reach, 0), np.maximum(extrema.x - reach, 0)
    bottom, right = np.minimum(extrema.y + reach + 1, edges.shape[0]), np.minimum(extrema.x + reach + 1, edges.shape[1])
    mass = table[bottom, right] - table[top, right] - table[bottom, left] + table[top, left]
    coherence: FloatArray = np.abs(extrema.value) * 2 * extrema.size / np.maximum(MEAN_LEVER * mass, 1e-12)
    return coherence
