"""The paper's torque cue for figure-ground (Sec. 4.3.2), read in every way that its words leave open.

What the paper states: Canny's edges, and "directly the normalized torque value contribution", eq. 21, as the edge map
of Mishra's cut, whose publication has eta 5 and k 20. What it leaves open: how contributions to maxima and to minima
are joined, how many extrema vote, the sizes of patches, what becomes 1, and whether the patches are those of extrema at
all or the one around the fixation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from imtorque import evaluation
from imtorque.core.contribution import contribution_map
from imtorque.core.extrema import find_extrema
from imtorque.core.types import Edges, Extrema, FloatArray, Image
from imtorque.edges import detect_edges
from imtorque.edges.canny import Force
from imtorque.paper import in_unit_range, normalised_contribution
from imtorque_reproduce.ablation import Kind, Step
from imtorque_reproduce.scoring import Floats

Way = tuple[str, str]  # what is done, and with which setting


@dataclass(frozen=True)
class FigureReading:
    """One reading of the paper's torque(Canny)."""

    # "separate", "supporting": as for `contribution_map`; "printed": |eq. 21| without the signs of the extrema;
    # "fixation": the absolute moments of all edges about the fixation.
    joined: Literal["separate", "supporting", "printed", "fixation"] = "separate"
    count: int | None = 5000  # how many of the strongest extrema vote (as in Sec. 4.2); None for all
    largest: float = 0.8  # largest patch, in parts of the square root of the image's area
    full: float = 0.99  # quantile of the contributions above 0 that becomes 1
    force: Force = "unit"  # of the edges


NEAREST = FigureReading()
READINGS: dict[str, FigureReading] = {
    "nearest": NEAREST,
    "supporting": replace(NEAREST, joined="supporting"),
    "printed": replace(NEAREST, joined="printed"),
    "fixation": replace(NEAREST, joined="fixation"),
    "all-extrema": replace(NEAREST, count=None),
    "fewer-extrema": replace(NEAREST, count=1000),
    "smaller-patches": replace(NEAREST, largest=0.46),
    "maximum": replace(NEAREST, full=1.0),
    "strength": replace(NEAREST, force="strength"),
}
PUBLISHED, AUTHORS = "5/20", "20/50"  # eta/k of Mishra's cut: as published first, and of its authors' program
CHOICES: tuple[tuple[str, Kind, Way], ...] = (
    (
        "d_tau of eq. 21 alone, eta/k 5/20 as published; open: maxima and minima apart, 5000 extrema, patches up to "
        "0.8 of the root of the area, 1 is the 99 % quantile",
        "stated",
        ("reading:nearest", PUBLISHED),
    ),
    ("eta/k 20/50, as in its authors' program", "open", ("reading:nearest", AUTHORS)),
    ("edges that turn with an extremum count for it, others against", "open", ("reading:supporting", PUBLISHED)),
    ("the same with eta/k 20/50: the reading of version 0.1", "open", ("reading:supporting", AUTHORS)),
    ("eq. 21 without the signs of extrema, its absolute value", "open", ("reading:printed", PUBLISHED)),
    ("the one patch around the fixation: moments about the fixation", "open", ("reading:fixation", PUBLISHED)),
    ("the same with eta/k 20/50", "open", ("reading:fixation", AUTHORS)),
    ("all extrema", "open", ("reading:all-extrema", PUBLISHED)),
    ("1000 extrema", "open", ("reading:fewer-extrema", PUBLISHED)),
    ("patches up to 0.46 of the root of the area", "open", ("reading:smaller-patches", PUBLISHED)),
    ("1 is the maximum", "open", ("reading:maximum", PUBLISHED)),
    ("forces in proportion to the gradient", "changed", ("reading:strength", PUBLISHED)),
    ("all patches by their coherence: the dense contribution", "changed", ("cue:contribution", PUBLISHED)),
)
STEPS = [Step(*choice) for choice in CHOICES]
BASES = {step.choice: ("cue:canny", step.reading[1]) for step in STEPS}  # Canny's edges, cut alike
WAYS = tuple(dict.fromkeys([*(step.reading for step in STEPS), *BASES.values()]))  # all that the ablation needs


def reading_cue(image: Image, fixation: tuple[int, int], name: str) -> FloatArray:
    """Return the edge map of a reading, in [0, 1]."""
    reading = READINGS[name]
    edges = detect_edges(image, force=reading.force)
    if reading.joined == "fixation":
        everywhere = 2 * max(edges.shape) + 1
        y, x, size = (np.array([place]) for place in (*fixation, everywhere))
        centre = Extrema(y, x, size, np.ones(1, np.float32))
        return in_unit_range(contribution_map(edges, centre, votes="absolute"), reading.full)
    found = strongest_extrema(edges, reading)
    if reading.joined == "printed":
        plain = Extrema(found.y, found.x, found.size, np.abs(found.value))
        return in_unit_range(np.abs(contribution_map(edges, plain)), reading.full)
    return normalised_contribution(edges, found, votes=reading.joined, full=reading.full)


def ablation_rows(scored: Mapping[str, Mapping[Way, Floats]]) -> list[dict[str, Any]]:
    """Return the ablation as results.json holds it, from scores by set and way: overlaps and gains."""
    rows = []
    for step in STEPS:
        pairs = {name: (values[step.reading], values[BASES[step.choice]]) for name, values in scored.items()}
        own, plain = (np.concatenate([pair[k] for pair in pairs.values()]) for k in (0, 1))
        numbers = {"base": float(plain.mean()), "iou": float(own.mean())}
        row = step.row(numbers, evaluation.bootstrap_difference(own, plain))
        if len(pairs) > 1:
            row |= {f"gain_{name}": float((a - b).mean()) for name, (a, b) in pairs.items()}
        rows.append(row)
    return rows


def strongest_extrema(edges: Edges, reading: FigureReading) -> Extrema:
    """Return the extrema that vote."""
    largest = reading.largest * math.sqrt(edges.shape[0] * edges.shape[1])
    return find_extrema(edges, sizes=range(3, max(4, int(largest) + 1), 2), count=reading.count)
