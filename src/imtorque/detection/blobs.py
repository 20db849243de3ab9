"""Detection without training: contours as proposals, two-stage logistic scores, suppression by edge ownership."""

from __future__ import annotations

import math
import operator
from dataclasses import replace
from functools import partial
from typing import Literal, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from imtorque.core.deprecation import accept_old_keywords
from imtorque.core.types import BoolArray, Edges, Float32Array, FloatArray, Image, Patch, Sizes, check_sizes
from imtorque.detection.colour import object_plane
from imtorque.detection.contour_features import weighted_quantile
from imtorque.detection.contour_proposals import MIN_CLOSURE, Search, propose_contours
from imtorque.detection.measurement import measure_objects
from imtorque.detection.outlines import refine_outlines
from imtorque.detection.paper import paper_proposals
from imtorque.detection.proposals import Proposals
from imtorque.detection.pyramid import Level
from imtorque.detection.scoring import ContourScorer, contour_scorer, contour_scores
from imtorque.detection.selection import suppress_by_edges
from imtorque.detection.table import Blobs, SizeRange
from imtorque.edges.canny import check_sigma
from imtorque.images import CheckedImage, grey_image

# Of an object, for sizes given or not; chosen after a look at test images (docs/measured/counting.md).
MIN_SCORE, MIN_SCORE_UNGUIDED = 0.35, 0.5
RANGE_SCORE = 0.8  # of objects that say which sizes objects have, where none are given; chosen on training images
# Of objects below that range, or above; and the margin at either end; chosen on training images.
SIZE_QUANTILE, RANGE_MARGIN = 0.2, 1.3
# Of sizes not given: pixels, and shares of the side; untuned.
MIN_DIAMETER, MIN_SIDE_SHARE, MAX_SIDE_SHARE = 7.0, 0.015, 0.46
# To claim edges, of the smallest wanted, or its inverse of the largest size; chosen on training images.
SIZE_SLACK = 0.6
# Of the range that the scorer knows, beyond which objects are none; a range given is this much wider; chosen on
# training images.
RANGE_SLACK = 0.8
MIN_FOUND_SHARE = 0.45  # derived: of the smallest size not given, below which nothing is found without sizes
ALIKE_RATIO = (
    2.0  # of sizes and of contrasts, within which objects beyond the range given are like those in it; convention
)
MIN_ALIKE_SHARE = 0.25  # of the objects in the range, from which on the others are told; convention
REFINED_SIZE = 18.0  # pixels across an object at the level that refines its outline, where there is one; untuned


