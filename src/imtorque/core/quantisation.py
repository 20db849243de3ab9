"""The step by which forces are rounded, from a few statistics that the parts of a field share.

Torque is summed in integers, F -> round(F * steps). The number of steps per unit of force follows from the whole field,
so a part of an image must be told it to agree with the whole: `ForceStatistics` carries what it follows from.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, Self

from imtorque import _native

PELL_STEPS = 3363.0  # derived: 3363 / sqrt(2) = 2378.0002: both axis and diagonal unit forces are whole
MOST_STEPS = 2.0**112  # bound: of steps that are float32 numbers, as are their inverses
LEAST_STEPS = 2.0**-100  # bound: likewise

Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class ForceStatistics:
    """What the rounding of a field of forces follows from; of a whole image, or of a part of one.

    `Edges.statistics` has those of a field. Those of parts of an image that do not overlap merge to those
    of the whole, and its `steps`, given to `Edges`, make torque computed in parts equal to the bit to that of the
    whole.

    Parameters
    ----------
    area
        (top, left, bottom, right) of the part in the image, half-open.
    pixels
        How many pixels were looked at.
    extent
        The smallest box that holds all forces, likewise; None where there are no forces.
    largest
        Largest |fx| or |fy|.
    grain
        Every component is a multiple of 2^grain.
    not_pell
        Exponents of units, not below the forces, at which not all components are whole multiples of 1/3363.
    octaves
        (e, number of pixels whose larger component lies from 2^e to 2^(e + 1)), by rising e.

    Examples
    --------
    >>> import numpy as np
    >>> from imtorque import Edges
    >>> fx, fy = np.random.default_rng(0).normal(size=(2, 40, 60))
    >>> left, right = Edges(fx[:, :25], fy[:, :25]), Edges(fx[:, 25:], fy[:, 25:])
    >>> whole = left.statistics.merge(right.statistics.at(0, 25))
    >>> whole == Edges(fx, fy).statistics
    True
    >>> Edges(fx[:, :30], fy[:, :30], steps=whole.steps).steps == Edges(fx, fy).steps
    True
    """

    area: Box
    pixels: int
    extent: Box | None
    largest: float
    grain: int
    not_pell: tuple[int, ...]
    octaves: tuple[tuple[int, int], ...]

    def at(self, y: int, x: int) -> Self:
        """Return the same statistics for a part whose first pixel is (y, x) of the image."""
        top, left = self.area[0] - y, self.area[1] - x
        return replace(self, area=_moved(self.area, top, left), extent=self.extent and _moved(self.extent, top, left))

    def merge(self, *others: ForceStatistics) -> ForceStatistics:
        """Return the statistics of this part and others of one image together; they must not overlap."""
        parts = (self, *others)
        area, pixels = _hull([part.area for part in parts]), sum(part.pixels for part in parts)
        if pixels > (area[2] - area[0]) * (area[3] - area[1]):
            raise ValueError(f"parts must not overlap, got {pixels} pixels for the area {area}")
        filled = [part for part in parts if part.octaves]
        if not filled:
            return replace(self, area=area, pixels=pixels)
        largest = max(part.largest for part in filled)
        counts: Counter[int] = Counter()
        for part in filled:
            counts.update(dict(part.octaves))
        return ForceStatistics(
            area,
            pixels,
            _hull([part.extent for part in filled if part.extent]),
            largest,
            min(part.grain for part in filled),
            tuple(sorted({j for part in filled for j in part.not_pell if j >= unit_exponent(largest)})),
            tuple(sorted(counts.items())),
        )

    @property
    def steps(self) -> float:
        """Steps per unit of force: what forces are multiplied by before they are rounded to whole numbers.

        4096 per power of two above the largest force, where fields that are whole at that stay exact; 3363 where that
        makes the eight directions whole; 2^21 for dense fields, whose neighbouring errors are alike and do not average
        out. Where a few forces tower above the others (half of them would get less than 8 steps, or 95 % of them less
        than 256), the unit is the power of two above the median force instead of the largest. Never so many that a sum
        over a patch could pass 2^62.
        """
        return _native.choose_steps(*self._facts)

    @property
    def finest_steps(self) -> float:
        """The most steps per unit of force at which every sum over a patch of this field is exact."""
        return _native.finest_steps(*self._facts)

    @property
    def _facts(self) -> tuple[Any, ...]:
        """What the kernels choose steps from (native/core/rounding.cpp)."""
        top, left, bottom, right = self.area
        extent = self.extent or (0, 0, 0, 0)
        return bottom - top, right - left, extent, self.largest, self.grain, self.not_pell, self.octaves


def unit_exponent(largest: float) -> int:
    """Return the exponent of the power of two above the largest force component."""
    return _native.unit_exponent(largest)


def _hull(boxes: list[Box]) -> Box:
    tops, lefts, bottoms, rights = zip(*boxes, strict=True)
    return min(tops), min(lefts), max(bottoms), max(rights)


def _moved(box: Box, top: int, left: int) -> Box:
    return box[0] - top, box[1] - left, box[2] - top, box[3] - left
