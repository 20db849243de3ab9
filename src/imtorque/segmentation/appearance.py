"""Colour and texture of every pixel as a visual word, at two sizes of the image."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from imtorque.core.caching import cached_property
from imtorque.core.resizing import shrunk
from imtorque.core.types import FloatArray, IntArray, Planes
from imtorque.segmentation.colour_models import COLOUR_BINS, Bins
from imtorque.segmentation.graph_cut import Flow, no_flow
from imtorque.segmentation.region_merging import texture

Reals = NDArray[np.float64]
TEXTURES = 4  # levels of texture; untuned
WORDS = COLOUR_BINS**3 * TEXTURES  # derived: of L, a, b and texture
TEXTURE_RANGE = (0.02, 0.98)  # quantiles of the image's texture that the levels span; untuned
MIN_RANGE = 0.05  # of L, a, b and texture that the bins span: less is rounding, or noise; untuned
WORD_HISTOGRAM_SIGMA = 0.7  # of the smoothing of word histograms, in bins of each of their four axes; unrecorded
HISTOGRAM_REACH = 3  # bins; bound: beyond four sigmas
WORD_FLOOR = 1e-4  # added to the share of every word, so that none is impossible; convention
SHRINKING_FACTORS = (1, 2)  # by which the levels are shrunk; untuned


@dataclass(frozen=True, eq=False)
class Level:
    """An image shrunk by a whole factor: L, a, b, words, and the similarity of neighbours, in (0, 1]."""

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
        """The flow of the last cut of the level, with which the next one begins; cuts change it in place."""
        return no_flow(self.right, self.down)


def appearance(lab: Planes) -> tuple[Level, Level]:
    """Return the levels of an image given by L, a and b: as it is, and at half the size."""
    plane = texture(lab[0])
    fine, coarse = (_level(shrunk(lab, factor), shrunk(plane, factor), factor) for factor in SHRINKING_FACTORS)
    return fine, coarse


def log_likelihood_ratios(figure: Reals, ground: Reals) -> Reals:
    """Return log(p(word | figure) / p(word | ground)) of every word, from its counts in both."""
    return np.asarray(np.log(_shares(figure)) - np.log(_shares(ground)))


def word_counts(words: IntArray) -> Reals:
    """Return how often each word occurs."""
    return np.bincount(words.ravel(), minlength=WORDS).astype(np.float64)


def _level(lab: Planes, texture_plane: FloatArray, factor: int) -> Level:
    words: Bins = np.zeros(lab.shape[1:], np.int64)
    for plane in lab:
        words = words * COLOUR_BINS + _steps(plane, float(plane.min()), float(plane.max()), COLOUR_BINS)
    low, high = np.quantile(texture_plane, TEXTURE_RANGE)
    words = words * TEXTURES + _steps(texture_plane, float(low), float(high), TEXTURES)
    across, along = ((np.diff(lab, axis=axis) ** 2).sum(axis=0) for axis in (2, 1))
    typical = 2 * (across.sum() + along.sum()) / max(1, across.size + along.size) or 1.0
    return Level(factor, lab, words, np.exp(-across / typical), np.exp(-along / typical))


def _steps(plane: FloatArray, low: float, high: float, count: int) -> Bins:
    """Return which of so many equal steps from the lowest to the highest value each pixel is on."""
    part = (plane - low) / max(high - low, MIN_RANGE)
    steps: Bins = np.clip(part * count, 0, count - 1).astype(np.int64)
    return steps


def _shares(counts: Reals) -> Reals:
    """Return the shares of words, smoothed over neighbouring bins."""
    first, last = _smoothing_matrices()
    spread = (first @ counts.reshape(COLOUR_BINS**2, -1) @ last).ravel()
    return np.asarray(spread / max(float(spread.sum()), 1e-9) + WORD_FLOOR)


@cache
def _smoothing_matrices() -> tuple[FloatArray, FloatArray]:
    """Return the matrices that smooth a histogram along its first two axes, and along its last two."""
    colour, level = (_gaussian(count) for count in (COLOUR_BINS, TEXTURES))
    return np.kron(colour, colour), np.kron(colour, level)


def _gaussian(count: int) -> FloatArray:
    """Return the matrix that smooths so many bins; nothing lies beyond the ends."""
    offset = np.arange(count)[:, None] - np.arange(count)
    reach = np.arange(-HISTOGRAM_REACH, HISTOGRAM_REACH + 1)
    kernel = np.where(np.abs(offset) <= HISTOGRAM_REACH, np.exp(-0.5 * (offset / WORD_HISTOGRAM_SIGMA) ** 2), 0.0)
    return np.asarray(kernel / np.exp(-0.5 * (reach / WORD_HISTOGRAM_SIGMA) ** 2).sum())
