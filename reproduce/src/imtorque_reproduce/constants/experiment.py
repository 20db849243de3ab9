"""How much each constant of `find_blobs` decides: F1 on training images with one of them smaller or larger."""

import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from imtorque.datasets.counting import CountingImage, counting_sets
from imtorque.detection import find_blobs
from imtorque.jobs.processes import each
from imtorque_reproduce.counting.controls import Range, marked_sizes
from imtorque_reproduce.counting.methods import detections
from imtorque_reproduce.counting.scores import score_image
from imtorque_reproduce.report import Report, Request, checksum
from imtorque_reproduce.scoring import compare

# Modules of `imtorque.detection`, each before those that import from it.
MODULES = (
    *("noise", "pyramid", "ring_torque", "colour", "proposals", "outlines"),
    *("contour_proposals", "contour_features", "scoring", "selection", "blobs"),
)
FIXED = ("ANGLES", "REFINED_RAYS")  # arrays have this shape
FACTORS = (0.8, 1.25)  # that constants are multiplied by; convention
LARGEST_IMAGE = 400_000  # pixels; bound: time
METRICS = KNOWN, UNKNOWN = ("f1", "f1_unknown")
Constant = tuple[str, str]  # module, name
Sized = tuple[CountingImage, Range]


def run(request: Request) -> Report:
    """Score `find_blobs` with every constant as it is, smaller, and larger."""
    request.require_options()
    sets = [one for one in counting_sets(request.data) if one.training[0].has_boxes]
    images = [
        (image, _limits(one.training))
        for one in sets
        for image in one.training[: request.limit]
        if math.prod(image.image().shape[:2]) <= LARGEST_IMAGE
    ]
    changes = [(constant, factor) for constant in constants() for factor in FACTORS]
    first = _score_images(images)
    found = list(each(partial(_score_changed, images=images), changes, request.jobs, "constants", "changes"))
    names = ["as-it-is", *(f"{module}.{name}*{factor:g}" for (module, name), factor in changes)]
    scores = dict(zip(names, [first, *found], strict=True))
    pairs = [(name, names[0]) for name in names[1:]]
    return Report(
        data="counting",
        data_sha256=checksum([image.image_path for image, _ in images], request.data),
        split="train",
        images=len(images),
        settings={"sets": [one.name for one in sets], "largest_image": LARGEST_IMAGE},
        rows=[
            {"method": name} | dict(zip(METRICS, f.mean(axis=0).tolist(), strict=True)) for name, f in scores.items()
        ],
        differences=[
            row
            for column, metric in enumerate(METRICS)
            for row in compare({name: f[:, column] for name, f in scores.items()}, pairs, metric)
        ],
        notes=[
            f"{KNOWN}: of centres, mean over images, with the range of sizes known; {UNKNOWN}: with nothing known. "
            "MODULE.NAME*FACTOR: one constant of imtorque.detection times this factor, counts rounded."
        ],
    )


def constants() -> list[Constant]:
    """Return the modules and names of all constants that are numbers, or several, and change when scaled."""
    found: dict[str, str] = {}
    for module in MODULES:
        for name, value in vars(_module(module)).items():
            if name.isupper() and name not in FIXED and all(scaled(value, f) != value for f in FACTORS):
                found.setdefault(name, module)
    return [(module, name) for name, module in found.items()]


def scaled(value: Any, factor: float) -> Any:
    """Return a number, or each of several, times a factor, counts rounded; anything else as it is."""
    if isinstance(value, tuple):
        return tuple(scaled(one, factor) for one in value)
    if type(value) is int:
        return round(value * factor)
    return value * factor if type(value) is float else value


@contextmanager
def changed(constant: Constant, factor: float) -> Iterator[None]:
    """Scale a constant wherever it was imported to, for a while."""
    module, name = constant
    value = vars(_module(module))[name]
    loaded = [one for key, one in list(sys.modules.items()) if key.startswith("imtorque.detection.")]
    places = [one for one in loaded if vars(one).get(name) is value]
    try:
        for one in places:
            setattr(one, name, scaled(value, factor))
        yield
    finally:
        for one in places:
            setattr(one, name, value)


def _module(name: str) -> Any:
    return import_module(f"imtorque.detection.{name}")


def _score_changed(change: tuple[Constant, float], images: Sequence[Sized]) -> Any:
    with changed(*change):
        return _score_images(images)


def _score_images(images: Sequence[Sized]) -> Any:
    """Return F1 of each image, (n, 2): with the range of sizes known, and with nothing known."""
    return np.array([[_f1(image, sizes), _f1(image, None)] for image, sizes in images])


def _f1(truth: CountingImage, sizes: Range | None) -> float:
    return score_image(detections(find_blobs(truth.image(), sizes=sizes)), truth, masks=False).centre.f1


def _limits(training: Sequence[CountingImage]) -> Range:
    smallest, largest = marked_sizes(training)
    return 0.8 * smallest, 1.25 * largest
