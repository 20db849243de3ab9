"""Which side owns the edge? Torque on either side of the boundaries of objects, against simple rules.

Weights are learned on one set and reported on the others: drawn overlaps, Caltech's outlines, the horses.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.boundaries.ownership import (
    OwnershipModel,
    first_case,
    fit_weights,
    ownership_edges,
    second_case,
    true_sides,
)
from imtorque.core.types import Edges, FloatArray, Image, IntArray
from imtorque.io.weights import weights_text
from imtorque.jobs.processes import each
from imtorque.synthetic import overlap_scene
from imtorque_reproduce.figure_ground.cases import (
    CALTECH_PER_CATEGORY,
    Source,
    caltech_cases,
    horse_cases,
    read_scene,
    source_files,
)
from imtorque_reproduce.ownership.controls import bent_towards, towards_centre
from imtorque_reproduce.ownership.plots import sides_image
from imtorque_reproduce.report import Report, Request, checksum, provenance
from imtorque_reproduce.scoring import Floats, compare, evenly, gather

DRAWN_OVERLAPS = 200  # overlaps to learn from, and as many others to report on; untuned
MIN_PIXELS = 20  # edge pixels on a boundary that an image must have to count; untuned
BENDS = (5, 9, 14)  # pixels of contour on either side that say which way it bends; untuned
OTHER = {"caltech": "horses", "horses": "caltech", "drawn": "drawn-others"}
CONTROLS = ("control:darker-side", "control:convex-side", "control:towards-centre")
NOTES = (
    "right: the share of Canny's edge pixels on the object's boundary (at most 1.5 pixels away) that are given to the "
    "side of the object, or of the shape in front; mean over the images of a set. Images have a longer side of at "
    "most 200 pixels; those with fewer than 20 such pixels are left out.",
    "torque: weights learned on the other set of photographs; of drawn overlaps, on other ones. torque-drawn: learned "
    "on drawn overlaps alone, no photograph. torque-first-round, torque-six-rounds: as torque, with one round and six "
    "in place of two. weights.json beside this table was learned on both sets of photographs, and on drawn overlaps; "
    "it is what border_ownership uses.",
    "convex-side: the side towards which the contour bends, over as many pixels (5, 9 or 14) as serve it best on the "
    "set itself. The objects of both sets fill the middle of the image, and most are darker than their ground.",
)


@dataclass(frozen=True)
class Case:
    """An image with an order of depth: a drawn overlap by its seed, or a photograph with an object."""

    source: Source | int

    def read(self) -> tuple[Image, IntArray]:
        """Return the image, and who lies in front; -1 where that is not known."""
        if isinstance(self.source, int):
            drawn = overlap_scene(self.source)
            return drawn.image, drawn.order
        scene = read_scene(self.source)
        return scene.image, np.where(scene.known, scene.figure.astype(np.int32), -1)

    def edges(self) -> tuple[Edges, IntArray]:
        """Return the edges of the image, and its order."""
        image, order = self.read()
        return ownership_edges(image), order


def run(request: Request) -> Report:
    """Learn on each set, report on the others."""
    request.require_options()
    sets = _sets(request)
    models = {name: learn(cases, request.jobs, name) for name, cases in sets.items()}
    photographs = learn([*sets["caltech"], *sets["horses"]], request.jobs, "photographs")
    scored = {name: _scored(sets[name], name, models, request.jobs) for name in OTHER}
    cases = [case.source for name in OTHER for case in sets[name] if not isinstance(case.source, int)]
    return Report(
        data="Caltech-101 outlines, Weizmann horses and drawn overlaps",
        data_sha256=checksum(source_files(cases), request.data),
        split=request.split or "all",
        images=sum(len(next(iter(rows.values()))) for rows in scored.values()),
        settings={"learned_on": OTHER, "drawn": DRAWN_OVERLAPS, "per_category": CALTECH_PER_CATEGORY, "bends": BENDS},
        rows=_rows(scored),
        differences=_differences(scored),
        notes=NOTES,
        plots={
            "weights.json": _stored({"photographs": photographs, "drawings": models["drawn"]}, request.command),
            "examples.png": sides_image([_example(sets[name][k], models[OTHER[name]]) for name, k in _shown(sets)]),
        },
    )


def learn(cases: Sequence[Case], jobs: int, label: str) -> OwnershipModel:
    """Return weights learned on these cases."""
    first = fit_weights(list(each(_first, cases, jobs, f"{label}, first round")))
    return OwnershipModel(
        first, fit_weights(list(each(partial(_second, first=first), cases, jobs, f"{label}, second round")))
    )


def score(case: Case, models: dict[str, OwnershipModel]) -> dict[str, float]:
    """Return the share of right sides by every way, or nothing where the boundary has too few edges."""
    edges, order = case.edges()
    truth, known = true_sides(edges, order)
    if np.count_nonzero(known) < MIN_PIXELS:
        return {}
    answers: dict[str, FloatArray] = {
        "control:darker-side": -np.ones(len(truth)),
        "control:towards-centre": towards_centre(edges),
        **{f"bent:{reach}": bent_towards(edges, reach) for reach in BENDS},
    }
    for name, model in models.items():
        answers[f"model:{name}"] = model.sides(edges)[edges.mask]
        answers[f"first:{name}"] = model.sides(edges, rounds=1)[edges.mask]
        answers[f"six:{name}"] = model.sides(edges, rounds=6)[edges.mask]
    return {name: float(np.mean(np.sign(answer[known]) == truth[known])) for name, answer in answers.items()}


def _scored(cases: Sequence[Case], name: str, models: dict[str, OwnershipModel], jobs: int) -> dict[str, Floats]:
    """Return every row's share of right sides, for each image."""
    chosen = {key: models[key] for key in {OTHER[name], "drawn"}}
    found = [values for values in each(partial(score, models=chosen), cases, jobs, f"scoring {name}") if values]
    if not found:
        raise ValueError(f"images of {name} must have edges on their objects' boundaries, got none")
    columns = {key: np.array(values) for key, values in gather(found).items()}
    rounds = {"torque": "model", "torque-first-round": "first", "torque-six-rounds": "six"}
    rows = {row: columns[f"{key}:{OTHER[name]}"] for row, key in rounds.items()}
    if name != "drawn":
        rows["torque-drawn"] = columns["model:drawn"]
    best = max(BENDS, key=lambda reach: columns[f"bent:{reach}"].mean())
    rows["control:convex-side"] = columns[f"bent:{best}"]
    return rows | {key: columns[key] for key in ("control:darker-side", "control:towards-centre")}


