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
from imtorque_reproduce.ablation import READING, Kind, Step

BINARY = "canny-binary"  # the base of the readings


@dataclass(frozen=True)
class EdgeReading:
    """One reading of the paper's strengthened edges."""

    binary: bool = True  # whether the base is 1 on every edge, or the gradient over its 99 % quantile there
    high: float | None = 0.10  # Canny's upper threshold, the lower one being 0.4 of it; None for the automatic ones
    largest: int = 181  # largest patch; the smallest is 3 pixels
    count: int | None = 5000  # how many of the strongest extrema vote (paper, Sec. 4.2); None for all
    # "supporting", "separate": as for `contribution_map`; "printed": |eq. 21| as it is, without the signs of extrema.
    joined: Literal["supporting", "separate", "printed"] = "supporting"
    weight: Weight = "one"  # as for `contribution_map`
    full: float = 1.0  # quantile of the contributions above 0 that becomes 1
    share: float | None = 0.5  # of the contribution in eq. 23 (paper, Sec. 4.2); None: eq. 22, the paper's coefficients

    @property
    def base(self) -> str:
        """Name of the base among methods."""
        return f"base-{self.binary}-{self.high}"


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


def binary_maps(reader: Reader, nearest: EdgeReading, steps: Sequence[Step[EdgeReading]]) -> dict[str, FloatArray]:
    """Return the boundary maps of the rows on binary edges, and of every step of the ablation with its base."""
    maps = {
        BINARY: reader.base(nearest),
        f"{BINARY}+torque-paper": reader.strengthened(nearest),
        f"control:{BINARY}+magnitude": reader.base(replace(nearest, binary=False)),
    }
    for step in steps:
        maps[step.name] = reader.strengthened(step.reading)
        maps[f"{READING}{step.reading.base}"] = reader.base(step.reading)
    return maps


def ablation_of(nearest: EdgeReading, thresholds: Sequence[float]) -> list[Step[EdgeReading]]:
    """Return the nearest reading, and from it one choice at a time made otherwise; Canny's upper threshold by these."""
    choices: list[tuple[str, Kind, dict[str, Any]]] = [
        ("the base has the gradient's strength instead of being binary", "open", {"binary": False}),
        ("Canny's automatic thresholds", "open", {"high": None}),
        *((f"an upper threshold of {high:.2f}", "open", {"high": high}) for high in thresholds),
        ("patches from 3 to 91 pixels, which the paper has for halved images", "open", {"largest": 91}),
        ("maxima and minima apart, the larger of the two", "open", {"joined": "separate"}),
        ("eq. 21 without the signs of extrema, its absolute value", "open", {"joined": "printed"}),
        ("1 is the 99 % quantile of the contribution, not its maximum", "open", {"full": 0.99}),
        ("every patch votes by its torque, not by its sum", "changed", {"weight": "area"}),
        ("1000 extrema", "changed", {"count": 1000}),
        ("all extrema", "changed", {"count": None}),
    ]
    other = [Step(choice, kind, replace(nearest, **changes)) for choice, kind, changes in choices]
    return [Step(_describe(nearest), "stated", nearest), *(step for step in other if step.reading != nearest)]


def _describe(reading: EdgeReading) -> str:
    rule = "eq. 22 with the paper's coefficients"
    if reading.share is not None:
        rule = f"eq. 23 with a weight of {reading.share}"
    return (
        f"{rule}, {reading.count} extrema; open: binary edges, an upper threshold of {reading.high}, patches from 3 to "
        f"{reading.largest} pixels, edges that turn with an extremum count, 1 is the maximum"
    )
