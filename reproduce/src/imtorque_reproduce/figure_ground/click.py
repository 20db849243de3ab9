"""The object under a click, whatever its size: `segment_figure` as it is, beside GrabCut in boxes chosen for each set.

Three sets: Caltech's outlines and the horses, which mostly fill the image, and the small objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import datasets, evaluation
from imtorque.jobs.processes import each
from imtorque_reproduce.figure_ground.cases import Source, caltech_cases, horse_cases, source_files, spread_over
from imtorque_reproduce.figure_ground.plots import figure_sheet
from imtorque_reproduce.figure_ground.rows import Way, column, mean_scores, score_ways
from imtorque_reproduce.figure_ground.small_objects import TEST
from imtorque_reproduce.report import Report, Request, checksum, difference

Scores = dict[str, NDArray[np.float64]]  # by set
BOXES: dict[str, Way] = {
    "control:grabcut-box-0.25": ("grabcut:fixated", "0.25"),
    "control:grabcut-box-0.35": ("grabcut:fixated", "0.35"),
    "control:grabcut-box-0.47": ("grabcut:fixated", "0.47"),
    "control:grabcut-centred-box-0.8": ("grabcut:centred", "0.8"),
    "control:grabcut-centred-box-0.9": ("grabcut:centred", "0.9"),
}
BEST_BOX = "control:grabcut-best-box"
WAYS: dict[str, Way] = {
    "figure": ("figure", "torque"),
    "control:no-torque": ("figure", "no-torque"),
    "polar": ("cue:strengthened", "20/50"),
    **BOXES,
    "figure@anywhere": ("figure@anywhere", "torque"),
    "control:no-torque@anywhere": ("figure@anywhere", "no-torque"),
}
COMPARED = (
    ("figure", BEST_BOX),
    ("figure", "control:no-torque"),
    ("figure", "polar"),
    *(("figure", name) for name in BOXES),
    ("figure@anywhere", "control:no-torque@anywhere"),
)
SHOWN = ("figure", "control:no-torque", "polar", "control:grabcut-box-0.35", "control:grabcut-centred-box-0.9")
NOTES = (
    "iou_caltech, iou_horses, iou_small: mean overlap, intersection over union, with the object of 360 outlines of "
    "Caltech-101, of all horses, clicked at their centroids, and of 144 small objects pasted into photographs, clicked "
    "at a random pixel (as in figure-ground and small-objects). iou: the mean of the three; its intervals draw "
    "images of all sets together.",
    "figure: segment_figure(image, click), one rule for all, with no size known beforehand. It was learned from "
    "other images of Caltech and other small objects (imtorque_reproduce.figure_ground.weights); no horse was "
    "learned from. "
    "control:no-torque: the same cuts and measures, learned anew, without edges strengthened by torque, boxes of "
    "strongest torque and the torque of a cut's box.",
    "control:grabcut-best-box: GrabCut of OpenCV in the box, of those below, that is best for each set: it is told how "
    "large the set's objects are. polar: the cut by strengthened edges alone, segment_figure(method='polar').",
    "@anywhere: clicked at a random pixel of the object in all three sets.",
)


def run(request: Request) -> Report:
    """Score all rows on the three sets."""
    request.require_options([])
    if request.split is not None:
        raise ValueError(f"--split must be left out, got {request.split}")
    sources: dict[str, Sequence[Source]] = {
        "caltech": spread_over(caltech_cases(request.data), request.limit),
        "horses": spread_over(horse_cases(request.data), request.limit),
        "small": datasets.small_objects(request.data, "test", count=TEST)[: request.limit],
    }
    score = partial(score_ways, ways=list(WAYS.values()))
    values = {name: list(each(score, found, request.jobs, name)) for name, found in sources.items()}
    best = {name: best_box(mean_scores(found)) for name, found in values.items()}
    scored: dict[str, Scores] = {
        row: {name: column(found, way) for name, found in values.items()} for row, way in WAYS.items()
    }
    scored[BEST_BOX] = {name: scored[best[name]][name] for name in sources}
    every = [source for found in sources.values() for source in found]
    return Report(
        data="caltech, horses and small objects",
        data_sha256=checksum(source_files(every), request.data),
        split="all",
        images=len(every),
        settings={"best_box": best, "images": {name: len(found) for name, found in sources.items()}},
        rows=[_row(row, found) for row, found in scored.items()],
        differences=[row for a, b in COMPARED for row in _differences(a, b, scored)],
        notes=NOTES,
        plots={f"examples-{name}.png": figure_sheet(found, WAYS, SHOWN) for name, found in sources.items()},
    )


def best_box(means: dict[Way, float]) -> str:
    """Return the row of the box that GrabCut does best in."""
    return max(BOXES, key=lambda row: means[BOXES[row]])


def mean_of_sets(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over sets, from means over all images of (scores in each set, whether in it), (m, 2 sets)."""
    sums, shares = np.split(means, 2, axis=1)
    return np.asarray((sums / np.maximum(shares, 1e-12)).mean(axis=1))


def by_set(scores: Scores) -> NDArray[np.float64]:
    """Return for every image its score in each set, 0 in others, and whether it is of that set."""
    sizes = [len(values) for values in scores.values()]
    member = np.repeat(np.eye(len(sizes)), sizes, axis=0)
    return np.concatenate([member * np.concatenate(list(scores.values()))[:, None], member], axis=1)


def _row(method: str, scores: Scores) -> dict[str, Any]:
    means = {f"iou_{name}": float(values.mean()) for name, values in scores.items()}
    return {"method": method, "iou": float(np.mean(list(means.values()))), **means}


def _differences(a: str, b: str, scored: dict[str, Scores]) -> list[dict[str, Any]]:
    all_sets = evaluation.bootstrap_difference(by_set(scored[a]), by_set(scored[b]), statistic=mean_of_sets)
    rows = [difference(a, b, "iou", all_sets)]
    for name, values in scored[a].items():
        found = evaluation.bootstrap_difference(values, scored[b][name])
        rows.append(difference(a, b, f"iou_{name}", found))
    return rows
