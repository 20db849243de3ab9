"""Small objects away from the middle: does torque find the size that the usual sets take for granted?

Settings, among them the size that the controls expect, are chosen on the dev part and reported on the test part.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import datasets, evaluation
from imtorque.jobs.processes import each
from imtorque_reproduce.figure_ground.cases import Source, caltech_cases, source_files
from imtorque_reproduce.figure_ground.experiment import choose, tuned_ways
from imtorque_reproduce.figure_ground.plots import figure_sheet
from imtorque_reproduce.figure_ground.rows import COSTS, FIXATED, Way, best_setting, column, mean_scores, score_ways
from imtorque_reproduce.report import Report, Request, checksum, difference

DEV, TEST = 48, 144  # scenes
PER_CATEGORY = 5  # objects that fill the image, from Caltech's outlines
PRIORS = ("0.2", "0.3", "0.4")  # expected size, of the square root of the image's area
# These are scored on objects that fill the image as well: is there one rule for both?
BOTH: dict[str, Way] = {
    **{f"control:grabcut-box-{part}": ("grabcut:fixated", part) for part in FIXATED},
    "control:grabcut-centred-box": ("grabcut:centred", "0.8"),
    "control:grabcut-centred-box-0.9": ("grabcut:centred", "0.9"),
    "grabcut+torque-box": ("grabcut:torque", "both"),
    "grabcut+torque-box-torque": ("grabcut:torque", "torque"),
    "choice+torque": ("choice", "strengthened"),
    "control:choice+magnitude": ("choice", "magnitude"),
    "control:choice-boxes": ("choice", ""),
    "figure": ("figure", "torque"),
    "control:no-torque": ("figure", "no-torque"),
}
COMPARED = (
    ("canny-binary+torque", "canny-binary"),
    ("canny-magnitude+torque", "canny-magnitude"),
    ("canny-magnitude+torque-size", "canny-magnitude"),
    ("control:canny-magnitude+fixed-size", "canny-magnitude"),
    ("grabcut+torque-box", "control:grabcut-centred-box"),
    ("grabcut+torque-box-torque", "control:grabcut-centred-box"),
    ("grabcut+torque-box", "control:grabcut-typical-box"),
    ("choice+torque", "control:grabcut-typical-box"),
    ("figure", "control:grabcut-typical-box"),
)
COMPARED_ON_BOTH = (
    *(("choice+torque", f"control:grabcut-box-{part}") for part in FIXATED),
    ("choice+torque", "control:grabcut-centred-box"),
    ("choice+torque", "control:grabcut-centred-box-0.9"),
    ("choice+torque", "control:choice+magnitude"),
    ("choice+torque", "control:choice-boxes"),
    ("figure", "choice+torque"),
    ("figure", "control:grabcut-centred-box-0.9"),
    ("figure", "control:no-torque"),
)
SHOWN = ("figure", "canny-magnitude+torque", "grabcut+torque-box", "choice+torque", "control:grabcut-typical-box")
NOTES = (
    "iou: on Caltech's outlined objects pasted into Berkeley's test photographs, with bounding boxes of 2 to 15 % of "
    "the image, fixated at a random pixel of the object (imtorque.datasets.small_objects, the same every time). "
    "iou_caltech: on Caltech's outlines themselves, which mostly fill the image, fixated at their centroid.",
    "grabcut+torque-box: GrabCut of OpenCV in the box around the fixation, of any size, with the largest geometric "
    "mean of gradient torque and weakest side; -torque: of gradient torque. control:grabcut-box-P: in the square "
    "around the fixation with the side P, over the square root of the image's area; typical-box: the P that is "
    "best on the dev part, so it knows the size of these objects.",
    "choice+torque: of GrabCut in all those boxes of P, in the larger centred box, and the polar cut with strengthened "
    "edges, the one that looks most like an object (imtorque_reproduce.figure_ground.choice); the controls have the "
    "cut by magnitude, or none, in its place. The rule was chosen on the dev part and on the horses.",
    "figure: segment_figure as it is, one rule for all sizes, learned from the dev part and from other images of "
    "Caltech (imtorque_reproduce.figure_ground.weights). control:no-torque: the same without torque, learned anew.",
    "Pasted objects carry foreign light and a clean rim: other small objects may be harder.",
)


def run(request: Request) -> Report:
    """Choose settings on the dev part, and score all rows on the test part; some on objects of all sizes."""
    request.require_options([])
    if request.split not in (None, "test"):
        raise ValueError(f"--split must be test, got {request.split}")
    dev = datasets.small_objects(request.data, "dev", count=DEV)[: request.limit]
    test = datasets.small_objects(request.data, "test", count=TEST)[: request.limit]
    large = caltech_cases(request.data, PER_CATEGORY)[: request.limit]
    tuning = partial(score_ways, ways=_tuned())
    ways = rows_of(mean_scores(list(each(tuning, dev, request.jobs, "tuning on dev"))))
    scored = _scored(test, ways, request.jobs, "small objects")
    on_large = _scored(large, BOTH, request.jobs, "objects that fill the image")
    return Report(
        data="small objects (Caltech-101 in BSDS300)",
        data_sha256=checksum(source_files([*dev, *test, *large]), request.data),
        split="test",
        images=len(test),
        settings={"ways": ways, "costs": COSTS, "tuning_images": len(dev), "tuning": "dev", "caltech": len(large)},
        rows=[_row(row, scored, on_large) for row in scored],
        differences=[
            *_differences(scored, (*COMPARED, *COMPARED_ON_BOTH), "iou"),
            *_differences(on_large, COMPARED_ON_BOTH, "iou_caltech"),
        ],
        notes=NOTES,
        plots={"examples.png": figure_sheet(test, ways, SHOWN)},
    )


def rows_of(means: dict[Way, float]) -> dict[str, Way]:
    """Return every row's way of cutting, with the settings that serve best on the scenes these are the means of."""
    chosen = choose(means)
    paper = ("cue:torque-paper", chosen["canny-binary"][1])
    return {
        **chosen,
        "canny-binary+torque-paper": paper,
        "torque-paper": paper,
        "canny-magnitude+torque-size": ("prior:magnitude", "torque"),
        "control:grabcut-typical-box": best_setting(means, "grabcut:fixated"),
        "control:ellipse": ("ellipse", ""),
        **BOTH,
    }


def _tuned() -> list[Way]:
    ways = [way for way in tuned_ways() if way[0] not in ("prior:magnitude", "grabcut:centred")]
    ways += [("prior:magnitude", part) for part in PRIORS] + [("grabcut:fixated", part) for part in FIXATED]
    return [*ways, ("grabcut:centred", "0.8")]


def _scored(sources: Sequence[Source], ways: dict[str, Way], jobs: int, label: str) -> dict[str, NDArray[np.float64]]:
    values = list(each(partial(score_ways, ways=sorted(set(ways.values()))), sources, jobs, label))
    return {row: column(values, way) for row, way in ways.items()}


def _row(
    method: str, scored: dict[str, NDArray[np.float64]], on_large: dict[str, NDArray[np.float64]]
) -> dict[str, Any]:
    row: dict[str, Any] = {"method": method, "iou": float(scored[method].mean())}
    return row | ({"iou_caltech": float(on_large[method].mean())} if method in on_large else {})


def _differences(
    scored: dict[str, NDArray[np.float64]], pairs: Sequence[tuple[str, str]], metric: str
) -> list[dict[str, Any]]:
    return [difference(a, b, metric, evaluation.bootstrap_difference(scored[a], scored[b])) for a, b in pairs]
