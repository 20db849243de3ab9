"""The verb for images that outgrow memory: in tiles, on this machine's processes or a cluster's workers."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from imtorque.cli.many import client_of
from imtorque.cli.opening import Channel, Page
from imtorque.cli.parsing import parse_sizes
from imtorque.cli.running import Json, one_line_errors
from imtorque.cli.torque import Force, Forces, High, Low, Patch, Sigma, Sizes
from imtorque.edges import SQRT2

if TYPE_CHECKING:
    from imtorque.tiling import Summary

NEEDED = ("dask", "distributed", "zarr", "pyarrow")


class Table(StrEnum):
    """Forms of tables."""

    csv = "csv"
    parquet = "parquet"


def large(
    image: Annotated[
        str,
        typer.Argument(
            metavar="IMAGE",
            show_default=False,
            help="A TIFF of any kind and size, a zarr array or OME-Zarr folder, a .npy file, a whole slide.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for the results of this image.")],
    sizes: Sizes = None,
    outputs: Annotated[
        str,
        typer.Option(
            help="Which of value, scale, edges, extrema, blobs, strengthened, saliency. Blobs are the paper's, as "
            'find_blobs(..., method="paper") has them, not those of imtorque blobs.'
        ),
    ] = "value,scale,edges,extrema,blobs",
    tile: Annotated[
        int, typer.Option(min=1, max=16384, metavar="N", help="Side of the tiles in pixels; changes no result.")
    ] = 2048,
    count: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Keep the N strongest extrema; all by default.")
    ] = None,
    level: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Of strengthened edges and saliency: reduce the image by 2^N first."),
    ] = None,
    table: Annotated[Table, typer.Option(help="Form of the tables.")] = Table.csv,
    patch: Annotated[Patch, typer.Option(help="Shape of the patches.")] = Patch.square,
    sigma: Sigma = SQRT2,
    low: Low = None,
    high: High = None,
    force: Forces = Force.unit,
    strength_scale: Annotated[
        float | None, typer.Option(help="Gradient that becomes force 1; needed with --force strength.")
    ] = None,
    page: Page = None,
    channel: Channel = None,
    source_level: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Which level of the file's own pyramid to work on.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, metavar="N", help="Processes; as many as cores by default.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="tcp://HOST:8786", help="Work on a cluster of dask's instead of here.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute maps and tables of an image of any size, to the bit as in memory; the same command resumes.

    Example: [bold]imtorque large slide.svs --out slide --sizes 3-91[/bold]
    """
    with one_line_errors():
        _need_extra()
        from imtorque.tiling import open_image, process_image

        source = open_image(image, level=source_level, channel=channel, page=page)
        connection = nullcontext() if scheduler is None else client_of(scheduler)
        with connection as client, _progress() as progress, _resumable():
            summary = process_image(
                source,
                out,
                parse_sizes("--sizes", sizes),
                [name.strip() for name in outputs.split(",")],
                tile=tile,
                client=client,
                jobs=jobs,
                sigma=sigma,
                low=low,
                high=high,
                force=force.value,
                strength_scale=strength_scale,
                patch=patch.value,
                count=count,
                level=level,
                table=table.value,
                progress=progress,
            )
    if as_json:
        typer.echo(json.dumps(asdict(summary)))
        return
    typer.echo(_described(summary))


def _need_extra() -> None:
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise ValueError(f"large images need {', '.join(missing)}: pip install 'imtorque[scale]'")


@contextmanager
def _resumable() -> Iterator[None]:
    """Say that the same command goes on, where it is stopped; failures of tiles and of a cluster are one line."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("stopped; the same command goes on from there", err=True)
        raise typer.Exit(130) from None
    except RuntimeError as error:
        raise ValueError(str(error)) from None


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None] | None]:
    """Show a bar for each pass, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bars: dict[str, Any] = {}
    with Progress(*columns, console=Console(stderr=True)) as shown:

        def tell(name: str, done: int, total: int) -> None:
            if name not in bars:
                bars[name] = shown.add_task(name, total=total)
            shown.update(bars[name], completed=done)

        yield tell


def _described(summary: Summary) -> str:
    height, width = summary.shape
    counts = {"edge pixels": summary.edge_pixels, "extrema": summary.extrema, "blobs": summary.blobs}
    found = [f"{count} {name}" for name, count in counts.items() if count is not None]
    tiles = "1 tile" if summary.tiles == 1 else f"{summary.tiles} tiles"
    return f"{height} x {width} pixels in {tiles}: {', '.join([*found, f'results in {summary.out}'])}"
