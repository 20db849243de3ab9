"""Finding and counting on labelled images: torque, learned finders, and what people use otherwise.

Eight training images a set; everything is tuned on them, each method over sixteen settings; all other images are
test images. Rows are METHOD@SET.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from imtorque.datasets.counting import CountingImage, CountingSet, counting_sets
from imtorque.detection import Blobs, ObjectFinder
from imtorque.jobs.processes import each
from imtorque_reproduce.counting.controls import CONTROLS
from imtorque_reproduce.counting.curves import CLICKS, curve_rows, robustness_rows, transfer_rows
from imtorque_reproduce.counting.methods import (
    LEARNED,
    Method,
    found_by,
    match_radius,
    tuned_methods,
)
from imtorque_reproduce.counting.oracles import losses, oracle_rows
from imtorque_reproduce.counting.pixel_controls import DETECT, PixelControl
from imtorque_reproduce.counting.plots import curve_images, gallery
from imtorque_reproduce.counting.scores import ImageScores, f1_difference, score_image, summary
from imtorque_reproduce.report import Report, Request, checksum, difference

UNLICENSED = ("marrow",)  # sets of which nothing may be shown
NOTES = (
    "f1: found centres in the object's box (within half the typical diameter of its point, where there are points "
    "alone), one to one; "
    "f1_iou: boxes with an intersection over union of at least 0.5; both over the objects of all images together. "
    "mask_ap: mean over overlaps of 0.5 to 0.95 of matched / (matched + missed + wrong), mean over images. "
    "mae and bias: mean of the absolute and of the signed error of the count; count: mean of the true one; mae_share "
    "and bias_share: both over it. mae cannot be small where F1 is not: with n objects and an F1 of f, if each is "
    "missed or made up on its own, it is about 0.8 sqrt(2 n (1 - f)).",
    "torque-default knows nothing; torque-sizes and the controls know the range of sizes marked in the training "
    "images. Every control has sixteen settings, every forest sixteen pairs of threshold and cost, chosen on the "
    "training images; learned also chooses the kinds of candidates, by cross-validation over the training images.",
    "control:learned-threshold and -radial have the forest, the learned plane and the choice of the set that "
    "learned has, but know no torque; their candidates are what the detectors give: regions and discs.",
    "control:pixel-forest is ilastik's recipe: filters at several scales, a random forest of pixels, a threshold and a "
    "watershed; control:centre-regression has the same filters, a forest that tells how near a centre is, and its "
    "peaks, as discs of the typical diameter. Their sixteen settings are chosen on halves of the training images that "
    "the forest did not see.",
    "oracle rows are learned with the best threshold of each image, with proposals ranked by what they are worth, and "
    "with outlines that overlap whatever they lie on; recall is the share of objects that some proposal overlaps. They "
    "are counted at the working size: as-is differs a little from learned. worst.png has for each set the test image "
    "with the least f1, but for marrow, whose licence is not stated.",
    "learned:from-SET@OTHER is the finder of a set, counted on the first test images of another of its kind (nuclei), "
    "of another magnification and stain; learned:plain@OTHER are the same images, counted by their own. warned: the "
    "share of the images that the finder says are not like those it learned from.",
    "Boxes of blood cells are incomplete at the rim and in clumps: precision is understated for every method. "
    "Platelets are neither right nor wrong.",
)


def run(request: Request) -> Report:
    """Tune on the training images of each set, score on its test images, and report."""
    request.require_options(["sets", "curves"])
    wanted = [name for name in request.option("sets", "").split(",") if name]
    curves = request.option("curves", "yes", ("yes", "images", "no"))
    sets = [part for part in counting_sets(request.data) if not wanted or part.name in wanted]
    of_set = partial(_set_results, sets=sets, limit=request.limit, curves=curves)
    found = list(each(of_set, sets, request.jobs, "counting", "sets"))
    rows = [row for one in found for row in one.rows]
    worst = {part.name: one.worst for part, one in zip(sets, found, strict=True) if part.name not in UNLICENSED}
    paths = [path for part in sets for p in (*part.training, *part.test) for path in _files(p)]
    return Report(
        data="counting",
        data_sha256=checksum(paths, request.data),
        split="test",
        images=sum(len(part.test[: request.limit]) for part in sets),
        settings={
            "training": {part.name: [p.name for p in part.training] for part in sets},
            "chosen": {part.name: one.chosen for part, one in zip(sets, found, strict=True)},
        },
        rows=rows,
        differences=[row for one in found for row in one.differences],
        notes=NOTES,
        plots={"worst.png": gallery(worst)} | (curve_images(rows) if curves != "no" else {}),
    )


@dataclass(frozen=True)
class SetResults:
    """One set's rows, differences and chosen settings, and its worst test image with the objects found."""

    rows: list[dict[str, Any]]
    differences: list[dict[str, Any]]
    chosen: dict[str, Any]
    worst: tuple[CountingImage, Blobs]


