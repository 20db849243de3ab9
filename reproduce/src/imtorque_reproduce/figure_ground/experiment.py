"""The object under a fixation (Sec. 4.3.2 of the paper): edge cues with and without torque, and what they must beat.

Two sets, Caltech's outlines and the horses. Settings are chosen on one and reported on the other, both ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import evaluation
from imtorque.jobs.processes import each
from imtorque_reproduce.figure_ground import bases as figure_bases
from imtorque_reproduce.figure_ground.cases import (
    Source,
    caltech_cases,
    folder_cases,
    horse_cases,
    source_files,
    spread_over,
)
from imtorque_reproduce.figure_ground.plots import figure_sheet
from imtorque_reproduce.figure_ground.readings import PUBLISHED, ladder_rows, ladder_ways
from imtorque_reproduce.figure_ground.rows import (
    COSTS,
    Way,
    best_setting,
    column,
    mean_scores,
    score_ways,
)
from imtorque_reproduce.report import Report, Request, checksum, difference

SETS = ("caltech", "horses")
TUNING = 40  # scenes of a set, spread over it, that settings for the other are chosen on
BINARY_TORQUE = ("cue:contribution", "cue:torque")
MAGNITUDE_TORQUE = ("cue:product", "cue:blend", "cue:strengthened")
PRIORS = ("0.5", "0.75", "1.0")  # expected size, of the square root of the image's area
CENTRED = ("0.7", "0.8", "0.9")  # of the image's sides
FIXED: dict[str, Way] = {
    "control:ellipse": ("ellipse", ""),
    "control:chan-vese": ("chan-vese", ""),
    "canny-magnitude+torque-size": ("prior:magnitude", "torque"),
    "grabcut+torque-box": ("grabcut:torque", "both"),
    "figure": ("figure", "torque"),
    "control:no-torque": ("figure", "no-torque"),
}
# What was chosen on both sets, for scenes of other ones.
CHOSEN: dict[str, Way] = {
    "canny-binary": ("cue:canny", "20/50"),
    "canny-binary+torque": ("cue:contribution", "20/50"),
    "canny-magnitude": ("cue:magnitude", "20/50"),
    "canny-magnitude+torque": ("cue:strengthened", "20/50"),
    "control:canny-magnitude+fixed-size": ("prior:magnitude", "0.75"),
    "control:grabcut-centred-box": ("grabcut:centred", "0.9"),
}
COMPARED = (
    ("canny-binary+torque", "canny-binary"),
    ("canny-binary+torque-paper", "canny-binary-published"),
    ("canny-binary+torque-paper", "canny-magnitude"),
    ("canny-binary+torque", "canny-magnitude"),
    ("canny-magnitude+torque", "canny-magnitude"),
    ("canny-magnitude+torque", "control:ellipse"),
    ("canny-magnitude+torque", "control:chan-vese"),
    ("canny-magnitude+torque", "control:canny-magnitude+fixed-size"),
    ("canny-magnitude+torque", "control:grabcut-centred-box"),
    ("canny-magnitude+torque-size", "control:canny-magnitude+fixed-size"),
    ("grabcut+torque-box", "control:grabcut-centred-box"),
    ("figure", "canny-magnitude+torque"),
    ("figure", "control:grabcut-centred-box"),
    ("figure", "control:no-torque"),
    *figure_bases.COMPARED,
)
NOTES = (
    "The paper, on 28 images of another set: Canny 0.32, torque(Canny) 0.47, Chan-Vese 0.21. Other images, so only "
    "orders and differences compare.",
    "iou: intersection over union with the object, mean over all images; the fixation is the object's centroid, or its "
    "pixel nearest to that. Images have a longer side of at most 200 pixels.",
    "BASE+torque has the edge map alone changed: the same eta, k and splat, and no prior of size; settings say which. "
    "Of these, strengthened edges are weighed on all maxima of the gradient, the others on Canny's. The forces of "
    "canny-binary+torque are gradients: judge it beside canny-magnitude.",
    "canny-binary+torque-paper is one reading of the paper's torque(Canny), which is the contribution alone: eta/k "
    "5/20 as Mishra's cut was published, whose base is canny-binary-published; maxima and minima apart. The ladder has "
    "its other readings.",
    "figure: segment_figure as it is, without settings: the best of many cuts, made by colour, texture, edges and "
    "torque, of sizes from a tenth of the image to all of it; learned from other images of Caltech, and from no "
    "horse (imtorque_reproduce.figure_ground.weights). control:no-torque: the same without torque, learned anew.",
    figure_bases.NOTE,
    "Of the controls, ellipse, fixed-size and centred-box know that the objects of these sets fill the middle.",
)


def run(request: Request) -> Report:
    """Score all rows on one or both sets, or on folders of images and masks."""
    request.require_options(["images", "masks"])
    sources = _sources(request)
    choices = _choices(sources, request)
    scored: dict[str, dict[str, NDArray[np.float64]]] = {}
    read: dict[str, dict[Way, NDArray[np.float64]]] = {}
    for name, found in sources.items():
        ways = rows_of(choices[name])
        score = partial(score_ways, ways=sorted({*ways.values(), *ladder_ways()}))
        values = list(each(score, found, request.jobs, name))
        scored[name] = {row: column(values, way) for row, way in ways.items()}
        read[name] = {way: column(values, way) for way in ladder_ways()}
    every = [source for found in sources.values() for source in found]
    return Report(
        data=" and ".join(sources),
        data_sha256=checksum(source_files(every), _root(request)),
        split=request.split or "all",
        images=len(every),
        settings={"chosen": choices, "costs": COSTS, "tuning_images": TUNING if len(sources) > 1 else 0},
        rows=_rows(scored),
        differences=_differences(scored),
        notes=NOTES,
        plots={f"examples-{name}.png": figure_sheet(found, rows_of(choices[name])) for name, found in sources.items()},
        readings=ladder_rows(read),
    )


def rows_of(chosen: dict[str, Way]) -> dict[str, Way]:
    """Return every row's way of cutting, given what was chosen."""
    others = {
        "canny-binary-published": ("cue:canny", PUBLISHED),
        "canny-binary+torque-paper": ("reading:nearest", PUBLISHED),
        "canny-magnitude-cartesian": ("cartesian:magnitude", chosen["canny-magnitude"][1]),
    }
    return {**chosen, **others, **figure_bases.ROWS, **FIXED}


