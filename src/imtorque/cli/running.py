"""What all verbs over images share: their options, progress, lines or JSON, exit status."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from imtorque import __version__, datasets, files
from imtorque.cli.batch import Outcome, TableTask, Task, parameters, process
from imtorque.cli.many import NONE, Many, Source, into_table
from imtorque.images import CheckedImage
from imtorque.io.errors import describe_error
from imtorque.io.urls import find_addresses, is_address

Item = TypeVar("Item")
SAMPLE = "sample:"
DEFAULT_OUT = Path("imtorque-out")

Images = Annotated[
    list[str],
    typer.Argument(
        metavar="IMAGE",
        show_default=False,
        help="Files, folders or quoted patterns ('photos/**/*.jpg'); or sample:hopper, sample:shapes and so on.",
    ),
]
ImagesIfAny = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="IMAGE",
        show_default=False,
        help="Files, folders or quoted patterns ('photos/**/*.jpg'), addresses (s3://, https://); or sample:hopper and "
        "so on. Not needed with --paths.",
    ),
]
Out = Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for the outputs.")]
OutIfAny = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="DIR", show_default=str(DEFAULT_OUT), help="Folder for the outputs."),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, metavar="N", help="Images worked on at a time; as many as cores by default."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object to standard output, and nothing else there.")]


def run_task(
    task: Task,
    images: list[str],
    out: Path,
    jobs: int | None,
    as_json: bool,
    describe: Callable[[dict[str, Any]], str],
    collect: Callable[[Outcome], None] = lambda _: None,
) -> None:
    """Do a task to all images, tell what happens, and end with the status that says whether all went well.

    Parameters
    ----------
    task
        What to do to each image.
    images, out, jobs, as_json
        The options of these names.
    describe
        Puts the result for an image into a few words.
    collect
        Is told what became of each image.
    """
    report = _JsonReport(task, out) if as_json else _Lines(out, describe)
    work = partial(process, task, out=out, jobs=jobs)
    _tell(task.verb, report, lambda: _find(images, out), work, collect)


def run_table_task(
    task: TableTask,
    images: list[str] | None,
    out: Path | None,
    jobs: int | None,
    as_json: bool,
    describe: Callable[[dict[str, Any]], str],
    *,
    many: Many,
    collect: Callable[[Outcome], None] = lambda _: None,
) -> None:
    """Do a task as `run_task` does, or into one table where one is asked for.

    Parameters
    ----------
    task, images, out, jobs, as_json, describe, collect
        As of `run_task`; where no table is asked for, there is a folder by default.
    many
        The options for very many images.
    """
    many.check(images or [], jobs)
    folder = out or DEFAULT_OUT
    place = folder if many.table is None else many.table
    words = describe if many.table is None else _describe_rows
    report = _JsonReport(task, place) if as_json else _Lines(place, words)
    _tell(
        task.verb,
        report,
        lambda: _find(images or [], folder, many),
        partial(process, task, out=folder, jobs=jobs)
        if many.table is None
        else partial(into_table, task, out=out, many=many, jobs=jobs),
        collect,
    )


def _tell(
    verb: str,
    report: _JsonReport | _Lines,
    find: Callable[[], tuple[list[Source], list[Outcome]]],
    work: Callable[[list[Source]], Iterator[Outcome]],
    collect: Callable[[Outcome], None],
) -> None:
    """Find the images, do the work, report what became of each, and end with the status of it all."""
    stopped = False
    try:
        with one_line_errors():
            paths, bad = find()
            done = work(paths) if paths else iter(())
            for outcome in chain(bad, with_progress(done, len(paths), verb)):
                if outcome.error is not None:
                    typer.echo(f"imtorque: {outcome.error}", err=True)
                report.add(outcome)
                collect(outcome)
    except KeyboardInterrupt:
        stopped = True
    report.end(stopped)
    if stopped:
        typer.echo(f"stopped after {report.total} images; the same command goes on from there", err=True)
        raise typer.Exit(130)
    if report.failed:
        raise typer.Exit(1)


def _describe_rows(result: dict[str, Any]) -> str:
    return f"{result['rows']} rows"


class _Lines:
    """A line for each image, and at the end how many there were. Keeps none of them: a batch may be long."""

    def __init__(self, out: Path, describe: Callable[[dict[str, Any]], str]) -> None:
        self.out, self.describe = out, describe
        self.total = self.failed = 0

    def add(self, outcome: Outcome) -> None:
        self.total += 1
        self.failed += outcome.status == "failed"
        if outcome.status != "failed":
            before = " (as before)" if outcome.status == "complete" else ""
            typer.echo(f"{outcome.input}: {self.describe(outcome.result)}{before}")

    def end(self, stopped: bool) -> None:
        if not stopped:
            typer.echo(f"{self.total - self.failed} of {self.total} images written to {self.out}", err=True)


class _JsonReport:
    """One JSON object, printed piece by piece as images are done, and closed however the batch ends."""

    def __init__(self, task: Task, out: Path) -> None:
        head = {"verb": task.verb, "version": __version__, "parameters": parameters(task), "out": str(out)}
        self.opening = json.dumps(head)[:-1] + ', "images": ['
        self.total = self.failed = 0

    def add(self, outcome: Outcome) -> None:
        shown = {key: value for key, value in asdict(outcome).items() if value is not None}
        typer.echo(f"{self.opening if self.total == 0 else ','}\n{json.dumps(shown)}", nl=False)
        self.total += 1
        self.failed += outcome.status == "failed"

    def end(self, stopped: bool) -> None:
        start = self.opening if self.total == 0 else ""
        ending = json.dumps({"failed": self.failed, "stopped": stopped})[1:]
        typer.echo(f"{start}\n], {ending}")


@contextmanager
def one_line_errors() -> Iterator[None]:
    """End with one line and status 1 where the files or the values given do not allow to go on."""
    try:
        yield
    except (OSError, TypeError, ValueError) as error:
        typer.echo(f"imtorque: {describe_error(error)}", err=True)
        raise typer.Exit(1) from None


def _find(images: list[str], out: Path, many: Many = NONE) -> tuple[list[Source], list[Outcome]]:
    """Return the images that the arguments name, and what is wrong with arguments that name none."""
    named: list[str | Path] = []
    addresses: list[str] = []
    bad: list[Outcome] = []
    for image in images:
        try:
            if is_address(image):
                addresses += find_addresses(image)
            else:
                named += [_written_sample(image, out)] if image.startswith(SAMPLE) else files.find_images([image])
        except ValueError as error:
            text = str(error)
            bad.append(Outcome(image, "failed", error=text if image in text else f"{image}: {text}"))
    return list(dict.fromkeys([*files.find_images(named), *addresses, *many.listed()])), bad


def _written_sample(argument: str, out: Path) -> Path:
    """Put a sample into the folder of the outputs, and return its path."""
    name = argument.removeprefix(SAMPLE)
    image = datasets.sample(name)
    out.mkdir(parents=True, exist_ok=True)
    return files.write_image(out / f"{name}.png", CheckedImage(image).as_bytes())


def with_progress(items: Iterator[Item], total: int, verb: str) -> Iterator[Item]:
    """Show a bar with the time left while there is something to wait for, on a terminal only."""
    if total < 2 or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(verb), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # What is printed meanwhile goes above the bar, but stays on standard output where that is a file or a pipe.
    with Progress(*columns, console=Console(stderr=True), redirect_stdout=sys.stdout.isatty()) as progress:
        bar = progress.add_task(verb, total=total)
        for item in items:
            progress.advance(bar)
            yield item
