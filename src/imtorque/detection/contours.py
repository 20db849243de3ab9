"""The outline of each object: the closed contour around a candidate that most edges support."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Self

import numpy as np

from imtorque import _native
from imtorque.core.types import BoolArray, Extrema, Float32Array, FloatArray, IntArray
from imtorque.detection.levels import Level
from imtorque.detection.shapes import Moments, polygon_moments

ANGLES = 32
RADII = 24
NEAREST, FARTHEST = 0.45, 1.75  # shares of the candidate's radius between which its contour lies
SLOPE = 0.1  # evidence given up for a change of the radius by one step, 6 %
LONG = 1.25  # ratio of axes from which a contour is looked for again in a stretched frame
LONGEST = 5.0
ENDED = 1.5  # ratio of axes from which an object has ends
ASPECTS = (2.0, 3.5)  # of the frames tried around objects with edges on two sides
SIDES = 0.25  # mean evidence from which sides are worth following
SIDED = 0.2  # how far evidence must gather on two sides, from 0 (all around) to 1
WORTHY = 0.48  # mean evidence from which a contour is looked for again about its own middle
UNSATURATED = 8.0  # k of the refined search over that of the level
FINE = (ANGLES, 25, 0.65, 1.54, 0.01)  # its rays, as above
LEAST_SEEN = 0.55  # share of a contour that must lie in the image to count as the whole


@dataclass(frozen=True, eq=False)
class Contours:
    """Closed contours in an image, n of them.

    Parameters
    ----------
    y, x
        Points of the contours, in pixels of the image, shape (n, angles).
    evidence
        Gradient across each point, towards the object's own sign, in [-1, 1]; 0 outside the image.
    sign
        +1 for bright objects, -1 for dark ones, shape (n,).
    closure
        Mean evidence over the points that lie in the image: the torque of the contour itself, shape (n,).
    inside, outside
        Mean grey value in a band along either side of the contour.
    noise
        Standard deviation of the noise at the level of the contour, for one pixel of the image.
    torque, size
        Of the candidate each came from; the size in pixels of the image.
    score
        How likely it outlines an object, 0 to 1; NaN before anyone asked.
    """

    y: FloatArray
    x: FloatArray
    evidence: Float32Array
    sign: FloatArray
    closure: FloatArray
    inside: FloatArray
    outside: FloatArray
    noise: FloatArray
    torque: FloatArray
    size: FloatArray
    score: FloatArray

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.sign)

    def __getitem__(self, chosen: IntArray | BoolArray | slice) -> Contours:
        """Return the contours chosen, with their moments where these are known."""
        part = Contours(*(getattr(self, field.name)[chosen] for field in fields(self)))
        if "moments" in vars(self):
            vars(part)["moments"] = Moments(*(column[chosen] for column in self.moments))
        return part

    @classmethod
    def join(cls, parts: list[Self]) -> Self:
        """Return the contours of all parts, in their order."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))

    @classmethod
    def none(cls) -> Self:
        """Return no contours."""
        points, rows = np.zeros((0, ANGLES)), np.zeros(0)
        return cls(points, points, points.astype(np.float32), *([rows] * 8))

    @cached_property
    def moments(self) -> Moments:
        """Area, middle and axes of what each contour encloses."""
        return polygon_moments(self.y, self.x)

    @property
    def contrast(self) -> FloatArray:
        """Grey values inside over those outside; negative for dark objects."""
        return self.inside - self.outside

    @property
    def area(self) -> FloatArray:
        """Pixels inside each contour."""
        return self.moments.area

    @property
    def diameter(self) -> FloatArray:
        """Diameter of the disc of the same area."""
        diameter: FloatArray = np.sqrt(self.area * (4 / math.pi))
        return diameter

    @property
    def significance(self) -> FloatArray:
        """Contrast over what noise makes of the mean of so many pixels; positive where it has the right sign."""
        spread = self.noise * np.sqrt(2.5 / np.maximum(self.area, 1.0))
        return self.sign * self.contrast / spread

    def tips(self, shape: tuple[int, int]) -> FloatArray:
        """Return the evidence at the weaker end of each contour, along its long axis; 1 where it has no ends.

        Round objects have none, and ends at the rim do not count. The sides of a stripe make a contour that nothing
        closes at its ends.
        """
        moments = self.moments
        along = (self.x - moments.x[:, None]) * np.cos(moments.turn)[:, None]
        along += (self.y - moments.y[:, None]) * np.sin(moments.turn)[:, None]
        near = np.roll(self.evidence, 1, axis=1) + self.evidence + np.roll(self.evidence, -1, axis=1)
        inside = (self.y > 1) & (self.x > 1) & (self.y < shape[0] - 2) & (self.x < shape[1] - 2)
        rows = np.arange(len(self))
        ends = [along.argmax(axis=1), along.argmin(axis=1)]
        weaker = np.min([np.where(inside[rows, end], near[rows, end] / 3, 1.0) for end in ends], axis=0)
        return np.where(moments.long > ENDED * moments.short, weaker, 1.0)


