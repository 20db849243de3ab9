"""Boxes that may hold an object, by torque and by the controls that know none."""

import math
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.types import BoolArray, Planes
from imtorque.images import grey_image
from imtorque.segmentation.boxes import (
    ASPECTS,
    SMALLEST_SIDE_SHARE,
    best_boxes,
    candidate_boxes,
    gradient_contrast,
    smooth_lab,
)

BOX_COUNTS = (10, 50, 200, 1000)  # boxes, the best of which is scored; convention
OVERLAP = 0.4  # that boxes of one method may have; tuned on the dev part of the small objects
HIT = 0.5  # overlap with the object's box from which on it counts as found; convention
SEEDS = 5  # of the random boxes; convention
MOST_COMPARED = 20_000  # bound: boxes that are compared with better ones
Boxes = NDArray[np.int64]


def bounding_box(figure: BoolArray) -> tuple[int, int, int, int]:
    """Return y0, x0, y1, x1 of a figure."""
    rows, columns = (np.flatnonzero(figure.any(axis=axis)) for axis in (1, 0))
    return int(rows[0]), int(columns[0]), int(rows[-1]) + 1, int(columns[-1]) + 1


def hits(boxes: Boxes, true: Sequence[int]) -> list[float]:
    """Return whether the first 10, 50, 200, 1000 boxes hold one that overlaps the true one by half."""
    found = overlaps(boxes, np.asarray([true]))[:, 0] >= HIT
    return [float(found[:count].any()) for count in BOX_COUNTS]


def overlaps(a: Boxes, b: Boxes) -> NDArray[np.float64]:
    """Return the intersection over union of each box of one list with each of another, (len(a), len(b))."""
    least, most = np.maximum(a[:, None, :2], b[None, :, :2]), np.minimum(a[:, None, 2:], b[None, :, 2:])
    both = np.maximum(most - least, 0).prod(axis=2)
    return np.asarray(both / (box_areas(a)[:, None] + box_areas(b)[None] - both))


def all_hits(image: NDArray[Any], figure: BoolArray) -> dict[str, list[float]]:
    """Return what `hits` says of every method on one image."""
    true, shape = bounding_box(figure), (image.shape[0], image.shape[1])
    planes, candidates = smooth_lab(image), candidate_boxes(shape)
    most = BOX_COUNTS[-1]
    found = {
        "torque+side+busyness": best_boxes(planes, candidates, most, "both", OVERLAP).as_array(),
        "torque+side": best_boxes(planes, candidates, most, "both", OVERLAP, contrast=False).as_array(),
        "torque-side": best_boxes(planes, candidates, most, "side", OVERLAP, contrast=False).as_array(),
        "torque": best_boxes(planes, candidates, most, "torque", OVERLAP, contrast=False).as_array(),
        "control:side+busyness": best_boxes(planes, candidates, most, "side", OVERLAP).as_array(),
        "control:gradient-density": _densest(planes, candidates, 0.0),
        "control:gradient-density-large": _densest(planes, candidates, 0.5),
        "control:busyness": _largest(gradient_contrast(planes, candidates), candidates, 0.5),
        "control:blob-log": blobs(image),
        "control:centred-box": np.array([_centred(shape)]),
    }
    rows = {name: hits(boxes, true) for name, boxes in found.items()}
    rows["control:grid"] = [hits(grid(shape, count), true)[-1] for count in BOX_COUNTS]
    draws = [hits(random_boxes(shape, np.random.default_rng(seed)), true) for seed in range(SEEDS)]
    rows["control:random"] = np.mean(draws, axis=0).tolist()
    return rows


def random_boxes(shape: tuple[int, int], rng: np.random.Generator) -> Boxes:
    """Return boxes of random size, shape and place in the image; sizes and shapes as ours have them."""
    found: list[list[int]] = []
    while len(found) < BOX_COUNTS[-1]:
        size = math.exp(
            rng.uniform(math.log(SMALLEST_SIDE_SHARE * math.sqrt(shape[0] * shape[1])), math.log(max(shape)))
        )
        stretch = math.sqrt(math.exp(rng.uniform(math.log(ASPECTS[0]), math.log(ASPECTS[-1]))))
        height, width = max(1, round(size * stretch)), max(1, round(size / stretch))
        if height <= shape[0] and width <= shape[1]:
            y, x = int(rng.integers(shape[0] - height + 1)), int(rng.integers(shape[1] - width + 1))
            found.append([y, x, y + height, x + width])
    return np.array(found, np.int64)


