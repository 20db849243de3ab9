"""Tracks on the frame they lead to: a box and a number for each object, and its path so far."""

from collections.abc import Mapping, Sequence

import numpy as np
from PIL import Image as PillowImage
from PIL import ImageDraw

from imtorque.core.types import FloatArray, Image, IntArray
from imtorque.images import CheckedImage
from imtorque.render.torque import Bytes, write_number

# ColorBrewer's Set2 and Dark2, in turn: neighbours in number differ, on bright ground and on dark.
TRACK_COLOURS = ("#ffd92f", "#66c2a5", "#fc8d62", "#8da0cb", "#e78ac3", "#a6d854", "#e7298a", "#1b9e77", "#d95f02")


def track_image(
    image: Image,
    track: IntArray,
    y: FloatArray | IntArray,
    x: FloatArray | IntArray,
    size: FloatArray | IntArray,
    tails: Mapping[int, Sequence[tuple[float, float]]],
) -> Bytes:
    """Draw the tracks of a frame at the frame's own size.

    Parameters
    ----------
    image
        The frame.
    track, y, x, size
        Numbers, places and sizes, shape (n,); objects of number 0 are boxes without one.
    tails
        By number, the places (y, x) an object came by, the latest last.
    """
    canvas = PillowImage.fromarray(CheckedImage(image).as_bytes()).convert("RGB")
    draw = ImageDraw.Draw(canvas)
    line = max(2, round(max(canvas.size) / 480))
    rows = list(zip(track.tolist(), y.tolist(), x.tolist(), size.tolist(), strict=True))
    for number, *_ in rows:
        path = [(column + 0.5, row + 0.5) for row, column in tails.get(number, ())]
        if len(path) > 1:
            draw.line(path, "black", line + 2, joint="curve")
            draw.line(path, _colour(number), line, joint="curve")
    for number, row, column, side in rows:
        box = (column + 0.5 - side / 2, row + 0.5 - side / 2, column + 0.5 + side / 2, row + 0.5 + side / 2)
        draw.rectangle((box[0] - 1, box[1] - 1, box[2] + 1, box[3] + 1), outline="black", width=line + 2)
        draw.rectangle(box, outline=_colour(number), width=line)
    height = max(16, round(max(canvas.size) / 45))
    for number, row, column, side in rows:
        if number:
            above = max(height / 2, row - side / 2 - 0.6 * height)
            write_number(canvas, number, (column + 0.5, above), height, _colour(number))
    return np.asarray(canvas)


def _colour(number: int) -> str:
    return TRACK_COLOURS[number % len(TRACK_COLOURS)]