def fit_contours(level: Level, candidates: Extrema, *, least: float = -1.0) -> Contours:
    """Find the closed contour around each candidate of a level.

    On 32 rays the radius is chosen so that the gradient across the contour is strongest and the radius changes little
    from ray to ray, by dynamic programming (`_native.closed_contours`). It is looked for again about its own middle,
    and where edges lie on two sides in frames stretched along these; the one with more evidence stands. So a long
    object is one object.

    Parameters
    ----------
    level
        As `image_levels` yields them.
    candidates
        As `torque_candidates` returns them, in pixels of the level.
    least
        Closure below which a contour is of no use: its grey values need not be read, and may be NaN.

    Returns
    -------
    Contours
        One for each candidate, in pixels of the image.
    """
    n = len(candidates)
    sign = np.sign(candidates.value).astype(np.float64)
    seeds = [candidates.y, candidates.x, candidates.size / 2, np.zeros(n), np.ones(n), sign]
    found = _search(level, np.stack(seeds).astype(np.float64), np.full(n, least))
    moved = _improve(level, found, _about_the_middle(found, sign, np.ones(n, bool)), least)
    for aspect in ASPECTS:
        moved |= _improve(level, found, _along_the_sides(found, sign, aspect), least)
    # What has not moved since would only be found again.
    _improve(level, found, _about_the_middle(found, sign, moved), least)
    return _in_image(level, candidates, sign, found)


def refine_contours(level: Level, contours: Contours) -> Contours:
    """Move contours of a level onto the crest of their edges, in fractions of pixels.

    The evidence that says whether a contour is closed is saturated, and so flat across strong edges. This search takes
    the gradient almost as it is, on finer radii near the contour; grey values are read beside the new one. All else
    stays as it was.
    """
    length = np.hypot(level.gx, level.gy)
    # The gradient over k is s / (1 - s) of the saturated one, s; saturated again at 8 k it is almost plain.
    plain: Float32Array = np.float32(1) / (length + np.float32(UNSATURATED) * (1 - length))
    moments = polygon_moments((contours.y - level.offset) / level.factor, (contours.x - level.offset) / level.factor)
    ratio = moments.long / np.maximum(moments.short, 1e-6)
    radius, aspect = (
        np.sqrt(np.maximum(moments.area, 1) / math.pi),
        np.where(ratio > 1.1, np.minimum(ratio, LONGEST), 1),
    )
    worth = np.full(len(contours), -1.0)
    seeds = np.stack([moments.y, moments.x, radius, moments.turn, aspect, contours.sign, worth])
    y, x, _, _, inside, outside = _native.closed_contours(level.gx * plain, level.gy * plain, level.grey, seeds, *FINE)
    height, width = level.grey.shape
    y, x = np.clip(y, -0.5, height - 0.5), np.clip(x, -0.5, width - 0.5)
    y, x = y * level.factor + level.offset, x * level.factor + level.offset
    return replace(contours, y=y, x=x, inside=inside.astype(np.float64), outside=outside.astype(np.float64))


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
    which = np.flatnonzero(moved & (_closure(found) >= WORTHY))
    moments = polygon_moments(found[0][which], found[1][which])
    ratio = moments.long / np.maximum(moments.short, 1e-6)
    aspect = np.where(ratio > LONG, np.minimum(ratio, LONGEST), 1.0)
    radius = np.sqrt(np.maximum(moments.area, 1) / math.pi)
    return which, np.stack([moments.y, moments.x, radius, moments.turn, aspect, sign[which]])


def _along_the_sides(found: _Found, sign: FloatArray, aspect: float) -> _Again:
    """Return seeds stretched along the two sides of contours that have edges on two sides only: long objects."""
    y, x, evidence = found[0], found[1], np.maximum(found[2], 0)
    middle_y, middle_x = y.mean(axis=1), x.mean(axis=1)
    v, u = y - middle_y[:, None], x - middle_x[:, None]
    reach = np.hypot(v, u)
    # Twice the angle, so that opposite sides add up.
    turning = (evidence * ((u + 1j * v) / np.maximum(reach, 1e-6)) ** 2).sum(axis=1)
    mass = np.maximum(evidence.sum(axis=1), 1e-6)
    which = np.flatnonzero((np.abs(turning) > SIDED * mass) & (mass >= SIDES * ANGLES))
    width = ((evidence * reach).sum(axis=1) / mass)[which]  # half of it
    turn = np.angle(turning[which]) / 2 + math.pi / 2
    stretch = np.full(len(which), aspect)
    return which, np.stack([middle_y[which], middle_x[which], width * math.sqrt(aspect), turn, stretch, sign[which]])


def _search(level: Level, seeds: FloatArray, worth: FloatArray) -> _Found:
    """Return the contour around each seed; its grey values where its closure reaches what it is worth looking at."""
    rays = (ANGLES, RADII, NEAREST, FARTHEST, SLOPE)
    return _native.closed_contours(level.gx, level.gy, level.grey, np.concatenate([seeds, worth[None]]), *rays)


def _closure(found: _Found) -> FloatArray:
    """Return the mean evidence of the points seen."""
    evidence, seen = found[2], found[3]
    cuts = np.sum(seen & ~np.roll(seen, 1, axis=1), axis=1)
    # What leaves the image on one side may well end there; what leaves it on two is a stripe as well as an object.
    whole = np.where(cuts > 1, ANGLES, np.maximum(seen.sum(axis=1), LEAST_SEEN * ANGLES))
    mean: FloatArray = evidence.sum(axis=1, dtype=np.float64) / whole
    return mean


def _in_image(level: Level, candidates: Extrema, sign: FloatArray, found: _Found) -> Contours:
    """Return what was found in pixels of the image, cut at its rim."""
    height, width = level.grey.shape
    y, x, evidence, _, inside, outside = found
    y, x = np.clip(y, -0.5, height - 0.5), np.clip(x, -0.5, width - 0.5)
    factor = level.factor
    return Contours(
        y * factor + level.offset,
        x * factor + level.offset,
        evidence,
        sign,
        _closure(found),
        inside.astype(np.float64),
        outside.astype(np.float64),
        np.full(len(sign), level.noise * factor),
        candidates.value.astype(np.float64),
        candidates.size * float(factor),
        np.full(len(sign), np.nan),
    )
