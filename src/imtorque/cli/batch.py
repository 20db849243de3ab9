"""One task over many images: several at a time, taken up where it stopped, bad files reported and passed over.

Beside its outputs every image gets a record, NAME.VERB.json: the content of the input (its SHA-256), the parameters,
the version, the outputs with their checksums, and the result. An image whose record agrees with what is asked for and
with the files that are there is not done again; else outputs that are not written anew are removed, so that all files
beside a record are of one run. A file that is not as a record says it was written is never replaced or removed.
"""

from __future__ import annotations

import csv
import io
import json
import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Protocol

from imtorque import __version__
from imtorque.files import output_names
from imtorque.io.atomic import alone, remove_leftovers
from imtorque.io.errors import describe_error
from imtorque.io.ledger import Ledger, is_as_written, sha256
from imtorque.io.urls import fetched
from imtorque.jobs.chunks import Rows
from imtorque.jobs.files import file_outcomes, file_state, list_path, parts_folder
from imtorque.jobs.processes import default_jobs, outcomes

Source = Path | str  # a str is an address
Written = tuple[list[Path], dict[str, Any]]


class Task(Protocol):
    """What is done to an image: a frozen dataclass whose fields are the parameters."""

    verb: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def inputs(self, source: Path) -> list[Path]:
        """Return the files the result depends on, the image first."""
        return [source]

    def run(self, source: Path, stem: str) -> Written:
        """Write files whose paths begin with `stem`, complete or not at all; return them and the result in numbers."""
        ...


