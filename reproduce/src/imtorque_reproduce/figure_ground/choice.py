"""One rule for objects of all sizes: cut in several ways, and keep the cut that looks most like an object.

A cut that stopped at its box, at the image's border or halfway across an object has its own colours on both sides of
its outline, runs along the border, or fills its bounding box. So

    score = contrast of colours across the outline - share of the outline on the border - 0.8 * area / bounding box

whose weights were chosen on the dev part of the small objects and on the horses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import BoolArray, IntArray

BORDER_WEIGHT, FILL_WEIGHT = 1.0, 0.8  # chosen on the dev part of the small objects and on the horses
RING = 0.15  # width of the ring around a cut, over the square root of its area
COLOUR_LEVELS = 8  # of each colour in the histograms


def best_cut(image: NDArray[Any], cuts: Sequence[BoolArray]) -> BoolArray:
    """Return the cut of highest score."""
    bins = colour_bins(image)
    return max(cuts, key=lambda cut: cut_score(cut, bins))


def cut_score(cut: BoolArray, bins: IntArray) -> float:
    """Return how much a cut looks like an object."""
    rows, columns = (np.flatnonzero(cut.any(axis=axis)) for axis in (1, 0))
    box = (rows[-1] - rows[0] + 1) * (columns[-1] - columns[0] + 1)
    rim = cut & ~_eroded(cut)
    on_border = rim.sum() - rim[1:-1, 1:-1].sum()
    return _contrast(cut, bins) - BORDER_WEIGHT * float(on_border / rim.sum()) - FILL_WEIGHT * float(cut.sum() / box)


def colour_bins(image: NDArray[Any]) -> IntArray:
    """Return the number of each pixel's colour: eight levels of red, green and blue each."""
    colours = image if image.ndim == 3 else np.repeat(image[:, :, None], 3, axis=2)
    levels = colours[:, :, :3].astype(np.int64) * COLOUR_LEVELS // 256
    return np.asarray(levels @ np.array([COLOUR_LEVELS**2, COLOUR_LEVELS, 1]))


def _contrast(cut: BoolArray, bins: IntArray) -> float:
    """Return the chi-squared distance, from 0 to 1, of the colours in a cut to those in a ring around it."""
    from scipy import ndimage

    width = max(2, int(RING * np.sqrt(cut.sum())))
    ring = ndimage.binary_dilation(cut, iterations=width) & ~ndimage.binary_dilation(cut)
    if not ring.any():
        return 0.0
    inside, outside = (np.bincount(bins[part], minlength=COLOUR_LEVELS**3) / part.sum() for part in (cut, ring))
    return float(0.5 * ((inside - outside) ** 2 / np.maximum(inside + outside, 1e-12)).sum())


def _eroded(mask: BoolArray) -> BoolArray:
    """Return the pixels whose four neighbours are in the mask too; outside of the image there is none of it."""
    around = np.pad(mask, 1)
    return np.asarray(mask & around[:-2, 1:-1] & around[2:, 1:-1] & around[1:-1, :-2] & around[1:-1, 2:])
