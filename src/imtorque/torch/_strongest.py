"""The strongest of a few extrema, on the host: what `_extrema` does on a device, in a tenth of the calls."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer[Any]]

IMAGE, K, Y, X, TIED, BITS = range(6)  # columns of rows of search.cu
BEFORE = np.array([(a, b, c) for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1) if (a, b, c) < (0, 0, 0)])


def table_of(rows: Ints, batch: int, count: int, sizes: int, shape: tuple[int, int]) -> NDArray[np.int64]:
    """Return size's place, y, x and bits of the value of the strongest, (4, B, n), 0 where there are no more.

    n is the count, or the most of any image where that is -1.
    """
    rows, rank = strongest(rows, sizes, shape)
    width = count if count >= 0 else int(rank.max(initial=-1)) + 1
    table = np.zeros((4, batch, width), np.int64)
    rows, rank = rows[rank < width], rank[rank < width]
    table[:, rows[:, IMAGE], rank] = rows[:, [K, Y, X, BITS]].T
    return table


def strongest(rows: Ints, sizes: int, shape: tuple[int, int]) -> tuple[Ints, Ints]:
    """Return the rows, strongest first image by image, the first of each plateau alone, and ranks in their images."""
    bits = rows[:, BITS].astype(np.int64) & 0x7FFFFFFF  # of |value|: in the order of the values
    rows = rows[np.lexsort((places(rows, sizes, shape), -bits, rows[:, IMAGE]))]
    if rows[:, TIED].any():
        rows = without_plateaus(rows, sizes, shape)
    image = np.ascontiguousarray(rows[:, IMAGE])
    return rows, np.arange(len(rows)) - np.searchsorted(image, image)


def places(rows: Ints, sizes: int, shape: tuple[int, int]) -> NDArray[np.int64]:
    """Return a number for each place in the volumes of all images."""
    image = rows[:, IMAGE].astype(np.int64)
    place: NDArray[np.int64] = ((image * sizes + rows[:, K]) * shape[0] + rows[:, Y]) * shape[1] + rows[:, X]
    return place


def without_plateaus(rows: Ints, sizes: int, shape: tuple[int, int]) -> Ints:
    """Keep the first of each set of adjacent equal extrema."""
    tied = rows[:, TIED].nonzero()[0]
    some = rows[tied]
    place = places(some, sizes, shape)
    order = place.argsort()
    dk, dy, dx = BEFORE.T[:, :, None]
    k, y, x = some[:, K] + dk, some[:, Y] + dy, some[:, X] + dx
    inside = (k >= 0) & (y >= 0) & (y < shape[0]) & (x >= 0) & (x < shape[1])
    wanted = place + (dk * shape[0] + dy) * shape[1] + dx
    other = order[np.searchsorted(place[order], wanted).clip(max=len(tied) - 1)]
    linked = inside & (place[other] == wanted) & (some[other, BITS] == some[:, BITS])
    here = np.broadcast_to(np.arange(len(tied)), linked.shape)[linked]
    first = _first_of_component(len(tied), here, other[linked])
    keep = np.ones(len(rows), bool)
    keep[tied[first != np.arange(len(tied))]] = False
    return rows[keep]


def _first_of_component(count: int, a: Ints, b: Ints) -> NDArray[np.int64]:
    """Return the first node that links from each node lead to."""
    first = np.arange(count)
    while True:
        least = np.minimum(first[a], first[b])
        before = first.copy()
        np.minimum.at(first, a, least)
        np.minimum.at(first, b, least)
        first = first[first]
        if (first == before).all():
            return first
