"""The paper's own forms: edges, extrema, contribution, strengthened edges, saliency, region seeds, patches (Sec. 4).

The paper leaves much open. A `Reading` makes every choice; where the program of its authors speaks (see the paper map),
the default is its choice. `BOUNDARIES`, `CARS` and `FIGURES` are the readings that the tables of results report, the
nearest to the paper's words and numbers that were found (`imtorque reproduce boundary`, `car-side`, `figure-ground`).
`imtorque.boundary_strength` and the other functions of the library serve better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from imtorque import _native
from imtorque.boundaries.strength import strengthen_edges
from imtorque.core.contribution import Weight, contribution_map
from imtorque.core.deprecation import deprecated_name
from imtorque.core.extrema import Neighbourhood, find_extrema, suppress_overlaps
from imtorque.core.torque import value_and_scale_maps
from imtorque.core.types import Edges, Extrema, FloatArray, Image, IntArray, Sizes
from imtorque.edges import SQRT2, detect_edges
from imtorque.edges.canny import Force
from imtorque.images import CheckedImage, ValueRange

__getattr__ = partial(deprecated_name, __name__)


@dataclass(frozen=True)
class Reading:
    """One reading of what the paper leaves open; by default that of its authors' program, where that speaks.

    Parameters
    ----------
    sigma, low, high
        Of Canny's edges, as for `detect_edges`. Program: sigma 1, automatic thresholds.
    direction_sigma
        Smoothing of the image whose gradient gives edges their direction; None: as `sigma`. Program: 0.5.
    directions
        8 or None, as for `detect_edges`. Program: 8.
    force
        Of the edges that torque is computed from; "unit" in the paper and in the program.
    binary
        Whether an edge has strength 1 before torque weighs it, or its gradient's. Program: it has.
    sizes
        Patch sizes; a number stands for 3, 5, ... up to it, and one below 1 for that part of the root of the image's
        area. Program: 3 to 45. Paper, Sec. 3.3: 3 to 91 for 161 x 241 pixels.
    neighbourhood, end_scales, inside
        As for `find_extrema`. Program: a cross, none at end sizes, patches inside.
    count, each_sign
        How many of the strongest extrema, None for all; whether so many of each sign. Program: 750 of each.
        Paper, Sec. 4.2: 5000, for its cars; for its Berkeley images it gives no number.
    window
        Side of the window that an extremum of the value map is above all others in. Program: 11.
    votes
        How contributions to maxima and to minima are joined: "separate", "supporting" as for `contribution_map`,
        "printed": |eq. 21| without the signs of extrema. Program: apart.
    weight
        As for `contribution_map`. Program: "area", 1 / (2 s^2).
    full
        Quantile of the contributions above 0 that becomes 1. Open.
    share
        Of the contribution in eq. 23, the paper's alpha; None: eq. 22.
    """

    sigma: float = 1.0
    low: float | None = None
    high: float | None = None
    direction_sigma: float | None = 0.5
    directions: Literal[8] | None = 8
    force: Force = "unit"
    binary: bool = True
    sizes: Sizes | float = 45
    neighbourhood: Neighbourhood = "cross"
    end_scales: bool = False
    inside: bool = True
    count: int | None = 750
    each_sign: bool = True
    window: int = 11
    votes: Literal["separate", "supporting", "printed"] = "separate"
    weight: Weight = "area"
    full: float = 1.0
    share: float | None = None

    def patch_sizes(self, shape: tuple[int, int]) -> Sizes:
        """Return the sizes of patches for images of this shape."""
        if not isinstance(self.sizes, int | float):
            return self.sizes
        largest = self.sizes * math.sqrt(shape[0] * shape[1]) if self.sizes < 1 else self.sizes
        return range(3, max(4, int(largest) + 1), 2)


# The extremum rule and the sums that were tried before the authors' program was known.
_WORDS = Reading(
    sigma=SQRT2,
    direction_sigma=None,
    directions=None,
    neighbourhood="box",
    end_scales=True,
    inside=False,
    count=5000,
    each_sign=False,
    votes="supporting",
    weight="one",
)
# Chosen on Berkeley's training images by `imtorque reproduce boundary-readings --split train`; the threshold on 12 of
# its val images, by its base alone.
BOUNDARIES = replace(
    _WORDS, high=0.05, sizes=61, neighbourhood="cross", end_scales=False, inside=True, count=None, weight="area"
)
CARS = replace(_WORDS, high=0.10, sizes=181, share=0.5)  # threshold chosen on car_side, by both of the paper's F
FIGURES = replace(_WORDS, sizes=0.8, votes="separate", full=0.99)  # seen on the images that it is reported on
AUTHORS = Reading()


def edges(image: Image | CheckedImage, reading: Reading = AUTHORS, *, value_range: ValueRange | None = None) -> Edges:
    """Return an image's edges as a reading has them.

    Parameters
    ----------
    image, value_range
        As for `detect_edges`.
    reading
        What is open.
    """
    checked = CheckedImage(image, value_range)
    own = None if reading.direction_sigma is not None else reading.directions
    options: dict[str, Any] = {"sigma": reading.sigma, "low": reading.low, "high": reading.high}
    found = detect_edges(checked, force=reading.force, directions=own, **options)
    if reading.direction_sigma is None:
        return found
    from scipy.ndimage import gaussian_filter  # here, because it takes longer to load than the rest of the library

    smooth = gaussian_filter(checked.grey().astype(np.float64), reading.direction_sigma, mode="nearest")
    slope_y, slope_x = np.gradient(smooth) if min(smooth.shape) > 1 else (np.zeros_like(smooth),) * 2
    length = np.where(found.mask, found.strength / np.maximum(np.hypot(slope_x, slope_y), 1e-12), 0)
    fx, fy = ((length * slope).astype(np.float32) for slope in (slope_y, -slope_x))
    _native.shape_forces(fx, fy, 0.0 if reading.force == "unit" else 1.0, reading.directions or 0, False)
    return Edges(fx, fy)


def extrema(source: Edges, reading: Reading = AUTHORS) -> Extrema:
    """Return the extrema of the torque volume that a reading counts, strongest first."""
    rule: dict[str, Any] = {
        "neighbourhood": reading.neighbourhood,
        "end_scales": reading.end_scales,
        "inside": reading.inside,
        "count": reading.count,
    }
    sizes = reading.patch_sizes(source.shape)
    if not reading.each_sign:
        return find_extrema(source, sizes, **rule)
    return _joined(*(find_extrema(source, sizes, sign=sign, **rule) for sign in (1, -1)))


def strongest(found: Extrema, reading: Reading) -> Extrema:
    """Return those of all extrema, strongest first, that a reading counts."""
    if not reading.each_sign:
        return found[: reading.count]
    return _joined(*(found[found.value * sign > 0][: reading.count] for sign in (1, -1)))


def value_map_extrema(source: Edges, reading: Reading = AUTHORS) -> Extrema:
    """Return the extrema of the value map, strongest first: above 0 and above all else in a window, or below.

    The program's fixations are the strongest minima, which are dark objects. Those on the border do not count.
    """
    from scipy.ndimage import maximum_filter

    value, scale = value_and_scale_maps(source, reading.patch_sizes(source.shape))
    others = np.ones((reading.window, reading.window), bool)
    others[reading.window // 2, reading.window // 2] = False
    inner = np.zeros(value.shape, bool)
    inner[1:-1, 1:-1] = True
    parts = []
    for sign in (1, -1):
        signed = sign * value
        around = maximum_filter(signed, footprint=others, mode="constant", cval=-np.inf)
        y, x = np.nonzero((signed > np.maximum(around, 0)) & inner)
        parts.append(Extrema(y, x, np.abs(scale[y, x]).astype(np.int64), value[y, x]))
    return _joined(*parts)


def contribution(source: Edges, found: Extrema, reading: Reading = AUTHORS) -> FloatArray:
    """Return d_tau: what edges contribute to extrema (eq. 21), above 0, over a quantile of it, in [0, 1]."""
    if reading.votes != "printed":
        return normalised_contribution(source, found, votes=reading.votes, weight=reading.weight, full=reading.full)
    plain = Extrema(found.y, found.x, found.size, np.abs(found.value))
    return in_unit_range(np.abs(contribution_map(source, plain, weight=reading.weight)), reading.full)


def strengthened_edges(
    source: Image | CheckedImage | Edges,
    reading: Reading = BOUNDARIES,
    *,
    value_range: ValueRange | None = None,
    **changes: Any,
) -> FloatArray:
    """Return Canny's edges as the paper strengthens them (Sec. 4.2), by default in the reading of the results.

        d_s = 1 / (1 + exp(-(-2.54 + 1.86 d_o + 2.69 d_tau)))      (eq. 22), or      (1 - share) d_o + share d_tau  (23)

    Parameters
    ----------
    source
        An image, as for `detect_edges`, or edges.
    reading
        What is open: `BOUNDARIES` (Berkeley's images), `CARS`, or another.
    value_range
        As for `detect_edges`.
    changes
        Fields of the reading to be otherwise, as ``share=0.3``.

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
    reading = replace(reading, **changes)
    found = source if isinstance(source, Edges) else edges(source, reading, value_range=value_range)
    base = found.mask.astype(np.float64)
    if not base.any():
        return base
    if not reading.binary:
        strong = (
            source
            if isinstance(source, Edges)
            else edges(source, replace(reading, force="strength"), value_range=value_range)
        )
        base = np.minimum(strong.strength, 1).astype(np.float64)
    return strengthened(base, contribution(found, extrema(found, reading), reading), reading)


def strengthened(base: FloatArray, votes: FloatArray, reading: Reading = BOUNDARIES) -> FloatArray:
    """Return edges of this strength after eq. 22 or 23, from their contribution in [0, 1]."""
    if reading.share is None:
        return strengthen_edges(base, votes, coefficients="paper")
    return strengthen_edges(base, votes, method="blend", share=reading.share)


def saliency(
    image: Image | CheckedImage,
    reading: Reading = AUTHORS,
    *,
    spread: float = 25.0,
    value_range: ValueRange | None = None,
) -> FloatArray:
    """Return the mixture of Gaussians at the extrema of the torque volume, weighted by |torque| (Sec. 4.1), in [0, 1].

    Parameters
    ----------
    image, value_range
        As for `detect_edges`; the paper's images have a shorter side of 150 pixels.
    reading
        What is open.
    spread
        Standard deviation of the Gaussians in pixels, the paper's 25.
    """
    from scipy.ndimage import gaussian_filter

    found = edges(image, reading, value_range=value_range)
    points = np.zeros(found.shape)
    chosen = extrema(found, reading)
    np.add.at(points, (chosen.y, chosen.x), np.abs(chosen.value).astype(np.float64))
    blurred: FloatArray = gaussian_filter(points, spread, mode="constant", truncate=6.0)
    span = float(np.ptp(blurred))
    return (blurred - blurred.min()) / span if span > 0 else np.zeros(found.shape)


def region_seeds(
    image: Image | CheckedImage,
    reading: Reading = AUTHORS,
    *,
    count: int = 8,
    overlap: float = 0.3,
    value_range: ValueRange | None = None,
) -> Extrema:
    """Return the patches that regions are modelled by (Sec. 4.3.1): the strongest extrema that overlap little.

    Parameters
    ----------
    image, value_range
        As for `detect_edges`.
    reading
        What is open.
    count, overlap
        How many at most, and the part of the smaller patch that two of one sign may share; the paper names neither.
    """
    found = edges(image, reading, value_range=value_range)
    return suppress_overlaps(extrema(found, reading), overlap)[:count]


def patches(
    image: Image | CheckedImage, reading: Reading = AUTHORS, *, value_range: ValueRange | None = None
) -> tuple[Extrema, Extrema]:
    """Return the patches that describe an image for recognition (Sec. 4.4): maxima, and minima, apart."""
    found = extrema(edges(image, reading, value_range=value_range), reading)
    return found[found.value > 0], found[found.value < 0]


def normalised_contribution(
    edges: Edges,
    extrema: Extrema,
    *,
    votes: Literal["supporting", "absolute", "separate"] = "supporting",
    weight: Weight = "one",
    full: float = 1.0,
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


def _joined(*parts: Extrema) -> Extrema:
    """Return all of them, strongest first."""
    y, x, size, value = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("y", "x", "size", "value")
    )
    order: IntArray = np.argsort(-np.abs(value), kind="stable")
    return Extrema(y[order], x[order], size[order], value[order])
