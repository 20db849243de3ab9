"""Find objects in an image: torque says where, contours how they look, and each edge belongs to one object."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from imtorque.core.types import BoolArray, Edges, Float32Array, FloatArray, Image, Patch, Sign, Sizes, check_sizes
from imtorque.detection.candidates import torque_candidates
from imtorque.detection.contours import Contours, fit_contours, refine_contours
from imtorque.detection.levels import FINE_SIZE, WORKING_SIZE, Level, edge_levels, image_levels
from imtorque.detection.measure import measured
from imtorque.detection.paper import paper_contours
from imtorque.detection.suppress import claim_edges
from imtorque.detection.table import Blobs
from imtorque.detection.things import Look, SizesKnown, looks, thing_scores, weighted_quantile
from imtorque.images import CheckedImage, grey_image

FAINTEST = 0.45  # torque of an outline that is nowhere taken for an object, unless a lower threshold is given
SURE, SURE_UNGUIDED = 0.35, 0.5  # score from which an outline is an object, for sizes given or not
SUREST = 0.8  # score of objects that say which sizes objects have, where none are given
SHARE_OF_SIGHT, ROOM = 0.2, 1.3  # of objects below the usual sizes, or above; and the room given beside those sizes
LEAST_AT_TIPS = 0.3  # evidence at either end of an object; stripes have none there
SIGNIFICANT = 6.0  # least contrast of an object's mean over what noise makes of it, in standard deviations
SMALLEST, LEAST_SHARE, LARGEST_SHARE = 7.0, 0.015, 0.46  # of sizes not given: pixels, and shares of the image's side
SPARED = 0.6  # outlines may be this share of the smallest wanted, or its inverse of the largest, to claim their edges
BEYOND = 0.8  # outlines may be this share of the smallest wanted, or its inverse of the largest
REFINED_SIZE = 18.0  # pixels across an object at the level that refines its outline, where there is one


@dataclass(frozen=True)
class Search:
    """How candidates are looked for: diameters, patch sizes where they are listed, and as `find_blobs` was asked.

    `known` says whether the diameters were asked for, were found in the image, or are those of anything.
    """

    range: tuple[float, float]
    sizes: FloatArray | None = None
    sign: Sign | None = None
    ring: float = 0.6
    patch: Patch = "disk"
    known: SizesKnown = "given"


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
    sure: float | None = None,
    count: int | None = None,
    mask: ArrayLike | None = None,
) -> Blobs:
    """Find bright and dark objects, with place, size and outline.

    Extrema of ring torque over place and size say where objects may be; around each the closed contour with most edges
    is cut, and judged by its edges, its shape and how like the other contours it is (`objects.thing_scores`); from the
    best down, each contour claims its edges, and what is left without edges of its own falls.
    Edges are taken at a scale in proportion to the objects, and judged by the image's own noise: magnification,
    contrast, empty margins and slow changes of light do not matter.

    Parameters
    ----------
    image
        An image as for `detect_edges`; or `Edges`, which have no grey values: then contrast, snr and intensity are
        NaN.
    sizes
        (smallest, largest): a tuple of two is the range of diameters to look in, in pixels; what was found there may be
        up to a fifth smaller or a quarter larger. A list or array is the patch sizes themselves, odd and increasing; a
        list of two is two sizes. By default everything from 7 pixels, or 1.5 % of the image's side where that is
        more, to 46 % of it is looked at, and the range is that of the objects that hold most of what the image shows,
        by contrast times area.
    sign
        +1 for bright objects, -1 for dark ones, 0 for both. None takes both too, but the kind that explains fewer of
        the edges is likely to be what lies between objects, and scores less: the less it explains, the less.
    sigma
        Smoothing of the edges, in pixels; by default in proportion to the objects.
    recipe
        "contours", or "paper": the extrema of the paper's Canny edges in square patches, after overlap suppression;
        their outlines are the patches.
    contrast
        Least |contrast|, in standard deviations of the image's noise.
    ring
        Share of the patch, by side, left out in its middle when candidates are looked for; 0 for plain torque.
    patch
        "disk" or "square".
    threshold
        Least |torque| of an outline (see `Blobs`); where it is given it decides, not the score. With recipe="paper" of
        the patch, 0.4.
    overlap
        Largest part of the smaller object's area that two objects of like size may share. Objects of four times the
        area may hold smaller ones.
    sure
        Least score of an outline, how much it looks like an object, 0 to 1: 0.35, or 0.5 where no sizes are given, or 0
        where a threshold is.
    count
        How many to return at most; all by default.
    mask
        Where to look, shape (H, W): objects whose centre lies elsewhere are left out.

    Returns
    -------
    Blobs
        Strongest first, with a label image.

    See Also
    --------
    ObjectFinder, find_extrema, segment_objects

    Examples
    --------
    >>> image = np.ones((60, 80))
    >>> image[20:41, 15:36] = 0
    >>> blobs = find_blobs(image)
    >>> len(blobs)
    1
    >>> [round(float(v), 1) for v in (blobs.y[0], blobs.x[0], blobs.contrast[0])]
    [30.0, 25.0, -1.0]
    """
    _check(sign, recipe, contrast, ring, threshold, overlap, sure, count)
    shape = image.shape if isinstance(image, Edges) else CheckedImage(image).shape
    chosen = _mask(mask, shape)
    if recipe == "paper":
        found = paper_contours(image, sizes, sign or None, 0.4 if threshold is None else threshold, overlap)
    else:
        known: SizesKnown = "unknown" if sizes is None else "given"
        search = Search(size_range(shape, sizes), _listed(sizes, shape), sign or None, ring, patch, known)
        candidates, levels, grey = find_contours(image, search, sigma, FAINTEST if threshold is None else threshold)
        candidates = candidates[_contrasting(candidates, contrast)]
        judge = partial(standing, shape=shape, grey=grey, signed=sign is not None, overlap=overlap)
        found = judge(candidates, search=search)
        if sizes is None and len(found):
            found = judge(candidates, search=replace(search, range=usual_sizes(found), known="found"))
        usual = SURE_UNGUIDED if sizes is None else SURE
        least = sure if sure is not None else usual if threshold is None else 0.0
        found = _refined(found[found.score >= least], levels)
    blobs = measured(found, image, shape)
    if chosen is not None:
        y, x = (np.clip(np.rint(v).astype(int), 0, n - 1) for v, n in zip((blobs.y, blobs.x), shape, strict=True))
        blobs = blobs[chosen[y, x]]
    return blobs[:count]


def find_contours(
    image: Image | Edges, search: Search, sigma: float | None = None, least: float = FAINTEST
) -> tuple[Contours, list[Level], Float32Array | None]:
    """Return the contours that may outline objects, before they are judged; the levels of the image, and its grey.

    They have at least this torque, edges at their ends, and stand out of the noise.
    """
    shape = image.shape if isinstance(image, Edges) else CheckedImage(image).shape
    smallest, largest = search.range
    grey = None
    if isinstance(image, Edges):
        levels = list(edge_levels(image, smallest, largest))
    else:
        grey = grey_image(image)
        working = FINE_SIZE if search.known == "given" and smallest >= 2 * WORKING_SIZE else WORKING_SIZE
        levels = list(image_levels(grey, smallest, largest, sigma=sigma, working=working))
    found = _contours(levels, search, least)
    found = found[found.closure >= least]
    return found[_significant(found, shape)], levels, grey


def standing(
    candidates: Contours,
    *,
    search: Search,
    shape: tuple[int, int],
    grey: Float32Array | None,
    signed: bool = False,
    overlap: float = 0.4,
    rules: tuple[Look, Look] | None = None,
) -> Contours:
    """Return the contours that have edges of their own when those with higher scores claim theirs first."""
    smallest, largest = search.range
    diameter = candidates.diameter
    candidates = candidates[(diameter >= SPARED * smallest) & (diameter <= largest / SPARED)]
    sizes = None if search.known == "unknown" else search.range
    score = thing_scores(candidates, shape, sizes, grey, signed, rules or looks(search.known))
    stands = claim_edges(candidates, score, shape, overlap=overlap)
    found = replace(candidates[stands], score=score[stands])
    diameter = found.diameter
    return found[(diameter >= BEYOND * smallest) & (diameter <= largest / BEYOND)]


def usual_sizes(found: Contours) -> tuple[float, float]:
    """Return the range of diameters of the objects that hold most of what the image shows: contrast times area."""
    surest = found[found.score >= min(SUREST, float(found.score.max()))]
    weight = np.nan_to_num(np.abs(surest.contrast), nan=1.0) * surest.area * surest.score
    small, large = (weighted_quantile(surest.diameter, weight, q) for q in (SHARE_OF_SIGHT, 1 - SHARE_OF_SIGHT))
    return small / ROOM, large * ROOM


def _check(
    sign: int | None,
    recipe: str,
    contrast: float,
    ring: float,
    threshold: float | None,
    overlap: float,
    sure: float | None,
    count: int | None,
) -> None:
    """Refuse what cannot be meant."""
    if sign not in (None, -1, 0, 1):
        raise ValueError(f"sign must be +1, -1, 0 or None, got {sign!r}")
    if recipe not in ("contours", "paper"):
        raise ValueError(f'recipe must be "contours" or "paper", got {recipe!r}')
    named = {"contrast": contrast, "threshold": threshold or 0.0, "overlap": overlap, "sure": sure or 0.0}
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
    """Return the side of a patch that holds the whole image, wherever its centre lies: larger ones see no more."""
    return 2.0 * max(shape) + 1


def _listed(sizes: Sizes | tuple[float, float] | None, shape: tuple[int, ...]) -> FloatArray | None:
    """Return the patch sizes, where they are given one by one."""
    if sizes is None or isinstance(sizes, tuple):
        return None
    return np.minimum(check_sizes(np.asarray(sizes)), _reach(shape)).astype(np.float64)


def _contours(levels: list[Level], search: Search, least: float) -> Contours:
    """Return the contours around all candidates at all levels; below this torque they have no grey values."""
    parts = []
    for level in levels:
        sizes = None if search.sizes is None else search.sizes / level.factor
        seeds = torque_candidates(level, sign=search.sign, ring=search.ring, patch=search.patch, sizes=sizes)
        parts.append(fit_contours(level, seeds, least=least))
    return Contours.join([Contours.none(), *parts])


def _contrasting(found: Contours, contrast: float) -> BoolArray:
    """Return which contours have the contrast asked for, in standard deviations of the noise."""
    return np.isnan(found.contrast) | (np.abs(found.contrast) / found.noise >= contrast)


def _significant(found: Contours, shape: tuple[int, int]) -> BoolArray:
    """Return which contours have edges at their ends and stand out of the noise, where grey values are known."""
    clear: BoolArray = np.isnan(found.contrast) | (found.significance >= SIGNIFICANT)
    return clear & (found.tips(shape) >= LEAST_AT_TIPS)


def _refined(found: Contours, levels: list[Level]) -> Contours:
    """Refine each contour at the coarsest level at which the object is large enough, else at the finest."""
    if not levels:
        return found
    diameter = found.diameter
    factors = np.array([level.factor for level in levels])
    enough = diameter[:, None] >= REFINED_SIZE * factors
    chosen = np.where(enough, factors, 0).max(axis=1)
    chosen = np.where(chosen == 0, factors.min(), chosen)
    parts = [refine_contours(level, found[chosen == level.factor]) for level in levels]
    return Contours.join([Contours.none(), *parts])
