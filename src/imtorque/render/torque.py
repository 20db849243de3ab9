"""Results as images of the image's own resolution: arrays in, arrays of bytes out, quickly, at any size.

Figures with axes and legends are made by `imtorque.plotting`; both use these colours. Red is positive and blue
negative, which colour-blind people tell apart; extrema also differ in their line.
"""

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage
from PIL import ImageDraw, ImageFont

from imtorque.core.types import Edges, Float32Array, IntArray

Bytes = NDArray[np.uint8]

# From negative to positive; the first is ColorBrewer's RdBu. Zero is white for values and black for scales.
VALUE_COLOURS = ("#053061", "#2166ac", "#4393c3", "#92c5de", "#f7f7f7", "#f4a582", "#d6604d", "#b2182b", "#67001f")
SCALE_COLOURS = ("#c6dbef", "#6baed6", "#2171b5", "#08306b", "#000000", "#67000d", "#cb181d", "#fb6a4a", "#fcbba1")
MAXIMUM_COLOUR, MINIMUM_COLOUR = "#ffd92f", "#33e08a"

CHUNK_PIXELS = 2**14  # pixels that are coloured at a time; bound: memory
# Pixels of the longer side, below which an overlay is enlarged so that its numbers can be read; convention.
MIN_READABLE_SIDE = 640


def value_image(value: Float32Array, limit: float | None = None) -> Bytes:
    """Colour a map of torque: red positive, white zero, blue negative.

    Parameters
    ----------
    value
        Torque, shape (H, W).
    limit
        Value shown in the full colour, and its negative; by default the largest |value|.
    """
    top = limit if limit is not None else float(np.abs(value).max())
    return coloured(value, top, VALUE_COLOURS)


def scale_image(scale: IntArray, limit: float | None = None) -> Bytes:
    """Colour a scale map: red where the torque is positive, blue where negative, the larger the lighter, 0 black."""
    top = limit if limit is not None else float(np.abs(scale).max())
    return coloured(scale, top, SCALE_COLOURS)


def edge_image(edges: Edges) -> Bytes:
    """Draw edges white on black, as bright as they are strong."""
    strength = edges.strength
    return np.round(strength * (255 / max(float(strength.max()), 1e-30))).astype(np.uint8)


def write_number(canvas: PillowImage.Image, number: int, centre: tuple[float, float], height: int, colour: str) -> None:
    """Write a number, digit by digit: rendering outlined text anew each time would take most of a batch's time."""
    digits = [_digit(digit, height, colour) for digit in str(number)]
    x = round(centre[0] - sum(digit.width for digit in digits) / 2)
    for digit in digits:
        canvas.paste(digit, (x, round(centre[1] - digit.height / 2)), digit)
        x += digit.width


@cache
def _digit(digit: str, height: int, colour: str) -> PillowImage.Image:
    """Draw a digit with a dark outline on clear ground."""
    font = ImageFont.load_default(height)
    rim = max(1, height // 10)
    _, top, _, bottom = font.getbbox("0123456789")
    width = math.ceil(font.getlength(digit))
    image = PillowImage.new("RGBA", (width, math.ceil(bottom - top) + 2 * rim))
    draw = ImageDraw.Draw(image)
    draw.text((0, rim - top), digit, colour, font, stroke_width=rim, stroke_fill="black")
    return image


def colour_table(colours: tuple[str, ...]) -> Bytes:
    """Return the colours of the values -255 to 255 over 255, (511, 3), between anchors "#rrggbb" that lie evenly."""
    anchors = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in colours], np.float64)
    steps = np.linspace(0, len(colours) - 1, 511)
    table = np.stack([np.interp(steps, np.arange(len(colours)), channel) for channel in anchors.T], axis=1)
    return np.round(table).astype(np.uint8)


def coloured(array: NDArray[Any], limit: float, colours: tuple[str, ...]) -> Bytes:
    """Look up colours for values from -limit to limit, between anchors "#rrggbb" that lie evenly in that range."""
    bytes_of = colour_table(colours)
    image = np.empty((*array.shape, 3), np.uint8)
    # A few rows at a time, so that a large map needs little more memory than its image.
    rows = max(1, CHUNK_PIXELS // array.shape[1])
    for start in range(0, len(array), rows):
        places = np.round(array[start : start + rows] * (255 / (limit or 1.0)))
        places += 255
        np.clip(places, 0, 510, out=places)
        np.take(bytes_of, places.astype(np.intp), axis=0, out=image[start : start + rows])
    return image
