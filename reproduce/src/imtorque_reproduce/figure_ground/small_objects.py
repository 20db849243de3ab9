"""Small objects away from the middle: does torque find the size that the usual sets take for granted?

Settings, among them the size that the controls expect, are chosen on the dev part and reported on the test part.
"""

from __future__ import annotations

from collections.abc import Mapping

from imtorque import datasets
from imtorque_reproduce.figure_ground.ablation import Way
from imtorque_reproduce.figure_ground.cases import caltech_cases, source_files
from imtorque_reproduce.figure_ground.experiment import choose, tuned_ways
from imtorque_reproduce.figure_ground.rows import COSTS, FIXATED, best_setting, means_of, score_sources
from imtorque_reproduce.report import Report, Request, checksum
from imtorque_reproduce.scoring import compare, mean_rows

DEV_SCENES, TEST_SCENES = 48, 144  # of small objects
LARGE_PER_CATEGORY = 5  # objects that fill the image, from Caltech's outlines
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
    *((row, "canny-magnitude") for row in ("canny-magnitude+torque", "canny-magnitude+torque-size")),
    ("control:canny-magnitude+fixed-size", "canny-magnitude"),
    *((row, "control:grabcut-centred-box") for row in ("grabcut+torque-box", "grabcut+torque-box-torque")),
    *((row, "control:grabcut-typical-box") for row in ("grabcut+torque-box", "choice+torque", "figure")),
)
BOXES = (*(f"box-{part}" for part in FIXATED), "centred-box", "centred-box-0.9")
COMPARED_ON_BOTH = (
    *(("choice+torque", f"control:grabcut-{box}") for box in BOXES),
    *(("choice+torque", f"control:choice{other}") for other in ("+magnitude", "-boxes")),
    *(("figure", row) for row in ("choice+torque", "control:grabcut-centred-box-0.9", "control:no-torque")),
)
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
    request.require_options()
    request.parts("test")
    dev = datasets.small_objects(request.data, "dev", count=DEV_SCENES)[: request.limit]
    test = datasets.small_objects(request.data, "test", count=TEST_SCENES)[: request.limit]
    large = caltech_cases(request.data, LARGE_PER_CATEGORY)[: request.limit]
    ways = rows_of(means_of(score_sources(dev, _tuned(), request, "tuning on dev")))
    on_test = score_sources(test, ways.values(), request, "small objects")
    on_large = score_sources(large, BOTH.values(), request, "objects that fill the image")
    scored = {row: on_test[way] for row, way in ways.items()}
    both = {row: on_large[way] for row, way in BOTH.items()}
    return Report(
        data="small objects (Caltech-101 in BSDS300)",
        data_sha256=checksum(source_files([*dev, *test, *large]), request.data),
        split="test",
        images=len(test),
        settings={"ways": ways, "costs": COSTS, "tuning_images": len(dev), "tuning": "dev", "caltech": len(large)},
        rows=mean_rows(
            {row: {"iou": own} | ({"iou_caltech": both[row]} if row in both else {}) for row, own in scored.items()}
        ),
        differences=[
            *compare(scored, (*COMPARED, *COMPARED_ON_BOTH), "iou"),
            *compare(both, COMPARED_ON_BOTH, "iou_caltech"),
        ],
        notes=NOTES,
    )


def rows_of(means: Mapping[Way, float]) -> dict[str, Way]:
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