def _sets(request: Request) -> dict[str, list[Case]]:
    caltech, horses = caltech_cases(request.data), horse_cases(request.data)
    sources: dict[str, Sequence[Source | int]] = {
        "caltech": caltech,
        "horses": horses,
        "drawn": range(DRAWN_OVERLAPS),
        "drawn-others": range(DRAWN_OVERLAPS, 2 * DRAWN_OVERLAPS),
    }
    return {name: [Case(source) for source in evenly(found, request.limit)] for name, found in sources.items()}


def _first(case: Case) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return first_case(*case.edges())


def _second(case: Case, first: FloatArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return second_case(*case.edges(), first)


def _rows(scored: dict[str, dict[str, Floats]]) -> list[dict[str, Any]]:
    methods = list(dict.fromkeys(method for rows in scored.values() for method in rows))
    return [
        {"method": method, **{f"right_{name}": float(v[method].mean()) for name, v in scored.items() if method in v}}
        for method in methods
    ]


def _differences(scored: dict[str, dict[str, Floats]]) -> list[dict[str, Any]]:
    pairs = [("torque", control) for control in CONTROLS]
    pairs += [("torque", "torque-first-round"), *(("torque-drawn", control) for control in CONTROLS)]
    return [one for name, rows in scored.items() for one in compare(rows, pairs, f"right_{name}")]


def _stored(models: dict[str, OwnershipModel], command: str) -> bytes:
    """Return the text of `src/imtorque/io/weights/ownership.json`."""
    weights = {
        name: {part: [float(f"{w:.6g}") for w in getattr(model, part)] for part in ("first", "second")}
        for name, model in models.items()
    }
    source = provenance(
        data=f"photographs: Caltech-101 outlines and Weizmann horses; drawings: {DRAWN_OVERLAPS} drawn overlaps",
        split="all",
        command=command,
    )
    return weights_text(weights, source).encode()


def _shown(sets: dict[str, list[Case]]) -> list[tuple[str, int]]:
    """Return which cases are drawn: three of each set, spread over it."""
    return [(name, len(sets[name]) * k // 3) for name in ("caltech", "horses", "drawn") for k in range(3)]


def _example(case: Case, model: OwnershipModel) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the size of an image's edges and for each +1 where the answer is right, -1 where it is wrong, else 0."""
    edges, order = case.edges()
    truth, known = true_sides(edges, order)
    right = np.zeros(edges.shape)
    answer = np.sign(model.sides(edges)[edges.mask])
    right[edges.mask] = np.where(known, np.where(answer == truth, 1.0, -1.0), 0.0)
    return edges.strength, right