def _set_results(part: CountingSet, *, sets: Sequence[CountingSet], limit: int | None, curves: str) -> SetResults:
    """Tune on the training images of a set, and score on its test images."""
    test = part.test[:limit]
    methods, radius = tuned_methods(part.training), match_radius(part.training)
    scores = _scores(methods, test, radius)
    rows = [{"method": f"{name}@{part.name}", **summary(found)} for name, found in scores.items()]
    learned = methods["learned"]
    assert isinstance(learned, ObjectFinder)
    rows += oracle_rows(part.name, [losses(learned, truth) for truth in test])
    if curves != "no":
        rows += robustness_rows(part, methods, test, scores, radius)
        rows += transfer_rows(part, learned, sets, limit)
        rows += curve_rows(part, methods, test, CLICKS if curves == "yes" else ())
    worst = min(range(len(test)), key=lambda n: scores["learned"][n].centre.f1)
    return SetResults(
        rows,
        _differences(part.name, scores),
        {name: _described(method) for name, method in methods.items()},
        (test[worst], learned.predict(test[worst].image())),
    )


def _scores(
    methods: Mapping[str, Method], test: Sequence[CountingImage], radius: float
) -> dict[str, list[ImageScores]]:
    """Return what each method scores on each image; methods that are one are asked once."""
    known: dict[int, list[ImageScores]] = {}
    for method in methods.values():
        if id(method) not in known:
            known[id(method)] = [score_image(found_by(method, t.image()), t, radius=radius) for t in test]
    return {name: known[id(method)] for name, method in methods.items()}


def _differences(name: str, scores: Mapping[str, list[ImageScores]]) -> list[dict[str, Any]]:
    """Return learned less every other row, and the torque rows less the controls that were not learned."""
    others = [method for method in scores if method != "learned"]
    pairs = [("learned", b) for b in others]
    pairs += [("torque-sizes", b) for b in (*CONTROLS, *DETECT)] + [
        ("learned-torque", b) for b in LEARNED if "control" in b
    ]
    metrics = ["f1"] + (["f1_iou"] if scores["learned"][0].box is not None else [])
    return [
        difference(f"{a}@{name}", f"{b}@{name}", metric, f1_difference(scores[a], scores[b], metric))
        for a, b in pairs
        for metric in metrics
    ]


def _described(method: Method) -> Any:
    if isinstance(method, ObjectFinder):
        setting = method.best_params_
        return {
            "kinds": list(setting.kinds),
            "threshold": setting.threshold,
            "cost": setting.cost,
            "cross_validated_f1": setting.f1,
            "cross_validated_f1_iou": setting.f1_iou,
        }
    if isinstance(method, PixelControl):
        return {"sizes": [round(size, 1) for size in method.objects.sizes], "setting": list(method.setting)}
    return {"sizes": [round(size, 1) for size in method[1]], "setting": list(method[2])}


def _files(image: CountingImage) -> list[Any]:
    return [image.image_path, *([image.labels_path] if image.labels_path is not None else [])]
