"""The paper's strengthened edges (Sec. 4.2), read in every way that its words leave open.

What the paper states: Canny's edges, unit forces, the contribution of eq. 21 to extrema, normalised into [0, 1], then
eq. 22 with its coefficients on Berkeley's images, or eq. 23 with a weight of 0.5 and 5000 extrema on cars. What it
leaves open: how many extrema vote on Berkeley's images, whether the base is binary, Canny's thresholds, the sizes of
patches at this size of image, how contributions to maxima and to minima are joined, and what becomes 1.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from imtorque import paper
from imtorque.core.types import Edges, Extrema, FloatArray, Image
from imtorque.images import CheckedImage
from imtorque.paper import Reading
from imtorque_reproduce.ablation import READING, Kind, Step

EDGE_FIELDS = ("sigma", "low", "high", "direction_sigma", "directions", "force")
SEARCH_FIELDS = (*EDGE_FIELDS, "sizes", "neighbourhood", "end_scales", "inside", "count", "each_sign")
BINARY = "canny-binary"  # the base of the readings


class Reader:
    """One image, read in several ways; edges and extrema that readings share are found once."""

    def __init__(self, image: Image) -> None:
        """Take an image."""
        self.image = CheckedImage(image)
        self._edges = cache(partial(paper.edges, self.image))
        self._extrema = cache(self._search)

    def base(self, reading: Reading) -> FloatArray:
        """Return the edges before torque weighs them."""
        if reading.binary:
            return self.edges(reading).mask.astype(np.float64)
        return np.minimum(self.edges(replace(reading, force="strength")).strength, 1)

    def edges(self, reading: Reading) -> Edges:
        """Return the edges."""
        return self._edges(only(reading, EDGE_FIELDS))

    def extrema(self, reading: Reading) -> Extrema:
        """Return the extrema that vote."""
        every = self._extrema(only(replace(reading, count=None, each_sign=False), SEARCH_FIELDS))
        return paper.strongest(every, reading)

    def contribution(self, reading: Reading) -> FloatArray:
        """Return d_tau, in [0, 1]."""
        return paper.contribution(self.edges(reading), self.extrema(reading), reading)

    def strengthened(self, reading: Reading) -> FloatArray:
        """Return the strengthened edges; the base where there are no edges."""
        base = self.base(reading)
        return paper.strengthened(base, self.contribution(reading), reading) if base.any() else base

    def _search(self, reading: Reading) -> Extrema:
        return paper.extrema(self.edges(reading), reading)


def only(reading: Reading, names: Sequence[str]) -> Reading:
    """Return the default reading with these fields changed."""
    return Reading(**{name: getattr(reading, name) for name in names})


def base_name(reading: Reading) -> str:
    """Return the name of a reading's base among methods."""
    return f"base-{reading.binary}-{reading.high}"


def binary_maps(reader: Reader, nearest: Reading, steps: Sequence[Step[Reading]]) -> dict[str, FloatArray]:
    """Return the boundary maps of the rows on binary edges, and of every step of the ablation with its base."""
    maps = {
        BINARY: reader.base(nearest),
        f"{BINARY}+torque-paper": reader.strengthened(nearest),
        f"control:{BINARY}+magnitude": reader.base(replace(nearest, binary=False)),
    }
    for step in steps:
        maps[step.name] = reader.strengthened(step.reading)
        maps[f"{READING}{base_name(step.reading)}"] = reader.base(step.reading)
    return maps


def ablation_of(nearest: Reading, thresholds: Sequence[float]) -> list[Step[Reading]]:
    """Return the nearest reading, and from it one choice at a time made otherwise; Canny's upper threshold by these."""
    counted: Kind = "open" if nearest.share is None else "changed"  # the paper names a count for its cars only
    choices: list[tuple[str, Kind, dict[str, Any]]] = [
        ("the base has the gradient's strength instead of being binary", "open", {"binary": False}),
        ("Canny's automatic thresholds", "open", {"high": None}),
        *((f"an upper threshold of {high:.2f}", "open", {"high": high}) for high in thresholds),
        ("patches from 3 to 91 pixels, which the paper has for halved images", "open", {"sizes": 91}),
        ("maxima and minima apart, the larger of the two", "open", {"votes": "separate"}),
        ("eq. 21 without the signs of extrema, its absolute value", "open", {"votes": "printed"}),
        ("1 is the 99 % quantile of the contribution, not its maximum", "open", {"full": 0.99}),
        ("every patch votes by its torque, not by its sum", "changed", {"weight": "area"}),
        ("1000 extrema", counted, {"count": 1000}),
        ("all extrema", counted, {"count": None}),
    ]
    other = [Step(choice, kind, replace(nearest, **changes)) for choice, kind, changes in choices]
    return [Step(_describe(nearest), "stated", nearest), *(step for step in other if step.reading != nearest)]


def _describe(reading: Reading) -> str:
    rule, open_count = "eq. 22 with the paper's coefficients", f"{reading.count} extrema, "
    if reading.share is not None:
        rule, open_count = f"eq. 23 with a weight of {reading.share}, {reading.count} extrema", ""
    return (
        f"{rule}; open: {open_count}binary edges, an upper threshold of {reading.high}, patches from 3 to "
        f"{reading.sizes} pixels, edges that turn with an extremum count, 1 is the maximum"
    )
