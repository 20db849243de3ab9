"""Very many images: lists of paths, one table of all, and clusters."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from imtorque.cli.batch import Outcome, TableTask, made
from imtorque.files import output_names
from imtorque.io.errors import describe_error
from imtorque.io.urls import is_address
from imtorque.jobs.chunks import Rows
from imtorque.jobs.files import file_outcomes, file_state

Source = Path | str  # a str is an address

Paths = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="File with a path or an address (s3://, https://) a line; - is standard input."),
]
Table = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write one table of all images, .parquet or .csv, and files for each only where --out is given, too.",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="tcp://HOST:8786", help="Work on a cluster of dask's instead of here. Needs --table."),
]
Retry = Annotated[
    bool, typer.Option("--retry", help="Try images again that failed before, though they have not changed.")
]


@dataclass(frozen=True)
class Many:
    """The options of these names."""

    paths: str | None = None
    table: Path | None = None
    scheduler: str | None = None
    retry: bool = False

    def check(self, images: Sequence[str], jobs: int | None) -> None:
        """Refuse options that do not go together."""
        if not images and self.paths is None:
            raise typer.BadParameter("images must be given, as arguments or by --paths", param_hint="IMAGE")
        if self.table is None and (self.scheduler is not None or self.retry):
            raise typer.BadParameter("must come with --table", param_hint="--retry" if self.retry else "--scheduler")
        if self.scheduler is not None and jobs is not None:
            raise typer.BadParameter("must be left out with --scheduler", param_hint="--jobs")

    def shared(self, path: Path) -> str:
        """Return a path as workers are told it: elsewhere, a relative one would be another."""
        return str(path if self.scheduler is None else path.absolute())

    def listed(self) -> list[Source]:
        """Return what the file of paths names, each once; nothing where there is none."""
        if self.paths is None:
            return []
        if self.paths == "-":
            lines = sys.stdin.read().splitlines()
        else:
            lines = Path(self.paths).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        names = dict.fromkeys(line.strip() for line in lines if line.strip())
        if not names:
            raise ValueError(f"{self.paths}: must name an image a line, got none")
        return [name if is_address(name) else Path(name) for name in names]


NONE = Many()


def into_table(
    task: TableTask, sources: Sequence[Source], out: Path | None, many: Many, jobs: int | None
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
    many
        Says which table, and where the work is done.
    jobs
        How many processes, where it is done here.
    """
    assert many.table is not None
    files = [(str(source), beside) for source, beside in zip(sources, _beside(task, sources, out), strict=True)]
    with ExitStack() as stack:
        client = None if many.scheduler is None else stack.enter_context(client_of(many.scheduler))
        try:
            for done in file_outcomes(_Call(task), files, many.table, client=client, jobs=jobs, retry=many.retry):
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
