"""A cut made again by what figure and ground look like: models of their words, and a minimum cut between them.

As in GrabCut (C. Rother, V. Kolmogorov, A. Blake, SIGGRAPH 2004), with histograms of colours and textures in place of
mixtures of Gaussians, and only within the box that may hold the figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from imtorque import _native
from imtorque._types import BoolArray, FloatArray
from imtorque.segmentation.appearance import Level, word_counts, word_odds
from imtorque.segmentation.fixated_boxes import Box, bounding_box
from imtorque.segmentation.graph_cut import cut_grid

Pixel = tuple[int, int]
ROUNDS = 2  # of models and cuts
LINK = 18.0  # cost of separating neighbours that are quite alike
LARGEST_ODDS = 6.0
SURE = 3.0  # pixels around a click that are figure for sure
SHARP_LINK, BAND = 5.0, 3  # the same cost where an outline is sharpened, and how far from it, in pixels
LARGEST_BOX = 6000  # pixels; larger ones are cut at half the size


@dataclass(frozen=True)
class Hints:
    """What is known of the figure, in pixels of the first level: on it, not on it, and a box around it."""

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
    level = levels[0] if _area(box, levels[0].shape) <= LARGEST_BOX else levels[-1]
    window = _window(level, box, hints)
    on, off = (_discs(level, window, points, reach) for points, reach in ((hints.on, SURE), (hints.off, 0.0)))
    if start is None:
        figure = np.ones((window.height, window.width), bool)
    else:
        repeats = levels[-1].factor // level.factor
        figure = start.repeat(repeats, axis=0).repeat(repeats, axis=1)[window.slices]
    words, total = level.words[window.slices], level.counts
    links = _links(level, window, LINK)
    for _ in range(ROUNDS):
        counts = word_counts(words[(figure | on) & ~off])
        odds = np.clip(word_odds(counts, total - counts)[words], -LARGEST_ODDS, LARGEST_ODDS)
        figure = _cut(odds, links, on, off & ~on)
    mask = np.zeros(level.shape, bool)
    mask[window.slices] = _filled(figure)
    return mask


def sharpened(level: Level, figure: BoolArray, clicks: Sequence[Pixel]) -> BoolArray:
    """Return a figure that holds clicks, its outline cut once more within a few pixels of where it was."""
    from scipy import ndimage

    sure = ndimage.binary_erosion(figure, iterations=BAND, border_value=1)
    for click in clicks:
        sure[click] = True
    may = ndimage.binary_dilation(figure | sure, iterations=BAND)
    counts = word_counts(level.words[figure])
    odds = word_odds(counts, level.counts - counts)
    top, left, bottom, right = bounding_box(may)
    window = Window(top, left, bottom - top, right - left)
    at = window.slices
    within = np.clip(odds[level.words[at]], -LARGEST_ODDS, LARGEST_ODDS)
    mask = np.zeros(level.shape, bool)
    mask[at] = _filled(_cut(within, _links(level, window, SHARP_LINK), sure[at], ~may[at]))
    return mask


def _cut(
    odds: FloatArray, links: tuple[FloatArray, FloatArray, FloatArray], on: BoolArray, off: BoolArray
) -> BoolArray:
    """Return the parts of the cheapest figure that hold a click."""
    right, down, around = links
    source = np.where(on, np.inf, np.where(off, 0.0, np.maximum(odds, 0)))
    sink = np.where(on, 0.0, np.where(off, np.inf, np.maximum(-odds, 0) + around))
    return _parts(cut_grid(source, sink, right, down), on)


def _links(level: Level, window: Window, cost: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return links to the right and down within a window, and those from its rim to the ground around it."""
    rows, columns = window.slices
    bottom, end = rows.stop, columns.stop
    right, down = cost * level.right[rows, columns.start : end - 1], cost * level.down[rows.start : bottom - 1, columns]
    around = np.zeros((window.height, window.width))
    if window.left > 0:
        around[:, 0] += cost * level.right[rows, window.left - 1]
    if end < level.shape[1]:
        around[:, -1] += cost * level.right[rows, end - 1]
    if window.top > 0:
        around[0] += cost * level.down[window.top - 1, columns]
    if bottom < level.shape[0]:
        around[-1] += cost * level.down[bottom - 1, columns]
    return right, down, around


def _window(level: Level, box: Box, hints: Hints) -> Window:
    """Return the part of a level that a box covers, and the hints' clicks; never all of it, for some ground must be."""
    bounds = np.array(box)
    if hints.box is not None:
        bounds = np.concatenate([np.maximum(bounds[:2], hints.box[:2]), np.minimum(bounds[2:], hints.box[2:])])
    (height, width), factor = level.shape, level.factor
    top, left = np.maximum(0, np.floor(bounds[:2].round() / factor)).astype(int)
    bottom, end = np.minimum((height, width), np.ceil(bounds[2:].round() / factor)).astype(int)
    if (top, left, bottom, end) == (0, 0, height, width):
        top, left, bottom, end = 1, 1, height - 1, width - 1
    clicks = np.array(hints.on) // factor
    top, left = np.minimum((top, left), clicks.min(axis=0)).tolist()
    bottom, end = np.maximum((bottom, end), clicks.max(axis=0) + 1).tolist()
    return Window(top, left, bottom - top, end - left)


def _discs(level: Level, window: Window, points: Sequence[Pixel], reach: float) -> BoolArray:
    """Return the pixels of a window within `reach` pixels of the first level from one of the points."""
    found = np.zeros((window.height, window.width), bool)
    y, x = np.arange(window.height)[:, None], np.arange(window.width)
    for point in points:
        row, column = (at / level.factor - start for at, start in zip(point, (window.top, window.left), strict=True))
        found |= (y - row) ** 2 + (x - column) ** 2 <= (reach / level.factor) ** 2
        if 0 <= int(row) < window.height and 0 <= int(column) < window.width and row >= 0 and column >= 0:
            found[int(row), int(column)] = True
    return found


def _filled(figure: BoolArray) -> BoolArray:
    """Return a figure without holes: all that no way around it leads to."""
    rim = np.zeros(figure.shape, bool)
    rim[[0, -1]] = rim[:, [0, -1]] = True
    return ~_parts(~figure, rim)


def _parts(mask: BoolArray, seeds: BoolArray) -> BoolArray:
    """Return the connected parts of a mask that hold a seed."""
    return _native.flood(np.ascontiguousarray(mask).view(np.uint8), np.ascontiguousarray(seeds).view(np.uint8)).view(
        bool
    )


def _area(box: Box, shape: tuple[int, int]) -> float:
    """Return how many pixels of the picture a box covers."""
    top, left, bottom, right = np.clip(box, 0, [*shape, *shape])
    return float((bottom - top) * (right - left))
