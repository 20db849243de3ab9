"""Discs, polygons, textures, patterns and the named scenes made of them: float images in [0, 1]."""

import math

import numpy as np

from imtorque.core.types import BoolArray, FloatArray

SUPERSAMPLING = 8  # of drawn edges, per pixel and axis; bound: time


def disc(shape: tuple[int, int], centre: tuple[float, float], radius: float) -> FloatArray:
    """Draw how much of each pixel a disc covers.

    Parameters
    ----------
    shape
        Height and width of the image.
    centre
        (y, x) in pixels; pixel centres lie at whole numbers.
    radius
        In pixels.
    """
    y, x = _subpixels(shape)
    return _coverage((y - centre[0]) ** 2 + (x - centre[1]) ** 2 <= radius**2)


def polygon(shape: tuple[int, int], corners: list[tuple[float, float]]) -> FloatArray:
    """Draw how much of each pixel a convex polygon covers; corners (y, x) in either direction around it."""
    y, x = _subpixels(shape)
    sides = []
    for (y0, x0), (y1, x1) in zip(corners, corners[1:] + corners[:1], strict=True):
        sides.append((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0))
    inside = np.all([side >= 0 for side in sides], axis=0) | np.all([side <= 0 for side in sides], axis=0)
    return _coverage(inside)


def square(shape: tuple[int, int], centre: tuple[float, float], side: float, *, angle: float = 0.0) -> FloatArray:
    """Draw a square, turned by `angle` in radians."""
    reach = side / math.sqrt(2)
    turns = [angle + math.pi / 4 + i * math.pi / 2 for i in range(4)]
    return polygon(shape, [(centre[0] + reach * math.sin(t), centre[1] + reach * math.cos(t)) for t in turns])


def triangle(shape: tuple[int, int], centre: tuple[float, float], radius: float) -> FloatArray:
    """Draw an equilateral triangle, one corner up, with this circumscribed radius."""
    turns = [-math.pi / 2 + i * 2 * math.pi / 3 for i in range(3)]
    return polygon(shape, [(centre[0] + radius * math.sin(t), centre[1] + radius * math.cos(t)) for t in turns])


def texture(shape: tuple[int, int], *, density: float = 0.05, seed: int = 0) -> FloatArray:
    """Draw short dark strokes of random place and direction on bright ground: edges without closed contours."""
    rng = np.random.default_rng(seed)
    count = round(density * shape[0] * shape[1] / 3)
    y, x, angle = rng.uniform(0, shape[0], count), rng.uniform(0, shape[1], count), rng.uniform(0, math.pi, count)
    along = np.linspace(-3, 3, 13)[:, None]
    rows = np.clip(np.round(y + along * np.sin(angle)).astype(int), 0, shape[0] - 1)
    columns = np.clip(np.round(x + along * np.cos(angle)).astype(int), 0, shape[1] - 1)
    image = np.ones(shape)
    image[rows, columns] = 0.2
    return image


def curves(shape: tuple[int, int], pattern: str | float, *, count: int = 8, two_sided: bool = False) -> FloatArray:
    """Draw curves that form a pattern around the middle of the image, and fade towards its border and its middle.

    Parameters
    ----------
    shape
        Height and width.
    pattern
        "circle", "star", "spiral", "saddle", "saddle-diagonal", or an angle in radians between -pi / 2 and pi / 2, as
        `imtorque.core.patterns` has them.
    count
        How many rays, arms or curves there are, about.
    two_sided
        Whether bright and dark alternate. Otherwise brightness jumps at each curve and goes back slowly until the
        next, so that all curves have their bright side on one hand and the pattern's response is positive.
    """
    y, x = _subpixels(shape)
    y, x = y - (shape[0] - 1) / 2, x - (shape[1] - 1) / 2
    radius = np.maximum(np.hypot(y, x), 1e-9)
    edge = 0.45 * min(shape)
    angle = {"circle": 0.0, "spiral": math.pi / 4, "star": math.pi / 2}.get(str(pattern), pattern)
    if angle in ("saddle", "saddle-diagonal"):
        phase = -count / 2 * (x * y if angle == "saddle" else (y**2 - x**2) / 2) / edge**2
    elif float(angle) == 0:
        phase = count / 2 * radius / edge
    else:
        turns = np.log(radius) / math.tan(float(angle)) - np.arctan2(y, x)
        phase = math.copysign(count, float(angle)) * turns / (2 * math.pi)
    part = phase - np.floor(phase)
    drawn = np.where(part < 0.5, 0.5, -0.5) if two_sided else part - 0.5
    contrast = np.clip(4 * (1 - radius / edge), 0, 1) * np.clip(radius / (0.2 * edge), 0, 1)
    return _block_means(0.5 + contrast * drawn)