def choose(means: dict[Way, float]) -> dict[str, Way]:
    """Return the settings that serve best on the scenes these are the means of; torque takes its base's costs."""
    binary, magnitude = best_setting(means, "cue:canny"), best_setting(means, "cue:magnitude")
    with_torque = {
        base: max(((cue, cost) for cue in cues), key=lambda way: means[way])
        for base, cost, cues in (
            ("canny-binary", binary[1], BINARY_TORQUE),
            ("canny-magnitude", magnitude[1], MAGNITUDE_TORQUE),
        )
    }
    return {
        "canny-binary": binary,
        "canny-binary+torque": with_torque["canny-binary"],
        "canny-magnitude": magnitude,
        "canny-magnitude+torque": with_torque["canny-magnitude"],
        "control:canny-magnitude+fixed-size": best_setting(means, "prior:magnitude"),
        "control:grabcut-centred-box": best_setting(means, "grabcut:centred"),
    }


def tuned_ways() -> list[Way]:
    """Return all settings that are chosen from."""
    cues = ("cue:canny", "cue:magnitude", *BINARY_TORQUE, *MAGNITUDE_TORQUE)
    ways = [(cue, cost) for cue in cues for cost in COSTS]
    return ways + [("prior:magnitude", part) for part in PRIORS] + [("grabcut:centred", part) for part in CENTRED]


def _choices(sources: dict[str, Sequence[Source]], request: Request) -> dict[str, dict[str, Way]]:
    """Choose settings for each set on the other one; for lone sets take those chosen before."""
    if len(sources) != 2:
        return dict.fromkeys(sources, CHOSEN)
    found = {}
    for name, other in zip(sources, reversed(sources), strict=True):
        step = max(1, len(sources[other]) // TUNING)
        score = partial(score_ways, ways=tuned_ways())
        means = mean_scores(list(each(score, sources[other][::step], request.jobs, f"tuning on {other}")))
        found[name] = choose(means)
    return found


def _sources(request: Request) -> dict[str, Sequence[Source]]:
    images, masks = request.option("images", ""), request.option("masks", "")
    if bool(images) != bool(masks):
        raise ValueError("--images and --masks must be given together, got one of the two")
    if images:
        return {Path(images).resolve().name: folder_cases(Path(images), Path(masks))[: request.limit]}
    chosen = SETS if request.split is None else (request.split,)
    if unknown := set(chosen) - set(SETS):
        raise ValueError(f"--split must be one of {', '.join(SETS)}, got {unknown.pop()}")
    return {name: spread_over(_set(name, request.data), request.limit) for name in chosen}


def _set(name: str, data: Path) -> Sequence[Source]:
    return caltech_cases(data) if name == "caltech" else horse_cases(data)


def _root(request: Request) -> Path:
    """Return the folder that the names of files are taken from."""
    images = request.option("images", "")
    return Path(Path(images).resolve().anchor) if images else request.data


def _rows(scored: dict[str, dict[str, NDArray[np.float64]]]) -> list[dict[str, Any]]:
    rows = []
    for method in next(iter(scored.values())):
        row: dict[str, Any] = {"method": method, "iou": float(_together(scored, method).mean())}
        if len(scored) > 1:
            row |= {f"iou_{name}": float(values[method].mean()) for name, values in scored.items()}
        rows.append(row)
    return rows


def _together(scored: dict[str, dict[str, NDArray[np.float64]]], method: str) -> NDArray[np.float64]:
    return np.concatenate([values[method] for values in scored.values()])


def _differences(scored: dict[str, dict[str, NDArray[np.float64]]]) -> list[dict[str, Any]]:
    rows = []
    for a, b in COMPARED:
        rows.append(
            difference(a, b, "iou", evaluation.bootstrap_difference(_together(scored, a), _together(scored, b)))
        )
        if len(scored) > 1:
            for name, values in scored.items():
                rows.append(difference(a, b, f"iou_{name}", evaluation.bootstrap_difference(values[a], values[b])))
    return rows
