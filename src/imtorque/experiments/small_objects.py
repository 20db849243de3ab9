"""Small objects away from the middle: does torque find the size that the usual sets take for granted?

Settings, among them the size that the controls expect, are chosen on the dev part and reported on the test part.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import datasets, evaluation
from imtorque.experiments.figure_cases import source_files
from imtorque.experiments.figure_ground import choose, tuned_ways
from imtorque.experiments.figure_rows import COSTS, Way, best_setting, column, mean_scores, score_ways
from imtorque.experiments.figure_sheets import figure_sheet
from imtorque.experiments.report import Report, Request, checksum, difference
from imtorque.experiments.workers import each

DEV, TEST = 72, 240  # scenes
PRIORS = ("0.2", "0.3", "0.4")  # expected size, of the square root of the picture's area
BOXES = ("0.3", "0.4", "0.5", "0.6")  # side of the typical box
COMPARED = (
    ("canny-binary+torque", "canny-binary"),
    ("canny-magnitude+torque", "canny-magnitude"),
    ("canny-magnitude+torque-size", "canny-magnitude"),
    ("control:canny-magnitude+fixed-size", "canny-magnitude"),
    ("grabcut+torque-box", "control:grabcut-centred-box"),
    ("grabcut+torque-box-torque", "control:grabcut-centred-box"),
    ("grabcut+torque-box", "control:grabcut-typical-box"),
)
SHOWN = ("canny-magnitude", "canny-magnitude+torque", "grabcut+torque-box", "control:grabcut-typical-box")
NOTES = (
    "Caltech's outlined objects pasted into Berkeley's test photographs, with bounding boxes of 2 to 15 % of the "
    "picture; the fixation is a random pixel of the object. imtorque.datasets.small_objects makes the same every time.",
    "grabcut+torque-box: GrabCut of OpenCV in the box of strongest weakest side that holds the fixation, of any size; "
    "-torque: of strongest gradient torque. control:grabcut-typical-box knows the size that is usual in this set.",
    "Pasted objects carry foreign light and a clean rim: other small objects may be harder.",
)


def run(request: Request) -> Report:
    """Choose settings on the dev part, and score all rows on the test part."""
    request.require_options([])
    if request.split not in (None, "test"):
        raise ValueError(f"--split must be test, got {request.split}")
    dev = datasets.small_objects(request.data, "dev", count=DEV)[: request.limit]
    test = datasets.small_objects(request.data, "test", count=TEST)[: request.limit]
    tuning = partial(score_ways, ways=_tuned())
    ways = rows_of(mean_scores(list(each(tuning, dev, request.jobs, "tuning on dev"))))
    score = partial(score_ways, ways=sorted(set(ways.values())))
    values = list(each(score, test, request.jobs, "small objects"))
    scored = {row: column(values, way) for row, way in ways.items()}
    return Report(
        data="small objects (Caltech-101 in BSDS300)",
        data_sha256=checksum(source_files([*dev, *test]), request.data),
        split="test",
        images=len(test),
        settings={"ways": ways, "costs": COSTS, "tuning_images": len(dev), "tuning": "dev"},
        rows=[{"method": row, "iou": float(found.mean())} for row, found in scored.items()],
        differences=_differences(scored),
        notes=NOTES,
        pictures={"examples.png": figure_sheet(test, ways, SHOWN)},
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
        "grabcut+torque-box": ("grabcut:torque", "side"),
        "grabcut+torque-box-torque": ("grabcut:torque", "torque"),
    }


def _tuned() -> list[Way]:
    ways = [way for way in tuned_ways() if way[0] != "prior:magnitude"]
    return ways + [("prior:magnitude", part) for part in PRIORS] + [("grabcut:fixated", part) for part in BOXES]


def _differences(scored: dict[str, NDArray[np.float64]]) -> list[dict[str, Any]]:
    return [difference(a, b, "iou", evaluation.bootstrap_difference(scored[a], scored[b])) for a, b in COMPARED]
