"""Finding and counting on labelled images: torque, learned finders, and what people use otherwise.

Eight training images a set; everything is tuned on them, each method over sixteen settings; all other images are
test images. Rows are METHOD@SET.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from imtorque.datasets.counting import CountingImage, counting_sets
from imtorque.detection import ObjectFinder
from imtorque.jobs.processes import each
from imtorque_reproduce.counting.controls import CONTROLS
from imtorque_reproduce.counting.curves import curve_rows, robustness_rows
from imtorque_reproduce.counting.methods import LEARNED, Method, found_by, tuned_methods
from imtorque_reproduce.counting.plots import curve_images
from imtorque_reproduce.counting.scores import ImageScores, f1_difference, score_image, summary
from imtorque_reproduce.report import Report, Request, checksum, difference

NOTES = (
    "f1: found centres in the object's box (within 12 pixels of its point, where there are points alone), one to one; "
    "f1_iou: boxes with an intersection over union of at least 0.5; both over the objects of all images together. "
    "mask_ap: mean over overlaps of 0.5 to 0.95 of matched / (matched + missed + wrong), mean over images. "
    "mae and bias: mean of the absolute and of the signed error of the count; count: mean of the true one; mae_share "
    "and bias_share: both over it. mae cannot be small where F1 is not: with n objects and an F1 of f, if each is "
    "missed or made up on its own, it is about 0.8 sqrt(2 n (1 - f)).",
    "torque-default knows nothing; torque-sizes and the controls know the range of sizes marked in the training "
    "images. Every control has sixteen settings, every forest sixteen pairs of threshold and cost, chosen on the "
    "training images; learned also chooses the kinds of candidates, by cross-validation over the training images.",
    "control:learned-threshold, -log and -radial have the forest, the learned plane and the choice of the set that "
    "learned has, but know no torque; their candidates are what the detectors give: regions and discs. "
    "learned-log-outlines and learned-radial-outlines have the closed paths of strongest gradient around the centres "
    "as well, as torque has.",
    "Boxes of blood cells are incomplete at the rim and in clumps: precision is understated for every method. "
    "Platelets are neither right nor wrong.",
)


def run(request: Request) -> Report:
    """Tune on the training images of each set, score on its test images, and report."""
    request.require_options(["sets", "curves"])
    wanted = [name for name in request.option("sets", "").split(",") if name]
    curves = request.option("curves", "yes", ("yes", "no")) == "yes"
    sets = [part for part in counting_sets(request.data) if not wanted or part.name in wanted]
    rows: list[dict[str, Any]] = []
    differences: list[dict[str, Any]] = []
    chosen: dict[str, Any] = {}
    for part in sets:
        test = part.test[: request.limit]
        methods = tuned_methods(part.training, request.jobs)
        scores = _scores(methods, test, request.jobs, part.name)
        rows += [{"method": f"{name}@{part.name}", **summary(found)} for name, found in scores.items()]
        differences += _differences(part.name, scores)
        chosen[part.name] = {name: _described(method) for name, method in methods.items()}
        if curves:
            rows += robustness_rows(part, methods, test, scores, request.jobs)
            rows += curve_rows(part, methods["learned"], test, request.jobs)
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
        plots=curve_images(rows) if curves else {},
    )


def _score(truth: CountingImage, method: Method) -> ImageScores:
    return score_image(found_by(method, truth.image()), truth)


def _scored(method: Method, test: Sequence[CountingImage], jobs: int, label: str) -> list[ImageScores]:
    return list(each(partial(_score, method=method), test, jobs, label))


def _scores(
    methods: Mapping[str, Method], test: Sequence[CountingImage], jobs: int, of: str
) -> dict[str, list[ImageScores]]:
    """Return what each method scores on each image; methods that are one are asked once."""
    known: dict[int, list[ImageScores]] = {}
    for name, method in methods.items():
        if id(method) not in known:
            known[id(method)] = _scored(method, test, jobs, f"{name}@{of}")
    return {name: known[id(method)] for name, method in methods.items()}


def _differences(name: str, scores: Mapping[str, list[ImageScores]]) -> list[dict[str, Any]]:
    """Return learned less every other row, and the torque rows less the controls that were not learned."""
    others = [method for method in scores if method != "learned"]
    pairs = [("learned", b) for b in others]
    pairs += [("torque-sizes", b) for b in CONTROLS] + [("learned-torque", b) for b in LEARNED if "control" in b]
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
    return {"sizes": [round(size, 1) for size in method[1]], "setting": list(method[2])}


def _files(image: CountingImage) -> list[Any]:
    return [image.image_path, *([image.labels_path] if image.labels_path is not None else [])]
