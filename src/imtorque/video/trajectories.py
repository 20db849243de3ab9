"""All places of a video as columns, in the forms of trackpy, napari and pandas."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from imtorque.core import export
from imtorque.core.types import FloatArray, IntArray
from imtorque.io.atomic import write_text
from imtorque.video.tables import PLACE_COLUMNS, parquet_libraries
from imtorque.video.tracking import TrackedFrame


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Places of a video, a row for each, in the order of frames and then of tracks.

    Parameters
    ----------
    frame, time, track, y, x, size, torque
        As of `TrackedFrame`, each of shape (n,).
    """

    frame: IntArray
    time: FloatArray
    track: IntArray
    y: FloatArray
    x: FloatArray
    size: FloatArray
    torque: FloatArray

    def __len__(self) -> int:
        """Return how many places there are."""
        return len(self.frame)

    @classmethod
    def of(cls, frames: Iterable[TrackedFrame]) -> Self:
        """Take all frames that `track_extrema` yields."""
        listed = list(frames)
        lengths = [len(frame) for frame in listed]
        given: list[Any] = [np.repeat([frame.number for frame in listed], lengths).astype(np.int64)]
        given.append(np.repeat([frame.time for frame in listed], lengths).astype(float))
        for name in PLACE_COLUMNS[2:]:
            given.append(np.concatenate([np.zeros(0), *(getattr(frame, name) for frame in listed)]))
        given[2] = given[2].astype(np.int64)
        return cls(*given)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a table of `process_video` or of `imtorque track`, CSV or Parquet."""
        if Path(path).suffix == ".parquet":
            table = parquet_libraries()[1].read_table(str(path))
            return cls(*(table[name].to_numpy() for name in PLACE_COLUMNS))
        with open(path, encoding="utf-8") as file:
            head = file.readline().strip()
            if head != ",".join(PLACE_COLUMNS):
                raise ValueError(f"{path}: must have the columns {','.join(PLACE_COLUMNS)}, got {head[:80]}")
            rows = np.array([line.split(",") for line in file], float).reshape(-1, len(PLACE_COLUMNS)).T
        return cls(rows[0].astype(np.int64), rows[1], rows[2].astype(np.int64), *rows[3:])

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the table of `imtorque track` as text; write it to `path` too where that is given."""
        rows = zip(*(getattr(self, name).tolist() for name in PLACE_COLUMNS), strict=True)
        lines = [
            f"{frame},{time:.6f},{track},{y:.6g},{x:.6g},{size:.6g},{torque:.6g}\n"
            for frame, time, track, y, x, size, torque in rows
        ]
        text = ",".join(PLACE_COLUMNS) + "\n" + "".join(lines)
        if path is not None:
            write_text(path, text)
        return text

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame with these columns."""
        return export.to_dataframe({name: getattr(self, name) for name in PLACE_COLUMNS})

    def to_trackpy(self) -> Any:
        """Return a DataFrame as trackpy's functions take it: `track` is `particle`."""
        return self.to_dataframe().rename(columns={"track": "particle"})

    def to_napari(self) -> export.Layer:
        """Return a Tracks layer, rows (track, frame, y, x): data, arguments and type for napari's `Layer.create`."""
        rows = np.column_stack([self.track, self.frame, self.y, self.x]).astype(float)[self.track > 0]
        return rows[np.lexsort((rows[:, 1], rows[:, 0]))], {"name": "tracks"}, "tracks"
