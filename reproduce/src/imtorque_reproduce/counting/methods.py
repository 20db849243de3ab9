"""The methods of the counting experiment, tuned on training images and asked for one image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.datasets.counting import CountingImage
from imtorque.detection import Blobs, ObjectFinder, find_blobs
from imtorque_reproduce.counting import disc_proposals  # noqa: F401  registers its kinds
from imtorque_reproduce.counting.controls import (
    CONTROLS,
    Range,
    Setting,
    detect,
    marked_sizes,
    object_sizes,
    objects_of,
)
from imtorque_reproduce.counting.pixel_controls import DETECT, Objects, PixelControl, train_pixel_control
from imtorque_reproduce.counting.scores import Detections, goal, score_image

LEARNED: Mapping[str, list[tuple[str, ...]] | None] = {
    "learned": None,
    "learned-torque": [("torque",)],
    "control:learned-threshold": [("threshold",)],
    "control:learned-radial": [("radial-disc",)],
}
TORQUE = ("torque-default", "torque-sizes")
Method = ObjectFinder | PixelControl | tuple[str, Range, Setting]


def tuned_methods(training: Sequence[CountingImage]) -> dict[str, Method]:
    """Return every method with its settings chosen on the training images."""
    sizes, radius = marked_sizes(training), match_radius(training)
    methods: dict[str, Method] = {name: (name, _limits(training), ()) for name in TORQUE}
    methods |= zip(LEARNED, _shared([learn(training, kinds) for kinds in LEARNED.values()]), strict=True)
    methods |= {name: learn_pixels(name, training) for name in DETECT}
    for name, (_, settings) in CONTROLS.items():
        trials: list[Method] = [(name, sizes, setting) for setting in settings]
        methods[name] = max(trials, key=partial(_goal, training=training, radius=radius))
    return methods


def match_radius(training: Sequence[CountingImage]) -> float:
    """Return how far from a point an object is still found: half the typical diameter of the set's objects."""
    return object_sizes(training).typical / 2


def _shared(finders: list[ObjectFinder]) -> list[ObjectFinder]:
    """Return the finders, those that chose the kinds another was given replaced by it: they learned the same."""
    of_kinds = {finder.best_params_.kinds: finder for finder in finders}
    return [of_kinds[finder.best_params_.kinds] for finder in finders]


def learn(training: Sequence[CountingImage], kinds: Sequence[tuple[str, ...]] | None = None) -> ObjectFinder:
    """Return a finder that learned from these images."""
    images = [image.image() for image in training]
    return ObjectFinder(kinds).fit(images, [objects_of(p) for p in training], [p.ignored for p in training])


def learn_pixels(name: str, training: Sequence[CountingImage]) -> PixelControl:
    """Return a control that learned from the pixels of these images."""
    sizes = object_sizes(training)
    objects = Objects((sizes.smallest, sizes.largest), sizes.typical)
    return train_pixel_control(name, training, objects, match_radius(training))


def found_by(method: Method, image: NDArray[Any]) -> Detections:
    """Return what a method finds in an image."""
    if isinstance(method, PixelControl):
        return method(image)
    if isinstance(method, ObjectFinder):
        return detections(method.predict(image))
    name, sizes, setting = method
    if name not in TORQUE:
        return detect(name, image, sizes, setting)
    return detections(find_blobs(image) if name == "torque-default" else find_blobs(image, sizes=sizes))


def detections(blobs: Blobs) -> Detections:
    """Return objects of the library as detections."""
    boxes = np.stack([blobs.top, blobs.left, blobs.bottom, blobs.right], axis=1).astype(float)
    return Detections(np.stack([blobs.y, blobs.x], axis=1), boxes, blobs.labels)


def _limits(training: Sequence[CountingImage]) -> Range:
    """Return the hard limits of diameters that `find_blobs` is given: somewhat beyond most of what was marked.

    The sizes of objects that were marked by points are guessed, with room to spare.
    """
    smallest, largest = marked_sizes(training)
    return (0.8 * smallest, 1.25 * largest) if training[0].has_boxes else (smallest, largest)


def _goal(method: Method, training: Sequence[CountingImage], radius: float) -> float:
    return goal([score_image(found_by(method, p.image()), p, masks=False, radius=radius) for p in training])
