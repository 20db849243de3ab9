"""Figures and their outlines as images of bytes, and a table of their measures."""

import colorsys
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage
from PIL import ImageDraw

from imtorque.core.types import BoolArray, Image
from imtorque.images import CheckedImage
from imtorque.render.torque import MIN_READABLE_SIDE, Bytes

GROUND_BRIGHTNESS = 0.45  # of the image's brightness left where there is no figure; convention
ADDED, REMOVED = "#33e08a", "#ff5a4f"
Point = tuple[float, float]


def figure_overlay(
    image: Image, masks: Sequence[BoolArray], points: Sequence[Point] = (), removed: Sequence[Point] = ()
) -> Bytes:
    """Draw figures bright on darkened ground, each with an outline of its own colour, and dots where the clicks were.

    Green dots are fixations, red ones points taken away. Images smaller than about 640 pixels are enlarged.
    """
    ground = CheckedImage(image).as_bytes()
    zoom = min(16, max(1, math.ceil(MIN_READABLE_SIDE / max(ground.shape[:2]))))
    inside = np.logical_or.reduce([np.zeros(ground.shape[:2], bool), *masks])
    shaded = np.where(inside[:, :, None], ground, (GROUND_BRIGHTNESS * ground).astype(np.uint8))
    large = shaded.repeat(zoom, axis=0).repeat(zoom, axis=1)
    width = max(1, round(max(large.shape[:2]) / 400))
    for mask, colour in zip(masks, outline_colours(len(masks)), strict=True):
        large[_outline(mask.repeat(zoom, axis=0).repeat(zoom, axis=1), width)] = colour
    canvas = PillowImage.fromarray(large)
    draw = ImageDraw.Draw(canvas)
    radius = max(3, round(max(canvas.size) / 110))
    for group, fill in ((points, ADDED), (removed, REMOVED)):
        for y, x in group:
            middle = ((x + 0.5) * zoom, (y + 0.5) * zoom)
            draw.circle(middle, radius + 2, fill="black")
            draw.circle(middle, radius, fill=fill)
    return np.asarray(canvas)


def outline_colours(count: int) -> list[tuple[int, int, int]]:
    """Return so many colours that differ; the first is yellow."""
    golden = (math.sqrt(5) - 1) / 2
    hues = [(0.14 + k * golden) % 1 for k in range(count)]
    rgb = (colorsys.hsv_to_rgb(hue, 0.85, 1.0) for hue in hues)
    return [(round(255 * r), round(255 * g), round(255 * b)) for r, g, b in rgb]


def label_mask(masks: Sequence[BoolArray], shape: tuple[int, int]) -> NDArray[np.uint16]:
    """Return an image whose pixels hold the number of their figure, from 1; of several the first, 0 of none."""
    labels = np.zeros(shape, np.uint16)
    for number in range(len(masks), 0, -1):
        labels[masks[number - 1]] = number
    return labels


def figure_rows(masks: Sequence[BoolArray]) -> list[dict[str, Any]]:
    """Return number, area, bounding box (y1 and x1 just beyond it) and centroid of each figure."""
    rows = []
    for number, mask in enumerate(masks, start=1):
        y, x = np.nonzero(mask)
        rows.append(
            {
                "number": number,
                "area": len(y),
                "y0": int(y.min()),
                "x0": int(x.min()),
                "y1": int(y.max()) + 1,
                "x1": int(x.max()) + 1,
                "centroid_y": round(float(y.mean()), 2),
                "centroid_x": round(float(x.mean()), 2),
            }
        )
    return rows


def _outline(mask: BoolArray, width: int) -> BoolArray:
    """Return the pixels of a mask within so many of its rim; the image's border is no rim."""
    inner = mask
    for _ in range(width):
        padded = np.pad(inner, 1, mode="edge")
        inner = inner & padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    return mask & ~inner
