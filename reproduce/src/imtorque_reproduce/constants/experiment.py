"""How much each constant of `find_blobs` decides: F1 on training images with one of them smaller or larger."""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from imtorque.datasets.counting import CountingImage, counting_sets
from imtorque.detection import find_blobs
from imtorque_reproduce.constants.scaling import AS_IT_IS, NOTE, constants_of, score_changes
from imtorque_reproduce.counting.controls import Range, marked_sizes
from imtorque_reproduce.counting.methods import detections
from imtorque_reproduce.counting.scores import score_image
from imtorque_reproduce.report import Report, Request, checksum
from imtorque_reproduce.scoring import Floats, compare

PACKAGE = "imtorque.detection"
MODULES = (
    *("noise", "pyramid", "ring_torque", "colour", "proposals", "outlines"),
    *("contour_proposals", "contour_features", "scoring", "selection", "blobs"),
)
FIXED = ("ANGLES", "REFINED_RAYS")  # arrays have this shape
LARGEST_SCORED = 400_000  # pixels; bound: time
METRICS = KNOWN, UNKNOWN = ("f1", "f1_unknown")
Sized = tuple[CountingImage, Range]


def run(request: Request) -> Report:
    """Score `find_blobs` with every constant as it is, smaller, and larger."""
    request.require_options()
    sets = [one for one in counting_sets(request.data) if one.training[0].has_boxes]
    images = [
        (image, _limits(one.training))
        for one in sets
        for image in one.training[: request.limit]
        if math.prod(image.image().shape[:2]) <= LARGEST_SCORED
    ]
    scores = score_changes(partial(_score, images), constants_of(PACKAGE, MODULES, FIXED), request)
    pairs = [(name, AS_IT_IS) for name in list(scores)[1:]]
    return Report(
        data="counting",
        data_sha256=checksum([image.image_path for image, _ in images], request.data),
        split="train",
        images=len(images),
        settings={"sets": [one.name for one in sets], "largest_image": LARGEST_SCORED},
        rows=[
            {"method": name} | dict(zip(METRICS, f.mean(axis=0).tolist(), strict=True)) for name, f in scores.items()
        ],
        differences=[
            row
            for column, metric in enumerate(METRICS)
            for row in compare({name: f[:, column] for name, f in scores.items()}, pairs, metric)
        ],
        notes=[
            f"{KNOWN}: of centres, mean over images, with the range of sizes known; {UNKNOWN}: with nothing known.",
            NOTE,
        ],
    )


def _score(images: Sequence[Sized]) -> Floats:
    """Return F1 of each image, (n, 2): with the range of sizes known, and with nothing known."""
    return np.array([[_f1(image, sizes), _f1(image, None)] for image, sizes in images])


def _f1(truth: CountingImage, sizes: Range | None) -> float:
    return score_image(detections(find_blobs(truth.image(), sizes=sizes)), truth, masks=False).centre.f1


def _limits(training: Sequence[CountingImage]) -> Range:
    smallest, largest = marked_sizes(training)
    return 0.8 * smallest, 1.25 * largest
