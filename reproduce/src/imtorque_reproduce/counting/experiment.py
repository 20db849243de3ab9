"""Finding and counting on labelled images: torque, learned finders, and what people use otherwise.

Eight training images a set; everything is tuned on them, each method over sixteen settings; all other images are
test images. Rows are METHOD@SET.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from imtorque.datasets.counting import CountingImage, counting_sets
from imtorque.detection import Blobs, ObjectFinder
from imtorque.jobs.processes import each
from imtorque_reproduce.counting.controls import CONTROLS
from imtorque_reproduce.counting.curves import CLICKS, curve_rows, robustness_rows
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
    "Boxes of blood cells are incomplete at the rim and in clumps: precision is understated for every method. "
    "Platelets are neither right nor wrong.",
)


def run(request: Request) -> Report:
    """Tune on the training images of each set, score on its test images, and report."""
    request.require_options(["sets", "curves"])
    wanted = [name for name in request.option("sets", "").split(",") if name]
    curves = request.option("curves", "yes", ("yes", "images", "no"))
    sets = [part for part in counting_sets(request.data) if not wanted or part.name in wanted]
    rows: list[dict[str, Any]] = []
    differences: list[dict[str, Any]] = []
    chosen: dict[str, Any] = {}
    worst_images: dict[str, tuple[CountingImage, Blobs]] = {}
    for part in sets:
        test = part.test[: request.limit]
        methods, radius = tuned_methods(part.training, request.jobs), match_radius(part.training)
        scores = _scores(methods, test, request.jobs, part.name, radius)
        rows += [{"method": f"{name}@{part.name}", **summary(found)} for name, found in scores.items()]
        differences += _differences(part.name, scores)
        chosen[part.name] = {name: _described(method) for name, method in methods.items()}
        learned = methods["learned"]
        assert isinstance(learned, ObjectFinder)
        lost = each(partial(losses, learned), test, request.jobs, f"oracles@{part.name}")
        rows += oracle_rows(part.name, list(lost))
        if curves != "no":
            rows += robustness_rows(part, methods, test, scores, request.jobs, radius)
            rows += curve_rows(part, methods, test, request.jobs, CLICKS if curves == "yes" else ())
        if part.name not in UNLICENSED:
            worst = min(range(len(test)), key=lambda n: scores["learned"][n].centre.f1)
            worst_images[part.name] = test[worst], learned.predict(test[worst].image())
    paths = [path for part in sets for p in (*part.training, *part.test) for path in _files(p)]
    return Report(
        data="counting",
        data_sha256=checksum(paths, request.data),
        split="test",
        images=sum(len(part.test[: request.limit]) for part in sets),
        settings={"training": {part.name: [p.name for p in part.training] for part in sets}, "chosen": chosen},
        rows=rows,
        differences=differences,
        notes=NOTES,
        plots={"worst.png": gallery(worst_images)} | (curve_images(rows) if curves != "no" else {}),
    )


def _score(truth: CountingImage, method: Method, radius: float) -> ImageScores:
    return score_image(found_by(method, truth.image()), truth, radius=radius)


def _scores(
    methods: Mapping[str, Method], test: Sequence[CountingImage], jobs: int, of: str, radius: float
) -> dict[str, list[ImageScores]]:
    """Return what each method scores on each image; methods that are one are asked once."""
    known: dict[int, list[ImageScores]] = {}
    for name, method in methods.items():
        if id(method) not in known:
            task = partial(_score, method=method, radius=radius)
            known[id(method)] = list(each(task, test, jobs, f"{name}@{of}"))
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