def grid(shape: tuple[int, int], count: int) -> Boxes:
    """Return about so many squares, evenly over sizes a factor 1.5 apart and over places."""
    side = math.sqrt(shape[0] * shape[1])
    sizes = SMALLEST_SIDE_SHARE * side * 1.5 ** np.arange(1 + int(math.log(1 / SMALLEST_SIDE_SHARE, 1.5)))
    found = [[0, 0, *shape]]
    for size in sizes:
        own = min(round(size), *shape)
        rows, columns = shape[0] - own, shape[1] - own
        down = max(1, round(math.sqrt(count / len(sizes) * shape[0] / shape[1])))
        across = max(1, round(count / len(sizes) / down))
        for y in np.linspace(0, rows, down + 2)[1:-1] if down < 3 else np.linspace(0, rows, down):
            for x in np.linspace(0, columns, across + 2)[1:-1] if across < 3 else np.linspace(0, columns, across):
                found.append([round(y), round(x), round(y) + own, round(x) + own])
    return np.array(found, np.int64)


def blobs(image: NDArray[Any]) -> Boxes:
    """Return scikit-image's blobs of the image at half size, bright and dark, as squares, strongest first."""
    from scipy import ndimage

    features: Any = import_module("skimage.feature")
    grey = ndimage.zoom(grey_image(image).astype(np.float64), 0.5, order=1)
    side = math.sqrt(grey.size)
    lowest, highest = SMALLEST_SIDE_SHARE * side / 2 / math.sqrt(2), side / 2 / math.sqrt(2)
    settings = {"min_sigma": lowest, "max_sigma": highest, "num_sigma": 10, "threshold": 0.005, "overlap": 0.9}
    found = []
    for signed in (grey, 1 - grey):
        for y, x, sigma in features.blob_log(signed, log_scale=True, **settings):
            response = -(sigma**2) * _laplacian_at(signed, (int(y), int(x)), float(sigma))
            reach = math.sqrt(2) * sigma
            found.append((response, [y - reach, x - reach, y + reach, x + reach]))
    ranked = [box for _, box in sorted(found, key=lambda pair: -pair[0])] or [[0, 0, *grey.shape]]
    boxes = np.round(2 * np.array(ranked)).astype(np.int64)
    limits = [image.shape[0], image.shape[1]] * 2
    return np.asarray(np.clip(boxes, 0, limits))


def _densest(planes: Planes, candidates: Boxes, power: float) -> Boxes:
    """Return the candidates with the largest mean gradient of the colours, by a power of their size."""
    gradient = sum(np.hypot(*np.gradient(plane)) for plane in planes)
    return _largest(box_means(np.asarray(gradient), candidates), candidates, power)


def _largest(values: NDArray[np.float64], candidates: Boxes, power: float) -> Boxes:
    """Return the candidates with the largest values, by a power of their size."""
    return best_by(values * box_areas(candidates) ** (power / 2), candidates, BOX_COUNTS[-1])


def best_by(response: NDArray[np.float64], candidates: Boxes, count: int) -> Boxes:
    """Return the candidates of largest response, none of which overlaps a better one too much."""
    order = np.argsort(-response, kind="stable")[:MOST_COMPARED]
    ranked = np.ascontiguousarray(candidates[order])
    return np.asarray(ranked[_native.distinct_boxes(ranked, OVERLAP, count)])


def box_means(plane: NDArray[Any], boxes: Boxes) -> NDArray[np.float64]:
    """Return the mean of a plane in each box, by a summed-area table."""
    table = np.zeros((plane.shape[0] + 1, plane.shape[1] + 1))
    table[1:, 1:] = plane.cumsum(axis=0).cumsum(axis=1)
    y0, x0, y1, x1 = boxes.T
    return np.asarray((table[y1, x1] - table[y0, x1] - table[y1, x0] + table[y0, x0]) / box_areas(boxes))


def box_areas(boxes: Boxes) -> NDArray[np.int64]:
    """Return the area of each box."""
    return np.asarray((boxes[:, 2:] - boxes[:, :2]).prod(axis=1))


def _laplacian_at(image: NDArray[np.float64], place: tuple[int, int], sigma: float) -> float:
    """Return the Laplacian of the smoothed image at one place, from the part of it that matters."""
    from scipy import ndimage

    reach = math.ceil(4 * sigma)
    top, left = max(0, place[0] - reach), max(0, place[1] - reach)
    part = image[top : place[0] + reach + 1, left : place[1] + reach + 1]
    return float(ndimage.gaussian_laplace(part, sigma)[place[0] - top, place[1] - left])


def _centred(shape: tuple[int, int], part: float = 0.8) -> list[int]:
    (top, bottom), (left, right) = ((round(side * (1 - part) / 2), round(side * (1 + part) / 2)) for side in shape)
    return [top, left, bottom, right]
