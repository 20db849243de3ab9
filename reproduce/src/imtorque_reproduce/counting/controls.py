"""Detectors that people use, each with sixteen settings to choose from, given the range of the objects' sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.extrema import find_extrema, suppress_overlaps
from imtorque.core.types import TorqueVolume
from imtorque.datasets.counting import CountingImage
from imtorque.detection.annotations import read_annotations
from imtorque.detection.blob_filters import radial_responses
from imtorque.detection.feature_maps import ObjectSizes, annotated_sizes
from imtorque.detection.pyramid import block_means
from imtorque.images import grey_image
from imtorque_reproduce.counting.scores import Detections, discs

Range = tuple[float, float]
Setting = tuple[Any, ...]
Floats = NDArray[np.float64]
NOTHING = Detections(np.zeros((0, 2)), np.zeros((0, 4)))  # no detections


def threshold_watershed(grey: Floats, sizes: Range, setting: Setting) -> Detections:
    """Threshold, part touching regions by the watershed of the distance transform; as in scikit-image's gallery."""
    from scipy import ndimage

    filters = import_module("skimage.filters")
    sign, way, apart = setting
    plane = ndimage.gaussian_filter(sign * grey, max(1.0, sizes[0] / 12))
    cut = filters.threshold_otsu(plane)
    if way == "local":
        mask = plane > filters.threshold_local(plane, int(3 * sizes[1]) | 1, offset=-0.1 * plane.std())
    else:
        mask = plane > np.median(plane) + float(way) * (cut - np.median(plane))
    mask = ndimage.binary_fill_holes(mask)
    distance = ndimage.gaussian_filter(ndimage.distance_transform_edt(mask), max(1.0, sizes[0] / 12))
    return split_mask(mask, distance, sizes, apart)


def split_mask(mask: NDArray[np.bool_], hills: Floats, sizes: Range, apart: float) -> Detections:
    """Split a mask by the watershed from the peaks of these hills, this part of the least diameter apart."""
    peak_local_max: Any = import_module("skimage.feature").peak_local_max
    watershed: Any = import_module("skimage.segmentation").watershed
    regionprops: Any = import_module("skimage.measure").regionprops
    peaks = peak_local_max(hills, min_distance=max(1, int(apart * sizes[0])), labels=mask.astype(int))
    markers = np.zeros(mask.shape, np.int32)
    markers[tuple(peaks.T)] = np.arange(1, len(peaks) + 1)
    labels = watershed(-hills, markers, mask=mask)
    kept = [r for r in regionprops(labels) if r.area >= 0.4 * sizes[0] ** 2]
    renumbered = np.zeros(int(labels.max(initial=0)) + 1, np.int32)
    renumbered[[r.label for r in kept]] = np.arange(1, len(kept) + 1)
    centres = np.array([r.centroid for r in kept]).reshape(-1, 2)
    return Detections(centres, np.array([r.bbox for r in kept], float).reshape(-1, 4), renumbered[labels])


def blob_log(grey: Floats, sizes: Range, setting: Setting) -> Detections:
    """Laplacian of Gaussian, by scikit-image."""
    detect: Any = import_module("skimage.feature").blob_log
    sign, threshold, overlap = setting
    factor = max(1, int(sizes[0] / 12))
    plane = block_means((sign * grey).astype(np.float32), factor).astype(np.float64)
    low, high = (size / factor / 2 / np.sqrt(2) for size in sizes)
    found = detect(plane - plane.min(), low, high, 8, threshold=threshold, overlap=overlap)
    y, x, sigma = found.T if len(found) else np.zeros((3, 0))
    return discs(y * factor + (factor - 1) / 2, x * factor + (factor - 1) / 2, 2 * np.sqrt(2) * sigma * factor)


def radial_symmetry(grey: Floats, sizes: Range, setting: Setting) -> Detections:
    """Fast radial symmetry (Loy and Zelinsky 2003), the strongest first and none that overlaps a stronger one."""
    sign, threshold, overlap = setting
    factor = max(1, int(sizes[0] / 16))
    plane = block_means(grey.astype(np.float32), factor)
    gx, gy = _native.smoothed_gradient(plane, max(1.0, sizes[0] / factor / 16))
    strength = np.hypot(gx, gy)
    scale = sign / (strength + 2 * np.median(strength) + 1e-6)
    sides = np.unique(2 * (np.geomspace(sizes[0] / factor, sizes[1] / factor, 8) / 2).astype(int) + 1)
    extrema = find_extrema(TorqueVolume(radial_responses(gx * scale, gy * scale, sides), sides), sign=1)
    kept = suppress_overlaps(extrema[extrema.value >= threshold * extrema.value.max(initial=0)], overlap)
    return discs(kept.y * factor + (factor - 1) / 2, kept.x * factor + (factor - 1) / 2, kept.size * factor)


