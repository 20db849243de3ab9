"""How finding bears changed images, and how much it must be trained."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.datasets.counting import CountingImage, CountingSet
from imtorque.detection import ObjectFinder
from imtorque.jobs.processes import each
from imtorque_reproduce.counting.methods import Method, found_by, learn
from imtorque_reproduce.counting.scores import ImageScores, score_image, summary

CURVE_IMAGES = 12  # of a set's test images, the first by name
# What a learning curve is drawn over: images, and objects clicked.
IMAGE_COUNTS = (1, 2, 4, 8, 16)
CLICKS = (3, 10, 30)
ROBUST = ("learned", "learned-torque", "torque-sizes", "control:learned-threshold", "control:threshold-watershed",
          "control:blob-log", "control:radial-symmetry")  # fmt: skip
Pixels = NDArray[np.float64]


def _ramp(pixels: Pixels) -> Pixels:
    """Add light from left to right, half of the full range."""
    ramp = np.linspace(0, 0.5, pixels.shape[1])[None, :, None]
    return 0.5 * pixels + ramp


def _contrast(pixels: Pixels) -> Pixels:
    """Shrink all values to 0.4 of their distance from one half."""
    return 0.5 + 0.4 * (pixels - 0.5)


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
    "contrast": _contrast,
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
    jobs: int,
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
    jobs
        Images worked on at a time.
    """
    rows = []
    known: dict[tuple[int, str], dict[str, float]] = {}  # methods that are one are asked once
    for name in ROBUST:
        rows.append({"method": f"{name}:plain@{part.name}", **_summary(plain[name][:CURVE_IMAGES])})
        for change in CHANGES:
            key = id(methods[name]), change
            if key not in known:
                task = partial(_score_changed, method=methods[name], change=change)
                known[key] = _summary(list(each(task, test[:CURVE_IMAGES], jobs, f"{name}:{change}@{part.name}")))
            rows.append({"method": f"{name}:{change}@{part.name}", **known[key]})
    return rows


def _summary(scores: Sequence[ImageScores]) -> dict[str, float]:
    """Return the numbers of a row but those by mask."""
    return {name: value for name, value in summary(scores).items() if name != "mask_ap"}


def _score_changed(truth: CountingImage, method: Method, change: str) -> ImageScores:
    image = truth.image()
    image = image if change == "plain" else changed(image, change)
    return score_image(found_by(method, image), truth, masks=False)


def curve_rows(part: CountingSet, learned: Method, test: Sequence[CountingImage], jobs: int) -> list[dict[str, Any]]:
    """Return rows learned:N-images@SET and learned:N-clicks@SET, where `learned` knows all training images.

    Further training images are the next by the SHA-256 of their names; no row of the curves is scored on them.
    """
    by_hash = sorted(part.test, key=lambda p: hashlib.sha256(p.name.encode()).hexdigest())
    more = by_hash[: max(IMAGE_COUNTS) - len(part.training)] if len(by_hash) > max(IMAGE_COUNTS) else []
    images = [*part.training, *more]
    left = [p for p in test if p not in more][:CURVE_IMAGES]
    if not left:
        return []
    known = len(part.training)
    finders: dict[str, Callable[[], ObjectFinder]] = {
        f"{n}-images": partial(learn, images[:n]) for n in IMAGE_COUNTS if n <= len(images) and n != known
    }
    finders |= {f"{n}-clicks": partial(trained_by_clicks, part.training, n) for n in CLICKS}
    called = each(_call, list(finders.values()), jobs, f"learning curves@{part.name}", "finders")
    trained: dict[str, Method] = dict(zip(finders, called, strict=True))
    rows = []
    for name in (*(f"{n}-images" for n in IMAGE_COUNTS if n <= len(images)), *(f"{n}-clicks" for n in CLICKS)):
        task = partial(_score_changed, method=trained.get(name, learned), change="plain")
        scores = list(each(task, left, jobs, f"learned:{name}@{part.name}"))
        rows.append({"method": f"learned:{name}@{part.name}", **summary(scores)})
    return rows


def _call(train: Callable[[], ObjectFinder]) -> ObjectFinder:
    return train()


def trained_by_clicks(training: Sequence[CountingImage], count: int) -> ObjectFinder:
    """Return a finder trained by clicks on random objects of one image: the first with as many, or the fullest."""
    enough = [p for p in training if len(p.points) >= count] or [max(training, key=lambda p: len(p.points))]
    image = enough[0]
    chosen = np.random.default_rng(0).permutation(len(image.points))[:count]
    return ObjectFinder().fit([image.image()], [image.points[chosen]], complete=False)
