"""What figure and ground look like: the colour and texture of every pixel as a numbered word, at two sizes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from imtorque.core.resizing import shrunk
from imtorque.core.types import FloatArray, IntArray, Planes
from imtorque.segmentation.colour_models import BINS, Bins
from imtorque.segmentation.graph_cut import Flow, no_flow
from imtorque.segmentation.likeness import texture

Reals = NDArray[np.float64]
TEXTURES = 4  # levels of texture
WORDS = BINS**3 * TEXTURES
TEXTURE_RANGE = (0.02, 0.98)  # quantiles of the image's texture that the levels span
LEAST_RANGE = 0.05  # of L, a, b and texture that the bins span: less is rounding, or noise
SPREAD = 0.7  # sigma by which histograms of words are smoothed, in bins of each of their four axes
SPREAD_REACH = 3  # bins
FLOOR = 1e-4  # so that no word is impossible
FACTORS = (1, 2)  # by which the levels are shrunk


@dataclass(frozen=True, eq=False)
class Level:
    """An image shrunk by a whole factor: L, a, b, the words of its pixels, and how alike neighbours are, in (0, 1]."""

    factor: int
    lab: Planes
    words: Bins
    right: Reals
    down: Reals

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.words.shape[0], self.words.shape[1]

    @cached_property
    def counts(self) -> Reals:
        """How often each word occurs."""
        return word_counts(self.words)

    @cached_property
    def flow(self) -> Flow:
        """What flowed in the last cuts of the level: the next begins with it, and changes it."""
        return no_flow(self.right, self.down)


def appearance(lab: Planes) -> tuple[Level, Level]:
    """Return the levels of an image given by L, a and b: as it is, and at half the size."""
    busy = texture(lab[0])
    fine, coarse = (_level(shrunk(lab, factor), shrunk(busy, factor), factor) for factor in FACTORS)
    return fine, coarse


def word_odds(figure: Reals, ground: Reals) -> Reals:
    """Return log(p(word | figure) / p(word | ground)) of every word, from its counts in both."""
    return np.asarray(np.log(_shares(figure)) - np.log(_shares(ground)))


def word_counts(words: IntArray) -> Reals:
    """Return how often each word occurs."""
    return np.bincount(words.ravel(), minlength=WORDS).astype(np.float64)


def _level(lab: Planes, busy: FloatArray, factor: int) -> Level:
    words: Bins = np.zeros(lab.shape[1:], np.int64)
    for plane in lab:
        words = words * BINS + _steps(plane, float(plane.min()), float(plane.max()), BINS)
    low, high = np.quantile(busy, TEXTURE_RANGE)
    words = words * TEXTURES + _steps(busy, float(low), float(high), TEXTURES)
    across, along = ((np.diff(lab, axis=axis) ** 2).sum(axis=0) for axis in (2, 1))
    typical = 2 * (across.sum() + along.sum()) / max(1, across.size + along.size) or 1.0
    return Level(factor, lab, words, np.exp(-across / typical), np.exp(-along / typical))


def _steps(plane: FloatArray, low: float, high: float, count: int) -> Bins:
    """Return which of so many equal steps from the lowest to the highest value each pixel is on."""
    part = (plane - low) / max(high - low, LEAST_RANGE)
    steps: Bins = np.clip(part * count, 0, count - 1).astype(np.int64)
    return steps


def _shares(counts: Reals) -> Reals:
    """Return the shares of words, spread to neighbouring bins."""
    first, last = _spreading()
    spread = (first @ counts.reshape(BINS**2, -1) @ last).ravel()
    return np.asarray(spread / max(float(spread.sum()), 1e-9) + FLOOR)


@cache
def _spreading() -> tuple[FloatArray, FloatArray]:
    """Return the matrices that spread a histogram along its first two axes, and along its last two."""
    colour, level = (_gaussian(count) for count in (BINS, TEXTURES))
    return np.kron(colour, colour), np.kron(colour, level)


def _gaussian(count: int) -> FloatArray:
    """Return the matrix that smooths so many bins; what leaves them is lost."""
    offset = np.arange(count)[:, None] - np.arange(count)
    reach = np.arange(-SPREAD_REACH, SPREAD_REACH + 1)
    kernel = np.where(np.abs(offset) <= SPREAD_REACH, np.exp(-0.5 * (offset / SPREAD) ** 2), 0.0)
    return np.asarray(kernel / np.exp(-0.5 * (reach / SPREAD) ** 2).sum())
