"""The outline of each thing: the closed contour around a candidate that most edges support."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from imtorque import _native
from imtorque._types import BoolArray, Extrema, Float32Array, FloatArray
from imtorque.finding.levels import Level
from imtorque.finding.shapes import polygon_moments

ANGLES = 32
RADII = 24
NEAREST, FARTHEST = 0.45, 1.75  # shares of the candidate's radius between which its contour lies
SLOPE = 0.1  # evidence given up for a change of the radius by one step, 6 %
LONG = 1.25  # ratio of axes from which a contour is looked for again in a stretched frame
STRETCH = 1.4  # by how much more than measured so far it is then stretched
LONGEST = 5.0
ROUNDS = 3
LEAST_SEEN = 0.55  # share of a contour that must lie in the picture to count as the whole


@dataclass(frozen=True, eq=False)
class Contours:
    """Closed contours in a picture, n of them.

    Parameters
    ----------
    y, x
        Points of the contours, in pixels of the picture, shape (n, angles).
    evidence
        Gradient across each point, towards the thing's own sign, in [-1, 1]; 0 outside the picture.
    sign
        +1 for bright things, -1 for dark ones, shape (n,).
    closure
        Mean evidence over the points that lie in the picture: the torque of the contour itself, shape (n,).
    inside, outside
        Mean grey value in a band along either side of the contour.
    noise
        Standard deviation of the noise at the level of the contour, for one pixel of the picture.
    torque, size
        Of the candidate each came from; the size in pixels of the picture.
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

    def __len__(self) -> int:
        return len(self.sign)

    def __getitem__(self, chosen: FloatArray | BoolArray | slice) -> Contours:
        return Contours(*(getattr(self, field.name)[chosen] for field in fields(self)))

    @classmethod
    def join(cls, parts: list[Self]) -> Self:
        """Return the contours of all parts, in their order."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))

    @classmethod
    def none(cls) -> Self:
        """Return no contours."""
        points, rows = np.zeros((0, ANGLES)), np.zeros(0)
        return cls(points, points, points.astype(np.float32), *([rows] * 7))

    @property
    def contrast(self) -> FloatArray:
        """Grey values inside over those outside; negative for dark things."""
        return self.inside - self.outside

    @property
    def area(self) -> FloatArray:
        """Pixels inside each contour."""
        return polygon_moments(self.y, self.x).area

    @property
    def diameter(self) -> FloatArray:
        """Diameter of the disc of the same area."""
        return np.sqrt(self.area * (4 / math.pi))

    @property
    def significance(self) -> FloatArray:
        """Contrast over what noise alone makes of the mean of so many pixels; positive where it has the right sign."""
        spread = self.noise * np.sqrt(2.5 / np.maximum(self.area, 1.0))
        return self.sign * self.contrast / spread


def fit_contours(level: Level, candidates: Extrema) -> Contours:
    """Find the closed contour around each candidate of a level.

    On 32 rays the radius is chosen so that the gradient across the contour is strongest and the radius changes little
    from ray to ray, by dynamic programming (`_native.closed_contours`). Where that contour is longer than wide it is
    looked for again in a frame stretched along it, up to 5 : 1, and the one with more evidence stands: so a long thing
    is one thing.

    Parameters
    ----------
    level
        As `picture_levels` yields them.
    candidates
        As `torque_candidates` returns them, in pixels of the level.

    Returns
    -------
    Contours
        One for each candidate, in pixels of the picture.
    """
    n = len(candidates)
    sign = np.sign(candidates.value).astype(np.float64)
    seeds = np.stack([candidates.y, candidates.x, candidates.size / 2, np.zeros(n), np.ones(n), sign]).astype(
        np.float64
    )
    found = _search(level, seeds)
    for _ in range(ROUNDS):
        moments = polygon_moments(found[0], found[1])
        ratio = moments.long / np.maximum(moments.short, 1e-6)
        again = np.flatnonzero((ratio > LONG) & (ratio > 1.1 * seeds[4]))
        if not again.size:
            break
        radius = np.sqrt(np.maximum(moments.area, 1) / math.pi)
        aspect = np.minimum(STRETCH * ratio, LONGEST)
        longer = np.stack([moments.y, moments.x, radius, moments.turn, aspect, sign])[:, again]
        tried = _search(level, longer)
        better = _closure(tried) > _closure(found)[again]
        seeds[4, again] = longer[4]  # whether better or not, this stretch has been tried
        for kept, new in zip(found, tried, strict=True):
            kept[again[better]] = new[better]
    return _in_picture(level, candidates, sign, found)


_Found = tuple[FloatArray, FloatArray, Float32Array, BoolArray, Float32Array, Float32Array]


def _search(level: Level, seeds: FloatArray) -> _Found:
    rays = (ANGLES, RADII, NEAREST, FARTHEST, SLOPE)
    return _native.closed_contours(level.gx, level.gy, level.grey, np.ascontiguousarray(seeds, np.float64), *rays)


def _closure(found: _Found) -> FloatArray:
    """Return the mean evidence of the points seen."""
    evidence, seen = found[2], found[3]
    mean: FloatArray = evidence.sum(axis=1, dtype=np.float64) / np.maximum(seen.sum(axis=1), LEAST_SEEN * ANGLES)
    return mean


def _in_picture(level: Level, candidates: Extrema, sign: FloatArray, found: _Found) -> Contours:
    """Return what was found in pixels of the picture, cut at its rim."""
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
    )
