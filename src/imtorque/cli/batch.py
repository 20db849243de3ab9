"""One task over many images: several at a time, taken up where it stopped, bad files reported and passed over.

Beside its outputs every image gets a record, NAME.VERB.json: the content of the input (its SHA-256), the parameters,
the version, the outputs with their checksums, and the result. It is written last. An image whose record agrees with
what is asked for and with the files that are there is not done again; else outputs that are not written anew are
removed, so that all files beside a record are of one run.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Protocol

from imtorque import __version__
from imtorque.files import output_names, write_text
from imtorque.io.atomic import open_regular, remove_leftovers
from imtorque.io.errors import describe_error
from imtorque.io.urls import fetched
from imtorque.jobs.chunks import Rows
from imtorque.jobs.files import file_outcomes, file_state
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


def process(task: Task, paths: Sequence[Source], out: Path, *, jobs: int | None = None) -> Iterator[Outcome]:
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
    """
    out.mkdir(parents=True, exist_ok=True)
    remove_leftovers(out)
    stems = [str(out / f"{name}.{task.verb}") for name in output_names([Path(path) for path in paths])]
    work = list(zip(paths, stems, strict=True))
    done = outcomes(partial(_done, task), work, jobs or default_jobs(), finish=True)
    for source, answer in zip(paths, done, strict=True):
        if isinstance(answer.error, ChildProcessError):
            yield failure(str(source), str(answer.error))
        else:
            yield answer.get()


def _done(task: Task, named: tuple[Source, str]) -> Outcome:
    """Do the task to one image, or say why it cannot be."""
    source, stem = named
    path = None
    try:
        with fetched(source) as path:
            return made(task, path, str(source), stem)
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


def made(task: Task, path: Path, name: str, stem: str) -> Outcome:
    """Do the task to one image, or find that it has been done; `name` is what the image is called."""
    record = Path(f"{stem}.json")
    request = {
        "verb": task.verb,
        "version": __version__,
        "parameters": parameters(task),
        "inputs": [_sha256(input) for input in task.inputs(path)],
    }
    earlier = _read(record)
    stored = _answer(record, earlier, request)
    if stored is not None:
        names = [str(record.with_name(output["name"])) for output in stored["outputs"]]
        return Outcome(name, "complete", [*names, str(record)], stored["result"])
    outputs, result = task.run(path, stem)
    sums = [{"name": output.name, "sha256": _sha256(output)} for output in outputs]
    full = {"input": name, **request, "outputs": sums, "result": result}
    write_text(record, json.dumps(full, indent=1) + "\n")
    _remove_others(record, earlier, {output.name for output in outputs})
    return Outcome(name, "done", [*map(str, outputs), str(record)], result)


def parameters(task: Task) -> dict[str, Any]:
    """Return the fields of a task, and of what it holds, less private ones: those change while it works."""
    return asdict(task, dict_factory=lambda items: {key: value for key, value in items if not key.startswith("_")})


def _read(record: Path) -> Any:
    try:
        with open_regular(record) as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def _answer(record: Path, stored: Any, request: dict[str, Any]) -> dict[str, Any] | None:
    """Return a record if it answers the request and its outputs are there as they were written."""
    try:
        same = all(stored[key] == json.loads(json.dumps(value)) for key, value in request.items())
        return stored if same and all(_as_written(record, output) for output in stored["outputs"]) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _as_written(record: Path, output: dict[str, str]) -> bool:
    return _sha256(record.with_name(output["name"])) == output["sha256"]


def _remove_others(record: Path, earlier: Any, names: set[str]) -> None:
    """Remove what an earlier run with other options wrote and this one did not, unless it was changed since."""
    outputs = earlier.get("outputs") if isinstance(earlier, dict) else None
    for output in outputs if isinstance(outputs, list) else []:
        with suppress(OSError, ValueError, KeyError, TypeError):
            if output["name"] not in names and _as_written(record, output):
                record.with_name(output["name"]).unlink()


def _sha256(path: Path) -> str:
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such file") from None


def into_table(
    task: TableTask,
    sources: Sequence[Source],
    out: Path | None,
    *,
    table: Path,
    scheduler: str | None = None,
    retry: bool = False,
    jobs: int | None = None,
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
    """
    files = [(str(source), beside) for source, beside in zip(sources, _beside(task, sources, out), strict=True)]
    with ExitStack() as stack:
        client = None if scheduler is None else stack.enter_context(client_of(scheduler))
        try:
            for done in file_outcomes(_Call(task), files, table, client=client, jobs=jobs, retry=retry):
                status = "failed" if done.error else "complete" if done.before else "done"
                yield Outcome(done.name, status, result={"rows": done.rows}, error=done.error)
        except RuntimeError as error:  # of the watch over the cluster, in one line
            raise OSError(str(error)) from None


@dataclass(frozen=True)
class _Call:
    """Rows of one image, with files about it where it has a stem."""

    task: TableTask

    def __call__(self, path: Path, beside: tuple[str, str | None, Any]) -> Rows:
        name, stem, _ = beside
        result = self.task.measure(path) if stem is None else made(self.task, path, name, stem).result
        return self.task.rows(result)


def _beside(task: TableTask, sources: Sequence[Source], out: Path | None) -> Iterator[tuple[str, str | None, Any]]:
    """Yield what else the result for each image depends on: how its files are called, and the other inputs."""
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    names = output_names([Path(source) for source in sources]) if out is not None else [""] * len(sources)
    for source, name in zip(sources, names, strict=True):
        stem = None if out is None else str(out.absolute() / f"{name}.{task.verb}")
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