class TableTask(Task, Protocol):
    """A task whose result can be rows of a table, without any files."""

    def measure(self, source: Path) -> dict[str, Any]:
        """Return the result in numbers, as `run` does."""
        ...

    def rows(self, result: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the rows in a result."""
        ...


@dataclass(frozen=True)
class Outcome:
    """What became of an image: "done", "complete" (it had been before) or "failed"."""

    input: str
    status: str
    outputs: list[str] = field(default_factory=list)
    result: dict[str, Any] = field(default_factory=dict)
    error: str | None = None


def process(
    task: Task, paths: Sequence[Source], out: Path, *, jobs: int | None = None, overwrite: bool = False
) -> Iterator[Outcome]:
    """Do a task to every image and yield what became of each, in order.

    Parameters
    ----------
    task
        What to do.
    paths
        The images; a str is an address.
    out
        Folder for the outputs; made where it is missing.
    jobs
        How many images to work on at a time, each in a process of its own; by default as many as there are cores
        this process may use. The kernels' threads are shared out among them. However this ends, the images begun are
        finished first.
    overwrite
        Whether files that the task did not write are replaced as well; else they are refused before any work.
    """
    stems = _stems(task, paths, out, overwrite)
    work = list(zip(paths, stems, strict=True))
    done = outcomes(partial(_done, task, overwrite), work, jobs or default_jobs(), finish=True)
    for source, answer in zip(paths, done, strict=True):
        if isinstance(answer.error, ChildProcessError):
            yield failure(str(source), str(answer.error))
        else:
            yield answer.get()


def _stems(task: Task, paths: Sequence[Source], out: Path, overwrite: bool) -> list[str]:
    """Return what names of outputs begin with, in a folder made ready; refuse files there that no record names."""
    out.mkdir(parents=True, exist_ok=True)
    remove_leftovers(out)
    stems = [str(out / f"{name}.{task.verb}") for name in output_names([Path(path) for path in paths])]
    present = [] if overwrite else sorted(os.listdir(out))
    for stem in stems:
        start = f"{Path(stem).name}."
        at = bisect_left(present, start)
        if at < len(present) and present[at].startswith(start):
            ledger = Ledger(Path(f"{stem}.json"), task.verb)
            if ledger.read() is None:
                ledger.check(present[at])
    return stems


def _done(task: Task, overwrite: bool, named: tuple[Source, str]) -> Outcome:
    """Do the task to one image, or say why it cannot be."""
    source, stem = named
    path = None
    try:
        with fetched(source) as path:
            return made(task, path, str(source), stem, overwrite=overwrite)
    except Exception as error:  # whatever is wrong with one image, the others are done
        return failure(str(source), describe_error(error).replace(str(path or source), str(source)))


def csv_table(columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> str:
    """Return rows as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def failure(name: str, text: str) -> Outcome:
    """Return the outcome of an image that failed; the error names the image."""
    return Outcome(name, "failed", error=text if name in text else f"{name}: {text}")


def made(task: Task, path: Path, name: str, stem: str, *, overwrite: bool = False) -> Outcome:
    """Do the task to one image, or find that it has been done; `name` is what the image is called."""
    with alone(f"{stem}.json"):  # another run into the folder waits, and then finds it done
        return _made_alone(task, path, name, stem, overwrite)


def _made_alone(task: Task, path: Path, name: str, stem: str, overwrite: bool) -> Outcome:
    ledger = Ledger(Path(f"{stem}.json"), task.verb, overwrite=overwrite)
    record = ledger.record
    request = {
        "version": __version__,
        "parameters": parameters(task),
        "inputs": [sha256(input) for input in task.inputs(path)],
    }
    stored = _answer(record, ledger.read(), request)
    if stored is not None:
        names = [str(record.with_name(output["name"])) for output in stored["outputs"]]
        return Outcome(name, "complete", [*names, str(record)], stored["result"])
    ledger.check()
    with ledger.writing():
        outputs, result = task.run(path, stem)
    ledger.end(outputs, {"input": name, **request, "result": result})
    return Outcome(name, "done", [*map(str, outputs), str(record)], result)


def parameters(task: Task) -> dict[str, Any]:
    """Return the fields of a task, and of what it holds, less private ones: those change while it works."""
    return asdict(task, dict_factory=lambda items: {key: value for key, value in items if not key.startswith("_")})


def _answer(record: Path, stored: Any, request: dict[str, Any]) -> dict[str, Any] | None:
    """Return a record if it answers the request and its outputs are there as they were written."""
    try:
        same = all(stored[key] == json.loads(json.dumps(value)) for key, value in request.items())
        whole = same and all(is_as_written(record.with_name(output["name"]), stored) for output in stored["outputs"])
        return stored if whole and "result" in stored else None
    except (KeyError, TypeError, ValueError):
        return None


def into_table(
    task: TableTask,
    sources: Sequence[Source],
    out: Path | None,
    *,
    table: Path,
    scheduler: str | None = None,
    retry: bool = False,
    jobs: int | None = None,
    overwrite: bool = False,
) -> Iterator[Outcome]:
    """Do a task to every image, into one table, and yield what became of each.

    Parameters
    ----------
    task
        What to do.
    sources
        The images.
    out
        Folder for files of each image; None writes none.
    table
        The file.
    scheduler
        Address of a dask cluster that does the work; this machine by default.
    retry
        Whether images are tried again that failed before.
    jobs
        How many processes, on this machine.
    overwrite
        As of `process`.
    """
    ledger = Ledger(parts_folder(table) / "outputs.json", task.verb, folder=table.parent, overwrite=overwrite)
    ledger.check(table.name, list_path(table).name)
    files = [
        (str(source), beside) for source, beside in zip(sources, _beside(task, sources, out, overwrite), strict=True)
    ]
    with ExitStack() as stack:
        client = None if scheduler is None else stack.enter_context(client_of(scheduler))
        try:
            call = _Call(task, overwrite)
            for done in file_outcomes(call, files, table, client=client, jobs=jobs, retry=retry, ledger=ledger):
                status = "failed" if done.error else "complete" if done.before else "done"
                yield Outcome(done.name, status, result={"rows": done.rows}, error=done.error)
        except RuntimeError as error:  # of the watch over the cluster, in one line
            raise OSError(str(error)) from None


@dataclass(frozen=True)
class _Call:
    """Rows of one image, with files about it where it has a stem."""

    task: TableTask
    overwrite: bool = field(default=False, repr=False)  # changes no row, so it does not tell calls apart

    def __call__(self, path: Path, beside: tuple[str, str | None, Any]) -> Rows:
        name, stem, _ = beside
        if stem is None:
            return self.task.rows(self.task.measure(path))
        return self.task.rows(made(self.task, path, name, stem, overwrite=self.overwrite).result)


def _beside(
    task: TableTask, sources: Sequence[Source], out: Path | None, overwrite: bool
) -> Iterator[tuple[str, str | None, Any]]:
    """Yield what else the result for each image depends on: how its files are called, and the other inputs."""
    stems: list[str | None] = [None] * len(sources)
    if out is not None:
        stems = [*_stems(task, sources, out.absolute(), overwrite)]
    for source, stem in zip(sources, stems, strict=True):
        try:
            others = [(str(path), file_state(str(path))) for path in task.inputs(Path(source))[1:]]
        except ValueError:
            others = []  # which is told when the image is read
        yield str(source), stem, others


def client_of(address: str) -> Any:
    """Return a client of the scheduler at an address, which ends with its `with`."""
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise ValueError("--scheduler needs dask, which is not installed: pip install 'imtorque[scale]'") from None
    try:
        return Client(address, timeout=10)
    except Exception as error:
        raise ValueError(
            f"--scheduler must be the address of one that answers, got {address}: {describe_error(error)}"
        ) from None
