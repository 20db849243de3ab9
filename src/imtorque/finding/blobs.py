"""Find things in a picture: torque says where, contours how they look, and each edge belongs to one thing."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from imtorque._types import BoolArray, Edges, FloatArray, Image, Patch, Sign, Sizes, check_sizes
from imtorque.finding.candidates import torque_candidates
from imtorque.finding.contours import Contours, fit_contours, refine_contours
from imtorque.finding.levels import Level, edge_levels, picture_levels
from imtorque.finding.measure import measured
from imtorque.finding.paper import paper_contours
from imtorque.finding.suppress import claim_edges
from imtorque.finding.table import Blobs
from imtorque.images import Picture, grey_image

CLAIMING = 0.45  # torque from which an outline may claim edges
FAINTEST = 0.5  # torque of an outline that is nowhere taken for a thing, unless a lower threshold is given
RELATIVE = 0.8  # of the torque of the picture's best outlines, where the sizes wanted are known
UNGUIDED, UNGUIDED_RELATIVE = 0.65, 0.84  # where they are not: the smaller of this torque and this share
LEAST_AT_TIPS = 0.3  # evidence at either end of a thing; stripes have none there
SIGNIFICANT = 6.0  # least contrast of a thing's mean over what noise makes of it, in standard deviations
SMALLEST, LEAST_SHARE, LARGEST_SHARE = 7.0, 0.015, 0.46  # of sizes not given: pixels, and shares of the picture's side
SPARED = 0.6  # outlines may be this share of the smallest wanted, or its inverse of the largest, to claim their edges
BEYOND = 0.8  # outlines may be this share of the smallest wanted, or its inverse of the largest
PROMINENT, PROMINENT_UNGUIDED = 0.45, 0.5  # share of a typical thing's edges that another must have
CLEAR, CLEAR_UNGUIDED = 0.9, 1.1  # contrast, over the typical one, from which small things need no prominence
REFINED_SIZE = 18.0  # pixels across a thing at the level that refines its outline, where there is one
MINORITY = 0.7  # a sign that explains less than this share of what the other does is that of the gaps between things


@dataclass(frozen=True)
class Search:
    """How candidates are looked for, as `find_blobs` was asked."""

    sizes: FloatArray | None
    sign: Sign | None
    ring: float
    patch: Patch


def find_blobs(
    image: Image | Edges,
    *,
    sizes: Sizes | tuple[float, float] | None = None,
    sign: Literal[1, -1, 0] | None = None,
    sigma: float | None = None,
    recipe: str = "contours",
    contrast: float = 0.0,
    ring: float = 0.6,
    patch: Patch = "disk",
    threshold: float | None = None,
    overlap: float = 0.4,
    prominence: float | None = None,
    count: int | None = None,
    mask: ArrayLike | None = None,
) -> Blobs:
    """Find bright and dark things, with place, size and outline.

    Extrema of ring torque over place and size say where things may be; around each the closed contour with most edges
    is cut; from the strongest down, each contour claims its edges, and what is left without edges of its own falls.
    Edges are taken at a scale in proportion to the things, and judged by the picture's own noise: magnification,
    contrast, empty margins and slow changes of light do not matter.

    Parameters
    ----------
    image
        A picture as for `detect_edges`; or `Edges`, which have no grey values: then contrast, snr and intensity are
        NaN.
    sizes
        (smallest, largest): a tuple of two is the range of diameters to look in, in pixels. A list or array is the
        patch sizes themselves, odd and increasing; a list of two is two sizes. By default everything from 7 pixels, or
        1.5 % of the picture's side where that is more, to 46 % of it.
    sign
        +1 for bright things, -1 for dark ones, 0 for both. None takes both too, unless one kind explains less than
        0.7 of the edges that the other does: then it is what lies between things, and is left out.
    sigma
        Smoothing of the edges, in pixels; by default in proportion to the things.
    recipe
        "contours", or "paper": the extrema of the paper's Canny edges in square patches, after overlap suppression;
        their outlines are the patches.
    contrast
        Least |contrast|, in standard deviations of the picture's noise.
    ring
        Share of the patch, by side, left out in its middle when candidates are looked for; 0 for plain torque.
    patch
        "disk" or "square".
    threshold
        Least |torque| of an outline (see `Blobs`). By default 0.8 of what the picture's best outlines have, and at
        least 0.5; where no sizes are given at most 0.65. With recipe="paper" of the patch, 0.4.
    overlap
        Largest part of the smaller thing's area that two things of like size may share. Things of four times the area
        may hold smaller ones.
    prominence
        Least share of the edges (contrast times diameter) that a typical thing of the picture has: 0.45, or 0.5 where
        no sizes are given. Asked only of things of less contrast than the typical thing, so that small things as clear
        as large ones stay.
    count
        How many to return at most; all by default.
    mask
        Where to look, shape (H, W): things whose centre lies elsewhere are left out.

    Returns
    -------
    Blobs
        Strongest first, with a label image.

    Examples
    --------
    >>> image = np.ones((60, 80))
    >>> image[20:41, 15:36] = 0
    >>> blobs = find_blobs(image)
    >>> blobs
    Blobs(1: 0 bright, 1 dark)
    >>> [round(float(v), 1) for v in (blobs.y[0], blobs.x[0], blobs.contrast[0])]
    [30.0, 25.0, -0.9]
    """
    _check(sign, recipe, contrast, ring, threshold, overlap, prominence, count)
    shape = image.shape if isinstance(image, Edges) else Picture(image).shape
    chosen = _mask(mask, shape)
    if recipe == "paper":
        found = paper_contours(image, sizes, sign or None, 0.4 if threshold is None else threshold, overlap)
    else:
        smallest, largest = size_range(shape, sizes)
        listed = None
        if sizes is not None and not isinstance(sizes, tuple):
            listed = np.minimum(check_sizes(np.asarray(sizes)), _reach(shape)).astype(np.float64)
        levels = _levels(image, smallest, largest, sigma)
        found = _contours(levels, Search(listed, sign or None, ring, patch))
        found = found[found.closure >= (CLAIMING if threshold is None else threshold)]
        diameter = found.diameter
        found = found[(diameter >= SPARED * smallest) & (diameter <= largest / SPARED)]
        found = found[_significant(found, contrast, shape)]
        found = found[claim_edges(found, found.closure, shape, overlap=overlap)]
        least = threshold if threshold is not None else _threshold(found, sizes is not None)
        diameter = found.diameter
        fits = (diameter >= BEYOND * smallest) & (diameter <= largest / BEYOND)
        found = found[fits & (found.closure >= least)]
        share = prominence if prominence is not None else PROMINENT if sizes is not None else PROMINENT_UNGUIDED
        found = found[_prominent(found, share, CLEAR if sizes is not None else CLEAR_UNGUIDED)]
        found = found[_of_main_sign(found)] if sign is None else found
        found = _refined(found, levels)
    blobs = measured(found, image, shape)
    if chosen is not None:
        y, x = (np.clip(np.rint(v).astype(int), 0, n - 1) for v, n in zip((blobs.y, blobs.x), shape, strict=True))
        blobs = blobs[chosen[y, x]]
    return blobs[:count]


def _check(
    sign: int | None,
    recipe: str,
    contrast: float,
    ring: float,
    threshold: float | None,
    overlap: float,
    prominence: float | None,
    count: int | None,
) -> None:
    """Refuse what cannot be meant."""
    if sign not in (None, -1, 0, 1):
        raise ValueError(f"sign must be +1, -1, 0 or None, got {sign!r}")
    if recipe not in ("contours", "paper"):
        raise ValueError(f'recipe must be "contours" or "paper", got {recipe!r}')
    named = {"contrast": contrast, "threshold": threshold or 0.0, "overlap": overlap, "prominence": prominence or 0.0}
    for name, value in named.items():
        if not (math.isfinite(value) and value >= 0):
            raise ValueError(f"{name} must not be negative, got {value}")
    if not 0 <= ring < 1:
        raise ValueError(f"ring must be at least 0 and below 1, got {ring}")
    if count is not None and operator.index(count) < 0:
        raise ValueError(f"count must not be negative, got {count}")


def _mask(mask: ArrayLike | None, shape: tuple[int, ...]) -> BoolArray | None:
    """Return where to look, as booleans."""
    if mask is None:
        return None
    chosen = np.asarray(mask)
    if chosen.shape != shape or chosen.dtype.kind not in "bui":
        raise ValueError(f"mask must be booleans of shape {shape}, got {chosen.dtype} of shape {chosen.shape}")
    return chosen.astype(bool)


def size_range(shape: tuple[int, ...], sizes: Sizes | tuple[float, float] | None) -> tuple[float, float]:
    """Return the smallest and the largest diameter to look for: given as a tuple of two, or held by a list of sizes."""
    if sizes is None:
        side = math.sqrt(shape[0] * shape[1])
        smallest = max(SMALLEST, LEAST_SHARE * side)
        return smallest, max(smallest, LARGEST_SHARE * side)
    if isinstance(sizes, tuple) and len(sizes) == 2 and not any(isinstance(v, tuple) for v in sizes):
        smallest, largest = (float(np.asarray(v).item()) for v in sizes)
        if not (math.isfinite(largest) and 3 <= smallest <= largest):
            raise ValueError(f"sizes as a range must be (smallest, largest) with 3 <= smallest <= largest, got {sizes}")
        return min(smallest, _reach(shape)), min(largest, _reach(shape))
    listed = check_sizes(np.asarray(sizes))
    if listed.ndim != 1:
        raise ValueError(f"sizes must be sides of patches, got (height, width) pairs {listed.tolist()}")
    smallest, largest = (min(max(3.0, float(size)), _reach(shape)) for size in (listed[0], listed[-1]))
    return smallest, largest


def _reach(shape: tuple[int, ...]) -> float:
    """Return the side of a patch that holds the whole picture, wherever its centre lies: larger ones see no more."""
    return 2.0 * max(shape) + 1


def _levels(image: Image | Edges, smallest: float, largest: float, sigma: float | None) -> list[Level]:
    """Return the levels of a picture, or of edges; this is where a picture comes in."""
    if isinstance(image, Edges):
        return list(edge_levels(image, smallest, largest))
    return list(picture_levels(grey_image(image), smallest, largest, sigma=sigma))


def _contours(levels: list[Level], search: Search) -> Contours:
    """Return the contours around all candidates at all levels."""
    parts = []
    for level in levels:
        sizes = None if search.sizes is None else search.sizes / level.factor
        seeds = torque_candidates(level, sign=search.sign, ring=search.ring, patch=search.patch, sizes=sizes)
        parts.append(fit_contours(level, seeds))
    return Contours.join([Contours.none(), *parts])


def _significant(found: Contours, contrast: float, shape: tuple[int, int]) -> BoolArray:
    """Return which contours have edges at their ends, stand out of the noise and have the contrast asked for.

    Contrast is not asked of contours found in edges alone.
    """
    known = np.isfinite(found.contrast)
    snr = np.abs(found.contrast) / found.noise
    keep: BoolArray = ~known | ((found.significance >= SIGNIFICANT) & (snr >= contrast))
    return keep & (found.tips(shape) >= LEAST_AT_TIPS)


def _threshold(found: Contours, guided: bool) -> float:
    """Return the least torque of an outline, from the picture's best outlines: noise takes from all of them alike."""
    best = float(np.quantile(found.closure, 0.9)) if len(found) else 0.0
    return max(FAINTEST, RELATIVE * best if guided else min(UNGUIDED, UNGUIDED_RELATIVE * best))


