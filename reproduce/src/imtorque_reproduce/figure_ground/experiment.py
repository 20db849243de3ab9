"""The object under a fixation (Sec. 4.3.2 of the paper): edge cues with and without torque, and what they must beat.

Two sets, Caltech's outlines and the horses. Settings are chosen on one and reported on the other, both ways.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from imtorque import datasets
from imtorque_reproduce.figure_ground import bases
from imtorque_reproduce.figure_ground.ablation import PUBLISHED, WAYS, Way, ablation_rows
from imtorque_reproduce.figure_ground.cases import Source, caltech_cases, horse_cases, source_files
from imtorque_reproduce.figure_ground.plots import figure_sheet
from imtorque_reproduce.figure_ground.rows import COSTS, best_setting, means_of, score_sources
from imtorque_reproduce.report import Report, Request, checksum
from imtorque_reproduce.scoring import compare, evenly, mean_rows

SETS: Mapping[str, Callable[[Path], Sequence[Source]]] = {"caltech": caltech_cases, "horses": horse_cases}
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
    *((f"canny-binary+torque{form}", "canny-magnitude") for form in ("-paper", "")),
    ("canny-magnitude+torque", "canny-magnitude"),
    *(
        ("canny-magnitude+torque", f"control:{control}")
        for control in ("ellipse", "chan-vese", "canny-magnitude+fixed-size", "grabcut-centred-box")
    ),
    ("canny-magnitude+torque-size", "control:canny-magnitude+fixed-size"),
    ("grabcut+torque-box", "control:grabcut-centred-box"),
    *(("figure", row) for row in ("canny-magnitude+torque", "control:grabcut-centred-box", "control:no-torque")),
    *bases.COMPARED,
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
    "5/20 as Mishra's cut was published, whose base is canny-binary-published; maxima and minima apart. The "
    "ablation has its other readings.",
    "figure: segment_figure as it is, without settings: the best of many cuts, made by colour, texture, edges and "
    "torque, of sizes from a tenth of the image to all of it; learned from other images of Caltech, and from no "
    "horse (imtorque_reproduce.figure_ground.weights). control:no-torque: the same without torque, learned anew.",
    bases.NOTE,
    "Of the controls, ellipse, fixed-size and centred-box know that the objects of these sets fill the middle.",
)


def run(request: Request) -> Report:
    """Score all rows on one or both sets, or on folders of images and masks."""
    request.require_options(["images", "masks"])
    sources, root = _sources(request)
    choices = _choices(sources, request)
    ways = {name: rows_of(chosen) for name, chosen in choices.items()}
    scored = {
        name: score_sources(found, [*ways[name].values(), *WAYS], request, name) for name, found in sources.items()
    }
    rows = {name: {row: scored[name][way] for row, way in ways[name].items()} for name in sources}
    every_row = next(iter(rows.values()))
    metrics = {"iou": {row: np.concatenate([found[row] for found in rows.values()]) for row in every_row}}
    metrics |= {f"iou_{name}": found for name, found in rows.items()} if len(rows) > 1 else {}
    every = [source for found in sources.values() for source in found]
    return Report(
        data=" and ".join(sources),
        data_sha256=checksum(source_files(every), root),
        split=request.split or "all",
        images=len(every),
        settings={"chosen": choices, "costs": COSTS, "tuning_images": TUNING if len(sources) > 1 else 0},
        rows=mean_rows({row: {metric: found[row] for metric, found in metrics.items()} for row in metrics["iou"]}),
        differences=[one for pair in COMPARED for key, found in metrics.items() for one in compare(found, [pair], key)],
        notes=NOTES,
        plots={f"examples-{name}.png": figure_sheet(found, ways[name]) for name, found in sources.items()},
        readings=ablation_rows(scored),
    )


def rows_of(chosen: Mapping[str, Way]) -> dict[str, Way]:
    """Return every row's way of cutting, given what was chosen."""
    others = {
        "canny-binary-published": ("cue:canny", PUBLISHED),
        "canny-binary+torque-paper": ("reading:nearest", PUBLISHED),
        "canny-magnitude-cartesian": ("cartesian:magnitude", chosen["canny-magnitude"][1]),
    }
    return {**chosen, **others, **bases.ROWS, **FIXED}


def choose(means: Mapping[Way, float]) -> dict[str, Way]:
    """Return the settings that serve best on the scenes these are the means of; torque takes its base's costs."""
    binary, magnitude = best_setting(means, "cue:canny"), best_setting(means, "cue:magnitude")
    return {
        "canny-binary": binary,
        "canny-binary+torque": max(((cue, binary[1]) for cue in BINARY_TORQUE), key=means.__getitem__),
        "canny-magnitude": magnitude,
        "canny-magnitude+torque": max(((cue, magnitude[1]) for cue in MAGNITUDE_TORQUE), key=means.__getitem__),
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
        tuning = sources[other][:: max(1, len(sources[other]) // TUNING)]
        found[name] = choose(means_of(score_sources(tuning, tuned_ways(), request, f"tuning on {other}")))
    return found


def _sources(request: Request) -> tuple[dict[str, Sequence[Source]], Path]:
    """Return the scenes of every set, and the folder that the names of their files are taken from."""
    images, masks = request.option("images", ""), request.option("masks", "")
    if bool(images) != bool(masks):
        raise ValueError("--images and --masks must be given together, got one of the two")
    if images:
        folder = Path(images).resolve()
        return {folder.name: datasets.paired_masks(folder, Path(masks))[: request.limit]}, Path(folder.anchor)
    found: dict[str, Sequence[Source]] = {
        name: evenly(SETS[name](request.data), request.limit) for name in request.parts(*SETS)
    }
    return found, request.data
