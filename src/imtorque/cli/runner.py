"""How verbs go through images: the options for that, progress, lines or JSON, and the exit status."""

from __future__ import annotations

import codecs
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from imtorque import __version__, datasets, files
from imtorque.cli.batch import Outcome, Source, TableTask, Task, failure, into_table, parameters, process
from imtorque.cli.options import (
    BATCH_PANEL,
    DEFAULT_OUT,
    SAMPLE,
    Jobs,
    Json,
    Out,
    Overwrite,
    Scheduler,
    number_of,
    refuse,
)
from imtorque.images import CheckedImage
from imtorque.io.atomic import alone, remove_leftovers
from imtorque.io.errors import EXPECTED, describe_error
from imtorque.io.ledger import Ledger
from imtorque.io.urls import find_addresses, is_address

Item = TypeVar("Item")
Describe = Callable[[dict[str, Any]], str]
IMAGES = "Files, folders or quoted patterns ('photos/**/*.jpg')"

Images = Annotated[
    list[str],
    typer.Argument(metavar="IMAGE", show_default=False, help=f"{IMAGES}; or sample:hopper, sample:shapes and so on."),
]


@dataclass(frozen=True)
class Batch:
    """The options of verbs that write files for every image."""

    images: Images
    out: Out = DEFAULT_OUT
    jobs: Jobs = None
    overwrite: Overwrite = False
    as_json: Json = False

    def run(self, task: Task, describe: Describe) -> None:
        """Do a task to all images, tell what happens, and end with the status that says whether all went well.

        Parameters
        ----------
        task
            What to do to each image.
        describe
            Puts the result for an image into a few words.
        """
        work = partial(process, task, out=self.out, jobs=self.jobs, overwrite=self.overwrite)
        report = _report(task, self.out, self.as_json, describe)
        _run(task.verb, report, lambda: find_sources(self.images, self.out, self.overwrite), work)


@dataclass(frozen=True)
class TableBatch:
    """The options of verbs that can write one table of all images instead."""

    images: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="IMAGE",
            show_default=False,
            help=f"{IMAGES}, addresses (s3://, https://); or sample:hopper and so on. Not needed with --paths.",
        ),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", show_default=str(DEFAULT_OUT), help="Folder for the outputs."),
    ] = None
    paths: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File with a path or an address (s3://, https://) a line; - is standard input.",
            rich_help_panel=BATCH_PANEL,
        ),
    ] = None
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write one table of all images, .parquet or .csv, and files for each only where --out is given, too.",
            rich_help_panel=BATCH_PANEL,
        ),
    ] = None
    scheduler: Scheduler = None
    retry: Annotated[
        bool,
        typer.Option(
            "--retry",
            help="Try images again that failed before, though they have not changed.",
            rich_help_panel=BATCH_PANEL,
        ),
    ] = False
    jobs: Jobs = None
    overwrite: Overwrite = False
    as_json: Json = False

    def check(self) -> None:
        """Refuse options that do not go together."""
        self.check_images()
        if self.table is None:
            refuse("must come with --table", retry=self.retry, scheduler=self.scheduler)
        if self.scheduler is not None:
            refuse("must be left out with --scheduler", jobs=self.jobs)

    def check_images(self) -> None:
        """Refuse to begin without images."""
        if not self.images and self.paths is None:
            raise typer.BadParameter("images must be given, as arguments or by --paths", param_hint="IMAGE")

    @property
    def folder(self) -> Path:
        """Return where files go."""
        return self.out or DEFAULT_OUT

    def shared(self, path: Path) -> str:
        """Return a path as workers are told it: elsewhere, a relative one would be another."""
        return str(path if self.scheduler is None else path.absolute())

    def run(self, task: TableTask, describe: Describe, collect: Callable[[Outcome], None] = lambda _: None) -> None:
        """Do a task as `Batch.run` does, or into one table where one is asked for.

        Parameters
        ----------
        task, describe
            As of `Batch.run`.
        collect
            Is told what became of each image.
        """
        self.check()
        if self.table is None:
            work = partial(process, task, out=self.folder, jobs=self.jobs, overwrite=self.overwrite)
        else:
            describe = _describe_rows
            work = partial(
                into_table,
                task,
                out=self.out,
                table=self.table,
                scheduler=self.scheduler,
                retry=self.retry,
                jobs=self.jobs,
                overwrite=self.overwrite,
            )
        report = _report(task, self.table or self.folder, self.as_json, describe)
        find = partial(find_sources, self.images or [], self.folder, self.overwrite, self.paths)
        _run(task.verb, report, find, work, collect)


