"""Hysteresis across tiles: which weak edges connect, over any number of tiles, to a strong one.

Each tile labels the connected components of candidates that reach one of its lines: its border, and the rows and
columns at which the window of some tile ends. Components that touch across a border are merged. The pixels on the lines
of a window that belong to a strong component are the seeds of its own hysteresis: all it needs from outside.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.tiling.candidates import listed_candidates
from imtorque.tiling.grid import Box
from imtorque.tiling.job import Job, load_array, save_array, save_numbers


@dataclass(frozen=True)
class Thresholds:
    """The two thresholds of Canny's method, as the kernels take them."""

    low: float
    high: float

    @property
    def differ(self) -> bool:
        """Whether weak edges depend on their connections."""
        return self.low < self.high


def label_components(job: Job, thresholds: Thresholds, halo: int, pair: tuple[str, Box]) -> int:
    """Label the components of a tile that reach a line: rows of place, label and strength in a file."""
    name, core = pair
    gx, gy = listed_candidates(job, core)
    rows, columns = job.grid.lines(core, halo)
    at, label, strong = _native.label_tile_edges(gx, gy, thresholds.low, thresholds.high, rows, columns)
    table = np.stack([at, label, strong[label].astype(np.int64)]) if len(at) else np.zeros((3, 0), np.int64)
    save_array(job.scratch(f"lines-{halo}", name), table)
    return len(at)


def merge_components(job: Job, halo: int) -> None:
    """Merge the components of all tiles, and write for each tile the seeds on its lines.

    Of the whole image a few bytes are held for each component that reaches the border of a tile, and a row of pixels.
    """
    tiles, parent, strong = job.grid.tiles(), array("i"), bytearray()
    firsts = []
    above, below = (np.full(job.grid.shape[1], -1, np.int32) for _ in range(2))
    right = np.zeros(0, np.int32)
    for name, core in tiles:
        firsts.append(len(parent))
        table = load_array(job.scratch(f"lines-{halo}", name))
        number, count = _numbered(table, core, len(parent))
        parent.extend(range(len(parent), len(parent) + count))
        strong.extend(bytes(count))
        for one in number[(table[2] > 0) & (number >= 0)].tolist():
            strong[one] = 1
        if core.left == 0:
            above, below = below, np.full_like(below, -1)
        top, bottom, west, east = _border(table[0], number, core)
        below[core.left : core.right] = bottom
        over = above[max(core.left - 1, 0) : core.right + 1]
        _join(parent, _touching(over, top, min(core.left, 1)))
        if core.left > 0:
            _join(parent, _touching(right, west, 0))
        right = east
    alive = _reached(np.frombuffer(parent, np.int32), np.frombuffer(strong, np.bool_))
    for (name, core), first in zip(tiles, firsts, strict=True):
        table = load_array(job.scratch(f"lines-{halo}", name))
        number, _ = _numbered(table, core, first)
        kept = table[2] > 0
        kept[number >= 0] = alive[number[number >= 0]]
        save_numbers(job.scratch(f"seeds-{halo}", name, ".raw"), table[0][kept])


def _numbered(table: NDArray[np.int64], core: Box, first: int) -> tuple[NDArray[np.int64], int]:
    """Return the number of each pixel's component, from `first` on, -1 where it reaches no border, and their count."""
    y, x = np.divmod(table[0], core.shape[1])
    known = np.unique(table[1][_at_ends(y, core.shape[0]) | _at_ends(x, core.shape[1])])
    return np.where(np.isin(table[1], known), first + np.searchsorted(known, table[1]), -1), len(known)


def _at_ends(places: NDArray[np.int64], length: int) -> NDArray[np.bool_]:
    return np.asarray((places == 0) | (places == length - 1))


def _border(at: NDArray[np.int64], number: NDArray[np.int64], core: Box) -> list[NDArray[np.int32]]:
    """Return the numbers along the top, the bottom, the left and the right side of a tile, -1 where there is none."""
    height, width = core.shape
    y, x = np.divmod(at, width)
    sides = []
    for across, along, last, length in ((y, x, height - 1, width), (x, y, width - 1, height)):
        for end in (0, last):
            side = np.full(length, -1, np.int32)
            side[along[across == end]] = number[across == end]
            sides.append(side)
    return sides


def _touching(one: NDArray[np.int32], two: NDArray[np.int32], offset: int) -> NDArray[np.int32]:
    """Return the pairs of numbers that are neighbours across a border, where `two` begins `offset` after `one`."""
    padded = np.full(len(two) + 2, -1, np.int32)
    padded[1 - offset : 1 - offset + len(one)] = one
    pairs = np.concatenate([np.stack([padded[k : k + len(two)], two]) for k in range(3)], axis=1)
    return np.unique(pairs[:, (pairs >= 0).all(axis=0)], axis=1)


def _join(parent: array[int], pairs: NDArray[np.int32]) -> None:
    """Make one of each pair of components: the parent of the later is the earlier."""
    for pair in pairs.T.tolist():
        one, two = sorted(_root(parent, number) for number in pair)
        parent[two] = one


def _root(parent: array[int], number: int) -> int:
    while parent[number] != number:
        parent[number] = parent[parent[number]]
        number = parent[number]
    return number


def _reached(root: NDArray[np.int32], strong: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which components connect to a strong one."""
    while (root != root[root]).any():
        root = root[root]
    alive = np.zeros(len(root), np.bool_)
    alive[root[strong]] = True
    return alive[root]


def seeds_in(job: Job, halo: int, box: Box) -> NDArray[Any]:
    """Return the seeds in a window, counted from its first pixel."""
    found = []
    for name, core in job.grid.near(box):
        y, x = np.divmod(np.fromfile(job.scratch(f"seeds-{halo}", name, ".raw"), np.int64), core.shape[1])
        y, x = y + core.top - box.top, x + core.left - box.left
        inside = (y >= 0) & (y < box.shape[0]) & (x >= 0) & (x < box.shape[1])
        found.append(y[inside] * box.shape[1] + x[inside])
    return np.ascontiguousarray(np.concatenate(found), np.int64)
