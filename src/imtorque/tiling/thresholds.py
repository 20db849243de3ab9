"""The automatic thresholds of a large image: those that the whole image would have, from counts of its tiles.

The rule: of 64 equal bins from 0 to the largest gradient, the first edge below which 70 % of the pixels lie is the
upper threshold. The largest gradient is only known when all tiles have been seen, so tiles count in narrow ranges of
floats instead. A range that lies in one bin is counted there; the few that an edge cuts leave the counts open by a
little, and only where that matters, tiles count again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.edges.canny import HISTOGRAM_BINS, LOW_OF_HIGH, NON_EDGE_SHARE

SHIFT = 13  # bits of a float's mantissa that lie inside a range, as in native/edges/thresholds.cpp; format: float32
Counts = NDArray[np.int64]


def automatic_thresholds(
    tiles: Iterable[tuple[float, int, Counts]], pixels: int, count_exactly: Callable[[float], Sequence[int]]
) -> tuple[np.float32, np.float32]:
    """Return low and high for an image.

    Parameters
    ----------
    tiles
        Of each tile the largest magnitude, its first range, and the counts of the ranges from there.
    pixels
        How many pixels the image has.
    count_exactly
        Gives the counts of all 64 bins for a largest magnitude, from the image.
    """
    first, total, largest = _joined(tiles)
    if largest == 0:
        return np.float32(0), np.float32(0)
    reached = _bin_between(first, total, largest, pixels)
    if reached is None:
        reached = _first_above(np.cumsum(count_exactly(largest)), pixels)
    high = largest * (reached + 1) / HISTOGRAM_BINS
    return np.float32(LOW_OF_HIGH * high), np.float32(high)


def _joined(tiles: Iterable[tuple[float, int, Counts]]) -> tuple[int, Counts, float]:
    """Return the counts of all tiles in the ranges from the first one that any of them has."""
    total, largest = np.zeros(1 << (31 - SHIFT), np.int64), 0.0  # of all floats that are not negative
    for most, first, counts in tiles:
        total[first : first + len(counts)] += counts
        largest = max(largest, most)
    used = np.flatnonzero(total)
    return (int(used[0]), total[used[0] : used[-1] + 1], largest) if len(used) else (0, total[:0], 0.0)


def _bin_between(first: int, total: Counts, largest: float, pixels: int) -> int | None:
    """Return the first bin up to which more than 70 % of the pixels lie, None where the ranges leave it open."""
    starts = (np.arange(first, first + len(total)) << SHIFT).astype(np.int32)
    ends = starts + ((1 << SHIFT) - 1)
    lowest, highest = (_bins(bits.view(np.float32), largest) for bits in (starts, ends))
    below = pixels - int(total.sum())  # all in the first bin
    least = below + np.cumsum(np.bincount(highest, total, HISTOGRAM_BINS).astype(np.int64))
    most = below + np.cumsum(np.bincount(lowest, total, HISTOGRAM_BINS).astype(np.int64))
    surely, perhaps = _first_above(least, pixels), _first_above(most, pixels)
    return surely if surely == perhaps else None


def _bins(magnitudes: NDArray[np.float32], largest: float) -> NDArray[np.int64]:
    """Return the bins of magnitudes, in the arithmetic of the kernel."""
    scale = np.float32(HISTOGRAM_BINS) / np.float32(largest)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.minimum(magnitudes * scale, np.float32(HISTOGRAM_BINS - 1))
    bins: NDArray[np.int64] = scaled.astype(np.int64)
    return bins


def _first_above(sums: NDArray[Any], pixels: int) -> int:
    above = np.flatnonzero(sums[: HISTOGRAM_BINS - 1] > NON_EDGE_SHARE * pixels)
    return int(above[0]) if above.size else HISTOGRAM_BINS - 1
