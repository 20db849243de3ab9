"""Colour models of image patches: smoothed histograms, and the cost of every pixel under each."""

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import Extrema, FloatArray, Planes

Bins = NDArray[np.int64]

COLOUR_BINS = 8  # per channel, over the image's own range; untuned
COLOUR_HISTOGRAM_SIGMA = 1.0  # of the smoothing of histograms, in bins; untuned
COLOUR_FLOOR = 1e-4  # added to every bin, so that no colour is impossible; untuned
MAX_COST = 20.0  # bound: of a pixel under a model
WINDOW_SIGMA = 0.25  # of the weights inside a patch, as a share of its side; untuned
MAX_SIMILARITY = 0.9  # Bhattacharyya coefficient above which two models are duplicates; untuned
MIN_BACKGROUND_PIXELS = 20  # that make a model of their own; untuned


def colour_bins(lab: Planes) -> Bins:
    """Return the histogram bin of each pixel of L, a, b planes."""
    bins: Bins = np.zeros(lab.shape[1:], np.int64)
    for channel in lab:
        low, high = channel.min(), channel.max()
        step = np.minimum((channel - low) / (high - low or 1.0) * COLOUR_BINS, COLOUR_BINS - 1).astype(np.int64)
        bins = bins * COLOUR_BINS + step
    return bins


def smoothed(counts: FloatArray) -> FloatArray:
    """Return histograms (..., COLOUR_BINS^3) spread to neighbouring bins; the sum stays about the same."""
    from scipy import ndimage  # here, because it takes longer to load than the rest of the library

    cube = counts.reshape(-1, COLOUR_BINS, COLOUR_BINS, COLOUR_BINS)
    spread = ndimage.gaussian_filter(
        cube, (0, COLOUR_HISTOGRAM_SIGMA, COLOUR_HISTOGRAM_SIGMA, COLOUR_HISTOGRAM_SIGMA), mode="constant"
    )
    return np.asarray(spread.reshape(counts.shape))


def patch_models(bins: Bins, patches: Extrema) -> FloatArray:
    """Return the colour models of patches and of the background, without duplicates: (K, COLOUR_BINS^3), each of sum 1.

    Pixels count by a Gaussian window in each patch; the background are the pixels in none.
    """
    counts, uncovered = [], np.ones(bins.shape, bool)
    for y, x, size in zip(patches.y, patches.x, patches.size, strict=True):
        reach = size // 2
        rows = np.arange(max(y - reach, 0), min(y + reach + 1, bins.shape[0]))
        columns = np.arange(max(x - reach, 0), min(x + reach + 1, bins.shape[1]))
        weight = np.exp(-0.5 * ((rows[:, None] - y) ** 2 + (columns - x) ** 2) / (WINDOW_SIGMA * size) ** 2)
        inside = np.ix_(rows, columns)
        counts.append(np.bincount(bins[inside].ravel(), weight.ravel(), minlength=COLOUR_BINS**3))
        uncovered[inside] = False
    if np.count_nonzero(uncovered) > MIN_BACKGROUND_PIXELS or not counts:
        counts.append(np.bincount(bins[uncovered], minlength=COLOUR_BINS**3).astype(np.float64))
    return _distinct(_normalised(np.array(counts)))


def model_costs(models: FloatArray, bins: Bins) -> FloatArray:
    """Return -log of the probability of each pixel's colour under each model, (K, H, W)."""
    costs: FloatArray = np.minimum(-np.log(models), MAX_COST)[:, bins]
    return costs


def _normalised(counts: FloatArray) -> FloatArray:
    spread = smoothed(counts)
    spread = spread / spread.sum(axis=1, keepdims=True) + COLOUR_FLOOR
    normalised: FloatArray = spread / spread.sum(axis=1, keepdims=True)
    return normalised


def _distinct(models: FloatArray) -> FloatArray:
    """Return the models without those that resemble an earlier one."""
    roots = np.sqrt(models)
    kept: list[int] = []
    for k, root in enumerate(roots):
        if not kept or (roots[kept] @ root).max() <= MAX_SIMILARITY:
            kept.append(k)
    return np.asarray(models[kept])