def simple_blob(grey: Floats, sizes: Range, setting: Setting) -> Detections:
    """SimpleBlobDetector, by OpenCV."""
    cv2: Any = import_module("cv2")
    sign, circularity, step, repeat = setting
    settings = cv2.SimpleBlobDetector_Params()
    settings.filterByColor, settings.blobColor = True, 255 if sign > 0 else 0
    settings.filterByArea, settings.filterByInertia = True, False
    settings.minArea, settings.maxArea = 0.4 * sizes[0] ** 2, 1.2 * sizes[1] ** 2
    settings.filterByConvexity, settings.minConvexity = circularity > 0, 0.8
    settings.filterByCircularity, settings.minCircularity = circularity > 0, max(circularity, 0.01)
    settings.minThreshold, settings.maxThreshold, settings.thresholdStep = 5, 250, step
    settings.minRepeatability, settings.minDistBetweenBlobs = repeat, sizes[0] / 2
    found = cv2.SimpleBlobDetector_create(settings).detect((grey * 255).astype(np.uint8))
    table = np.array([[k.pt[1], k.pt[0], k.size] for k in found]).reshape(-1, 3)
    return discs(*table.T)


def hough(grey: Floats, sizes: Range, setting: Setting) -> Detections:
    """Circles by the Hough transform, by OpenCV."""
    cv2: Any = import_module("cv2")
    edge, votes = setting
    plane = cv2.medianBlur((grey * 255).astype(np.uint8), 5)
    radii = (int(sizes[0] / 2), int(np.ceil(sizes[1] / 2)))
    found = cv2.HoughCircles(plane, cv2.HOUGH_GRADIENT, 1.5, sizes[0] * 0.6, None, edge, votes, *radii)
    if found is None:
        return NOTHING
    x, y, radius = found.reshape(-1, 3).T.astype(float)
    return discs(y, x, 2 * radius)


Control = Callable[[Floats, Range, Setting], Detections]
CONTROLS: Mapping[str, tuple[Control, list[Setting]]] = {
    "control:threshold-watershed": (
        threshold_watershed,
        list(product((1, -1), ("0.6", "1.0", "1.3", "local"), (0.4, 0.7))),
    ),
    "control:blob-log": (blob_log, list(product((1, -1), (0.05, 0.1, 0.2, 0.3), (0.2, 0.5)))),
    "control:radial-symmetry": (radial_symmetry, list(product((1, -1), (0.15, 0.25, 0.35, 0.5), (0.2, 0.4)))),
    "control:simple-blob": (simple_blob, list(product((1, -1), (0.0, 0.6), (5, 10), (2, 4)))),
    "control:hough": (hough, list(product((60, 120), (10, 15, 20, 25, 30, 35, 40, 50)))),
}


def detect(name: str, image: NDArray[Any], sizes: Range, setting: Setting) -> Detections:
    """Run a control on an image whose grey values go from 0 to 1 between their 0.5 % and 99.5 % quantiles."""
    grey = grey_image(image).astype(np.float64)
    low, high = np.quantile(grey, [0.005, 0.995])
    return CONTROLS[name][0](((grey - low) / max(high - low, 1e-6)).clip(0, 1), sizes, setting)


def marked_sizes(training: Sequence[CountingImage]) -> Range:
    """Return the range of sizes that a person would give for these images: most of what was marked."""
    sizes = object_sizes(training)
    return sizes.smallest, sizes.largest


def object_sizes(training: Sequence[CountingImage]) -> ObjectSizes:
    """Return how large the marked objects are; those marked by points as the outlines around them."""
    images = [p.image() for p in training]
    marks = [read_annotations(objects_of(t), p.shape[:2]) for t, p in zip(training, images, strict=True)]
    return annotated_sizes(images, marks)


def objects_of(image: CountingImage) -> NDArray[Any]:
    """Return what was marked in an image, in the best form there is: label image, boxes or points."""
    labels = image.labels()
    if labels is not None:
        return labels
    return image.boxes if image.has_boxes else image.points