@accept_old_keywords
def find_blobs(
    image: Image | Edges,
    *,
    sizes: Sizes | tuple[float, float] | None = None,
    sign: Literal[1, -1, 0] | None = None,
    sigma: float | None = None,
    method: str = "contours",
    contrast: float = 0.0,
    ring: float = 0.6,
    patch: Patch = "disk",
    threshold: float | None = None,
    overlap: float = 0.4,
    min_score: float | None = None,
    count: int | None = None,
    mask: ArrayLike | None = None,
) -> Blobs:
    """Find bright and dark objects, with place, size and outline.

    Proposals are extrema of ring torque over place and size; the outline of each is the closed contour around it with
    most edges. A logistic model scores its edges and shape, a second one how it compares with the other contours
    (`contour_scores`); greedy suppression by edge ownership selects (`suppress_by_edges`). Edges are taken at a scale
    in proportion to the objects, and judged by the image's own noise: contrast and slow changes of light do not matter.
    Magnification, turns, crops and margins cost few clear objects: without sizes, on 13 photographs, 1 to 12 of 100
    with a score of at least 0.8. Doubtful ones come and go with them (of all, 5 to 19 of 100).

    Parameters
    ----------
    image
        An image as for `detect_edges`; or `Edges`, which have no grey values: then contrast, snr and intensity are
        NaN. Objects of a coloured image are looked for in grey, or in the channel or mixture of channels in which
        edges are far clearer: `Blobs.plane` names it. Give a channel, or `grey_image(image)`, to choose.
    sizes
        (smallest, largest): a tuple of two is the range of diameters, in pixels, each that of the disc of the object's
        area. Nothing else is returned, and all is that is found without sizes and lies within. A list or array is the
        patch sizes themselves, odd and increasing; a list of two is two sizes. By default everything from 7 pixels, or
        1.5 % of the image's side where that is more, to 46 % of it is looked at, and the range is that of the objects
        that hold most of what the image shows, by contrast times area.
    sign
        +1 for bright objects, -1 for dark ones, 0 for both. None takes both too, but the kind that explains fewer of
        the edges is likely to be what lies between objects, and scores less: the less it explains, the less.
    sigma
        Smoothing of the edges, in pixels; by default in proportion to the objects.
    method
        "contours", or "paper": the extrema of the paper's Canny edges in square patches, after overlap suppression;
        their outlines are the patches.
    contrast
        Least |contrast|, in standard deviations of the image's noise.
    ring
        Share of the patch, by side, left out in its middle when seeds are looked for; 0 for plain torque.
    patch
        "disk" or "square".
    threshold
        Least |torque| of an outline (see `Blobs`); where it is given it decides, not the score. With method="paper" of
        the patch, 0.4.
    overlap
        Largest part of the smaller object's area that two objects of like size may share. Objects of four times the
        area may hold smaller ones.
    min_score
        Least score of an outline, the probability that it is an object: by default 0.35, or 0.5 where no sizes are
        given, or 0 where a threshold is.
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
    _check(sign, method, contrast, ring, threshold, overlap, min_score, count)
    if sigma is not None:
        check_sigma(sigma)
    shape = image.shape if isinstance(image, Edges) else CheckedImage(image).shape
    chosen = _mask(mask, shape)
    plane = "edges" if isinstance(image, Edges) else "grey"
    ranges: tuple[SizeRange, ...] = ()
    if method == "paper":
        found = paper_proposals(image, sizes, sign or None, 0.4 if threshold is None else threshold, overlap)
    else:
        if not isinstance(image, Edges):
            image, plane = object_plane(image)
        found, ranges = _found_contours(
            image,
            Search(size_range(shape, None), None, sign or None, ring, patch, "unknown"),
            sizes,
            sigma=sigma,
            contrast=contrast,
            threshold=threshold,
            overlap=overlap,
            min_score=min_score,
            signed=sign is not None,
        )
    blobs = replace(measure_objects(found, image, shape), plane=plane, size_ranges=ranges)
    if chosen is not None:
        y, x = (np.clip(np.rint(v).astype(int), 0, n - 1) for v, n in zip((blobs.y, blobs.x), shape, strict=True))
        blobs = blobs[chosen[y, x]]
    return blobs[:count]


def _found_contours(
    image: Image | Edges,
    usual: Search,
    sizes: Sizes | tuple[float, float] | None,
    *,
    sigma: float | None,
    contrast: float,
    threshold: float | None,
    overlap: float,
    min_score: float | None,
    signed: bool,
) -> tuple[Proposals, tuple[SizeRange, ...]]:
    """Return the contours of objects: those found without sizes that have the sizes wanted, then others of these sizes.

    Sizes add to what is searched and leave out of what is found: what is found without them and has the size is found
    with them. The ranges in which objects seem to lie are returned as well, of a range given where many lie beyond it.
    """
    shape = image.shape if isinstance(image, Edges) else CheckedImage(image).shape
    least = None if min_score is None and threshold is None else min_score or 0.0
    propose = partial(_proposed, image, sigma=sigma, contrast=contrast, threshold=threshold)
    if sizes is not None and not is_range(sizes):
        search = replace(usual, range=size_range(shape, sizes), sizes=_listed(sizes, shape), known="given")
        proposals, levels, grey = propose([search])
        found = scored_and_selected(proposals, search=search, shape=shape, grey=grey, signed=signed, overlap=overlap)
        return _refined(found[found.score >= (MIN_SCORE if least is None else least)], levels), ()
    limits = (0.0, math.inf) if sizes is None else size_range(shape, sizes)
    proposals, levels, grey = propose([usual] if limits[1] > MIN_FOUND_SHARE * usual.range[0] else [])
    select = partial(scored_and_selected, shape=shape, grey=grey, signed=signed, overlap=overlap)
    found = select(proposals, search=usual)
    ranges = size_ranges(found)
    if len(found):
        found = select(proposals, search=replace(usual, range=usual_sizes(found), known="found"))
    found = _refined(found[found.score >= (MIN_SCORE_UNGUIDED if least is None else least)], levels)
    if sizes is None:
        return found, ranges
    more, finer, grey = propose([replace(usual, range=part) for part in _beyond(limits, usual.range)])
    levels += [level for level in finer if level.factor not in {known.factor for known in levels}]
    others = partial(select, grey=grey)(
        Proposals.join([proposals, more]), search=replace(usual, range=_inner_range(limits), known="given")
    )
    others = _refined(others[others.score >= (MIN_SCORE if least is None else least)], levels)
    wanted = _joined(_within(found, limits), _within(others, limits), shape, overlap)
    return wanted, _alike_beyond(wanted, found, limits)


def scored_and_selected(
    proposals: Proposals,
    *,
    search: Search,
    shape: tuple[int, int],
    grey: Float32Array | None,
    signed: bool = False,
    overlap: float = 0.4,
    scorer: ContourScorer | None = None,
) -> Proposals:
    """Score contours of about the sizes wanted, suppress those without edges of their own, and return the others."""
    smallest, largest = search.range
    diameter = proposals.diameter
    proposals = proposals[(diameter >= SIZE_SLACK * smallest) & (diameter <= largest / SIZE_SLACK)]
    sizes = None if search.known == "unknown" else search.range
    noisy = None if scorer else contour_scorer(search.known, noisy=True)
    score = contour_scores(proposals, shape, sizes, grey, signed, scorer or contour_scorer(search.known), noisy)
    selected = suppress_by_edges(proposals, score, shape, overlap=overlap)
    found = replace(proposals[selected], score=score[selected])
    diameter = found.diameter
    return found[(diameter >= RANGE_SLACK * smallest) & (diameter <= largest / RANGE_SLACK)]


def _proposed(
    image: Image | Edges,
    searches: list[Search],
    *,
    sigma: float | None,
    contrast: float,
    threshold: float | None,
) -> tuple[Proposals, list[Level], Float32Array | None]:
    """Return the contours of several searches that have the contrast asked for, their levels, and the grey values."""
    parts: list[Proposals] = []
    levels: list[Level] = []
    for search in searches:
        part, of_search, _ = propose_contours(image, search, sigma, MIN_CLOSURE if threshold is None else threshold)
        parts.append(part[_contrasting(part, contrast)])
        levels += of_search
    return Proposals.join(parts or [Proposals.none()]), levels, None if isinstance(image, Edges) else grey_image(image)


def _beyond(limits: tuple[float, float], usual: tuple[float, float]) -> list[tuple[float, float]]:
    """Return the ranges of patch sizes in which objects within these limits are searched beside the usual one.

    Elongated objects are found in patches smaller than the disc of their area.
    """
    smallest, largest = max(3.0, SIZE_SLACK * limits[0]), limits[1] / RANGE_SLACK
    below = (smallest, min(largest, usual[0]))
    above = (max(smallest, usual[1]), largest)
    return [part for part in (below, above) if part[0] < part[1]]


def _inner_range(limits: tuple[float, float]) -> tuple[float, float]:
    """Return the range in which most of the objects lie whose diameters have these limits, for the scorer."""
    middle = math.sqrt(limits[0] * limits[1])
    return min(limits[0] / RANGE_SLACK, middle), max(limits[1] * RANGE_SLACK, middle)


def _within(found: Proposals, limits: tuple[float, float]) -> Proposals:
    """Return the contours whose diameters lie within the limits."""
    diameter = found.diameter
    return found[(diameter >= limits[0]) & (diameter <= limits[1])]


def _joined(first: Proposals, others: Proposals, shape: tuple[int, int], overlap: float) -> Proposals:
    """Return the first contours, all of them, and of the others those that have edges of their own beside them."""
    both = Proposals.join([first, others])
    rank = np.concatenate([1 + first.score, others.score])
    kept = np.arange(len(both)) < len(first)
    kept[suppress_by_edges(both, rank, shape, overlap=overlap)] = True
    return both[kept]


def usual_sizes(found: Proposals) -> tuple[float, float]:
    """Return the range of diameters of the objects that hold most of what the image shows: contrast times area."""
    best = found[found.score >= min(RANGE_SCORE, float(found.score.max()))]
    return _range_of(best, np.nan_to_num(np.abs(best.contrast), nan=1.0) * best.area * best.score)


def size_ranges(found: Proposals) -> tuple[SizeRange, ...]:
    """Return the range of the objects that hold most of what the image shows, and that of most objects if it is apart.

    An image in which a few large objects hold most, and most objects are small, is torn between the two.
    """
    clear = found[found.score >= MIN_SCORE_UNGUIDED]
    if not len(clear):
        return ()
    ranges = []
    for smallest, largest in (usual_sizes(found), _range_of(clear, np.ones(len(clear)))):
        inside = int(np.sum((clear.diameter >= smallest) & (clear.diameter <= largest)))
        ranges.append(SizeRange(smallest, largest, inside))
    main, other = ranges
    apart = other.smallest > main.largest / RANGE_MARGIN or other.largest < main.smallest * RANGE_MARGIN
    return (main, other) if apart else (main,)


def _alike_beyond(wanted: Proposals, found: Proposals, limits: tuple[float, float]) -> tuple[SizeRange, ...]:
    """Return the range given and one that holds objects of like size and contrast as well, where many lie beyond it."""
    if not len(wanted):
        return ()
    diameter, low, high = found.diameter, limits[0], limits[1]
    beyond = ((diameter < low) & (diameter > low / ALIKE_RATIO)) | ((diameter > high) & (diameter < high * ALIKE_RATIO))
    contrast = found.contrast / (np.median(wanted.contrast) or np.nan)
    alike = found[beyond & (contrast > 1 / ALIKE_RATIO) & (contrast < ALIKE_RATIO)]
    if len(alike) < MIN_ALIKE_SHARE * len(wanted):
        return ()
    both = np.concatenate([wanted.diameter, alike.diameter])
    given = SizeRange(low, high, len(wanted))
    return given, SizeRange(float(both.min()) / RANGE_MARGIN, float(both.max()) * RANGE_MARGIN, len(alike))


def _range_of(found: Proposals, weight: FloatArray) -> tuple[float, float]:
    """Return the range of diameters in which most of the weight lies, with a margin."""
    small, large = (weighted_quantile(found.diameter, weight, q) for q in (SIZE_QUANTILE, 1 - SIZE_QUANTILE))
    return small / RANGE_MARGIN, large * RANGE_MARGIN


def _check(
    sign: int | None,
    method: str,
    contrast: float,
    ring: float,
    threshold: float | None,
    overlap: float,
    min_score: float | None,
    count: int | None,
) -> None:
    """Refuse what cannot be meant."""
    if sign not in (None, -1, 0, 1):
        raise ValueError(f"sign must be +1, -1, 0 or None, got {sign!r}")
    if method not in ("contours", "paper"):
        raise ValueError(f'method must be "contours" or "paper", got {method!r}')
    named = {"contrast": contrast, "threshold": threshold or 0.0, "overlap": overlap, "min_score": min_score or 0.0}
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
        smallest = max(MIN_DIAMETER, MIN_SIDE_SHARE * side)
        return smallest, max(smallest, MAX_SIDE_SHARE * side)
    if is_range(sizes):
        smallest, largest = checked_range(sizes)
        return min(smallest, _reach(shape)), min(largest, _reach(shape))
    listed = check_sizes(np.asarray(sizes))
    if listed.ndim != 1:
        raise ValueError(f"sizes must be sides of patches, got (height, width) pairs {listed.tolist()}")
    smallest, largest = (min(max(3.0, float(size)), _reach(shape)) for size in (listed[0], listed[-1]))
    return smallest, largest


def checked_range(sizes: tuple[float, float]) -> tuple[float, float]:
    """Return a range of diameters that can be one."""
    smallest, largest = (float(np.asarray(v).item()) for v in sizes)
    if not (math.isfinite(largest) and 3 <= smallest <= largest):
        raise ValueError(f"sizes as a range must be (smallest, largest) with 3 <= smallest <= largest, got {sizes}")
    return smallest, largest


def is_range(sizes: Sizes | tuple[float, float] | None) -> TypeGuard[tuple[float, float]]:
    """Return whether sizes are a range of diameters: a tuple of two numbers."""
    return isinstance(sizes, tuple) and len(sizes) == 2 and not any(isinstance(v, tuple) for v in sizes)


def _reach(shape: tuple[int, ...]) -> float:
    """Return the side of a patch that holds the whole image, wherever its centre lies: larger ones see no more."""
    return 2.0 * max(shape) + 1


def _listed(sizes: Sizes | tuple[float, float] | None, shape: tuple[int, ...]) -> FloatArray | None:
    """Return the patch sizes, where they are given one by one."""
    if sizes is None or isinstance(sizes, tuple):
        return None
    return np.minimum(check_sizes(np.asarray(sizes)), _reach(shape)).astype(np.float64)


def _contrasting(found: Proposals, contrast: float) -> BoolArray:
    """Return which contours have the contrast asked for, in standard deviations of the noise."""
    return np.isnan(found.contrast) | (np.abs(found.contrast) / found.noise >= contrast)


def _refined(found: Proposals, levels: list[Level]) -> Proposals:
    """Refine each contour at the coarsest level at which the object is large enough, else at the finest."""
    if not levels:
        return found
    diameter = found.diameter
    factors = np.array([level.factor for level in levels])
    enough = diameter[:, None] >= REFINED_SIZE * factors
    chosen = np.where(enough, factors, 0).max(axis=1)
    chosen = np.where(chosen == 0, factors.min(), chosen)
    parts = [refine_outlines(level, found[chosen == level.factor]) for level in levels]
    return Proposals.join([Proposals.none(), *parts])
