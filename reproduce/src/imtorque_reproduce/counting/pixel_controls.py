"""Two controls that learn from pixels: a pixel forest with a watershed, as in ilastik, and regression of centres.

Both describe each pixel by filters at several scales, the usual ones of ilastik, and ask a random forest; what they do
with its answer has sixteen settings, chosen on training images that the forest did not see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.datasets.counting import CountingImage
from imtorque_reproduce.counting.controls import NOTHING, Range, Setting, split_mask
from imtorque_reproduce.counting.scores import Detections, discs, goal, paint_discs, score_image

Floats = NDArray[np.float64]
# Pixels; of ilastik's seven every second one, from which on they differ clearly; convention of ilastik.
SCALES = (0.7, 1.6, 3.5, 10.0)
# Pixels, typical: larger objects are looked at in a reduced image, as the scales are fixed; bound: time.
PIXEL_WORKING_DIAMETER = 24.0
TREES, MIN_LEAF = 40, 3  # untuned
PIXELS_PER_CLASS = 750  # of an image, that are learned from; bound: time
HILL_WIDTH = 0.2  # of the typical diameter: standard deviation of the hill around a centre; untuned
PIXEL_FOLDS = 2  # bound: time


@dataclass(frozen=True)
class Objects:
    """What a control learns from and looks for: range of diameters, typical one, by how much images are reduced."""

    sizes: Range
    typical: float

    @property
    def factor(self) -> int:
        """By how much images are reduced."""
        return max(1, int(self.typical / PIXEL_WORKING_DIAMETER))


@dataclass(frozen=True)
class PixelControl:
    """A trained control: the forest, and what is done with its answer."""

    name: str
    forest: Any
    objects: Objects
    setting: Setting

    def __call__(self, image: NDArray[Any]) -> Detections:
        """Return what it finds in an image."""
        return DETECT[self.name](_answer(self.name, self.forest, image, self.objects), self.objects, self.setting)


def pixel_features(image: NDArray[Any], factor: int) -> NDArray[np.float32]:
    """Return features of each pixel of the reduced image, (H, W, F).

    By channel and scale: smoothed values, gradient, Laplacian, eigenvalues of structure tensor and Hessian.
    """
    from scipy import ndimage

    columns = []
    for plane in _channels(image, factor):
        for scale in SCALES:
            smooth = partial(ndimage.gaussian_filter, plane, scale)
            gy, gx = smooth(order=(1, 0)), smooth(order=(0, 1))
            hessian = smooth(order=(2, 0)), smooth(order=(1, 1)), smooth(order=(0, 2))
            tensor = (ndimage.gaussian_filter(part, scale) for part in (gy * gy, gy * gx, gx * gx))
            columns += [smooth(), np.hypot(gy, gx), hessian[0] + hessian[2], *_eigenvalues(*hessian)]
            columns += _eigenvalues(*tensor)
    return np.stack(columns, axis=2).astype(np.float32)


def _channels(image: NDArray[Any], factor: int) -> list[NDArray[np.float32]]:
    """Return the channels, reduced, from 0 to 1 between their 0.5 % and 99.5 % quantiles."""
    planes = [image] if image.ndim == 2 else [image[:, :, channel] for channel in range(3)]
    if len(planes) == 3 and np.ptp(image[:, :, :3].astype(int), axis=2).max() < 6:  # grey, stored as colour
        planes = planes[:1]
    scaled = []
    for plane in planes:
        height, width = (side // factor for side in plane.shape)
        blocks = plane[: height * factor, : width * factor].reshape(height, factor, width, factor)
        reduced = blocks.mean(axis=(1, 3)).astype(np.float32)
        low, high = np.quantile(reduced, [0.005, 0.995])
        scaled.append((reduced - low) / max(high - low, 1e-6))
    return scaled


def _eigenvalues(yy: Any, yx: Any, xx: Any) -> list[Any]:
    middle, spread = (yy + xx) / 2, np.hypot((yy - xx) / 2, yx)
    return [middle + spread, middle - spread]


def _answer(name: str, forest: Any, image: NDArray[Any], objects: Objects) -> Floats:
    """Return the forest's answer at each pixel of the reduced image."""
    features = pixel_features(image, objects.factor)
    rows = features.reshape(-1, features.shape[2])
    answer = forest.predict_proba(rows)[:, 1] if name == PIXEL_FOREST else forest.predict(rows)
    return np.asarray(answer.reshape(features.shape[:2]), float)


