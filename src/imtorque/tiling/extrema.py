"""From the extrema of tiles to the tables of an image: one merge, one order, places in pixels and in the world."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.extrema import suppress_overlaps
from imtorque.core.types import Extrema, Float32Array
from imtorque.jobs.tables import writing_table
from imtorque.tiling.job import Job
from imtorque.tiling.source import Affine

ROW_NUMBERS = 5  # of a row: the bits of the value, k, y, x, whether a neighbour is equal; format: of a table on disk
WRITTEN_ROWS = 1 << 20  # bound: rows that are written together
Rows = NDArray[np.int32]


def merged_rows(job: Job) -> Rows:
    """Return the extrema of the whole image as rows, in the order of `find_extrema`."""
    paths = [job.scratch("extrema", name, ".raw") for name, _ in job.grid.tiles()]
    counts = [path.stat().st_size // (4 * ROW_NUMBERS) for path in paths]
    rows = np.empty((sum(counts), ROW_NUMBERS), np.int32)
    start = 0
    for path, count in zip(paths, counts, strict=True):
        rows[start : start + count] = np.fromfile(path, np.int32).reshape(-1, ROW_NUMBERS)
        start += count
    return rows[: _native.merge_extrema(rows)]


def extrema_of(rows: Rows, sizes: tuple[int, ...]) -> Extrema:
    """Return rows as extrema."""
    value = np.ascontiguousarray(rows[:, 0]).view(np.float32)
    y, x = rows[:, 2].astype(np.int64), rows[:, 3].astype(np.int64)
    return Extrema(y, x, np.asarray(sizes, np.int64)[rows[:, 1]], value)


def blobs_of(rows: Rows, sizes: tuple[int, ...], threshold: float, overlap: float) -> Extrema:
    """Return the paper's blobs: the strong extrema, of which the stronger of overlapping ones stay."""
    return suppress_overlaps(extrema_of(rows[: number_from(rows, threshold)], sizes), overlap)


def number_from(rows: Rows, least: float) -> int:
    """Return how many rows, which come by falling strength, are at least so strong."""
    return int(np.count_nonzero(strength_of(rows) >= least))


def strength_of(rows: Rows) -> Float32Array:
    """Return |torque| of each row."""
    return np.abs(np.ascontiguousarray(rows[:, 0]).view(np.float32))


def strongest_rows(rows: Rows, count: int, least: float) -> Rows:
    """Return the rows of a tile that may be among the `count` strongest of the image, and all of at least `least`.

    Equal neighbours, here or in the next tile, become one: so as many different strengths are kept.
    """
    strength = strength_of(rows)
    different = np.unique(strength)
    cut = min(float(different[-count]), least) if 0 < count <= len(different) else least if count == 0 else 0.0
    return rows[strength >= cut]


def in_parts(rows: Rows, sizes: tuple[int, ...]) -> Iterator[Extrema]:
    """Yield rows as extrema, some at a time; at least once."""
    for start in range(0, max(len(rows), 1), WRITTEN_ROWS):
        yield extrema_of(rows[start : start + WRITTEN_ROWS], sizes)


def write_extrema(path: Path, parts: Iterable[Extrema], affine: Affine | None) -> Path:
    """Write a table, CSV or Parquet as the path ends, complete or not at all.

    Columns: y, x in pixels, size, torque; with an affine map, its y and x of the middle of the patch.
    """
    with writing_table(path) as write:
        for part in parts:
            write(_columns(part, affine))
    return path


def _columns(extrema: Extrema, affine: Affine | None) -> Any:
    from pyarrow import table

    columns: dict[str, Any] = {"y": extrema.y, "x": extrema.x, "size": extrema.size, "torque": extrema.value}
    if affine is not None:
        columns["world_y"], columns["world_x"] = affine.transform(extrema.y, extrema.x)
    return table(columns)
