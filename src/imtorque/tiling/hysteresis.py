"""Hysteresis across tiles: which weak edges connect, over any number of tiles, to a strong one.

Each tile labels the connected components of candidates that reach one of its lines: its border, and the rows and
columns at which the window of some tile ends. Components that touch across a border are merged. The pixels on the lines
of a window that belong to a strong component are the seeds of its own hysteresis: all it needs from outside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.tiling.candidates import listed_candidates
from imtorque.tiling.grid import Box, Grid
from imtorque.tiling.job import Job, load_array, save_array, save_numbers

FORWARD_NEIGHBOURS = ((0, 1), (1, -1), (1, 0), (1, 1))  # half of the eight; derived


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
    """Merge the components of all tiles, and write for each tile the seeds on its lines."""
    names, tables = [], []
    offset = 0
    for name, core in job.grid.tiles():
        at, label, strong = load_array(job.scratch(f"lines-{halo}", name))
        y, x = np.divmod(at, core.shape[1])
        tables.append(np.stack([y + core.top, x + core.left, label + offset, strong, at]))
        names.append(name)
        offset += int(label.max()) + 1 if len(label) else 0
    table = np.concatenate(tables, axis=1)
    alive = _joined(table, job.grid, offset)
    splits = np.cumsum([part.shape[1] for part in tables])[:-1]
    for name, at, kept in zip(names, np.split(table[4], splits), np.split(alive, splits), strict=True):
        save_numbers(job.scratch(f"seeds-{halo}", name, ".raw"), at[kept])


def _joined(table: NDArray[np.int64], grid: Grid, labels: int) -> NDArray[np.bool_]:
    """Return which of the pixels on lines connect to a strong one."""
    y, x, label, strong, _ = table
    if labels == 0:
        return np.zeros(0, bool)
    from scipy import sparse

    last = _last_of_tiles(y, grid.tile, grid.shape[0]) | _last_of_tiles(x, grid.tile, grid.shape[1])
    border = np.flatnonzero(last | (y % grid.tile == 0) | (x % grid.tile == 0))
    pairs = _touching(y[border], x[border], label[border], grid.shape[1])
    ones = np.ones(pairs.shape[1], bool)
    graph = sparse.coo_matrix((ones, (pairs[0], pairs[1])), shape=(labels, labels))
    _, group = sparse.csgraph.connected_components(graph, directed=False)
    alive = np.zeros(labels, bool)
    alive[group[label[strong > 0]]] = True
    return np.asarray(alive[group[label]])


def _last_of_tiles(places: NDArray[np.int64], tile: int, length: int) -> NDArray[np.bool_]:
    return np.asarray((places % tile == tile - 1) | (places == length - 1))


def _touching(y: NDArray[np.int64], x: NDArray[np.int64], label: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Return the pairs of labels whose pixels are neighbours."""
    stride = width + 2  # no pixel is the neighbour of another row's end
    place = y * stride + x
    order = np.argsort(place, kind="stable")
    place, label = place[order], label[order]
    pairs = []
    for dy, dx in FORWARD_NEIGHBOURS:
        wanted = place + dy * stride + dx
        found = np.minimum(np.searchsorted(place, wanted), len(place) - 1)
        met = (place[found] == wanted) & (label[found] != label)
        pairs.append(np.stack([label[met], label[found[met]]]))
    return np.unique(np.concatenate(pairs, axis=1), axis=1)


def seeds_in(job: Job, halo: int, box: Box) -> NDArray[Any]:
    """Return the seeds in a window, counted from its first pixel."""
    found = []
    for name, core in job.grid.near(box):
        y, x = np.divmod(np.fromfile(job.scratch(f"seeds-{halo}", name, ".raw"), np.int64), core.shape[1])
        y, x = y + core.top - box.top, x + core.left - box.left
        inside = (y >= 0) & (y < box.shape[0]) & (x >= 0) & (x < box.shape[1])
        found.append(y[inside] * box.shape[1] + x[inside])
    return np.ascontiguousarray(np.concatenate(found), np.int64)
