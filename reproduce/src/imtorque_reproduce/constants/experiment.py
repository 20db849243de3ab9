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
from imtorque_reproduce.scoring import Floats, compare, mean_rows

PACKAGE = "imtorque.detection"
MODULES = (
    *("noise", "pyramid", "ring_torque", "colour", "proposals", "outlines"),
    *("contour_proposals", "contour_features", "scoring", "selection", "blobs"),
)
# Shapes of arrays, bounds, and what is derived.
FIXED = (
    *("ANGLES", "REFINED_RAYS", "MAX_MOVES", "MAX_BRANCHINGS", "MAX_ITERATIONS", "MIN_RESPONSE", "COMPARED_SIDE"),
    *("WHITE_NOISE_RESPONSE", "MIN_FOUND_SHARE", "LUMINANCE", "MIN_GREY_EDGE"),
)
LARGEST_SCORED = 400_000  # pixels; bound: time
Sized = tuple[CountingImage, Range]


def run(request: Request) -> Report:
    """Score `find_blobs` with every constant of some modules as it is, smaller, and larger."""
    request.require_options(["modules"])
    asked = request.option("modules", ",".join(MODULES)).split(",")
    if unknown := set(asked) - set(MODULES):
        raise ValueError(f"modules must be some of {', '.join(MODULES)}, got {', '.join(sorted(unknown))}")
    modules = [module for module in MODULES if module in asked]
    sets = [one for one in counting_sets(request.data) if one.training[0].has_boxes]
    images = [
        (image, _limits(one.training))
        for one in sets
        for image in one.training[: request.limit]
        if math.prod(image.image().shape[:2]) <= LARGEST_SCORED
    ]
    scores = score_changes(partial(_score, images), constants_of(PACKAGE, modules, FIXED), request)
    return Report(
        data="counting",
        data_sha256=checksum([image.image_path for image, _ in images], request.data),
        split="train",
        images=len(images),
        settings={"sets": [one.name for one in sets], "largest_image": LARGEST_SCORED},
        rows=mean_rows({name: {"f1": values} for name, values in scores.items()}),
        differences=compare(scores, [(name, AS_IT_IS) for name in list(scores)[1:]], "f1"),
        notes=["f1: of centres, mean over images, with the range of sizes known.", NOTE],
    )


def _score(images: Sequence[Sized]) -> Floats:
    found = [(detections(find_blobs(image.image(), sizes=sizes)), image) for image, sizes in images]
    return np.array([score_image(one, image, masks=False).centre.f1 for one, image in found])


def _limits(training: Sequence[CountingImage]) -> Range:
    smallest, largest = marked_sizes(training)
    return 0.8 * smallest, 1.25 * largest
