"""How detection bears changed images and those of another set, and how much must be annotated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.datasets.counting import CountingImage, CountingSet
from imtorque.detection import ObjectFinder
from imtorque_reproduce.counting.methods import Method, detections, found_by, learn, learn_pixels, match_radius
from imtorque_reproduce.counting.pixel_controls import CENTRE_REGRESSION, PIXEL_FOREST
from imtorque_reproduce.counting.scores import ImageScores, score_image, summary

CURVE_IMAGES = 12  # of a set's test images, the first by name; bound: time
# What a learning curve is drawn over: images, and objects clicked.
IMAGE_COUNTS = (1, 2, 4, 8)  # convention
CLICKS = (3, 10, 30)  # convention
CURVES = ("learned", PIXEL_FOREST, CENTRE_REGRESSION)  # that learn from whole images, each in its own way
ROBUST = ("learned", "learned-torque", "torque-sizes", PIXEL_FOREST, CENTRE_REGRESSION, "control:threshold-watershed",
          "control:blob-log", "control:radial-symmetry")  # fmt: skip
Pixels = NDArray[np.float64]


def _ramp(pixels: Pixels) -> Pixels:
    """Light the image from left to right, from one half to one and a half of its light."""
    return pixels * np.linspace(0.5, 1.5, pixels.shape[1])[None, :, None]


def _dim(pixels: Pixels) -> Pixels:
    """Leave 0.3 of the light."""
    return 0.3 * pixels


def _noise(pixels: Pixels) -> Pixels:
    """Add Gaussian noise of 0.08."""
    return pixels + np.random.default_rng(0).normal(0, 0.08, pixels.shape)


def _texture(pixels: Pixels) -> Pixels:
    """Add smooth random texture of 0.08, of about 6 pixels."""
    from scipy import ndimage

    waves = ndimage.gaussian_filter(np.random.default_rng(0).normal(0, 1, pixels.shape[:2]), 2)
    return np.asarray(pixels + 0.08 * (waves / waves.std())[:, :, None])


def _blur(pixels: Pixels) -> Pixels:
    """Smooth by two pixels."""
    from scipy import ndimage

    return np.asarray(ndimage.gaussian_filter(pixels, (2, 2, 0)))


CHANGES: Mapping[str, Callable[[Pixels], Pixels]] = {
    "ramp": _ramp,
    "dim": _dim,
    "noise": _noise,
    "texture": _texture,
    "blur": _blur,
}


def changed(image: NDArray[np.uint8], change: str) -> NDArray[np.uint8]:
    """Return an image after one of `CHANGES`, as bytes again."""
    pixels = image[:, :, None] if image.ndim == 2 else image
    values = CHANGES[change](pixels / 255)
    return np.asarray((values.clip(0, 1) * 255).round().astype(np.uint8).reshape(image.shape))


def robustness_rows(
    part: CountingSet,
    methods: Mapping[str, Method],
    test: Sequence[CountingImage],
    plain: Mapping[str, Sequence[ImageScores]],
    radius: float | None = None,
) -> list[dict[str, Any]]:
    """Return rows METHOD:CHANGE@SET, over the first test images; METHOD:plain are the same images as they are.

    Parameters
    ----------
    part
        The set.
    methods
        Tuned on its training images, by name.
    test, plain
        Its test images, and what each method scored on them as they are.
    radius
        Of a point within which an object is found.
    """
    rows = []
    known: dict[tuple[int, str], dict[str, float]] = {}  # methods that are one are asked once
    for name in ROBUST:
        rows.append({"method": f"{name}:plain@{part.name}", **_summary(plain[name][:CURVE_IMAGES])})
        for change in CHANGES:
            key = id(methods[name]), change
            if key not in known:
                known[key] = _summary(
                    [_score_changed(truth, methods[name], change, radius) for truth in test[:CURVE_IMAGES]]
                )
            rows.append({"method": f"{name}:{change}@{part.name}", **known[key]})
    return rows


def transfer_rows(
    part: CountingSet, finder: ObjectFinder, others: Sequence[CountingSet], limit: int | None = None
) -> list[dict[str, Any]]:
    """Return rows learned:from-SET@OTHER: what was learned on a set, counted on the first test images of its kin.

    These are the sets of the same folder, whose names begin alike; learned:plain@OTHER are the same images. `warned` is
    the share of images that the finder says it does not know.
    """
    rows = []
    for other in others:
        left = other.test[:limit][:CURVE_IMAGES]
        if other.name != part.name and other.name.partition("-")[0] == part.name.partition("-")[0] and left:
            radius = match_radius(other.training)
            found = [finder.predict(truth.image()) for truth in left]
            scores = [
                score_image(detections(blobs), truth, masks=False, radius=radius)
                for blobs, truth in zip(found, left, strict=True)
            ]
            warned = float(np.mean([bool(blobs.warning) for blobs in found]))
            rows.append({"method": f"learned:from-{part.name}@{other.name}", **_summary(scores), "warned": warned})
    return rows


def _summary(scores: Sequence[ImageScores]) -> dict[str, float]:
    """Return the numbers of a row but those by mask."""
    return {name: value for name, value in summary(scores).items() if name != "mask_ap"}


def _score_changed(truth: CountingImage, method: Method, change: str, radius: float | None = None) -> ImageScores:
    image = truth.image()
    image = image if change == "plain" else changed(image, change)
    return score_image(found_by(method, image), truth, masks=False, radius=radius)


def curve_rows(
    part: CountingSet, methods: Mapping[str, Method], test: Sequence[CountingImage], clicks: Sequence[int]
) -> list[dict[str, Any]]:
    """Return rows METHOD:N-images@SET, of methods that know all training images for the last, and learned:N-clicks@SET.

    The smaller numbers are the first of the training images.
    """
    left = test[:CURVE_IMAGES]
    if not left:
        return []
    images, radius = part.training, match_radius(part.training)
    trainers: dict[str, Callable[[], Method]] = {}
    for method in CURVES:
        teach = learn if method == "learned" else partial(learn_pixels, method)
        for count in IMAGE_COUNTS:
            if count < len(images):
                trainers[f"{method}:{count}-images"] = partial(teach, images[:count])
    trainers |= {f"learned:{n}-clicks": partial(trained_by_clicks, images, n) for n in clicks}
    known = {name: train() for name, train in trainers.items()}
    known |= {f"{name}:{len(images)}-images": methods[name] for name in CURVES}
    rows = []
    for name, knowing in known.items():
        scores = [_score_changed(truth, knowing, "plain", radius) for truth in left]
        rows.append({"method": f"{name}@{part.name}", **summary(scores)})
    return rows


def trained_by_clicks(training: Sequence[CountingImage], count: int) -> ObjectFinder:
    """Return a finder trained by clicks on random objects of one image: the first with as many, or the fullest."""
    enough = [p for p in training if len(p.points) >= count] or [max(training, key=lambda p: len(p.points))]
    image = enough[0]
    chosen = np.random.default_rng(0).permutation(len(image.points))[:count]
    return ObjectFinder().fit([image.image()], [image.points[chosen]], complete=False)
