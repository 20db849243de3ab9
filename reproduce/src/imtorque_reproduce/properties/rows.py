"""What operators that look for objects find in an image: squares and how strong each is, strongest first."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from imtorque import gradient_torque
from imtorque.core.extrema import find_extrema
from imtorque.core.types import Extrema, Image, IntArray, TorqueVolume
from imtorque.edges import SQRT2
from imtorque_reproduce.objects.rows import Boxes
from imtorque_reproduce.patterns import rows as patterns

RATIO = 1.6  # convention (Marr and Hildreth 1980): of the two Gaussians whose difference is nearest to a Laplacian
RANDOM_SQUARES = 200  # of the control; untuned
SURROUND = 0.25  # of a region's box on either side: what an MSER is compared with; untuned


class Found(NamedTuple):
    """Squares or boxes (n, 4): y0, x0, y1, x1, and how strong each is, falling."""

    boxes: Boxes
    strength: NDArray[np.float64]


def box_centre_surround(image: Image, sizes: IntArray) -> Extrema:
    """Return extrema of the gradient torque of squares: the mean inside minus the mean on the four sides."""
    return find_extrema(gradient_torque(image, sizes))


def difference_of_gaussians(image: Image, sizes: IntArray) -> Extrema:
    """Return extrema of the difference of two Gaussians, for discs of these diameters."""
    # derived: the widths of the two around that of the Laplacian for the disc, size / (2 sqrt 2), equal in the limit
    narrow = np.sqrt(2 * np.log(RATIO) / (RATIO**2 - 1)) * sizes / (2 * np.sqrt(2))
    plane = image.astype(np.float32)
    blurred = partial(ndimage.gaussian_filter, plane, truncate=3)
    layers = [blurred(s) - blurred(RATIO * s) for s in narrow]
    return find_extrema(TorqueVolume(np.stack(layers), sizes))


VOLUMES: dict[str, Callable[[Image, IntArray], Extrema]] = {
    "torque": patterns.torque,
    "gradient-torque": box_centre_surround,
    "closure": patterns.closure,
    "control:log": patterns.laplacian,
    "control:dog": difference_of_gaussians,
    "control:radial-symmetry": patterns.radial_symmetry,
}
METHODS = (*VOLUMES, "control:mser", "control:random")


def found_by(method: str, image: Image, sizes: IntArray) -> Found:
    """Return the squares of a method after NMS, strongest first."""
    if method in VOLUMES:
        return _squares(VOLUMES[method](image, sizes))
    return _squares(stable_regions(image) if method == "control:mser" else _random(image, sizes))


def stable_regions(image: Image) -> Extrema:
    """Return maximally stable regions (OpenCV), as strong as they differ from what is around them."""
    cv2: Any = import_module("cv2")
    plane = np.rint(255 * ndimage.gaussian_filter(image, SQRT2)).astype(np.uint8)  # smoothed as Canny's edges are
    # By default a stable region goes where another one is almost as large, the last of a plain disc too.
    regions, boxes = cv2.MSER_create(min_diversity=0.0).detectRegions(plane)
    if not len(regions):
        return _extrema([])
    rows = []
    for points, (left, top, width, height) in zip(regions, boxes, strict=True):
        margin_y, margin_x = int(SURROUND * height) + 1, int(SURROUND * width) + 1
        rows_of = slice(max(top - margin_y, 0), top + height + margin_y)
        around = plane[rows_of, max(left - margin_x, 0) : left + width + margin_x]
        inside = plane[points[:, 1], points[:, 0]].astype(float)
        outside = (around.sum(dtype=float) - inside.sum()) / max(around.size - len(inside), 1)
        y, x = points[:, 1].mean(), points[:, 0].mean()
        size = np.sqrt(4 * len(points) / np.pi)  # of a disc of its area
        rows.append((y, x, size, (inside.mean() - outside) / 255))
    return _extrema(rows)


def _random(image: Image, sizes: IntArray) -> Extrema:
    rng = np.random.default_rng([image.shape[0], image.shape[1], int(1e6 * np.mean(image))])
    y, x = (rng.integers(0, side, RANDOM_SQUARES) for side in image.shape)
    return Extrema(y, x, rng.choice(sizes, RANDOM_SQUARES), rng.random(RANDOM_SQUARES).astype(np.float32))


def _extrema(rows: list[tuple[float, float, float, float]]) -> Extrema:
    """Return rows of y, x, size and value, strongest first."""
    table = np.array(rows).reshape(-1, 4)
    y, x, size, value = table[np.argsort(-np.abs(table[:, 3]), kind="stable")].T
    sides = 2 * (size / 2).astype(np.int64) + 1
    return Extrema(np.rint(y).astype(np.int64), np.rint(x).astype(np.int64), sides, value.astype(np.float32))


def _squares(found: Extrema) -> Found:
    order = np.argsort(-np.abs(found.value), kind="stable")
    kept = patterns.distinct(found[order])
    y, x, half = kept.y, kept.x, kept.size // 2
    boxes = np.stack([y - half, x - half, y + half + 1, x + half + 1], axis=1).astype(np.int64)
    return Found(boxes, np.abs(kept.value).astype(np.float64))
