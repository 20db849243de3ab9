"""Shapes that hide parts of each other: which side of each edge lies in front is known."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import BoolArray, FloatArray
from imtorque.synthetic.camouflage import patchwork

MIN_CONTRAST = 0.15  # of a shape's grey to those it may lie on; untuned
OVERLAP_NOISE = 0.01  # standard deviation, of the full range; untuned


@dataclass(frozen=True, eq=False)
class OverlapScene:
    """An image of overlapping shapes.

    Parameters
    ----------
    image
        Grey in [0, 1], shape (H, W).
    order
        0 on the ground, k on the k-th shape from the back: of two sides, the larger one owns the edge between them.
    """

    image: FloatArray
    order: NDArray[np.int32]


def overlap_scene(seed: int = 0, *, shape: tuple[int, int] = (150, 200), count: int = 8) -> OverlapScene:
    """Draw ellipses, polygons, stars and rings of random greys over each other, a third of them with patches of paint.

    Parameters
    ----------
    seed
        Another one gives another scene.
    shape
        Height and width of the image.
    count
        How many shapes.
    """
    rng = np.random.default_rng(seed)
    order = np.zeros(shape, np.int32)
    image = np.full(shape, rng.uniform(0.2, 0.8))
    if rng.random() < 0.3:
        image = image + 0.2 * (patchwork(shape, rng) - 0.5)
    for k in range(count):
        inside = random_shape(shape, rng)
        if not inside.any():
            continue
        below = float(np.median(image[inside]))
        grey = below
        while abs(grey - below) < MIN_CONTRAST:
            grey = rng.uniform(0, 1)
        paint = grey + (0.25 * (patchwork(shape, rng) - 0.5) if rng.random() < 0.3 else 0.0)
        image, order = np.where(inside, paint, image), np.where(inside, k + 1, order)
    return OverlapScene(np.clip(image + rng.normal(0, OVERLAP_NOISE, shape), 0, 1), order.astype(np.int32))


def random_shape(shape: tuple[int, int], rng: np.random.Generator) -> BoolArray:
    """Draw one shape at a random place: an ellipse, a polygon, a star or a ring."""
    rows, columns = np.indices(shape).astype(float)
    y, x = rng.uniform(0, shape[0]), rng.uniform(0, shape[1])
    radius = min(shape) * np.exp(rng.uniform(np.log(0.08), np.log(0.35)))
    turn, stretch = rng.uniform(0, np.pi), rng.uniform(1, 2)
    dy, dx = rows - y, columns - x
    u, v = dx * np.cos(turn) + dy * np.sin(turn), (dy * np.cos(turn) - dx * np.sin(turn)) * stretch
    kind = rng.choice(["ellipse", "polygon", "star", "ring"], p=[0.3, 0.35, 0.2, 0.15])
    away, angle = np.hypot(u, v), np.arctan2(v, u)
    outline = np.full(shape, radius)
    if kind in ("polygon", "star"):
        corners = int(rng.integers(3, 7))
        part = np.mod(angle, 2 * np.pi / corners) - np.pi / corners
        straight = np.cos(np.pi / corners) / np.cos(part)
        outline = radius * (straight if kind == "polygon" else 0.7 + 0.3 * np.cos(corners * angle))
    hole = rng.uniform(0.3, 0.7) * radius if kind == "ring" else -1.0
    inside: BoolArray = (away <= outline) & (away >= hole)
    return inside
