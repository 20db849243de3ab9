"""Spheres and boxes before a slanted wall, all in one paint: a photograph that shows little, and its depth map."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import BoolArray, FloatArray
from imtorque.synthetic.camouflage import apart, patchwork

WALL = 3.0  # metres to the middle of the wall; untuned
DEPTH_NOISE = 0.0015  # of inverse depth, in 1/metres: a sensor's error grows with the square of the distance; untuned
SHADOW = 6  # pixels left of a rim that one eye of the sensor does not see, for each 1/metre of its jump; untuned


@dataclass(frozen=True, eq=False)
class DepthScene:
    """A photograph, its depth map, and the truth.

    Parameters
    ----------
    image
        Grey in [0, 1], shape (H, W).
    depth
        Distance in metres; 0 where the sensor saw nothing.
    labels
        0 on the wall, i + 1 on object i.
    y, x, size
        Of the objects: the middle of each and its diameter, or side, in pixels.
    """

    image: FloatArray
    depth: FloatArray
    labels: NDArray[np.int32]
    y: FloatArray
    x: FloatArray
    size: FloatArray


def depth_scene(
    seed: int = 0, *, shape: tuple[int, int] = (240, 320), count: int = 7, noise: float = DEPTH_NOISE
) -> DepthScene:
    """Render spheres and turned boxes before a slanted wall, seen by a camera and a depth sensor.

    Everything carries the same patches of paint, fixed to the image: its edges say nothing about the objects but a
    little shading on the spheres. The depth map has noise, pixels without a value, and shadows beside the rims.

    Parameters
    ----------
    seed
        Another one gives another scene.
    shape
        Height and width of the image.
    count
        How many objects at most.
    noise
        Standard deviation of inverse depth, in 1/metres.
    """
    rng = np.random.default_rng(seed)
    rows, columns = np.indices(shape).astype(float)
    focal = max(shape)
    v, u = (rows - shape[0] / 2) / focal, (columns - shape[1] / 2) / focal
    slope = rng.uniform(-0.6, 0.6, 2)
    nearness = (1 - slope[0] * v - slope[1] * u) / WALL  # a plane's inverse depth is linear in the image
    labels, shade = np.zeros(shape, np.int32), np.zeros(shape)
    places = apart(count, shape, (0.05 * max(shape), 0.11 * max(shape)), rng)
    for k, (y, x, radius) in enumerate(places):
        distance = rng.uniform(1.2, 2.2)
        middle = np.array([(y - shape[0] / 2) / focal, (x - shape[1] / 2) / focal, 1.0]) * distance
        draw = _sphere if k % 2 else _box
        own, light = draw(v, u, middle, radius / focal * distance, rng)
        front = own > nearness
        labels[front], shade[front] = k + 1, light[front]
        nearness = np.where(front, own, nearness)
    image = np.clip(0.1 + 0.7 * patchwork(shape, rng) + 0.2 * shade, 0, 1)
    seen = nearness + rng.normal(0, noise, shape)
    missing = _shadow(nearness) | (rng.random(shape) < 0.01)
    ys, xs, radii = (np.array(v) for v in zip(*places, strict=True))
    size = np.where(np.arange(len(places)) % 2, 2 * radii, 2 * radii * 0.8)
    return DepthScene(image, np.where(missing, 0.0, 1 / seen), labels, ys, xs, size)


def _sphere(
    v: FloatArray, u: FloatArray, middle: FloatArray, radius: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return inverse depth and shade of a sphere, 0 where the ray misses it."""
    del rng
    ray = np.stack([v, u, np.ones_like(v)])
    a, b = (ray**2).sum(0), np.tensordot(middle, ray, 1)
    root = b**2 - a * (middle @ middle - radius**2)
    hit = root > 0
    z = (b - np.sqrt(np.where(hit, root, 0))) / a
    normal = (ray * z - middle[:, None, None]) / radius
    light = np.clip(-normal[2], 0, 1)
    return np.where(hit, 1 / z, 0.0), np.where(hit, light, 0.0)


def _box(
    v: FloatArray, u: FloatArray, middle: FloatArray, radius: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return inverse depth and shade of a box that is turned about its own axis towards the wall and leans a little."""
    turn, lean = rng.uniform(-0.5, 0.5), rng.uniform(-0.5, 0.5)
    half = 0.8 * radius
    c, s = np.cos(turn), np.sin(turn)
    frame = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1.0]])
    tilt = np.array([[np.cos(lean), 0, np.sin(lean)], [0, 1, 0], [-np.sin(lean), 0, np.cos(lean)]])
    axes = frame @ tilt
    ray = np.tensordot(axes, np.stack([v, u, np.ones_like(v)]), 1)
    start = -axes @ middle
    with np.errstate(divide="ignore"):
        one, two = ((side * half - start[:, None, None]) / ray for side in (-1, 1))
    enter, leave = np.minimum(one, two).max(axis=0), np.maximum(one, two).min(axis=0)
    hit = (enter < leave) & (enter > 0)
    return np.where(hit, 1 / np.where(hit, enter, 1.0), 0.0), np.where(hit, 0.5, 0.0)


def _shadow(nearness: FloatArray) -> BoolArray:
    """Return what the sensor's other eye does not see: to the left of each rim, as wide as the jump is large."""
    hidden = np.zeros(nearness.shape, bool)
    for step in range(1, SHADOW + 1):
        ahead = np.roll(nearness, -step, axis=1)
        ahead[:, -step:] = 0
        hidden |= (ahead - nearness) * SHADOW > step
    return hidden