def paint(ground: FloatArray | float, cover: FloatArray, grey: float) -> FloatArray:
    """Paint a covered area in a grey value over a ground."""
    return ground * (1 - cover) + grey * cover


def scene(name: str, shape: tuple[int, int] = (161, 241)) -> FloatArray:
    """Draw a scene by name.

    Parameters
    ----------
    name
        "shapes" (dark and bright discs, squares and a triangle of several sizes), "disc", "triangle", "overlap" (two
        dark discs, the upper and brighter one in front), "hole" (a dark disc with a hole), "gap" (an outline with a
        piece missing), "texture" (random strokes, and a disc outlined by no more than their absence).
    shape
        Height and width.

    Examples
    --------
    >>> scene("disc", (50, 50)).min()
    np.float64(0.2)
    """
    if name not in SCENES:
        raise ValueError(f"scene must be one of {', '.join(SCENES)}, got {name!r}")
    height, width = shape
    unit = min(height, width * 2 / 3)

    def at(y: float, x: float) -> tuple[float, float]:
        return y * (height - 1), x * (width - 1)

    bright = np.ones(shape)
    if name == "disc":
        return paint(bright, disc(shape, at(0.5, 0.5), 0.3 * unit), 0.2)
    if name == "triangle":
        return paint(bright, triangle(shape, at(0.55, 0.5), 0.35 * unit), 0.2)
    if name == "overlap":
        lower = paint(bright, disc(shape, at(0.62, 0.42), 0.25 * unit), 0.2)
        return paint(lower, disc(shape, at(0.38, 0.58), 0.25 * unit), 0.5)
    if name == "hole":
        outer = paint(bright, disc(shape, at(0.5, 0.5), 0.35 * unit), 0.2)
        return paint(outer, disc(shape, at(0.5, 0.5), 0.15 * unit), 1.0)
    if name == "gap":
        rows, columns = np.indices(shape)
        middle = at(0.5, 0.5)
        missing = np.abs(np.arctan2(rows - middle[0], columns - middle[1])) < math.pi / 8
        inner = disc(shape, middle, 0.3 * unit - 3)
        return paint(bright, disc(shape, middle, 0.3 * unit) * (1 - inner) * ~missing, 0.2)
    if name == "texture":
        inside = disc(shape, at(0.5, 0.5), 0.25 * unit)
        return paint(texture(shape), inside, 1.0)
    grey = np.full(shape, 0.6)
    for y, x, size, value in ((0.28, 0.17, 0.18, 0.1), (0.72, 0.2, 0.1, 1.0), (0.27, 0.85, 0.06, 0.1)):
        grey = paint(grey, disc(shape, at(y, x), size * unit), value)
    grey = paint(grey, square(shape, at(0.62, 0.5), 0.4 * unit), 1.0)
    grey = paint(grey, square(shape, at(0.22, 0.52), 0.12 * unit, angle=math.pi / 6), 0.1)
    return paint(grey, triangle(shape, at(0.72, 0.82), 0.2 * unit), 0.1)


SCENES = ("shapes", "disc", "triangle", "overlap", "hole", "gap", "texture")


def _subpixels(shape: tuple[int, int]) -> tuple[FloatArray, FloatArray]:
    steps = (np.arange(SUPERSAMPLING) + 0.5) / SUPERSAMPLING - 0.5
    y = (np.arange(shape[0])[:, None] + steps).ravel()
    x = (np.arange(shape[1])[:, None] + steps).ravel()
    return y[:, None], x[None, :]


def _coverage(inside: BoolArray) -> FloatArray:
    return _block_means(inside)


def _block_means(fine: BoolArray | FloatArray) -> FloatArray:
    height, width = fine.shape[0] // SUPERSAMPLING, fine.shape[1] // SUPERSAMPLING
    blocks = fine.reshape(height, SUPERSAMPLING, width, SUPERSAMPLING)
    mean: FloatArray = blocks.mean(axis=(1, 3))
    return mean
