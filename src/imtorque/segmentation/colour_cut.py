"""Refine a cut by colour and texture: histograms of figure and ground, and a minimum cut between them.

As in GrabCut (C. Rother, V. Kolmogorov, A. Blake, SIGGRAPH 2004), with histograms of colours and textures in place of
mixtures of Gaussians, and only within the box that may hold the figure.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.types import BoolArray
from imtorque.segmentation.appearance import WORDS, Level, Reals, log_likelihood_ratios, word_counts
from imtorque.segmentation.fixated_boxes import Box, bounding_box

Pixel = tuple[int, int]
ROUNDS = 2  # of fitting histograms and cutting; bound: time
LINK_COST = 18.0  # of separating neighbours of the same colour; measured (+.026, -.001)
MAX_LOG_RATIO = 6.0  # so that no word decides alone; measured (0, 0)
CLICK_RADIUS = 3.0  # pixels around a click that are held to the figure; untuned
# Cost of links where an outline is sharpened, and reach of that in pixels; measured (-.020, 0).
SHARP_LINK_COST, SHARPENING_REACH = 5.0, 3
MAX_BOX_AREA = 6000  # pixels; larger boxes are cut at half the size; bound: time


@dataclass(frozen=True)
class Hints:
    """Constraints on the figure, in pixels of the first level: points on it, points off it, a box around it."""

    on: Sequence[Pixel]
    off: Sequence[Pixel] = ()
    box: Box | None = None


@dataclass(frozen=True)
class Window:
    """The part of a level that a cut is made in: its first row and column, and its shape."""

    top: int
    left: int
    height: int
    width: int

    @property
    def slices(self) -> tuple[slice, slice]:
        """Rows and columns."""
        return slice(self.top, self.top + self.height), slice(self.left, self.left + self.width)


def colour_cut(levels: Sequence[Level], box: Box, start: BoolArray | None, hints: Hints) -> BoolArray:
    """Return the figure within a box, at the level that suits the box's size.

    `start` is a first figure at the last level's size; by default it is the whole box.
    """
    level = levels[0] if _area(box, levels[0].shape) <= MAX_BOX_AREA else levels[-1]
    window = _window(level, box, hints)
    on, off = (_discs(level, window, points, reach) for points, reach in ((hints.on, CLICK_RADIUS), (hints.off, 0.0)))
    if start is None:
        figure = np.ones((window.height, window.width), bool)
    else:
        repeats = levels[-1].factor // level.factor
        figure = start.repeat(repeats, axis=0).repeat(repeats, axis=1)[window.slices]
    corner = window.top, window.left
    for _ in range(ROUNDS):
        counts = _native.count_words(level.words, *corner, _bytes(figure), _bytes(on), _bytes(off), WORDS)
        figure = _cut(level, window, counts, LINK_COST, (on, off))
    return _filled(level, window, figure)


def sharpened(level: Level, figure: BoolArray, clicks: Sequence[Pixel]) -> BoolArray:
    """Cut the outline of a figure once more, within a few pixels of where it was; clicks stay inside."""
    held = ~_dilated(~figure)
    for click in clicks:
        held[click] = True
    may = _dilated(figure | held)
    counts = word_counts(level.words[figure])
    top, left, bottom, right = bounding_box(may)
    window = Window(top, left, bottom - top, right - left)
    ground = ~may
    return _filled(
        level, window, _cut(level, window, counts, SHARP_LINK_COST, (held[window.slices], ground[window.slices]))
    )


def _dilated(mask: BoolArray) -> BoolArray:
    """Dilate a mask by `SHARPENING_REACH` steps between four neighbours."""
    for _ in range(SHARPENING_REACH):
        grown = mask.copy()
        grown[1:] |= mask[:-1]
        grown[:-1] |= mask[1:]
        grown[:, 1:] |= mask[:, :-1]
        grown[:, :-1] |= mask[:, 1:]
        mask = grown
    return mask


def _cut(level: Level, window: Window, counts: Reals, cost: float, held: tuple[BoolArray, BoolArray]) -> BoolArray:
    """Return the components of the minimum cut that hold a click, from the word counts of the figure so far."""
    ratios = np.minimum(np.maximum(log_likelihood_ratios(counts, level.counts - counts), -MAX_LOG_RATIO), MAX_LOG_RATIO)
    image, corner = (level.words, level.right, level.down), (window.top, window.left)
    on, off = map(_bytes, held)
    return _native.cut_words(*image, *corner, ratios, cost, on, off, level.flow).view(bool)


def _window(level: Level, box: Box, hints: Hints) -> Window:
    """Return the part of a level that covers a box and the clicks; never the whole level, so that ground is left."""
    around = hints.box or (-math.inf, -math.inf, math.inf, math.inf)
    (height, width), factor = level.shape, level.factor
    top, left = (_whole(max(box[i], around[i]), level.shape[i] * factor) // factor for i in (0, 1))
    bottom, end = (-(-_whole(min(box[i + 2], around[i + 2]), level.shape[i] * factor) // factor) for i in (0, 1))
    if (top, left, bottom, end) == (0, 0, height, width):
        top, left, bottom, end = 1, 1, height - 1, width - 1
    for y, x in hints.on:
        top, left = min(top, y // factor), min(left, x // factor)
        bottom, end = max(bottom, y // factor + 1), max(end, x // factor + 1)
    return Window(top, left, bottom - top, end - left)


def _whole(at: float, most: int) -> int:
    """Round a number, which may be infinite, to an integer from 0 to `most`."""
    return round(min(max(at, 0), most))


def _discs(level: Level, window: Window, points: Sequence[Pixel], reach: float) -> BoolArray:
    """Return the pixels of a window within `reach` pixels of the first level from one of the points."""
    found = np.zeros((window.height, window.width), bool)
    if not points:
        return found
    radius = reach / level.factor
    for point in points:
        row, column = (at / level.factor - start for at, start in zip(point, (window.top, window.left), strict=True))
        first = [max(0, math.floor(at - radius)) for at in (row, column)]
        after = [max(0, math.ceil(at + radius) + 1) for at in (row, column)]
        part = found[first[0] : after[0], first[1] : after[1]]  # few pixels of many
        y, x = (np.arange(start, start + side) for start, side in zip(first, part.shape, strict=True))
        part |= (y[:, None] - row) ** 2 + (x - column) ** 2 <= radius**2
        if 0 <= int(row) < window.height and 0 <= int(column) < window.width and row >= 0 and column >= 0:
            found[int(row), int(column)] = True
    return found


def _filled(level: Level, window: Window, figure: BoolArray) -> BoolArray:
    """Return a figure in a window of a level at the level's size, without holes."""
    mask = np.zeros(level.shape, bool)
    mask[window.slices] = _native.fill_holes(_bytes(figure)).view(bool)
    return mask


def _bytes(mask: BoolArray) -> NDArray[np.uint8]:
    """Return a mask as contiguous uint8, as kernels take it."""
    return np.ascontiguousarray(mask).view(np.uint8)


def _area(box: Box, shape: tuple[int, int]) -> float:
    """Return how many pixels of the image a box covers."""
    top, left, bottom, right = (min(max(box[i], 0), shape[i % 2]) for i in range(4))
    return float((bottom - top) * (right - left))
