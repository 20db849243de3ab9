"""Contours as proposals: seeds by ring torque at every pyramid level, each with the closed contour around it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from imtorque.core.extrema import find_extrema
from imtorque.core.types import (
    BoolArray,
    Edges,
    Extrema,
    Float32Array,
    FloatArray,
    Image,
    IntArray,
    Patch,
    Sign,
    TorqueVolume,
)
from imtorque.detection.outlines import fit_outlines
from imtorque.detection.proposals import Proposals
from imtorque.detection.pyramid import Level, edge_pyramid, image_pyramid
from imtorque.detection.ring_torque import HOLE, odd_sizes, ring_torque, size_ladder
from imtorque.detection.scoring import SizesKnown
from imtorque.images import CheckedImage, grey_image

SEED_STEP = 1.13  # ratio of neighbouring patch sizes, where it makes more than 2 pixels; untuned
MIN_SEED_TORQUE = 0.7  # low, because outlines decide; untuned
# Torque below which an outline is no object, unless a lower threshold is given; chosen on training images.
MIN_CLOSURE = 0.45
MIN_TIP_EVIDENCE = 0.3  # at either end of an object; stripes have none there; chosen on training images
MIN_SIGNIFICANCE = 6.0  # contrast of an object's mean, in standard deviations of its noise; chosen on training images


@dataclass(frozen=True)
class Search:
    """How proposals are looked for: diameters, patch sizes where they are listed, and as `find_blobs` was asked.

    `known` says whether the diameters were asked for, were found in the image, or are those of anything.
    """

    range: tuple[float, float]
    sizes: FloatArray | None = None
    sign: Sign | None = None
    ring: float = HOLE
    patch: Patch = "disk"
    known: SizesKnown = "given"


def propose_contours(
    image: Image | Edges, search: Search, sigma: float | None = None, least: float = MIN_CLOSURE
) -> tuple[Proposals, list[Level], Float32Array | None]:
    """Return the contours that may outline objects, before they are scored; the levels of the image, and its grey.

    They have at least this torque, edges at their ends, and stand out of the noise.
    """
    shape = image.shape if isinstance(image, Edges) else CheckedImage(image).shape
    smallest, largest = search.range
    grey = None
    if isinstance(image, Edges):
        levels = list(edge_pyramid(image, smallest, largest))
    else:
        grey = grey_image(image)
        levels = list(image_pyramid(grey, smallest, largest, sigma=sigma))
    found = _contours(levels, search, least)
    found = found[found.closure >= least]
    return found[significant(found, shape)], levels, grey


def _contours(levels: list[Level], search: Search, least: float) -> Proposals:
    """Return the contours around all seeds at all levels; below this torque they have no grey values."""
    parts = []
    for level in levels:
        sizes = None if search.sizes is None else search.sizes / level.factor
        seeds = torque_seeds(level, sign=search.sign, ring=search.ring, patch=search.patch, sizes=sizes)
        parts.append(fit_outlines(level, seeds, least=least))
    return Proposals.join([Proposals.none(), *parts])


def significant(found: Proposals, shape: tuple[int, int]) -> BoolArray:
    """Return which contours have edges at their ends and stand out of the noise, where grey values are known."""
    clear: BoolArray = np.isnan(found.contrast) | (found.significance >= MIN_SIGNIFICANCE)
    return clear & (found.tips(shape) >= MIN_TIP_EVIDENCE)


def torque_seeds(
    level: Level,
    *,
    sign: Sign | None = None,
    ring: float = HOLE,
    patch: Patch = "disk",
    least: float = MIN_SEED_TORQUE,
    sizes: FloatArray | None = None,
) -> Extrema:
    """Return the extrema of ring torque over place and size at one pyramid level, in pixels of that level.

    Parameters
    ----------
    level
        As `image_pyramid` yields them.
    sign
        +1 for bright objects, -1 for dark ones, None for both.
    ring
        Share of the patch, by side, whose edges are left out in its middle: what an object holds does not matter then.
        0 counts the whole patch.
    patch
        "disk" or "square".
    least
        Smallest |torque|.
    sizes
        Patch sizes in pixels of the level, rounded to odd ones; by default the level's range in steps of about 13 %.

    Returns
    -------
    Extrema
        Strongest first; multiply by `level.factor` and add `level.offset` for places in the image.
    """
    edges = Edges(level.gy, -level.gx)
    steps = level_sizes(level) if sizes is None else np.unique(odd_sizes(np.maximum(sizes, 5)))
    extrema = find_extrema(TorqueVolume(ring_torque(edges, steps, ring, patch), steps), sign=sign)
    return extrema[np.abs(extrema.value) >= least]


def level_sizes(level: Level) -> IntArray:
    """Return the odd sizes looked at: the level's range in steps of about 13 %, and one step more at either end."""
    low, high = level.smallest / level.factor, level.largest / level.factor
    steps = max(1, math.ceil(math.log(high / low) / math.log(SEED_STEP)))
    return size_ladder(low, high, steps, beyond=1)
