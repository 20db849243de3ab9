"""Drawn scenes of objects whose outlines have their bright side inside, outside, or now here, now there."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from imtorque.synthetic import disc, paint, polygon, square, texture, triangle
from imtorque_reproduce.objects.rows import bounding_box

SHAPE = (200, 260)  # pixels; untuned
DRAWN_OBJECTS = 8  # bound: of a scene
DRAWN_RADII = (10.0, 30.0)  # pixels; untuned
Floats = NDArray[np.float64]
KINDS = {
    "one-contrast": "each object brighter or darker than an even ground",
    "noise": "the same in noise",
    "texture": "the same over strokes",
    "uneven-ground": "objects of one grey on a ground that is brighter here and darker there",
    "stripes": "objects of one grey on stripes that are brighter and darker",
    "half-and-half": "objects with a bright and a dark half",
    "lines": "line drawings",
    "craters": "relief lit from one side",
}


@dataclass(frozen=True)
class DrawnScene:
    """An image, and the boxes (n, 4) of what was drawn in it: y0, x0, y1, x1."""

    image: Floats
    boxes: NDArray[np.int64]


def draw_scene(kind: str, seed: int) -> DrawnScene:
    """Draw a scene of a kind; the same for the same seed."""
    rng = np.random.default_rng([seed, list(KINDS).index(kind)])
    covers = _covers(rng)
    ground = _ground(kind, rng)
    image = ground
    for cover in covers:
        image = _painted(kind, image, cover, rng)
    if kind == "noise":
        image = image + rng.normal(0, 0.12, SHAPE)
    if kind == "texture":
        image = image * (0.6 + 0.4 * texture(SHAPE, density=0.15, seed=seed))
    return DrawnScene(np.clip(image, 0, 1), np.array([bounding_box(cover > 0.5) for cover in covers]))


def _covers(rng: np.random.Generator) -> list[Floats]:
    """Return how much of each pixel each object covers; no two objects come near each other."""
    placed: list[tuple[float, float, float]] = []
    for _ in range(200):
        radius = math.exp(rng.uniform(*np.log(DRAWN_RADII)))
        y, x = (rng.uniform(radius + 8, side - radius - 8) for side in SHAPE)
        if len(placed) < DRAWN_OBJECTS and all(
            math.hypot(y - v, x - u) > 1.15 * (radius + r) + 4 for v, u, r in placed
        ):
            placed.append((y, x, radius))
    return [_shape(rng, (y, x), radius) for y, x, radius in placed]


def _shape(rng: np.random.Generator, centre: tuple[float, float], radius: float) -> Floats:
    """Draw a disc, an ellipse, a square or a triangle in a circle of this radius."""
    kind, angle = rng.integers(4), rng.uniform(0, math.pi)
    top, left = (math.floor(c - radius) - 2 for c in centre)
    side = math.ceil(2 * radius) + 6
    here, own = (side, side), (centre[0] - top, centre[1] - left)
    if kind == 0:
        drawn = disc(here, own, radius)
    elif kind == 1:
        turns = np.linspace(0, 2 * math.pi, 48, endpoint=False)
        along, across = radius * np.cos(turns), 0.7 * radius * np.sin(turns)
        y = own[0] + along * math.sin(angle) + across * math.cos(angle)
        x = own[1] + along * math.cos(angle) - across * math.sin(angle)
        drawn = polygon(here, list(zip(y.tolist(), x.tolist(), strict=True)))
    elif kind == 2:
        drawn = square(here, own, math.sqrt(2) * radius, angle=angle)
    else:
        drawn = triangle(here, own, radius)
    cover = np.zeros(SHAPE)
    cover[top : top + side, left : left + side] = drawn
    return cover


def _ground(kind: str, rng: np.random.Generator) -> Floats:
    y, x = np.indices(SHAPE).astype(float)
    if kind == "uneven-ground":
        waves = ndimage.gaussian_filter(rng.normal(size=SHAPE), 14, mode="wrap")
        return np.asarray(0.5 + 0.4 * np.tanh(1.5 * waves / waves.std()))
    if kind == "stripes":
        angle = rng.uniform(0, math.pi)
        return 0.5 + 0.3 * np.sign(np.sin((x * math.cos(angle) + y * math.sin(angle)) / 6))
    return np.full(SHAPE, 0.9 if kind == "lines" else 0.5)


def _painted(kind: str, image: Floats, cover: Floats, rng: np.random.Generator) -> Floats:
    if kind in ("uneven-ground", "stripes"):
        return np.asarray(paint(image, cover, 0.5), np.float64)
    if kind == "lines":
        inside = ndimage.grey_erosion(cover, footprint=np.hypot(*np.mgrid[-2:3, -2:3]) <= 2.3)
        return np.asarray(paint(image, cover - inside, 0.1), np.float64)
    if kind == "craters":
        soft = ndimage.gaussian_filter(cover, 1.2)
        slope_y, slope_x = np.gradient(soft)
        return np.asarray(image + 1.1 * (slope_y + 0.6 * slope_x))
    if kind == "half-and-half":
        y, x = np.indices(SHAPE) - np.array(ndimage.center_of_mass(cover))[:, None, None]
        angle = rng.uniform(0, math.pi)
        bright = (x * math.cos(angle) + y * math.sin(angle)) > 0
        return np.asarray(image * (1 - cover) + np.where(bright, 0.85, 0.15) * cover)
    return np.asarray(paint(image, cover, float(rng.choice([0.2, 0.8]))), np.float64)
