"""One function over any number of files, here or on a cluster, into one table.

Files are taken in chunks. A chunk has a record and a part of the table, named by what they depend on: the function, the
version, and the name, size and time of every file. So what is done is not done again, and what changed is. A file that
ends the process that works on it costs only itself: its chunk is done again, file by file, in a process of their own.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imtorque import __version__
from imtorque.core.deprecation import accept_old_keywords
from imtorque.io.atomic import remove_leftovers, replacing
from imtorque.io.ledger import Ledger
from imtorque.io.urls import is_address
from imtorque.jobs.chunks import FILE_CRASH, Chunk, File, Rows
from imtorque.jobs.engine import Failure, task_outcomes
from imtorque.jobs.records import Records
from imtorque.jobs.subprocesses import pack
from imtorque.jobs.tables import check_table, merge_parts

if TYPE_CHECKING:
    from distributed import Client

CHUNK_FILES = 100  # bound: what is done again after a crash
MIN_CHUNKS = 64  # bound: where there are enough files, so that all workers have some


@dataclass(frozen=True)
class FileOutcome:
    """What became of a file: so many rows, or an error; `before` says that it was so when the run began."""

    name: str
    rows: int = 0
    error: str | None = None
    before: bool = False


@accept_old_keywords
def process_files(
    task: Callable[[Path], Rows],
    paths: Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    client: Client | None = None,
    jobs: int | None = None,
    heartbeat_timeout: float = 60.0,
    retry: bool = False,
) -> list[Failure]:
    """Do a task to every file, put what it returns into one table, and return the files that could not be done.

    Called again, it goes on from where it was, also after this process was killed. Beside the table it writes
    NAME.files.csv, a line for each file with its number of rows or its error, and a folder NAME.parquet.parts, which
    may be removed when no more files are to come.

    Parameters
    ----------
    task
        A function of a path that returns rows: a list of dicts, or a dict of columns such as `Blobs.to_dict()`. It is
        of a module, or a partial of one; a script's own will do where cloudpickle is installed, as it is with dask.
        A function that was changed is not noticed: give another `out`.
    paths
        Files; or addresses such as s3://bucket/a.png, where fsspec is installed, of which the task gets copies.
    out
        The table to write, .parquet or .csv. The first column, `image`, has the files as they were given.
    client, jobs, heartbeat_timeout
        As of `run_tasks`.
    retry
        Whether files that failed before and have not changed are tried again.

    Examples
    --------
    >>> process_files(blobs_of, Path("images").glob("*.png"), "all.parquet", client=client)  # doctest: +SKIP
    []
    """
    if not callable(task):
        raise TypeError(f"task must be a function of a path, got {task!r:.80}")
    names = dict.fromkeys(os.fspath(path) for path in paths)
    outcomes = file_outcomes(
        functools.partial(_called, task),
        [(name, None) for name in names],
        out,
        client=client,
        jobs=jobs,
        heartbeat_timeout=heartbeat_timeout,
        retry=retry,
    )
    return [Failure(outcome.name, outcome.error) for outcome in outcomes if outcome.error is not None]


def file_outcomes(
    call: Callable[[Path, Any], Rows],
    files: Sequence[File],
    out: str | os.PathLike[str],
    *,
    client: Client | None = None,
    jobs: int | None = None,
    heartbeat_timeout: float = 60.0,
    retry: bool = False,
    ledger: Ledger | None = None,
) -> Iterator[FileOutcome]:
    """Do what `process_files` does, and yield what became of each file, chunk by chunk, in any order of chunks.

    Parameters
    ----------
    call
        Called with the path of a file, or of a copy of it, and with what stands beside it in `files`.
    files
        Names, each once, and what is to be handed on with them.
    out, client, jobs, heartbeat_timeout, retry
        As of `process_files`.
    ledger
        Says whether files may be replaced, and is told which are written.
    """
    table = check_table(out)
    records = Records(parts_folder(table))
    chunks = _chunks(call, files, table.suffix)
    _forget(records, chunks, table.suffix, retry)
    chunk = Chunk(call, records, table.suffix, os.getcwd())
    items = [(key, (key, some)) for key, some in chunks.items()]
    lost: dict[str, str] = {}
    for outcome in task_outcomes(
        chunk,
        items,
        client=client,
        jobs=jobs,
        records=records.folder,
        heartbeat_timeout=heartbeat_timeout,
        on_crash=replace(chunk, isolated=True),
    ):
        if isinstance(outcome, Failure):
            lost[outcome.key] = outcome.message
            yield from (FileOutcome(name, error=_about(name, outcome.message)) for name, _ in chunks[outcome.key])
        else:
            for (name, _), (rows, error) in zip(chunks[outcome.key], outcome.value, strict=True):
                yield FileOutcome(name, rows, error, outcome.before)
    remove_leftovers(table.absolute().parent)
    with nullcontext() if ledger is None else ledger.writing():
        merge_parts([records.path(key, table.suffix) for key in chunks if key not in lost], table)
        _list_files(records, chunks, lost, list_path(table))
    if ledger is not None:
        ledger.end([table, list_path(table)])


def parts_folder(table: Path) -> Path:
    """Return the folder of the parts of a table, and of their records."""
    return table.absolute().with_name(f"{table.name}.parts")


def list_path(table: Path) -> Path:
    """Return the file that says what became of each input of a table."""
    return table.with_suffix(".files.csv")


def _called(task: Callable[[Path], Rows], path: Path, _: Any) -> Rows:
    return task(path)


def _chunks(call: Callable[..., Any], files: Sequence[File], suffix: str) -> dict[str, list[File]]:
    """Return the files in chunks, each under a key that tells what its result depends on."""
    if not files:
        raise ValueError("there must be files to work on, got none")
    size = min(CHUNK_FILES, -(-len(files) // MIN_CHUNKS))
    work = repr((identity(call), __version__, suffix)).encode()
    found = {}
    for start in range(0, len(files), size):
        chunk = list(files[start : start + size])
        digest = hashlib.sha256(work)
        for name, beside in chunk:
            digest.update(repr((name, beside, file_state(name))).encode())
        found[digest.hexdigest()[:24]] = chunk
    return found


def identity(call: Callable[..., Any]) -> Any:
    """Return what tells a function from others: its name and what it is called with."""
    if isinstance(call, functools.partial):
        given = [identity(value) if callable(value) else value for value in call.args]
        return identity(call.func), hashlib.sha256(pack((given, sorted(call.keywords.items())))).hexdigest()
    if hasattr(call, "__qualname__"):
        return call.__module__, call.__qualname__
    if is_dataclass(call):
        return type(call).__module__, repr(call)
    return hashlib.sha256(pack(call)).hexdigest()


def file_state(name: str) -> tuple[int, int] | None:
    """Return the size and time of a file, as far as they can be had at once."""
    if is_address(name):
        return None
    try:
        found = os.stat(name)
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns


def _forget(records: Records, chunks: dict[str, list[File]], suffix: str, retry: bool) -> None:
    """Remove records whose part of the table is gone, and those of failures that are to be tried again."""
    for key in chunks:
        record = records.path(key)
        if not record.exists():
            continue
        if not records.path(key, suffix).exists():
            record.unlink()
        elif retry and (errors := [error for _, error in (records.read(key) or [[]])[0] if error]):
            if any(FILE_CRASH in error for error in errors):
                records.begin(key)  # so that it is not handed to a worker again
            record.unlink()


def _list_files(records: Records, chunks: dict[str, list[File]], lost: dict[str, str], path: Path) -> None:
    """Write a line for each file: its name, its number of rows, its error."""
    with (
        replacing(path) as partial,
        open(partial, "w", newline="", encoding="utf-8", errors="backslashreplace") as file,
    ):
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["image", "rows", "error"])
        for key, files in chunks.items():
            if key in lost:
                writer.writerows((name, 0, _about(name, lost[key])) for name, _ in files)
            else:
                (found,) = records.read(key) or [[]]
                writer.writerows((name, rows, error) for (name, _), (rows, error) in zip(files, found, strict=True))


def _about(name: str, message: str) -> str:
    return f"{name}: {message}"
