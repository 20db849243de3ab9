"""From the extrema of tiles to the tables of a picture: one merge, one order, places in pixels and in the world."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from imtorque import _native
from imtorque._atomic import replacing
from imtorque._types import Extrema
from imtorque.extrema import suppress_overlaps
from imtorque.scale._job import Job, load_array
from imtorque.scale._source import World

FORMATS = ("csv", "parquet")


def merged_extrema(job: Job, count: int | None = None) -> Extrema:
    """Return the extrema of the whole picture, as `find_extrema` does."""
    parts = [load_array(job.scratch("extrema", name)) for name, _ in job.grid.tiles()]
    rows = np.concatenate(parts)
    k, y, x = (rows[name].astype(np.int64) for name in ("k", "y", "x"))
    value, tied = np.ascontiguousarray(rows["value"]), np.ascontiguousarray(rows["tied"])
    k, y, x, value = _native.merge_extrema(k, y, x, value, tied, -1 if count is None else count)
    return Extrema(y, x, np.asarray(job.torque.sizes, np.int64)[k], value)


def blobs_of(extrema: Extrema, threshold: float, overlap: float) -> Extrema:
    """Return the paper's blobs: the strong extrema, of which the stronger of overlapping ones stay."""
    return suppress_overlaps(extrema[np.abs(extrema.value) >= threshold], overlap)


def write_table(path: Path, extrema: Extrema, world: World | None) -> Path:
    """Write a table, CSV or Parquet as the path ends, complete or not at all.

    Columns: y, x in pixels, size, torque; with a world, its y and x of the middle of the patch.
    """
    from pyarrow import csv, parquet, table

    columns: dict[str, Any] = {"y": extrema.y, "x": extrema.x, "size": extrema.size, "torque": extrema.value}
    if world is not None:
        columns["world_y"], columns["world_x"] = world.places(extrema.y, extrema.x)
    rows = table(columns)
    with replacing(path) as partial:
        if path.suffix == ".parquet":
            parquet.write_table(rows, str(partial))
        else:
            csv.write_csv(rows, str(partial), csv.WriteOptions(quoting_style="none"))
    return path