def watershed_of(probability: Floats, objects: Objects, setting: Setting) -> Detections:
    """Threshold the probability and split what it leaves by the watershed."""
    from scipy import ndimage

    threshold, landscape, apart = setting
    factor = objects.factor
    low, high = (size / factor for size in objects.sizes)
    smooth = ndimage.gaussian_filter(probability, max(0.7, low / 12))
    mask = ndimage.binary_fill_holes(smooth > threshold)
    hills = ndimage.distance_transform_edt(mask) if landscape == "distance" else smooth
    found = split_mask(mask, ndimage.gaussian_filter(hills, max(1.0, low / 12)), (low, high), apart)
    return _in_image(found, factor)


def peaks_of(hills: Floats, objects: Objects, setting: Setting) -> Detections:
    """Return discs of the typical diameter at the peaks."""
    from scipy import ndimage

    threshold, apart, width = setting
    factor = objects.factor
    typical = objects.typical / factor
    smooth = ndimage.gaussian_filter(hills, width * typical)
    least = max(1, int(apart * typical))
    peaks = import_module("skimage.feature").peak_local_max(
        smooth, min_distance=least, threshold_abs=threshold, exclude_border=False
    )
    return _in_image(discs(peaks[:, 0], peaks[:, 1], np.full(len(peaks), typical)), factor) if len(peaks) else NOTHING


def _in_image(found: Detections, factor: int) -> Detections:
    """Return detections in pixels of the image as given."""
    labels = found.labels
    if labels is not None and factor > 1:
        labels = np.repeat(np.repeat(labels, factor, axis=0), factor, axis=1)
    return Detections(found.centres * factor + (factor - 1) / 2, found.boxes * factor, labels)


PIXEL_FOREST, CENTRE_REGRESSION = "control:pixel-forest", "control:centre-regression"
DETECT: Mapping[str, Callable[[Floats, Objects, Setting], Detections]] = {
    PIXEL_FOREST: watershed_of,
    CENTRE_REGRESSION: peaks_of,
}
SETTINGS: Mapping[str, list[Setting]] = {
    PIXEL_FOREST: list(product((0.3, 0.4, 0.5, 0.6), ("distance", "probability"), (0.4, 0.7))),
    CENTRE_REGRESSION: list(product((0.15, 0.25, 0.35, 0.5), (0.25, 0.45), (0.05, 0.1))),
}


def train_pixel_control(
    name: str, training: Sequence[CountingImage], objects: Objects, radius: float | None = None
) -> PixelControl:
    """Return the control with the best setting on halves of the training images that its forest did not learn from.

    A lone image has no other half: its settings are chosen on what was learned from.
    """
    examples = [_examples(name, image, objects, number) for number, image in enumerate(training)]
    answers: dict[int, Floats] = {}
    for fold in range(PIXEL_FOLDS):
        held = [n for n in range(len(training)) if n % PIXEL_FOLDS == fold]
        forest = _forest(name, [examples[n] for n in range(len(training)) if n not in held] or examples)
        answers |= {n: _answer(name, forest, training[n].image(), objects) for n in held}

    def score(setting: Setting) -> float:
        found = [DETECT[name](answers[n], objects, setting) for n in range(len(training))]
        pairs = zip(found, training, strict=True)
        return goal([score_image(part, truth, masks=False, radius=radius) for part, truth in pairs])

    return PixelControl(name, _forest(name, examples), objects, max(SETTINGS[name], key=score))


