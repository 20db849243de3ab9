"""One task over many pictures: several at a time, taken up where it stopped, bad files reported and passed over.

Beside its outputs every picture gets a record, NAME.VERB.json: the content of the input (its SHA-256), the parameters,
the version, the outputs with their checksums, and the result. It is written last. A picture whose record agrees with
what is asked for and with the files that are there is not done again.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from multiprocessing import connection, get_context, parent_process
from pathlib import Path
from typing import Any, ClassVar, Protocol

from imtorque.files import output_names, write_text
from imtorque.threads import get_num_threads, set_num_threads


class Task(Protocol):
    """What is done to a picture: a frozen dataclass whose fields are the parameters."""

    verb: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def inputs(self, source: Path) -> list[Path]:
        """Return the files the result depends on, the picture first."""
        ...

    def run(self, source: Path, stem: str) -> tuple[list[Path], dict[str, Any]]:
        """Write files whose paths begin with `stem`, complete or not at all; return them and the result in numbers."""
        ...


@dataclass(frozen=True)
class Outcome:
    """What became of a picture: "done", "complete" (it had been before) or "failed"."""

    input: str
    status: str
    outputs: list[str] = field(default_factory=list)
    result: dict[str, Any] = field(default_factory=dict)
    error: str | None = None


def process(task: Task, paths: Sequence[Path], out: Path, *, jobs: int | None = None) -> Iterator[Outcome]:
    """Do a task to every picture and yield what became of each, in order.

    Parameters
    ----------
    task
        What to do.
    paths
        The pictures.
    out
        Folder for the outputs; made where it is missing.
    jobs
        How many pictures to work on at a time, each in a process of its own; as many as there are cores by default.
        The kernels' threads are shared out among them.
    """
    out.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(out)
    stems = [str(out / f"{name}.{task.verb}") for name in output_names(paths)]
    work = list(zip(paths, stems, strict=True))
    workers = min(jobs or get_num_threads(), len(work))
    if workers <= 1:
        yield from (_done(task, source, stem) for source, stem in work)
    else:
        yield from _in_processes(task, work, workers)


def _in_processes(task: Task, work: list[tuple[Path, str]], workers: int) -> Iterator[Outcome]:
    """Keep every process busy while no more than a few pictures wait, so that memory does not grow with their number.

    However this ends, the pictures begun are finished first.
    """
    threads = max(1, get_num_threads() // workers)
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _start_worker, (threads,))
    waiting: deque[tuple[Path, Future[Outcome]]] = deque()
    try:
        for source, stem in work:
            waiting.append((source, _submit(pool, task, source, stem)))
            if len(waiting) > 2 * workers:
                yield _result(*waiting.popleft())
        while waiting:
            yield _result(*waiting.popleft())
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _submit(pool: ProcessPoolExecutor, task: Task, source: Path, stem: str) -> Future[Outcome]:
    """Hand a picture to a process. Those started here never see Ctrl-C, which goes to all processes of a terminal."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(_done, task, source, stem)
    except BrokenProcessPool as error:
        failed: Future[Outcome] = Future()
        failed.set_exception(error)
        return failed
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _result(source: Path, future: Future[Outcome]) -> Outcome:
    try:
        return future.result()
    except BrokenProcessPool:
        reason = "a process was ended from outside, most likely for want of memory; fewer --jobs need less"
        return Outcome(str(source), "failed", error=f"{source}: {reason}")


def _start_worker(threads: int) -> None:
    """Set up a process that works on pictures: it ends with the one that started it, however that ends."""
    set_num_threads(threads)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


def _done(task: Task, source: Path, stem: str) -> Outcome:
    """Do the task to one picture, or find that it has been done, or say why it cannot be."""
    record = Path(f"{stem}.json")
    try:
        request = {
            "verb": task.verb,
            "version": version("imtorque"),
            "parameters": asdict(task),
            "inputs": [_sha256(path) for path in task.inputs(source)],
        }
        stored = _stored(record, request)
        if stored is not None:
            names = [str(record.with_name(output["name"])) for output in stored["outputs"]]
            return Outcome(str(source), "complete", [*names, str(record)], stored["result"])
        outputs, result = task.run(source, stem)
        sums = [{"name": path.name, "sha256": _sha256(path)} for path in outputs]
        full = {"input": str(source), **request, "outputs": sums, "result": result}
        write_text(record, json.dumps(full, indent=1) + "\n")
        return Outcome(str(source), "done", [*map(str, outputs), str(record)], result)
    except (ValueError, TypeError, OSError, MemoryError) as error:
        text = describe_error(error)
        return Outcome(str(source), "failed", error=text if str(source) in text else f"{source}: {text}")


def _stored(record: Path, request: dict[str, Any]) -> dict[str, Any] | None:
    """Return a record that answers the request, if its outputs are there as they were written."""
    try:
        stored = json.loads(record.read_text(encoding="utf-8"))
        same = all(stored[key] == json.loads(json.dumps(value)) for key, value in request.items())
        whole = same and all(
            _sha256(record.with_name(output["name"])) == output["sha256"] for output in stored["outputs"]
        )
        return stored if whole else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _sha256(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such file") from None


def describe_error(error: Exception) -> str:
    """Say in one line what went wrong, with the name of the file where the error knows it."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split()) or ("not enough memory" if isinstance(error, MemoryError) else "unknown error")


def _remove_leftovers(folder: Path) -> None:
    """Remove what processes that are no more had begun to write."""
    for partial in folder.glob(".*.part"):
        process_id = partial.suffixes[-2][1:] if len(partial.suffixes) > 1 else ""
        if process_id.isdecimal() and not _is_alive(int(process_id)):
            partial.unlink(missing_ok=True)


def _is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return sys.maxsize > process_id
    return True
