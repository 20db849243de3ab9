"""How finely the forces of a field are rounded: a few numbers from one look at it, which the parts of a field share.

Torque is summed in integers, F -> round(F * steps). The number of steps per unit of force follows from the whole field,
so a part of an image must be told it to agree with the whole: `ForceStatistics` carries what it follows from.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Self

SPARSE_STEPS = 4096.0  # bound: per unit of force; 32-bit sums hold to about size 100 on real edges
PELL_STEPS = 3363.0  # derived: 3363 / sqrt(2) = 2378.0002: both axis and diagonal unit forces are whole
DENSE_STEPS = 2.0**21  # bound: where errors of neighbours do not average out
SMALLEST_UNIT = -100  # bound: as an exponent; keeps the number of steps inside a float32
MOST_STEPS = 2.0**112  # bound: of steps that are float32 numbers, as are their inverses
LEAST_STEPS = 2.0**-100  # bound: likewise
SPARSE_PIXELS = 2.5  # convention: least for each force of a sparse field, over the box that holds all forces
FEW_STEPS = ((0.5, 8), (0.95, 256))  # a share of the forces, and the steps that its strongest must have at least
NEGLIGIBLE_OCTAVES = 40  # convention: a force 2^40 times smaller than the largest counts as none where steps are chosen
SHORTEST_LEVER = 2048  # bound: a patch's mass is summed in 1/1024 of a step, so it needs as much room as this lever

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
        if not self.octaves:
            return 1.0
        unit = 2.0 ** unit_exponent(self.largest)
        finest = _power_of_two_below(self.finest_steps)
        if math.ldexp(SPARSE_STEPS / unit, self.grain) >= 1:
            return min(SPARSE_STEPS / unit, finest)
        per_unit = DENSE_STEPS if self._is_dense else SPARSE_STEPS
        steps = (PELL_STEPS if unit_exponent(self.largest) not in self.not_pell else per_unit) / unit
        if any(math.ldexp(steps, self._octave(share)) < least for share, least in FEW_STEPS):
            steps = min(math.ldexp(per_unit, -self._octave(0.5) - 1), MOST_STEPS)
        return min(steps, finest)

    @property
    def finest_steps(self) -> float:
        """The most steps per unit of force at which every sum over a patch of this field is exact."""
        height, width = self.area[2] - self.area[0], self.area[3] - self.area[1]
        if not self.octaves:
            return MOST_STEPS
        # |Fx| + |Fy| < 2^(e + 2) in octave e, rounding adds a step per pixel, and twice the moment enters the sum.
        mass = math.fsum(math.ldexp(count, octave + 2) for octave, count in self.octaves)
        room = 2.0**62 / (2.02 * max(height, width, SHORTEST_LEVER)) - height * width
        # Or, without looking at the forces: the largest everywhere, as far from the centre as can be.
        worst = 2.0 * height * width * max(math.hypot(height, width), SHORTEST_LEVER)
        return min(max(room / mass, 2.0**62 / worst / 2.0 ** unit_exponent(self.largest)), MOST_STEPS)

    @property
    def _is_dense(self) -> bool:
        top, left, bottom, right = self.extent or (0, 0, 0, 0)
        return SPARSE_PIXELS * sum(count for _, count in self.octaves) >= (bottom - top) * (right - left)

    def _octave(self, share: float) -> int:
        """Return the octave in or below which a share of the forces lies."""
        counts = [
            (octave, n) for octave, n in self.octaves if octave >= unit_exponent(self.largest) - NEGLIGIBLE_OCTAVES
        ]
        wanted = share * sum(n for _, n in counts)
        sums = accumulate(n for _, n in counts)
        return next(octave for (octave, _), total in zip(counts, sums, strict=True) if total >= wanted)


def unit_exponent(largest: float) -> int:
    """Return the exponent of the power of two above the largest force component."""
    mantissa, exponent = math.frexp(largest * (1 - 1e-6))
    return max(exponent - (mantissa == 0.5), SMALLEST_UNIT)


def _power_of_two_below(number: float) -> float:
    return 2.0 ** (math.frexp(number)[1] - 1)


def _hull(boxes: list[Box]) -> Box:
    tops, lefts, bottoms, rights = zip(*boxes, strict=True)
    return min(tops), min(lefts), max(bottoms), max(rights)


def _moved(box: Box, top: int, left: int) -> Box:
    return box[0] - top, box[1] - left, box[2] - top, box[3] - left
