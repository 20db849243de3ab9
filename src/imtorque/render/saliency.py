"""Saliency as images of bytes: heat maps, overlays with the order of fixations, and sheets of many maps."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from PIL import Image as PillowImage
from PIL import ImageDraw, ImageFont

from imtorque.core.types import FloatArray, Image, IntArray
from imtorque.images import CheckedImage
from imtorque.render.torque import MIN_READABLE_SIDE, Bytes, coloured

# Dark to bright, also for colour-blind eyes: anchors of the "inferno" colours.
HEAT_COLOURS = "#000004", "#420a68", "#932667", "#dd513a", "#fca50a", "#fcffa4"
OPACITY = 0.75  # of the hottest places of an overlay; convention
CELL_GAP = 4  # pixels between the cells of a sheet; convention


def heat_image(saliency: FloatArray) -> Bytes:
    """Colour a map from its lowest value (black) over red to its highest (pale yellow)."""
    scaled = np.asarray(saliency, np.float64)
    low, high = float(scaled.min()), float(scaled.max())
    return coloured(2 * (scaled - low) / (high - low or 1.0) - 1, 1.0, HEAT_COLOURS)


def heat_overlay(image: Image, saliency: FloatArray, y: IntArray, x: IntArray) -> Bytes:
    """Lay a map over its image, the hotter the denser, with numbered fixations joined in their order.

    Images smaller than about 640 pixels are enlarged, so that the numbers can be read.

    Parameters
    ----------
    image
        The image.
    saliency
        Its map, from 0 to 1, of the same height and width.
    y, x
        Fixations in order; may be empty.
    """
    ground = CheckedImage(image).as_bytes().astype(np.float64)
    cover = OPACITY * np.asarray(saliency, np.float64)[:, :, None]
    mixed = (ground * (1 - cover) + heat_image(saliency) * cover).round().astype(np.uint8)
    zoom = min(16, max(1, math.ceil(MIN_READABLE_SIDE / max(mixed.shape[:2]))))
    canvas = PillowImage.fromarray(mixed)
    canvas = canvas.resize((canvas.width * zoom, canvas.height * zoom), PillowImage.Resampling.BICUBIC)
    _draw_path(canvas, [((float(b) + 0.5) * zoom, (float(a) + 0.5) * zoom) for a, b in zip(y, x, strict=True)])
    return np.asarray(canvas)


def labelled_sheet(rows: Sequence[Sequence[tuple[str, Bytes]]]) -> Bytes:
    """Lay images out in rows, each with a line of text above it."""
    font = ImageFont.load_default(12)
    line = 16
    widths = [max(row[k][1].shape[1] for row in rows) for k in range(len(rows[0]))]
    heights = [max(cell.shape[0] for _, cell in row) + line + CELL_GAP for row in rows]
    canvas = PillowImage.new("RGB", (sum(widths) + CELL_GAP * (len(widths) + 1), sum(heights) + CELL_GAP), "white")
    draw = ImageDraw.Draw(canvas)
    top = CELL_GAP
    for row, height in zip(rows, heights, strict=True):
        left = CELL_GAP
        for (text, cell), width in zip(row, widths, strict=True):
            draw.text((left, top), text, "black", font)
            canvas.paste(PillowImage.fromarray(cell), (left, top + line))
            left += width + CELL_GAP
        top += height
    return np.asarray(canvas)


def _draw_path(canvas: PillowImage.Image, places: list[tuple[float, float]]) -> None:
    """Draw numbered discs joined by lines, the first on top."""
    draw = ImageDraw.Draw(canvas)
    radius = max(9, round(max(canvas.size) / 60))
    font = ImageFont.load_default(round(1.3 * radius))
    for start, end in pairwise(places):
        draw.line((*start, *end), "black", max(4, radius // 3))
        draw.line((*start, *end), "white", max(2, radius // 6))
    for number, (left, top) in reversed(list(enumerate(places, start=1))):
        box = (left - radius, top - radius, left + radius, top + radius)
        draw.ellipse(box, "white", "black", 2)
        draw.text((left, top), str(number), "black", font, anchor="mm")
