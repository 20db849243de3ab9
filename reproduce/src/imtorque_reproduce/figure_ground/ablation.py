"""The paper's torque cue for figure-ground (Sec. 4.3.2), read in every way that its words leave open.

What the paper states: Canny's edges, and "directly the normalized torque value contribution", eq. 21, as the edge map
of Mishra's cut, whose publication has eta 5 and k 20. What it leaves open: how contributions to maxima and to minima
are joined, how many extrema vote, the sizes of patches, what becomes 1, and whether the patches are those of extrema at
all or the one around the fixation.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from imtorque import evaluation, paper
from imtorque.core.contribution import contribution_map
from imtorque.core.types import Extrema, FloatArray, Image
from imtorque.paper import FIGURES, Reading, in_unit_range
from imtorque_reproduce.ablation import Kind, Step
from imtorque_reproduce.scoring import Floats

Way = tuple[str, str]  # what is done, and with which setting


NEAREST = FIGURES
FIXATION = "fixation"  # the absolute moments of all edges about the fixation
READINGS: dict[str, Reading] = {
    "nearest": NEAREST,
    "supporting": replace(NEAREST, votes="supporting"),
    "printed": replace(NEAREST, votes="printed"),
    FIXATION: NEAREST,
    "all-extrema": replace(NEAREST, count=None),
    "fewer-extrema": replace(NEAREST, count=1000),
    "smaller-patches": replace(NEAREST, sizes=0.46),
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
    edges = paper.edges(image, reading)
    if name == FIXATION:
        everywhere = 2 * max(edges.shape) + 1
        y, x, size = (np.array([place]) for place in (*fixation, everywhere))
        centre = Extrema(y, x, size, np.ones(1, np.float32))
        return in_unit_range(contribution_map(edges, centre, votes="absolute"), reading.full)
    return paper.contribution(edges, paper.extrema(edges, reading), reading)


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
