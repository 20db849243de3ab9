"""The one structure that detection works on: proposals, candidate objects of an image, with their outlines."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from imtorque.core.caching import cached_property
from imtorque.core.types import BoolArray, Float32Array, FloatArray, IntArray
from imtorque.detection.polygons import Moments, polygon_moments

ANGLES = 32  # points of an outline; untuned
ELONGATED = 1.5  # ratio of axes from which an object has ends; untuned
Points = tuple[FloatArray, FloatArray]
Polar = tuple[Float32Array, Float32Array, Float32Array]


class Outlines:
    """Closed contours of `ANGLES` points each, as points or in polar form; each form is made from the other when asked.

    Selecting rows keeps all forms and moments that are known.
    """

    def __init__(self, **known: Any) -> None:
        """Keep the forms that are known: points, polar, moments."""
        vars(self).update(known)

    @classmethod
    def of_points(cls, y: FloatArray, x: FloatArray) -> Self:
        """Return contours through points (n, ANGLES) that go once around."""
        return cls(points=(y, x))

    @classmethod
    def of_polar(cls, y: NDArray[Any], x: NDArray[Any], radii: NDArray[Any]) -> Self:
        """Return contours around centres (n,), with a radius for each of `ANGLES` directions, (n, ANGLES)."""
        return cls(polar=tuple(np.ascontiguousarray(part, np.float32) for part in (y, x, radii)))

    def __len__(self) -> int:
        """Return how many there are."""
        return len(next(iter(vars(self).values()))[0])

    def __getitem__(self, chosen: IntArray | BoolArray | slice) -> Self:
        """Return the contours chosen."""
        parts = {form: [column[chosen] for column in columns] for form, columns in vars(self).items()}
        return type(self)(**{form: Moments(*p) if form == "moments" else tuple(p) for form, p in parts.items()})

    @classmethod
    def join(cls, parts: list[Self]) -> Self:
        """Return the contours of all parts, in their order, as points where all are known as points."""
        form = "points" if all("points" in vars(part) for part in parts) else "polar"
        columns = zip(*(getattr(part, form) for part in parts), strict=True)
        return cls(**{form: tuple(np.concatenate(column) for column in columns)})

    @cached_property
    def points(self) -> Points:
        """Points y, x, shape (n, ANGLES)."""
        y, x, radii = self.polar
        angle = np.arange(ANGLES) * (2 * np.pi / ANGLES)
        return y[:, None] + radii * np.sin(angle), x[:, None] + radii * np.cos(angle)

    @cached_property
    def polar(self) -> Polar:
        """Centres y, x, shape (n,), and radii in directions of rising angle, shape (n, ANGLES)."""
        moments = self.moments
        if not len(self):
            return np.zeros(0, np.float32), np.zeros(0, np.float32), np.zeros((0, ANGLES), np.float32)
        v, u = self.points[0] - moments.y[:, None], self.points[1] - moments.x[:, None]
        angle, radius = np.arctan2(v, u) % (2 * np.pi), np.hypot(v, u)
        order = np.argsort(angle, axis=1)
        angle, radius = np.take_along_axis(angle, order, axis=1), np.take_along_axis(radius, order, axis=1)
        turn = 2 * np.pi
        angle = np.concatenate([angle[:, -1:] - turn, angle, angle[:, :1] + turn], axis=1)
        radius = np.concatenate([radius[:, -1:], radius, radius[:, :1]], axis=1)
        row = 3 * turn * np.arange(len(self))[:, None]  # so that all contours are one rising curve
        wanted = np.arange(ANGLES) * (turn / ANGLES) + row
        radii = np.interp(wanted.ravel(), (angle + row).ravel(), radius.ravel()).reshape(wanted.shape)
        return moments.y.astype(np.float32), moments.x.astype(np.float32), radii.astype(np.float32)

    @cached_property
    def moments(self) -> Moments:
        """Area, centroid and axes of what each contour encloses."""
        return polygon_moments(*self.points)


@dataclass(frozen=True, eq=False)
class Proposals:
    """Proposals in one image, n of them: where each came from, its outline, and what is known of it.

    Parameters
    ----------
    outlines
        Their contours.
    sign
        +1 for bright objects, -1 for dark ones.
    strength
        Response of what proposed it.
    size
        Diameter at which it was proposed, in pixels.
    closure
        Mean evidence along the outline: the torque of the contour itself.
    evidence
        Gradient across each point, towards the object's own sign, in [-1, 1]; 0 outside the image; shape (n, ANGLES).
    inside, outside
        Mean grey value in a band along either side of the outline.
    noise
        Standard deviation of the image's noise, for one pixel.
    source
        Place in `proposal_kinds.sources()` of what proposed it; 0 in `find_blobs`, which has one.
    votes
        How many proposals this one stands for, once duplicates are merged.
    score
        How likely it outlines an object, 0 to 1; NaN before it is scored.
    """

    outlines: Outlines
    sign: FloatArray
    strength: NDArray[Any]
    size: FloatArray
    closure: NDArray[Any]
    evidence: Float32Array
    inside: FloatArray
    outside: FloatArray
    noise: FloatArray
    source: IntArray
    votes: Float32Array
    score: FloatArray

    @classmethod
    def of(cls, outlines: Outlines, **columns: Any) -> Self:
        """Return proposals with these outlines and columns; what is not given is not known."""
        n = len(outlines)
        unknown = np.full(n, np.nan)
        known: dict[str, Any] = dict.fromkeys(
            ("sign", "strength", "size", "inside", "outside", "noise", "score"), unknown
        )
        known |= {"closure": np.zeros(n, np.float32), "evidence": np.zeros((n, ANGLES), np.float32)}
        known |= {"source": np.zeros(n, np.int32), "votes": np.ones(n, np.float32)}
        return cls(outlines, **{name: np.asarray(column) for name, column in (known | columns).items()})

    @classmethod
    def none(cls) -> Self:
        """Return no proposals."""
        return cls.of(Outlines.of_points(np.zeros((0, ANGLES)), np.zeros((0, ANGLES))))

    @classmethod
    def join(cls, parts: list[Self]) -> Self:
        """Return the proposals of all parts, in their order."""
        outlines, *columns = ([getattr(part, field.name) for part in parts] for field in fields(cls))
        return cls(Outlines.join(outlines), *(np.concatenate(column) for column in columns))

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.sign)

    def __getitem__(self, chosen: IntArray | BoolArray | slice) -> Self:
        """Return the proposals chosen."""
        return type(self)(*(getattr(self, field.name)[chosen] for field in fields(self)))

    @property
    def y(self) -> FloatArray:
        """Rows of the outlines' points, shape (n, ANGLES)."""
        return self.outlines.points[0]

    @property
    def x(self) -> FloatArray:
        """Columns of the outlines' points, shape (n, ANGLES)."""
        return self.outlines.points[1]

    @property
    def moments(self) -> Moments:
        """Area, centroid and axes of each."""
        return self.outlines.moments

    @property
    def area(self) -> FloatArray:
        """Pixels inside each outline."""
        return self.moments.area

    @property
    def diameter(self) -> FloatArray:
        """Diameter of the disc of the same area."""
        diameter: FloatArray = np.sqrt(self.area * (4 / math.pi))
        return diameter

    @property
    def contrast(self) -> FloatArray:
        """Grey values inside over those outside; negative for dark objects."""
        return self.inside - self.outside

    @property
    def significance(self) -> FloatArray:
        """Contrast over what noise makes of the mean of so many pixels; positive where it has the right sign."""
        spread = self.noise * np.sqrt(2.5 / np.maximum(self.area, 1.0))
        return self.sign * self.contrast / spread

    def tips(self, shape: tuple[int, int]) -> FloatArray:
        """Return the evidence at the weaker end of each outline, along its long axis; 1 where it has no ends.

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
        return np.where(moments.long > ELONGATED * moments.short, weaker, 1.0)
