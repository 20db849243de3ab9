"""The object under a click, whatever its size: `segment_figure` as it is, beside GrabCut in boxes chosen for each set.

Three sets: Caltech's outlines and the horses, which mostly fill the image, and the small objects.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from imtorque import datasets
from imtorque_reproduce.figure_ground.ablation import AUTHORS, Way
from imtorque_reproduce.figure_ground.cases import TEST_SCENES, Source, caltech_cases, horse_cases, source_files
from imtorque_reproduce.figure_ground.plots import figure_sheet
from imtorque_reproduce.figure_ground.rows import score_sources
from imtorque_reproduce.report import Report, Request, checksum
from imtorque_reproduce.scoring import Floats, compare, evenly

BOXES: dict[str, Way] = {
    **{f"control:grabcut-box-{part}": ("grabcut:fixated", part) for part in ("0.25", "0.35", "0.47")},
    **{f"control:grabcut-centred-box-{part}": ("grabcut:centred", part) for part in ("0.8", "0.9")},
}
BEST_BOX = "control:grabcut-best-box"
WAYS: dict[str, Way] = {
    "figure": ("figure", "torque"),
    "control:no-torque": ("figure", "no-torque"),
    "polar": ("cue:strengthened", AUTHORS),
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
    "at a random pixel (`datasets.small_objects`). iou: the mean of the three; its intervals draw "
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
    request.require_options()
    request.parts()
    sources: dict[str, Sequence[Source]] = {
        "caltech": evenly(caltech_cases(request.data), request.limit),
        "horses": evenly(horse_cases(request.data), request.limit),
        "small": datasets.small_objects(request.data, "test", count=TEST_SCENES)[: request.limit],
    }
    scored = {name: score_sources(found, WAYS.values(), request, name) for name, found in sources.items()}
    by_set = {name: {row: found[way] for row, way in WAYS.items()} for name, found in scored.items()}
    best = {name: best_box(found) for name, found in by_set.items()}
    for name, found in by_set.items():
        found[BEST_BOX] = found[best[name]]
    scores = {row: {name: found[row] for name, found in by_set.items()} for row in (*WAYS, BEST_BOX)}
    together = {row: of_sets(found) for row, found in scores.items()}
    every = [source for found in sources.values() for source in found]
    return Report(
        data="caltech, horses and small objects",
        data_sha256=checksum(source_files(every), request.data),
        split="all",
        images=len(every),
        settings={"best_box": best, "images": {name: len(found) for name, found in sources.items()}},
        rows=[_row(row, found) for row, found in scores.items()],
        differences=[
            one
            for pair in COMPARED
            for one in (
                *compare(together, [pair], "iou", statistic=mean_of_sets),
                *(row for name, found in by_set.items() for row in compare(found, [pair], f"iou_{name}")),
            )
        ],
        notes=NOTES,
        plots={f"examples-{name}.png": figure_sheet(found, WAYS, SHOWN) for name, found in sources.items()},
    )


def best_box(scores: Mapping[str, Floats]) -> str:
    """Return the row of the box that GrabCut does best in."""
    return max(BOXES, key=lambda row: float(scores[row].mean()))


def mean_of_sets(means: Floats) -> Floats:
    """Return the mean over sets, from means over all images of (scores in each set, whether in it), (m, 2 sets)."""
    sums, shares = np.split(means, 2, axis=1)
    return np.asarray((sums / np.maximum(shares, 1e-12)).mean(axis=1))


def of_sets(scores: Mapping[str, Floats]) -> Floats:
    """Return for every image its score in each set, 0 in others, and whether it is of that set."""
    sizes = [len(values) for values in scores.values()]
    member = np.repeat(np.eye(len(sizes)), sizes, axis=0)
    return np.concatenate([member * np.concatenate(list(scores.values()))[:, None], member], axis=1)


def _row(method: str, scores: Mapping[str, Floats]) -> dict[str, object]:
    means = {f"iou_{name}": float(values.mean()) for name, values in scores.items()}
    return {"method": method, "iou": float(np.mean(list(means.values()))), **means}
