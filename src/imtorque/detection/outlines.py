"""The outline of each proposal: the closed contour around a seed that most edges support."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.types import BoolArray, Extrema, Float32Array, FloatArray, IntArray
from imtorque.detection.polygons import polygon_moments
from imtorque.detection.proposals import ANGLES, Outlines, Proposals
from imtorque.detection.pyramid import Level

RAY_RADII = 24  # tried on each ray; untuned
NEAREST_SHARE, FARTHEST_SHARE = 0.45, 1.75  # of the seed's radius, around its contour; measured (-.014, -.021)
SLOPE = 0.1  # evidence given up for a change of the radius by one step, 6 %; measured (-.007, -.016)
STRETCHED_ASPECT = 1.25  # ratio of axes from which a contour is searched in a stretched frame; measured (-.014, -.012)
MAX_ASPECT = 7.0  # of the frame of a contour that is looked for again; chosen on drawn grains, ellipses and rods
SIDE_ASPECTS = (2.0, 3.5)  # of the frames tried around objects with edges on two sides; measured (-.008, -.029)
MAX_MOVES = 3  # bound: of a contour about its own middle, after which long ones reach both ends
MIN_SIDE_EVIDENCE = 0.25  # mean evidence from which sides are worth following; measured (0, 0)
MIN_TWO_SIDEDNESS = 0.2  # how far evidence must gather on two sides, from 0 (all around) to 1; measured (-.006, +.004)
MIN_OPENNESS = 0.12  # how far evidence must leave one side free, from 0 (all around) to 1; measured (-.004, +.003)
MIN_RETRY_EVIDENCE = 0.48  # mean evidence from which a contour is searched about its own middle; measured (0, -.013)
REFINED_SATURATION = 8.0  # k of the refined search over that of the level; measured (0, 0)
REFINED_RAYS = (ANGLES, 25, 0.65, 1.54, 0.01)  # angles, radii, nearest, farthest, slope of the refined search
MIN_SEEN = 0.55  # share of a contour that must lie in the image to count as the whole; measured (-.015, +.005)


def fit_outlines(level: Level, seeds: Extrema, *, least: float = -1.0) -> Proposals:
    """Find the closed contour around each seed of a level.

    On 32 rays the radius is chosen so that the gradient across the contour is strongest and the radius changes little
    from ray to ray, by dynamic programming (`_native.closed_contours`). It is looked for again about its own middle,
    and where edges lie on two sides in frames stretched along these; the one with more evidence stands. So a long
    object is one object.

    Parameters
    ----------
    level
        As `image_pyramid` yields them.
    seeds
        As `torque_seeds` returns them, in pixels of the level.
    least
        Closure below which a contour is of no use: its grey values need not be read, and may be NaN.

    Returns
    -------
    Proposals
        One for each seed, in pixels of the image.
    """
    n = len(seeds)
    sign = np.sign(seeds.value).astype(np.float64)
    circles = [seeds.y, seeds.x, seeds.size / 2, np.zeros(n), np.ones(n), sign]
    found = _search(level, np.stack(circles).astype(np.float64), np.full(n, least))
    moved = _improve(level, found, _about_the_middle(found, sign, np.ones(n, bool)), least)
    for aspect in SIDE_ASPECTS:
        moved |= _improve(level, found, _along_the_sides(found, sign, aspect), least)
        moved |= _improve(level, found, _beyond_the_open_end(found, sign, aspect), least)
    for _ in range(MAX_MOVES):  # what has not moved would only be found again
        moved = _improve(level, found, _about_the_middle(found, sign, moved), least)
    return _in_image(level, seeds, sign, found)


def refine_outlines(level: Level, proposals: Proposals) -> Proposals:
    """Move outlines found at a level onto the crest of their edges, in fractions of pixels.

    The evidence that says whether a contour is closed is saturated, and so flat across strong edges. This search takes
    the gradient almost as it is, on finer radii near the contour; grey values are read beside the new one. All else
    stays as it was.
    """
    length = np.hypot(level.gx, level.gy)
    # The gradient over k is s / (1 - s) of the saturated one, s; saturated again at 8 k it is almost plain.
    plain: Float32Array = np.float32(1) / (length + np.float32(REFINED_SATURATION) * (1 - length))
    moments = polygon_moments((proposals.y - level.offset) / level.factor, (proposals.x - level.offset) / level.factor)
    ratio = moments.long / np.maximum(moments.short, 1e-6)
    radius, aspect = (
        np.sqrt(np.maximum(moments.area, 1) / math.pi),
        np.where(ratio > 1.1, np.minimum(ratio, MAX_ASPECT), 1),
    )
    worth = np.full(len(proposals), -1.0)
    seeds = np.stack([moments.y, moments.x, radius, moments.turn, aspect, proposals.sign, worth])
    y, x, _, _, inside, outside = _native.closed_contours(
        level.gx * plain, level.gy * plain, level.grey, seeds, *REFINED_RAYS
    )
    height, width = level.grey.shape
    y, x = np.clip(y, -0.5, height - 0.5), np.clip(x, -0.5, width - 0.5)
    y, x = y * level.factor + level.offset, x * level.factor + level.offset
    return replace(
        proposals,
        outlines=Outlines.of_points(y, x),
        inside=inside.astype(np.float64),
        outside=outside.astype(np.float64),
    )


_Found = tuple[FloatArray, FloatArray, Float32Array, BoolArray, Float32Array, Float32Array]
_Again = tuple[IntArray, FloatArray]  # which contours to look for again, and the seeds


def _improve(level: Level, found: _Found, again: _Again, least: float) -> BoolArray:
    """Look for some contours again, keep those with more evidence than before, and return which these are."""
    which, seeds = again
    moved = np.zeros(len(found[0]), bool)
    if which.size:
        before = _closure(found)[which]
        tried = _search(level, seeds, np.where(before > 0, np.maximum(before, least), least))
        better = _closure(tried) > before
        moved[which[better]] = True
        for kept, new in zip(found, tried, strict=True):
            kept[which[better]] = new[better]
    return moved


def _about_the_middle(found: _Found, sign: FloatArray, moved: BoolArray) -> _Again:
    """Return seeds in the middle of each contour that moved and is worth it, stretched as it is."""
    which = np.flatnonzero(moved & (_closure(found) >= MIN_RETRY_EVIDENCE))
    moments = polygon_moments(found[0][which], found[1][which])
    ratio = moments.long / np.maximum(moments.short, 1e-6)
    aspect = np.where(ratio > STRETCHED_ASPECT, np.minimum(ratio, MAX_ASPECT), 1.0)
    radius = np.sqrt(np.maximum(moments.area, 1) / math.pi)
    return which, np.stack([moments.y, moments.x, radius, moments.turn, aspect, sign[which]])


def _along_the_sides(found: _Found, sign: FloatArray, aspect: float) -> _Again:
    """Return seeds stretched along the two sides of contours that have edges on two sides only: long objects."""
    rays = _weighted_rays(found)
    turning = (rays.evidence * rays.direction**2).sum(axis=1)  # twice the angle, so that opposite sides add up
    which = np.flatnonzero(rays.worthy & (np.abs(turning) > MIN_TWO_SIDEDNESS * rays.mass))
    turn = np.angle(turning[which]) / 2 + math.pi / 2
    return which, _stretched_seeds(rays, which, turn, aspect, 0.0, sign)


def _beyond_the_open_end(found: _Found, sign: FloatArray, aspect: float) -> _Again:
    """Return seeds stretched beyond the open side of contours that have edges on all others: ends of long objects."""
    rays = _weighted_rays(found)
    closed = (rays.evidence * rays.direction).sum(axis=1)
    which = np.flatnonzero(rays.worthy & (np.abs(closed) > MIN_OPENNESS * rays.mass))
    return which, _stretched_seeds(rays, which, np.angle(-closed[which]), aspect, aspect - 1, sign)


class _Rays(NamedTuple):
    """Contours by the rays from the mean of their points: evidence, unit directions and half the mean width."""

    y: FloatArray
    x: FloatArray
    evidence: FloatArray
    direction: NDArray[np.complex128]
    mass: FloatArray
    width: FloatArray
    worthy: BoolArray


def _weighted_rays(found: _Found) -> _Rays:
    y, x, evidence = found[0], found[1], np.maximum(found[2], 0)
    middle_y, middle_x = y.mean(axis=1), x.mean(axis=1)
    away = (x - middle_x[:, None]) + 1j * (y - middle_y[:, None])
    reach = np.abs(away)
    mass = np.maximum(evidence.sum(axis=1), 1e-6)
    width = (evidence * reach).sum(axis=1) / mass
    direction = away / np.maximum(reach, 1e-6)
    return _Rays(middle_y, middle_x, evidence, direction, mass, width, mass >= MIN_SIDE_EVIDENCE * ANGLES)


def _stretched_seeds(
    rays: _Rays, which: IntArray, turn: FloatArray, aspect: float, shift: float, sign: FloatArray
) -> FloatArray:
    """Return seeds of these contours stretched along a turn, and shifted along it by so many of their half widths."""
    width = rays.width[which]
    y, x = rays.y[which] + shift * width * np.sin(turn), rays.x[which] + shift * width * np.cos(turn)
    return np.stack([y, x, width * math.sqrt(aspect), turn, np.full(len(which), aspect), sign[which]])


def _search(level: Level, seeds: FloatArray, worth: FloatArray) -> _Found:
    """Return the contour around each seed; its grey values where its closure reaches what it is worth looking at."""
    rays = (ANGLES, RAY_RADII, NEAREST_SHARE, FARTHEST_SHARE, SLOPE)
    return _native.closed_contours(level.gx, level.gy, level.grey, np.concatenate([seeds, worth[None]]), *rays)


def _closure(found: _Found) -> FloatArray:
    """Return the mean evidence of the points seen."""
    evidence, seen = found[2], found[3]
    cuts = np.sum(seen & ~np.roll(seen, 1, axis=1), axis=1)
    # What leaves the image on one side may well end there; what leaves it on two is a stripe as well as an object.
    whole = np.where(cuts > 1, ANGLES, np.maximum(seen.sum(axis=1), MIN_SEEN * ANGLES))
    mean: FloatArray = evidence.sum(axis=1, dtype=np.float64) / whole
    return mean


def _in_image(level: Level, seeds: Extrema, sign: FloatArray, found: _Found) -> Proposals:
    """Return what was found in pixels of the image, cut at its rim."""
    height, width = level.grey.shape
    y, x, evidence, _, inside, outside = found
    y, x = np.clip(y, -0.5, height - 0.5), np.clip(x, -0.5, width - 0.5)
    factor = level.factor
    return Proposals.of(
        Outlines.of_points(y * factor + level.offset, x * factor + level.offset),
        sign=sign,
        strength=np.abs(seeds.value.astype(np.float64)),
        size=seeds.size * float(factor),
        closure=_closure(found),
        evidence=evidence,
        inside=inside.astype(np.float64),
        outside=outside.astype(np.float64),
        noise=np.full(len(sign), level.noise * factor),
    )
