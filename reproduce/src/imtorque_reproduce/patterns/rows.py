"""Objects found by torque with and without polarity, and by controls; boxes, best first."""

from collections.abc import Callable
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.extrema import find_extrema, suppress_overlaps
from imtorque.core.patterns import Polarity
from imtorque.core.torque import torque_map
from imtorque.core.types import Extrema, Float32Array, Image, IntArray, TorqueVolume
from imtorque.detection.blob_filters import log_responses, radial_responses
from imtorque.edges import detect_edges
from imtorque_reproduce.counting.controls import Floats, Range, Setting
from imtorque_reproduce.counting.scores import Detections, discs
from imtorque_reproduce.objects.rows import Boxes, box_areas, box_means

DRAWN_SIZES = np.arange(13, 72, 2)  # pixels: objects are 20 to 60 across
SQUARE_OVERLAP = 0.3  # largest part of a square that it may share with a stronger one; untuned
CIRCLE_TORQUE = np.pi / 4  # derived: signed torque of a circle in its square, where its closure is 1
ALPHA = 1.5  # for boxes of proposals, as propose_objects weighs them by the square root of their size; derived


def torque(image: Image, sizes: IntArray = DRAWN_SIZES) -> Extrema:
    """Return extrema of the signed torque, bright and dark."""
    return find_extrema(detect_edges(image), sizes)


def closure(image: Image, sizes: IntArray = DRAWN_SIZES) -> Extrema:
    """Return maxima of the closure."""
    return find_extrema(detect_edges(image), sizes, polarity="free", sign=1)


def either(image: Image) -> Extrema:
    """Return the extrema of both, on the scale on which a circle has 1."""
    signed, free = torque(image), closure(image)
    return _joined(Extrema(signed.y, signed.x, signed.size, np.abs(signed.value) / CIRCLE_TORQUE), free)


def laplacian(image: Image, sizes: IntArray = DRAWN_SIZES) -> Extrema:
    """Return extrema of the Laplacian of Gaussian, bright and dark."""
    found = find_extrema(TorqueVolume(log_responses(image.astype(np.float32), sizes), sizes))
    return Extrema(found.y, found.x, found.size, np.abs(found.value))


def radial_symmetry(image: Image, sizes: IntArray = DRAWN_SIZES) -> Extrema:
    """Return peaks of fast radial symmetry (Loy and Zelinsky 2003) of either sign."""
    return _joined(*(find_extrema(_votes(image, sign, sizes), sign=1) for sign in (1, -1)))


def radial_symmetry_free(image: Image) -> Extrema:
    """Return peaks of fast radial symmetry where every gradient votes to both sides."""
    bright, dark = _votes(image, 1), _votes(image, -1)
    return find_extrema(TorqueVolume(bright.tau + dark.tau, bright.sizes), sign=1)


METHODS: dict[str, Callable[[Image], Extrema]] = {
    "torque": torque,
    "closure": closure,
    "torque+closure": either,
    "control:log": laplacian,
    "control:radial-symmetry": radial_symmetry,
    "control:radial-symmetry-free": radial_symmetry_free,
}


def drawn_boxes(method: str, image: Image) -> Boxes:
    """Return the boxes of a method in a drawn scene after NMS, best first."""
    if method == "control:hough":
        return _circles(image)
    kept = distinct(METHODS[method](image))
    y, x, half = kept.y, kept.x, kept.size // 2
    return np.stack([y - half, x - half, y + half + 1, x + half + 1], axis=1).astype(np.int64)


def distinct(found: Extrema) -> Extrema:
    """Return extrema after NMS, strongest first."""
    return suppress_overlaps(Extrema(found.y, found.x, found.size, np.abs(found.value)), SQUARE_OVERLAP)


def box_response(image: Image, candidates: Boxes, polarity: Polarity) -> NDArray[np.float64]:
    """Return the |torque|, or the closure, of the edges in each candidate box."""
    edges = detect_edges(image)
    sides = np.stack([candidates[:, 2] - candidates[:, 0], candidates[:, 3] - candidates[:, 1]], axis=1) // 2 * 2 + 1
    centres = np.stack([candidates[:, 0] + candidates[:, 2] - 1, candidates[:, 1] + candidates[:, 3] - 1], axis=1) // 2
    response = np.zeros(len(candidates))
    for height, width in np.unique(sides, axis=0).tolist():
        own = (sides[:, 0] == height) & (sides[:, 1] == width)
        found: Float32Array = torque_map(edges, (height, width), alpha=ALPHA, polarity=polarity)
        response[own] = found[centres[own, 0], centres[own, 1]]
    return np.abs(response) if polarity == "signed" else response


def edge_density(image: Image, candidates: Boxes) -> NDArray[np.float64]:
    """Return the share of edge pixels in each candidate box, weighed by its size as the others are."""
    mask = detect_edges(image).mask
    return box_means(mask, candidates) * box_areas(candidates) ** ((2 - ALPHA) / 2)


def extrema_of_sizes(grey: Floats, sizes: Range, setting: Setting) -> Detections:
    """Count extrema: a sign (0 without polarity), the least torque, how far squares may overlap."""
    sign, least, overlap = setting
    # A polygon's circle is smaller than its box, and an outline drawn by Canny a little larger.
    sides = np.unique(2 * (np.geomspace(sizes[0], 1.1 * sizes[1], 12) / 2).astype(int) + 1)
    edges = detect_edges(grey, sigma=max(1.0, sizes[0] / 12))
    free: Polarity = "free" if sign == 0 else "signed"
    found = find_extrema(edges, sides, sign=1 if sign >= 0 else -1, polarity=free)
    kept = suppress_overlaps(found[np.abs(found.value) >= least], overlap)
    return discs(kept.y, kept.x, kept.size)


TORQUE_THRESHOLDS = (0.2, 0.3, 0.4, 0.5)  # that training images choose from; convention: a grid
COUNTERS: dict[str, list[Setting]] = {
    "torque": list(product((1, -1), TORQUE_THRESHOLDS, (0.2, 0.4))),
    "closure": list(product((0,), (0.15, *TORQUE_THRESHOLDS, 0.6, 0.75, 0.9), (0.2, 0.4))),
}


def _joined(*parts: Extrema) -> Extrema:
    return Extrema(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("y", "x", "size", "value")))


def _votes(image: Image, sign: int, sizes: IntArray = DRAWN_SIZES) -> TorqueVolume:
    gx, gy = _native.smoothed_gradient(np.ascontiguousarray(image, np.float32), 1.5)
    strength = np.hypot(gx, gy)
    scale = np.float32(sign) / (strength + 2 * np.median(strength) + np.float32(1e-6))
    return TorqueVolume(radial_responses(gx * scale, gy * scale, sizes), sizes)


def _circles(image: Image) -> Boxes:
    """Return OpenCV's circles, those of most votes first."""
    cv2: Any = import_module("cv2")
    plane = (255 * image).astype(np.uint8)
    radii = (int(DRAWN_SIZES[0] / 2), int(DRAWN_SIZES[-1] / 2))
    found = cv2.HoughCircles(plane, cv2.HOUGH_GRADIENT, 1, 15.0, None, 80, 8, *radii)
    if found is None:
        return np.zeros((0, 4), np.int64)
    x, y, radius = found.reshape(-1, 3).T
    boxes = np.stack([y - radius, x - radius, y + radius + 1, x + radius + 1], axis=1)
    return np.asarray(np.rint(boxes), np.int64)
