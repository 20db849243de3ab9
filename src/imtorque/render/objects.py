"""Objects with their outlines and numbers on the image they were found in."""

import math
from collections.abc import Iterable

import numpy as np
from PIL import Image as PillowImage
from PIL import ImageDraw, ImageFont

from imtorque.core.types import FloatArray, Image, IntArray
from imtorque.images import CheckedImage
from imtorque.render.regions import OUTLINE, RIM
from imtorque.render.torque import MAXIMUM_COLOUR, MIN_READABLE_SIDE, Bytes, write_number

PIXELS_PER_LINE = 900  # of the longer side, for each pixel of an outline's width; convention
MIN_WIDTHS_PER_LINE = 10  # objects are at least so many times as wide as their outlines; convention
MIN_NUMBERED_WIDTH = 20  # pixels of an object below which a number would hide it; convention
MIN_DIGIT_HEIGHT = 8  # pixels, below which digits cannot be read; convention


def numbered_overlay(image: Image, labels: IntArray, y: FloatArray, x: FloatArray) -> Bytes:
    """Draw the outline of every label, yellow on black, and its number at (y, x); row i of the places is label i + 1.

    Images smaller than about 640 pixels are enlarged; lines in larger ones are thicker, so that they are seen when the
    whole image is looked at. An object too small for its number has none, and a legend says how many there are so.
    """
    ground = CheckedImage(image).as_bytes()
    zoom = min(16, max(1, math.ceil(MIN_READABLE_SIDE / max(ground.shape[:2]))))
    large = ground.repeat(zoom, axis=0).repeat(zoom, axis=1)
    numbers = np.asarray(labels).repeat(zoom, axis=0).repeat(zoom, axis=1)
    widths = zoom * np.sqrt(np.bincount(np.asarray(labels).ravel(), minlength=len(y) + 1)[1:])
    usual = float(np.median(widths)) if len(widths) else 0.0
    line = max(1, min(round(max(large.shape[:2]) / PIXELS_PER_LINE), round(usual / MIN_WIDTHS_PER_LINE)))
    large[_near_border(numbers, 2 * line)] = RIM
    large[_near_border(numbers, line) & (numbers > 0)] = OUTLINE
    canvas = PillowImage.fromarray(large)
    tallest = max(12, round(max(canvas.size) / 55))
    without = 0
    for k in range(len(y) - 1, -1, -1):
        fitting = round(0.9 * float(widths[k]) / len(str(k + 1)))
        if widths[k] < MIN_NUMBERED_WIDTH or fitting < MIN_DIGIT_HEIGHT:
            without += 1
            continue
        centre = ((float(x[k]) + 0.5) * zoom, (float(y[k]) + 0.5) * zoom)
        write_number(canvas, k + 1, centre, min(tallest, fitting), MAXIMUM_COLOUR)
    if without:
        _write_legend(canvas, len(y), without, tallest)
    return np.asarray(canvas)


def outlined(image: Image, outlines: Iterable[FloatArray]) -> Bytes:
    """Draw outlines (n, 2) of y and x, yellow on the image: those of many small objects, without numbers."""
    canvas = PillowImage.fromarray(CheckedImage(image).as_bytes()).convert("RGB")
    draw = ImageDraw.Draw(canvas)
    for outline in outlines:
        draw.polygon([(float(x), float(y)) for y, x in outline], outline=OUTLINE)
    return np.asarray(canvas)


def _write_legend(canvas: PillowImage.Image, count: int, without: int, height: int) -> None:
    """Write at the lower left how many objects there are, and how many are too small for a number."""
    text = f"{count} outlined; {without} too small for a number"
    font = ImageFont.load_default(height)
    draw = ImageDraw.Draw(canvas)
    left, top, right, bottom = draw.textbbox((height // 2, canvas.height - height // 2), text, font, anchor="ls")
    draw.rectangle((left - 3, top - 3, right + 3, bottom + 3), fill="black")
    draw.text((height // 2, canvas.height - height // 2), text, MAXIMUM_COLOUR, font, anchor="ls")


def _near_border(labels: IntArray, reach: int) -> IntArray:
    """Return where a pixel so many steps along a row or a column has another label."""
    near = np.zeros(labels.shape, bool)
    for step in range(1, reach + 1):
        across, down = labels[:, step:] != labels[:, :-step], labels[step:] != labels[:-step]
        near[:, step:] |= across
        near[:, :-step] |= across
        near[step:] |= down
        near[:-step] |= down
    return near
