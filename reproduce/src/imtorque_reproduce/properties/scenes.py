"""Drawn scenes of one object of known place and size, with one property that goes from easy to hard."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from imtorque.synthetic import texture
from imtorque_reproduce.objects.rows import Boxes

SCENE_SIDE = 160  # pixels, of a scene; untuned
OBJECT_RADII = (10.0, 20.0)  # pixels, of a disc of the object's area; untuned
CONTRAST = 0.3  # of the object to the ground, in parts of the value range; untuned
SCENE_NOISE = 0.03  # of every scene, so that there is something else to be found; untuned
LINE = 3.0  # pixels, the width of outlines; untuned
SUBSAMPLES = 4  # samples per pixel and axis; bound: time
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Form:
    """What is drawn: a disc, but for the changes."""

    spikes: float = 0.0  # their height over the mean radius: 0 is convex
    aspect: float = 1.0
    gap: float | None = None  # part of an outline that is missing; None: the shape is filled
    turned: float = 0.0  # part of the contour whose contrast is the other way
    clutter: float = 0.0  # dark strokes of 7 pixels, for each 100 pixels
    blur: float = 0.0  # pixels
    noise: float = SCENE_NOISE  # of each pixel, in parts of the value range


# Levels from a disc, or its outline, to what no method finds well.
SWEEPS: Mapping[str, tuple[str, tuple[float, ...]]] = {
    "spikes": ("height of five spikes over the radius", (0.0, 0.2, 0.4, 0.6, 0.8)),
    "gap": ("part of the outline that is missing", (0.0, 0.25, 0.5, 0.625, 0.75)),
    "aspect": ("length over width of an ellipse", (1.0, 2.0, 3.0, 4.5, 6.0)),
    "turned": ("part of the contour of other contrast", (0.0, 0.125, 0.25, 0.375, 0.5)),
    "clutter": ("strokes of 7 pixels for each 100 pixels", (0.0, 1.0, 2.0, 4.0, 8.0)),
    "blur": ("standard deviation in pixels", (0.0, 1.0, 2.0, 4.0, 8.0)),
    "noise": ("standard deviation; the contrast is 0.3", (0.0, 0.1, 0.2, 0.4, 0.8)),
}


@dataclass(frozen=True)
class OneObject:
    """An image and the square (1, 4) of the object: y0, x0, y1, x1, of a disc of its area."""

    image: Floats
    box: Boxes


def draw(sweep: str, level: float, seed: int) -> OneObject:
    """Draw a scene; place, size, turn, contrast and the noise's pattern depend on the seed alone."""
    form = replace(Form(gap=0.0) if sweep == "gap" else Form(), **{sweep: level})
    rng = np.random.default_rng(seed)
    radius = math.exp(rng.uniform(*np.log(OBJECT_RADII)))
    y, x = rng.uniform(2.5 * radius + 2, SCENE_SIDE - 2.5 * radius - 3, 2)
    angle, sign = rng.uniform(0, 2 * math.pi), rng.choice([-1.0, 1.0])
    image = 0.5 + sign * CONTRAST * _drawn(form, (y, x), radius, angle)
    if form.clutter:
        image = image + CONTRAST * (texture(image.shape, density=0.03 * form.clutter, seed=seed) - 1)
    if form.blur:
        image = ndimage.gaussian_filter(image, form.blur)
    image = image + form.noise * rng.normal(size=image.shape)
    box = np.rint([[y - radius, x - radius, y + radius + 1, x + radius + 1]]).astype(np.int64)
    return OneObject(np.clip(image, 0, 1), box)


def _drawn(form: Form, centre: tuple[float, float], radius: float, angle: float) -> Floats:
    """Return the object over the ground, from -1 to 1 in parts of the contrast, each pixel a mean of samples."""
    steps = (np.arange(SCENE_SIDE * SUBSAMPLES) + 0.5) / SUBSAMPLES - 0.5
    y, x = np.meshgrid(steps - centre[0], steps - centre[1], indexing="ij")
    along, across = x * math.cos(angle) + y * math.sin(angle), y * math.cos(angle) - x * math.sin(angle)
    u, v = along / math.sqrt(form.aspect), across * math.sqrt(form.aspect)
    away, turn = np.hypot(u, v), np.arctan2(v, u)
    # Spikes of this height leave the area as it is: the mean square of 1 + a cos is 1 + a^2 / 2.
    rim = radius * (1 + form.spikes * np.cos(5 * turn)) / math.sqrt(1 + form.spikes**2 / 2)
    inside = (away <= rim).astype(np.float64)
    if form.gap is not None:
        inside *= (away >= rim - LINE) & (np.abs(turn) >= math.pi * form.gap)
    if form.turned:
        # The ground rises from -1 to 1, through the object's grey, 0, where it passes this part of the contour.
        inside = (1 - inside) * np.tanh(2 * (along / radius + math.cos(math.pi * form.turned)))
    blocks = inside.reshape(SCENE_SIDE, SUBSAMPLES, SCENE_SIDE, SUBSAMPLES)
    return np.asarray(blocks.mean(axis=(1, 3)), np.float64)
