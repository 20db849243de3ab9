"""Drawn silhouettes of several classes among each other and in clutter, with known places."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from imtorque.core.types import BoolArray, FloatArray
from imtorque.synthetic.camouflage import apart, patchwork

# Corners (y, x) of each class, around its middle.
OUTLINES: dict[str, list[tuple[float, float]]] = {
    "arrow": [(-0.2, -1), (-0.2, 0.1), (-0.6, 0.1), (0, 1), (0.6, 0.1), (0.2, 0.1), (0.2, -1)],
    "cross": [
        *((-1, -0.3), (-1, 0.3), (-0.3, 0.3), (-0.3, 1), (0.3, 1), (0.3, 0.3)),
        *((1, 0.3), (1, -0.3), (0.3, -0.3), (0.3, -1), (-0.3, -1), (-0.3, -0.3)),
    ],
    "fish": [
        *((0, 1), (-0.3, 0.6), (-0.42, 0.2), (-0.35, -0.2), (-0.12, -0.6), (-0.5, -1)),
        *((0, -0.85), (0.5, -1), (0.12, -0.6), (0.35, -0.2), (0.42, 0.2), (0.3, 0.6)),
    ],
    "bottle": [
        *((-1, -0.15), (-1, 0.15), (-0.45, 0.15), (-0.25, 0.42), (1, 0.42)),
        *((1, -0.42), (-0.25, -0.42), (-0.45, -0.15)),
    ],
    "house": [(-1, 0), (-0.2, 0.8), (-0.2, 0.6), (0.9, 0.6), (0.9, -0.6), (-0.2, -0.6), (-0.2, -0.8)],
}


@dataclass(frozen=True, eq=False)
class SilhouetteScene:
    """An image of silhouettes.

    Parameters
    ----------
    image
        Grey in [0, 1], shape (H, W).
    kinds
        The class of each silhouette.
    boxes
        (n, 4): y0, x0 and, just beyond it, y1, x1 of each.
    """

    image: FloatArray
    kinds: tuple[str, ...]
    boxes: NDArray[np.int64]


def silhouette(kind: str, rng: np.random.Generator) -> FloatArray:
    """Return a contour (n, 2) of a class, about 2 across: its corners a little displaced, turned and stretched."""
    if kind not in OUTLINES:
        raise ValueError(f"kind must be one of {', '.join(OUTLINES)}, got {kind!r}")
    points = np.array(OUTLINES[kind], float)
    turn = rng.normal(0, 0.06)
    frame = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    moved: FloatArray = (points + rng.normal(0, 0.03, points.shape)) @ frame * rng.uniform(0.92, 1.08, 2)
    return moved


def silhouette_scene(seed: int = 0, kind: str = "fish", *, shape: tuple[int, int] = (240, 320)) -> SilhouetteScene:
    """Draw one silhouette of a class and four of the others, brighter or darker than the ground, over clutter.

    Parameters
    ----------
    seed
        Another one gives another scene.
    kind
        "arrow", "cross", "fish", "bottle" or "house".
    shape
        Height and width of the image.
    """
    rng = np.random.default_rng(seed)
    kinds = [kind, *rng.permutation([name for name in OUTLINES if name != kind])]
    places: list[tuple[float, float, float]] = []
    while len(places) < len(kinds):
        places = apart(len(kinds), shape, (0.08 * max(shape), 0.15 * max(shape)), rng)
    image = 0.35 + 0.3 * patchwork(shape, rng, (4, 9))
    boxes = []
    for name, (y, x, radius) in zip(kinds, places, strict=True):
        inside = _filled(silhouette(str(name), rng) * radius / 1.15 + (y, x), shape)
        grey = rng.choice([rng.uniform(0.0, 0.15), rng.uniform(0.85, 1.0)])
        image = np.where(inside, grey, image)
        rows, columns = (np.flatnonzero(inside.any(axis=axis)) for axis in (1, 0))
        boxes.append([rows[0], columns[0], rows[-1] + 1, columns[-1] + 1])
    image = _strokes(image, rng)
    return SilhouetteScene(image, tuple(str(name) for name in kinds), np.array(boxes, np.int64))


def _filled(contour: FloatArray, shape: tuple[int, int]) -> BoolArray:
    canvas = Image.new("L", (shape[1], shape[0]))
    ImageDraw.Draw(canvas).polygon([(float(x), float(y)) for y, x in contour], fill=1)
    return np.asarray(canvas).astype(bool)


def _strokes(image: FloatArray, rng: np.random.Generator, count: int = 60) -> FloatArray:
    """Draw straight lines of random greys over an image."""
    canvas = Image.fromarray(image.astype(np.float32))
    draw = ImageDraw.Draw(canvas)
    height, width = image.shape
    for _ in range(count):
        y, x, angle, length = (
            rng.uniform(0, height),
            rng.uniform(0, width),
            rng.uniform(0, 2 * np.pi),
            rng.uniform(8, 40),
        )
        end = (x + length * np.cos(angle), y + length * np.sin(angle))
        draw.line([(x, y), end], fill=float(rng.uniform(0, 1)), width=1)
    return np.asarray(canvas, np.float64)
