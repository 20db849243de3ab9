"""What a worker does to a chunk of files: the rows of all in one part of the table, an error for each that failed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from imtorque.io.errors import describe_error
from imtorque.io.urls import fetched, is_address
from imtorque.jobs.processes import outcomes
from imtorque.jobs.records import Records
from imtorque.jobs.tables import Row, write_part
from imtorque.jobs.worker import DISK_FULL

NAME_COLUMN = "image"
FILE_CRASH = "the process that worked on it ended by itself"

File = tuple[str, Any]  # a name, and what is handed on with it
Rows = Sequence[Row] | Mapping[str, Any]


@dataclass(frozen=True)
class Chunk:
    """What is done to a chunk.

    Parameters
    ----------
    call
        What is done to each file: it is given the path, and what stands beside it.
    records
        The folder of the parts, and of the records, which are not written here.
    suffix
        Of the parts.
    base
        The folder that names are relative to.
    isolated
        Whether each file may crash its process: then it is done in a process of its own.
    """

    call: Callable[[Path, Any], Rows]
    records: Records
    suffix: str
    base: str
    isolated: bool = False

    def __call__(self, item: tuple[str, list[File]]) -> list[tuple[int, str | None]]:
        """Write the part of a chunk; return for each file how many rows it has, or what is wrong with it."""
        key, files = item
        one: Callable[[File], list[Row] | str] = partial(_rows_of, self.call, self.base)
        rows: list[Row] = []
        found: list[tuple[int, str | None]] = []
        for (name, _), outcome in zip(files, outcomes(one, files, 1, isolated=self.isolated), strict=True):
            if isinstance(outcome.error, ChildProcessError):
                found.append((0, f"{name}: {FILE_CRASH}"))
                continue
            made = outcome.get()
            if isinstance(made, str):
                found.append((0, made))
                continue
            rows += [{NAME_COLUMN: name, **row} for row in made]
            found.append((len(made), None))
        write_part(self.records.path(key, self.suffix), NAME_COLUMN, rows)
        return found


def _rows_of(call: Callable[[Path, Any], Rows], base: str, file: File) -> list[Row] | str:
    """Return the rows of one file, or what is wrong with it."""
    name, beside = file
    source = name if is_address(name) else os.path.join(base, name)
    path = None
    try:
        with fetched(source) as path:
            return _as_rows(call(path, beside))
    except Exception as error:  # whatever is wrong with one file, the others are done
        if isinstance(error, OSError) and error.errno in DISK_FULL:
            raise
        text = describe_error(error).replace(str(path or source), name)
        return text if name in text else f"{name}: {text}"


def _as_rows(found: Rows) -> list[Row]:
    if not isinstance(found, Mapping):
        return list(found)
    columns = {name: np.asarray(column).tolist() for name, column in found.items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
