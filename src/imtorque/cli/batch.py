"""One task over many images: several at a time, taken up where it stopped, bad files reported and passed over.

Beside its outputs every image gets a record, NAME.VERB.json: the content of the input (its SHA-256), the parameters,
the version, the outputs with their checksums, and the result. It is written last. An image whose record agrees with
what is asked for and with the files that are there is not done again; else outputs that are not written anew are
removed, so that all files beside a record are of one run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Protocol

from imtorque import __version__
from imtorque.files import output_names, write_text
from imtorque.io.atomic import open_regular, remove_leftovers
from imtorque.io.errors import describe_error
from imtorque.io.urls import fetched
from imtorque.jobs.processes import default_jobs, outcomes


class Task(Protocol):
    """What is done to an image: a frozen dataclass whose fields are the parameters."""

    verb: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def inputs(self, source: Path) -> list[Path]:
        """Return the files the result depends on, the image first."""
        ...

    def run(self, source: Path, stem: str) -> tuple[list[Path], dict[str, Any]]:
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


def process(task: Task, paths: Sequence[Path | str], out: Path, *, jobs: int | None = None) -> Iterator[Outcome]:
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
            yield Outcome(str(source), "failed", error=f"{source}: {answer.error}")
        else:
            yield answer.get()


def _done(task: Task, named: tuple[Path | str, str]) -> Outcome:
    """Do the task to one image, or say why it cannot be."""
    source, stem = named
    path = None
    try:
        with fetched(source) as path:
            return made(task, path, str(source), stem)
    except Exception as error:  # whatever is wrong with one image, the others are done
        text = describe_error(error).replace(str(path or source), str(source))
        return Outcome(str(source), "failed", error=text if str(source) in text else f"{source}: {text}")


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
