"""The paper's torque saliency (Sec. 4.1), read in every way that its words leave open.

What the paper states: a Gaussian of 25 pixels at every extremum, 0.3 of this map and 0.7 of GBVS, images of 150
pixels. What it leaves open: how many extrema, how much each counts, and Canny's smoothing. 500 extrema, the row
`torque-paper`, were chosen so that the paper's order of methods comes out on OSIE; so that order is no finding.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from imtorque import evaluation
from imtorque.core.types import Image
from imtorque.edges import SQRT2
from imtorque.evaluation.saliency_folders import SaliencyScores
from imtorque.images import CheckedImage
from imtorque.saliency import blend_saliency
from imtorque.saliency.from_torque import FORMS, Weight, form_edges
from imtorque.saliency.maps import Map
from imtorque_reproduce.ablation import READING, Step
from imtorque_reproduce.attention.rows import PAPER_COUNT, PAPER_SHARE, torque_map


@dataclass(frozen=True)
class SaliencyReading:
    """One reading of the paper's torque saliency: extrema, how much each counts, smoothing before edges."""

    count: int = PAPER_COUNT
    weight: Weight = "torque"
    edge_sigma: float = FORMS["paper"].edge_sigma


STEPS = (
    Step(
        "a Gaussian of 25 pixels at every extremum, share 0.3; open: 500 extrema, by their torque, smoothing 2",
        "stated",
        SaliencyReading(),
    ),
    *(Step(f"{count} extrema", "open", SaliencyReading(count)) for count in (50, 250, 1000, 4000)),
    Step("every extremum counts alike", "open", SaliencyReading(weight="one")),
    Step("an extremum counts by its torque times its size", "open", SaliencyReading(weight="size")),
    Step("smoothing of 1.41 pixels before edges, as everywhere else", "open", SaliencyReading(edge_sigma=SQRT2)),
)


def ablation_maps(image: Image, gbvs: Map) -> dict[str, Map]:
    """Return the map of every step, alone and with GBVS."""
    checked = CheckedImage(image)
    sigmas = {step.reading.edge_sigma for step in STEPS}
    edges = {sigma: form_edges(checked, replace(FORMS["paper"], edge_sigma=sigma)) for sigma in sigmas}
    maps = {}
    for step in STEPS:
        own = torque_map(edges[step.reading.edge_sigma], step.reading.count, weight=step.reading.weight)
        maps[step.name] = own
        maps[_with_gbvs(step)] = blend_saliency([gbvs, own], [1 - PAPER_SHARE, PAPER_SHARE])
    return maps


def ablation_rows(scores: Mapping[str, Sequence[SaliencyScores]]) -> list[dict[str, Any]]:
    """Return the ablation as results.json holds it: F of torque, of GBVS, of both, and what torque adds to GBVS."""
    curves = {name: [image.curve for image in images] for name, images in scores.items()}
    f = {name: evaluation.summarise_fixations(found).f for name, found in curves.items()}
    rows = []
    for step in STEPS:
        both = _with_gbvs(step)
        gain = evaluation.bootstrap_f_difference(curves[both], curves["gbvs"])
        rows.append(step.row({"f": f[step.name], "base": f["gbvs"], "with_gbvs": f[both]}, gain))
    return rows


def _with_gbvs(step: Step[SaliencyReading]) -> str:
    return f"{READING}gbvs and {step.choice}"
