"""The paper's strengthened edges (Sec. 4.2), read in every way that its words leave open.

What the paper states: Canny's edges, unit forces, the contribution of eq. 21 to extrema, normalised into [0, 1], then
eq. 22 with its coefficients on Berkeley's images, or eq. 23 with a weight of 0.5 and 5000 extrema on cars. What it
leaves open: whether the base is binary, Canny's thresholds, the sizes of patches at this size of image, how
contributions to maxima and to minima are joined, and what becomes 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np

from imtorque.boundaries.strength import strengthen_edges
from imtorque.core.contribution import Weight, contribution_map
from imtorque.core.extrema import find_extrema
from imtorque.core.types import Edges, Extrema, FloatArray, Image
from imtorque.edges import detect_edges
from imtorque.paper import in_unit_range, normalised_contribution
from imtorque_reproduce.boundary.rows import READING, AllScores, differences_of, summary_of
from imtorque_reproduce.report import Kind

Joined = Literal["supporting", "separate", "printed"]


@dataclass(frozen=True)
class EdgeReading:
    """One reading of the paper's strengthened edges.

    Parameters
    ----------
    binary
        Whether the base is 1 on every edge, or as strong as the gradient, over its 99 % quantile there.
    high
        Canny's upper threshold, the lower one being 0.4 of it; None for the automatic ones.
    largest
        Largest patch; the smallest is 3 pixels.
    count
        How many of the strongest extrema vote; None for all.
    joined
        "supporting" and "separate" as for `contribution_map`; "printed": eq. 21 as it is, without the signs of the
        extrema, and its absolute value.
    weight
        As for `contribution_map`.
    full
        Quantile of the contributions above 0 that becomes 1.
    share
        Of the contribution in eq. 23; None for eq. 22 with the paper's coefficients.
    """

    binary: bool = True
    high: float | None = 0.10
    largest: int = 181
    count: int | None = 5000
    joined: Joined = "supporting"
    weight: Weight = "one"
    full: float = 1.0
    share: float | None = 0.5


@dataclass(frozen=True)
class Step:
    """A step of a ladder: which choice is made, whether the paper states it, and the reading that follows."""

    choice: str
    kind: Kind
    reading: EdgeReading


class Reader:
    """One image, read in several ways; edges and extrema that readings share are found once."""

    def __init__(self, image: Image) -> None:
        """Take an image."""
        self.image = image
        self.edges = cache(self._edges)
        self.extrema = cache(self._extrema)

    def base(self, reading: EdgeReading) -> FloatArray:
        """Return the edges before torque weighs them."""
        if reading.binary:
            return self.edges(reading.high, "unit").mask.astype(np.float64)
        return np.minimum(self.edges(reading.high, "strength").strength, 1)

    def contribution(self, reading: EdgeReading) -> FloatArray:
        """Return d_tau, in [0, 1]."""
        edges = self.edges(reading.high, "unit")
        found = self.extrema(reading.high, reading.largest)[: reading.count]
        if reading.joined != "printed":
            options: dict[str, Any] = {"votes": reading.joined, "weight": reading.weight, "full": reading.full}
            return normalised_contribution(edges, found, **options)
        plain = Extrema(found.y, found.x, found.size, np.abs(found.value))
        return in_unit_range(np.abs(contribution_map(edges, plain, weight=reading.weight)), reading.full)

    def strengthened(self, reading: EdgeReading) -> FloatArray:
        """Return the strengthened edges; the base where there are no edges."""
        base = self.base(reading)
        if not base.any():
            return base
        if reading.share is None:
            return strengthen_edges(base, self.contribution(reading), coefficients="paper")
        return strengthen_edges(base, self.contribution(reading), method="blend", share=reading.share)

    def _edges(self, high: float | None, force: Literal["unit", "strength"]) -> Edges:
        return detect_edges(self.image, high=high, force=force)

    def _extrema(self, high: float | None, largest: int) -> Extrema:
        return find_extrema(self.edges(high, "unit"), sizes=range(3, largest + 1, 2))


def ladder_of(nearest: EdgeReading, thresholds: Sequence[float]) -> list[Step]:
    """Return the nearest reading, and from it one choice at a time made otherwise; Canny's upper threshold by these."""
    other = [
        Step("the base has the gradient's strength instead of being binary", "open", replace(nearest, binary=False)),
        Step("Canny's automatic thresholds", "open", replace(nearest, high=None)),
        *(Step(f"an upper threshold of {high:.2f}", "open", replace(nearest, high=high)) for high in thresholds),
        Step(
            "patches from 3 to 91 pixels, which the paper has for halved images", "open", replace(nearest, largest=91)
        ),
        Step("maxima and minima apart, the larger of the two", "open", replace(nearest, joined="separate")),
        Step("eq. 21 without the signs of extrema, its absolute value", "open", replace(nearest, joined="printed")),
        Step("1 is the 99 % quantile of the contribution, not its maximum", "open", replace(nearest, full=0.99)),
        Step("every patch votes by its torque, not by its sum", "changed", replace(nearest, weight="area")),
        Step("1000 extrema", "changed", replace(nearest, count=1000)),
        Step("all extrema", "changed", replace(nearest, count=None)),
    ]
    different = [step for step in other if step.reading != nearest]
    return [Step(_described(nearest), "stated", nearest), *different]


def ladder_maps(image: Image, steps: Sequence[Step]) -> dict[str, FloatArray]:
    """Return the strengthened edges of every step, and the base of each before it."""
    reader = Reader(image)
    maps: dict[str, FloatArray] = {}
    for step in steps:
        maps[f"{READING}{step.choice}"] = reader.strengthened(step.reading)
        maps[_base_name(step.reading)] = reader.base(step.reading)
    return maps


def ladder_rows(scores: AllScores, steps: Sequence[Step], samples: int) -> list[dict[str, Any]]:
    """Return the ladder as results.json holds it: F of each step, of its base, and their difference."""
    pairs = [(f"{READING}{step.choice}", _base_name(step.reading)) for step in steps]
    gains = differences_of(scores, pairs, samples)
    rows = []
    for step, pair, gain in zip(steps, pairs, gains, strict=True):
        f, base = (summary_of(scores, name).ods.f for name in pair)
        bounds = {"gain": gain["value"], "low": gain["low"], "high": gain["high"]}
        rows.append({"choice": step.choice, "kind": step.kind, "base": base, "f": f, **bounds})
    return rows


def _described(reading: EdgeReading) -> str:
    rule = (
        "eq. 22 with the paper's coefficients" if reading.share is None else f"eq. 23 with a weight of {reading.share}"
    )
    return (
        f"{rule}, {reading.count} extrema; open: binary edges, an upper threshold of {reading.high}, patches from 3 to "
        f"{reading.largest} pixels, edges that turn with an extremum count, 1 is the maximum"
    )


def _base_name(reading: EdgeReading) -> str:
    return f"{READING}base-{reading.binary}-{reading.high}"