def _prominent(found: Contours, share: float, clear: float) -> BoolArray:
    """Return which contours explain enough of the picture's edges, or are as clear as those that explain most."""
    contrast = _known_contrast(found)
    edges = contrast * found.diameter
    weight = edges * found.closure
    keep: BoolArray = edges >= share * _typical(edges, weight)
    return keep | (contrast >= clear * _typical(contrast, weight))


def _of_main_sign(found: Contours) -> BoolArray:
    """Return which contours have the sign that explains most edges; all where both explain about as much."""
    edges = _known_contrast(found) * found.diameter * found.closure
    bright, dark = (float(edges[found.sign == sign].sum()) for sign in (1, -1))
    alike = min(bright, dark) >= MINORITY * max(bright, dark)
    keep: BoolArray = np.full(len(found), True) if alike else found.sign == (1 if bright > dark else -1)
    return keep


def _known_contrast(found: Contours) -> FloatArray:
    """Return |contrast|, 1 for all where only edges are known."""
    contrast = np.abs(found.contrast)
    return np.where(np.isnan(contrast), 1.0, contrast)


def _typical(amounts: FloatArray, weight: FloatArray) -> float:
    """Return the weighted median: what the things that explain most edges have, however many small ones there are."""
    order = np.argsort(amounts)
    passed = np.cumsum(weight[order])
    return float(amounts[order][np.searchsorted(passed, passed[-1] / 2)]) if len(amounts) else 0.0


def _refined(found: Contours, levels: list[Level]) -> Contours:
    """Refine each contour at the coarsest level at which the thing is large enough, else at the finest."""
    if not levels:
        return found
    diameter = found.diameter
    factors = np.array([level.factor for level in levels])
    enough = diameter[:, None] >= REFINED_SIZE * factors
    chosen = np.where(enough, factors, 0).max(axis=1)
    chosen = np.where(chosen == 0, factors.min(), chosen)
    parts = [refine_contours(level, found[chosen == level.factor]) for level in levels]
    return Contours.join([Contours.none(), *parts])
