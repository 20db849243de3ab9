"""What `count --tile` does: images of any size, in tiles, each into a folder that the same command resumes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from imtorque.cli.batch import client_of
from imtorque.cli.options import Opening, number_of
from imtorque.cli.runner import TableBatch, find_sources, one_line_errors, progress_bars
from imtorque.cli.tile import need_extra, resumable
from imtorque.files import output_names
from imtorque.io.errors import describe_error

if TYPE_CHECKING:
    from imtorque.tiling import ObjectSummary


def count_in_tiles(batch: TableBatch, opening: Opening, settings: Mapping[str, Any]) -> None:
    """Count the objects of each image in tiles, and end with the status that says whether all went well."""
    batch.check_images()
    with one_line_errors():
        need_extra()
        images, bad = find_sources(batch.images or [], batch.folder, batch.overwrite, batch.paths)
        names = output_names([Path(image) for image in images])
        for outcome in bad:
            typer.echo(f"imtorque: {outcome.error}", err=True)
        connection = nullcontext() if batch.scheduler is None else client_of(batch.scheduler)
        counted, failed = [], len(bad)
        with connection as client, progress_bars() as progress:
            for image, name in zip(map(str, images), names, strict=True):
                options = {"client": client, "jobs": batch.jobs, "progress": progress, **settings}
                try:
                    summary = _counted(image, batch.folder / f"{name}.count.tiles", opening, options)
                except (OSError, TypeError, ValueError) as error:
                    failed += 1
                    typer.echo(f"imtorque: {_with_name(image, describe_error(error))}", err=True)
                    continue
                counted.append({"input": image, **asdict(summary)})
                if not batch.as_json:
                    typer.echo(f"{image}: {_describe(summary)}")
    if batch.as_json:
        typer.echo(json.dumps({"verb": "count", "images": counted, "failed": failed}))
    if failed:
        raise typer.Exit(1)


def _counted(image: str, out: Path, opening: Opening, options: Mapping[str, Any]) -> ObjectSummary:
    from imtorque.tiling import count_objects, open_image

    source = open_image(image, channel=opening.channel, page=opening.page)
    given = {name: value for name, value in options.items() if name != "in_micrometres"}
    if options["in_micrometres"]:
        if source.affine is None or source.affine.unit != "micrometer":
            raise ValueError("--sizes in um needs an image that says how large its pixels are, got none")
        given["sizes"] = tuple(size / math.sqrt(math.prod(source.affine.pixel_size)) for size in options["sizes"])
    with resumable():
        return count_objects(source, out, **given)


def _with_name(image: str, text: str) -> str:
    return text if image in text else f"{image}: {text}"


def _describe(summary: ObjectSummary) -> str:
    size = "" if summary.mean_diameter is None else f", mean diameter {summary.mean_diameter:.1f} px"
    found_in = "" if summary.plane in ("grey", "edges") else f", found in {summary.plane}"
    doubtful = number_of(summary.doubtful_tiles, "tile")
    unlike = f"; warning: {doubtful} unlike the annotated images" if summary.doubtful_tiles else ""
    tiles = f" in {number_of(summary.tiles, 'tile')} of {summary.shape[0]} x {summary.shape[1]} pixels"
    kinds = f"({summary.bright} bright, {summary.dark} dark)"
    return f"{number_of(summary.count, 'object')} {kinds}{size}{found_in}{unlike}{tiles}; results in {summary.out}"
