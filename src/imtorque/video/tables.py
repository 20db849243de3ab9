"""The table of a video: a row for each place in each frame, as CSV or parquet, written as frames are done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from imtorque.io.atomic import replacing
from imtorque.video.tracking import TrackedFrame

TableForm = Literal["csv", "parquet"]
PLACE_COLUMNS = ("frame", "time", "track", "y", "x", "size", "torque")
ROW_GROUP = 100_000  # bound: rows of a parquet file that are written together


class Table(Protocol):
    """Where frames are written, and whether any was."""

    begun: bool

    def add(self, frame: TrackedFrame) -> None:
        """Write the rows of a frame."""
        ...


@contextmanager
def writing_table(path: Path, form: TableForm) -> Iterator[Table]:
    """Write a table that is there when the block ends, well or by Ctrl-C after a frame, and not where in an error."""
    writing = _writing_csv if form == "csv" else _writing_parquet
    stopped: KeyboardInterrupt | None = None
    with replacing(path) as partial, writing(partial) as table:
        try:
            yield table
        except KeyboardInterrupt as interrupt:
            if not table.begun:
                raise
            stopped = interrupt
    if stopped is not None:
        raise stopped


@contextmanager
def _writing_csv(path: Path) -> Iterator[Table]:
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(",".join(PLACE_COLUMNS) + "\n")
        yield _Csv(file)


class _Csv:
    def __init__(self, file: Any) -> None:
        self.file, self.begun = file, False

    def add(self, frame: TrackedFrame) -> None:
        self.begun = True
        start = f"{frame.number},{frame.time:.6f},"
        columns = (frame.track, frame.y, frame.x, frame.size, frame.torque)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        lines = [f"{start}{t},{y:.6g},{x:.6g},{size:.6g},{torque:.6g}\n" for t, y, x, size, torque in rows]
        self.file.write("".join(lines))  # at once, so that Ctrl-C leaves whole frames


@contextmanager
def _writing_parquet(path: Path) -> Iterator[Table]:
    arrow, parquet = parquet_libraries()
    kinds = {"frame": arrow.int64(), "track": arrow.int64()}
    schema = arrow.schema([(name, kinds.get(name, arrow.float64())) for name in PLACE_COLUMNS])
    with parquet.ParquetWriter(str(path), schema) as writer:
        table = _Parquet(arrow, schema, writer)
        yield table
        table.flush()


class _Parquet:
    def __init__(self, arrow: Any, schema: Any, writer: Any) -> None:
        self.arrow, self.schema, self.writer = arrow, schema, writer
        self.frames: list[TrackedFrame] = []
        self.rows, self.begun = 0, False

    def add(self, frame: TrackedFrame) -> None:
        self.begun = True
        self.frames.append(frame)
        self.rows += len(frame)
        if self.rows >= ROW_GROUP:
            self.flush()

    def flush(self) -> None:
        waiting, self.frames, self.rows = self.frames, [], 0
        lengths = [len(frame) for frame in waiting]
        columns = [np.repeat([frame.number for frame in waiting], lengths)]
        columns.append(np.repeat([frame.time for frame in waiting], lengths))
        for name in PLACE_COLUMNS[2:]:
            columns.append(np.concatenate([np.zeros(0), *(getattr(frame, name) for frame in waiting)]))
        arrays = [
            self.arrow.array(c.astype(k.to_pandas_dtype())) for c, k in zip(columns, self.schema.types, strict=True)
        ]
        self.writer.write_table(self.arrow.table(arrays, schema=self.schema))


def parquet_libraries() -> tuple[Any, Any]:
    """Return pyarrow and its parquet module, or say how to get them."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise ImportError("parquet tables need pyarrow: pip install pyarrow; or take table='csv'") from None