def _forest(name: str, examples: Sequence[tuple[Any, Any]]) -> Any:
    ensemble = import_module("sklearn.ensemble")
    kind = ensemble.RandomForestClassifier if name == PIXEL_FOREST else ensemble.RandomForestRegressor
    forest = kind(TREES, min_samples_leaf=MIN_LEAF, max_features="sqrt", random_state=0, n_jobs=1)
    features, values = (np.concatenate([part[i] for part in examples]) for i in (0, 1))
    return forest.fit(features, values)


def _examples(name: str, truth: CountingImage, objects: Objects, seed: int) -> tuple[Any, Any]:
    """Return features and values of some pixels of a training image: as many of objects as of the ground.

    The rim of an object is neither, so that objects that touch stay apart.
    """
    factor, rng = objects.factor, np.random.default_rng(seed)
    image = truth.image()
    features = pixel_features(image, factor)
    inner, outer = (_painted(truth, objects, image.shape, part) for part in (0.8, 1.1))
    middle = slice(factor // 2, None, factor)
    inner, outer = (part[middle, middle][: features.shape[0], : features.shape[1]] for part in (inner, outer))
    values = inner.astype(float)
    if name == CENTRE_REGRESSION:
        values, outer = _hills(truth.points / factor, inner.shape, objects.typical / factor), inner
    places = []
    for of_class in (inner, ~outer):
        flat = np.flatnonzero(of_class & ~_ignored(truth, inner.shape, factor))
        places.append(rng.permutation(flat)[:PIXELS_PER_CLASS])
    chosen = np.concatenate(places)
    return features.reshape(-1, features.shape[2])[chosen], values.ravel()[chosen]


def _painted(truth: CountingImage, objects: Objects, shape: tuple[int, ...], part: float) -> NDArray[np.bool_]:
    """Return the pixels of the objects, grown or shrunk to such a part of their size; of points discs."""
    labels = truth.labels()
    if labels is not None:
        from scipy import ndimage

        away = ndimage.distance_transform_edt(_one_object(labels))
        reach = abs(1 - part) * objects.sizes[0] / 2
        grown = ndimage.distance_transform_edt(labels == 0) <= reach
        return np.asarray(away > reach if part < 1 else grown)
    y, x = truth.points.T
    boxes = truth.boxes if truth.has_boxes else discs(y, x, np.full(len(y), objects.typical)).boxes
    middle, half = (boxes[:, :2] + boxes[:, 2:]) / 2, part * (boxes[:, 2:] - boxes[:, :2]) / 2
    resized = np.concatenate([middle - half, middle + half], axis=1)
    return paint_discs(Detections(truth.points, resized), shape) > 0


def _one_object(labels: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return the pixels of objects but those beside another object."""
    inside = labels > 0
    for axis in (0, 1):
        beside = np.diff(labels, axis=axis) != 0
        for rim in (np.pad(beside, [(1, 0) if a == axis else (0, 0) for a in (0, 1)]),
                    np.pad(beside, [(0, 1) if a == axis else (0, 0) for a in (0, 1)])):  # fmt: skip
            inside &= ~rim
    return inside


def _hills(points: Floats, shape: tuple[int, ...], typical: float) -> Floats:
    """Return 1 at each point, falling like a Gaussian around it."""
    from scipy import ndimage

    free = np.ones(shape[:2], bool)
    y, x = (np.clip(np.rint(v).astype(int), 0, n - 1) for v, n in zip(points.T, shape, strict=False))
    free[y, x] = False
    return np.asarray(np.exp(-((ndimage.distance_transform_edt(free) / (HILL_WIDTH * typical)) ** 2) / 2))


def _ignored(truth: CountingImage, shape: tuple[int, ...], factor: int) -> NDArray[np.bool_]:
    aside = np.zeros(shape[:2], bool)
    for y0, x0, y1, x1 in (truth.ignored / factor).astype(int):
        aside[max(y0, 0) : y1 + 1, max(x0, 0) : x1 + 1] = True
    return aside