def _run(
    verb: str,
    report: _JsonReport | _Lines,
    find: Callable[[], tuple[list[Source], list[Outcome]]],
    work: Callable[[list[Source]], Iterator[Outcome]],
    collect: Callable[[Outcome], None] = lambda _: None,
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
                collect(outcome)
                report.add(outcome)  # which cannot be told where nobody listens any more, but was done
    except KeyboardInterrupt:
        stopped = True
    report.end(stopped)
    if stopped:
        typer.echo(f"stopped after {number_of(report.total, 'image')}; the same command goes on from there", err=True)
        raise typer.Exit(130)
    if report.failed:
        raise typer.Exit(1)


def _describe_rows(result: dict[str, Any]) -> str:
    return number_of(result["rows"], "row")


def _report(task: Task, out: Path, as_json: bool, describe: Describe) -> _JsonReport | _Lines:
    return _JsonReport(task, out) if as_json else _Lines(out, describe)


class _Lines:
    """A line for each image, and at the end how many there were. Keeps none of them: a batch may be long."""

    def __init__(self, out: Path, describe: Describe) -> None:
        self.out, self.describe = out, describe
        self.total = self.failed = 0

    def add(self, outcome: Outcome) -> None:
        self.total += 1
        self.failed += outcome.status == "failed"
        if outcome.status != "failed":
            typer.echo(f"{outcome.input}: {self.describe(outcome.result)}{as_before(outcome)}")

    def end(self, stopped: bool) -> None:
        if not stopped:
            done = f"{self.total - self.failed} of {number_of(self.total, 'image')}"
            typer.echo(f"{done} written to {self.out}", err=True)


class _JsonReport:
    """One JSON object, printed piece by piece as images are done, and closed however the batch ends."""

    def __init__(self, task: Task, out: Path) -> None:
        self.opening = json.dumps(head(task, out))[:-1] + ', "images": ['
        self.total = self.failed = 0

    def add(self, outcome: Outcome) -> None:
        typer.echo(f"{self.opening if self.total == 0 else ','}\n{json.dumps(told(outcome))}", nl=False)
        self.total += 1
        self.failed += outcome.status == "failed"

    def end(self, stopped: bool) -> None:
        start = self.opening if self.total == 0 else ""
        ending = json.dumps({"failed": self.failed, "stopped": stopped})[1:]
        typer.echo(f"{start}\n], {ending}")


def head(task: Task, out: Path) -> dict[str, Any]:
    """Return what a JSON report says first."""
    return {"verb": task.verb, "version": __version__, "parameters": parameters(task), "out": str(out)}


def told(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as a JSON report has it."""
    return {key: value for key, value in asdict(outcome).items() if value is not None}


def as_before(outcome: Outcome) -> str:
    """Return what is added to the line of an image that had been done already."""
    return " (as before)" if outcome.status == "complete" else ""


@contextmanager
def one_line_errors() -> Iterator[None]:
    """End with one line and status 1 where files, values or what is installed do not allow to go on."""
    try:
        yield
    except EXPECTED as error:
        typer.echo(f"imtorque: {describe_error(error)}", err=True)
        raise typer.Exit(1) from None


def find_sources(
    images: Sequence[str], out: Path, overwrite: bool, listing: str | None = None
) -> tuple[list[Source], list[Outcome]]:
    """Return the images that arguments and a list name, and what is wrong with arguments that name none."""
    named: list[str | Path] = []
    addresses: list[str] = []
    bad: list[Outcome] = []
    for image in images:
        try:
            if is_address(image):
                addresses += find_addresses(image)
            else:
                named += (
                    [_written_sample(image, out, overwrite)] if image.startswith(SAMPLE) else files.find_images([image])
                )
        except ValueError as error:
            bad.append(failure(image, str(error)))
    listed = [] if listing is None else _listed(listing)
    found: dict[str, Source] = {}
    for source in [*files.find_images(named), *addresses, *listed]:
        found.setdefault(source if isinstance(source, str) else _real_path(source), source)
    return list(found.values()), bad


def _real_path(path: Path) -> str:
    """Return the path less links; that of what cannot be a file as it is."""
    try:
        return os.path.realpath(path)
    except ValueError:
        return str(path)


def _listed(listing: str) -> list[Source]:
    """Return what a file of paths names, each once."""
    content = sys.stdin.buffer.read() if listing == "-" else Path(listing).read_bytes()
    lines = os.fsdecode(content.removeprefix(codecs.BOM_UTF8)).splitlines()
    names = dict.fromkeys(line.strip() for line in lines if line.strip())
    if not names:
        raise ValueError(f"{listing}: must name an image a line, got none")
    return [name if is_address(name) else Path(name) for name in names]


def _written_sample(argument: str, out: Path, overwrite: bool) -> Path:
    """Put a sample into the folder of the outputs, and return its path."""
    name = argument.removeprefix(SAMPLE)
    image = datasets.sample(name)
    path = out / f"{name}.png"
    with recorded(out, f"sample.{name}", [path], overwrite):
        files.write_image(path, CheckedImage(image).as_bytes())
    return path


@contextmanager
def recorded(out: Path, name: str, outputs: Sequence[Path], overwrite: bool) -> Iterator[None]:
    """Let files be written into a folder, which is made, and record them; refuse before any work to replace others."""
    ledger = folder_ledger(out, name, overwrite)
    ledger.check(*(path.name for path in outputs))
    out.mkdir(parents=True, exist_ok=True)
    remove_leftovers(out)
    with alone(ledger.record):
        with ledger.writing():
            yield
        ledger.end(outputs)


def folder_ledger(out: Path, name: str, overwrite: bool) -> Ledger:
    """Return the ledger of what a verb writes once into a folder, rather than for each image."""
    return Ledger(out / f".imtorque.{name}.json", name, overwrite=overwrite)


def refuse_other(path: Path, load: Callable[[Path], object], overwrite: bool) -> None:
    """Refuse to replace a file by a model, unless it is one; remove what killed runs left beside it."""
    if path.parent.is_dir():
        remove_leftovers(path.parent)
    if overwrite or not os.path.lexists(path):
        return
    try:
        load(path)
    except (OSError, TypeError, ValueError):
        raise FileExistsError(
            f"{path}: must be such a model to be replaced, got another file; give another --out, or --overwrite"
        ) from None


def with_progress(items: Iterable[Item], total: int, name: str) -> Iterator[Item]:
    """Show a bar while there is something to wait for."""
    if total < 2:
        yield from items
        return
    with progress_bars() as tell:
        tell(name, 0, total)
        for done, item in enumerate(items, start=1):
            tell(name, done, total)
            yield item


@contextmanager
def progress_bars() -> Iterator[Callable[[str, int, int | None], None]]:
    """Give a function of (name, done, total) that shows a bar for each name, with the time left; on a terminal only."""
    if not on_terminal():
        yield lambda _name, _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bars: dict[str, Any] = {}
    # What is printed meanwhile goes above the bars, but stays on standard output where that is a file or a pipe.
    with Progress(*columns, console=Console(stderr=True), redirect_stdout=sys.stdout.isatty()) as shown:

        def tell(name: str, done: int, total: int | None) -> None:
            if name not in bars:
                bars[name] = shown.add_task(name, total=total)
            shown.update(bars[name], completed=done, total=total)

        yield tell


def on_terminal() -> bool:
    """Return whether standard error is a terminal; it may be closed."""
    return sys.stderr is not None and sys.stderr.isatty()
