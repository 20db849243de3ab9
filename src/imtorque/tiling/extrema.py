"""From the extrema of tiles to the tables of an image: one merge, one order, places in pixels and in the world."""

from __future__ import annotations

from bisect import bisect_left
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
WRITTEN_ROWS = 1 << 20  # bound: rows that are put in order and written together
RANGE_SHIFT = 12  # bits of a float's mantissa that lie inside a range of strengths; bound: 4 MB of counts
Rows = NDArray[np.int32]


def rows_in_order(job: Job) -> Iterator[Rows]:
    """Yield the extrema of the whole image as rows, in the order of `find_extrema`, some at a time.

    Those of a tile come by falling strength. Ranges of strength that hold about `WRITTEN_ROWS` are read from all tiles
    and put in order one after the other: equal neighbours, which become one, are in the same range.
    """
    paths = [job.scratch("extrema", name, ".raw") for name, _ in job.grid.tiles()]
    paths = [path for path in paths if path.stat().st_size]
    counts = np.zeros(1 << (31 - RANGE_SHIFT), np.int64)
    for path in paths:
        ranges = _bits(_mapped(path)) >> RANGE_SHIFT
        counts[ranges.min() : ranges.max() + 1] += np.bincount(ranges - ranges.min())
    if not paths:
        yield np.empty((0, ROW_NUMBERS), np.int32)
    used = np.flatnonzero(counts)[::-1]
    group = (np.cumsum(counts[used]) - 1) // WRITTEN_ROWS
    read = [0] * len(paths)
    for last in np.flatnonzero(np.diff(group, append=-1)):
        least = int(used[last]) << RANGE_SHIFT
        parts = []
        for k, path in enumerate(paths):
            rows = _mapped(path)
            stop = bisect_left(range(len(rows)), 1, read[k], key=lambda at: int(_bits(rows[at]) < least))
            parts.append(rows[read[k] : stop])
            read[k] = stop
        merged = np.concatenate(parts)
        yield merged[: _native.merge_extrema(merged)]


def _mapped(path: Path) -> Rows:
    return np.memmap(path, np.int32, "r").reshape(-1, ROW_NUMBERS)


def _bits(rows: Rows) -> Rows:
    """Return the bits of |torque|, which as whole numbers are in the order of the strengths."""
    return rows[..., 0] & np.int32(0x7FFFFFFF)


def extrema_of(rows: Rows, sizes: tuple[int, ...]) -> Extrema:
    """Return rows as extrema."""
    value = np.ascontiguousarray(rows[:, 0]).view(np.float32)
    y, x = rows[:, 2].astype(np.int64), rows[:, 3].astype(np.int64)
    return Extrema(y, x, np.asarray(sizes, np.int64)[rows[:, 1]], value)


def wanted_extrema(job: Job, count: int | None, least: float) -> Iterator[Extrema]:
    """Yield the extrema of the whole image from a strength on, at most `count`, by falling strength."""
    for rows in rows_in_order(job):
        kept = rows[:count]
        kept = kept[: np.count_nonzero(strength_of(kept) >= least)]
        yield extrema_of(kept, job.config.torque.sizes)
        if len(kept) < len(rows):
            return
        count = None if count is None else count - len(kept)


def blobs_of(job: Job) -> Extrema:
    """Return the paper's blobs: the strong extrema, of which the stronger of overlapping ones stay."""
    blobs: list[Extrema] = []
    for part in wanted_extrema(job, None, job.config.threshold):
        fields = (
            np.concatenate([getattr(one, name) for one in (*blobs, part)]) for name in ("y", "x", "size", "value")
        )
        blobs = [suppress_overlaps(Extrema(*fields), job.config.overlap)]
    return blobs[0]


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


def write_extrema(path: Path, parts: Iterable[Extrema], affine: Affine | None) -> int:
    """Write a table, CSV or Parquet as the path ends, complete or not at all; return how many rows it has.

    Columns: y, x in pixels, size, torque; with an affine map, its y and x of the middle of the patch.
    """
    count = 0
    with writing_table(path) as write:
        for part in parts:
            write(_columns(part, affine))
            count += len(part)
    return count


def _columns(extrema: Extrema, affine: Affine | None) -> Any:
    from pyarrow import table

    columns: dict[str, Any] = {"y": extrema.y, "x": extrema.x, "size": extrema.size, "torque": extrema.value}
    if affine is not None:
        columns["world_y"], columns["world_x"] = affine.transform(extrema.y, extrema.x)
    return table(columns)
