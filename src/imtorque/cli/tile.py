"""The verb `tile`: images that outgrow memory, in tiles, on this machine's processes or a cluster's workers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from imtorque.cli.batch import client_of
from imtorque.cli.options import (
    Canny,
    Channel,
    Jobs,
    Json,
    Page,
    PatchShape,
    PatchSizes,
    Scheduler,
    number_of,
    parse_sizes,
)
from imtorque.cli.runner import one_line_errors, progress_bars

if TYPE_CHECKING:
    from imtorque.tiling import Summary

NEEDED = ("dask", "distributed", "zarr", "pyarrow")


def tile(
    *,
    image: Annotated[
        str,
        typer.Argument(
            metavar="IMAGE",
            show_default=False,
            help="A TIFF of any kind and size, a zarr array or OME-Zarr folder, a .npy file, a PNG or JPEG.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for the results of this image.")],
    sizes: PatchSizes = None,
    outputs: Annotated[
        str,
        typer.Option(
            help="Which of value, scale, edges, extrema, blobs, strengthened, saliency. Blobs are the paper's, as "
            'find_blobs(..., method="paper") has them, not the objects of imtorque count.'
        ),
    ] = "value,scale,edges,blobs",
    tile: Annotated[
        int, typer.Option(min=1, max=16384, metavar="N", help="Side of the tiles in pixels; changes no result.")
    ] = 2048,
    count: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Write a table of the N strongest extrema.")
    ] = None,
    extrema: Annotated[
        str | None,
        typer.Option(
            metavar="all|T",
            help="Write a table of all extrema, which is long and held at once, or of those with |torque| from T on.",
        ),
    ] = None,
    level: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Of strengthened edges and saliency: reduce the image by 2^N first."),
    ] = None,
    table: Annotated[Literal["csv", "parquet"], typer.Option(help="Form of the tables.")] = "csv",
    patch: PatchShape = "square",
    canny: Canny,
    strength_scale: Annotated[
        float | None, typer.Option(help="Gradient that becomes force 1; needed with --force strength.")
    ] = None,
    page: Page = None,
    channel: Channel = None,
    source_level: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Which level of the file's own pyramid to work on.")
    ] = None,
    scheduler: Scheduler = None,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Process an image of any size in tiles: maps and tables, to the bit as in memory; the same command resumes.

    Example: [bold]imtorque tile slide.svs --out slide --sizes 3-91[/bold]
    """
    least = _least_torque(extrema)
    chosen = [name.strip() for name in outputs.split(",")]
    if "extrema" not in chosen and (count is not None or extrema is not None):
        chosen.append("extrema")
    with one_line_errors():
        need_extra()
        from imtorque.tiling import open_image, process_image

        source = open_image(image, level=source_level, channel=channel, page=page)
        connection = nullcontext() if scheduler is None else client_of(scheduler)
        with connection as client, progress_bars() as progress, resumable():
            summary = process_image(
                source,
                out,
                parse_sizes("--sizes", sizes),
                chosen,
                tile=tile,
                client=client,
                jobs=jobs,
                **asdict(canny),
                strength_scale=strength_scale,
                patch=patch,
                count=count,
                least=least,
                level=level,
                table=table,
                progress=progress,
            )
    typer.echo(json.dumps(asdict(summary)) if as_json else _describe(summary))


def _least_torque(extrema: str | None) -> float:
    """Return from which |torque| on extrema are written: all, or a number."""
    if extrema is None or extrema == "all":
        return 0.0
    try:
        return float(extrema)
    except ValueError:
        raise typer.BadParameter(f"must be all or a number, got {extrema!r}", param_hint="--extrema") from None


def need_extra() -> None:
    """Refuse to begin without the packages of the extra."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise ValueError(f"large images need {', '.join(missing)}: pip install 'imtorque[scale]'")


@contextmanager
def resumable() -> Iterator[None]:
    """Say that the same command goes on, where it is stopped; failures of tiles and of a cluster are one line."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("stopped; the same command goes on from there", err=True)
        raise typer.Exit(130) from None
    except RuntimeError as error:
        raise ValueError(str(error)) from None


def _describe(summary: Summary) -> str:
    height, width = summary.shape
    counts = {"edge pixels": summary.edge_pixels, "extrema": summary.extrema, "blobs": summary.blobs}
    found = [f"{count} {name}" for name, count in counts.items() if count is not None]
    tiles = number_of(summary.tiles, "tile")
    return f"{height} x {width} pixels in {tiles}: {', '.join([*found, f'results in {summary.out}'])}"
