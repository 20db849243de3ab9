"""The verb `imtorque demo`: what the operator finds, on images that are always at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import typer
from PIL import Image as PillowImage

import imtorque
from imtorque import datasets
from imtorque.cli.batch import csv_table
from imtorque.cli.count import object_columns, object_rows
from imtorque.cli.options import Json, Out, Overwrite
from imtorque.cli.runner import one_line_errors, recorded
from imtorque.files import write_text
from imtorque.io.atomic import replacing

SAMPLES = ("shapes", "hopper")


def demo(out: Out = Path("imtorque-demo"), overwrite: Overwrite = False, as_json: Json = False) -> None:
    """Show on a drawn scene and on a photograph what image torque finds.

    Writes for each a one-page image and a table of the strongest extrema.

    Example: [bold]imtorque demo[/bold]
    """
    with one_line_errors():
        outputs = [out / f"{name}.demo.{suffix}" for name in SAMPLES for suffix in ("png", "csv")]
        with recorded(out, "demo", outputs, overwrite):
            written = [_write_demo(name, out) for name in SAMPLES]
    if as_json:
        typer.echo(json.dumps({"verb": "demo", "version": imtorque.__version__, "samples": written}, indent=1))
        return
    for sample in written:
        _print_table(sample)
    typer.echo("Look at:")
    for sample in written:
        typer.echo("\n".join(f"  {path}" for path in sample["outputs"]))


def _write_demo(name: str, out: Path) -> dict[str, Any]:
    """Write the page and the table of one sample."""
    from imtorque.plotting import overview  # brings matplotlib

    image = datasets.sample(name)
    if image.ndim == 3:  # the photograph: halved, as the paper's are
        image = np.asarray(PillowImage.fromarray(image).reduce(2))
    found = imtorque.find_blobs(image, method="paper", count=12)
    page, table = out / f"{name}.demo.png", out / f"{name}.demo.csv"
    with replacing(page) as partial:
        overview(image, found, title=f"{name}: from edges to extrema of the torque").savefig(
            partial, format="png", dpi=110
        )
    rows = object_rows(found)
    write_text(table, csv_table(object_columns(in_micrometres=False), rows))
    return {"sample": name, "outputs": [str(page), str(table)], "blobs": rows}


def _print_table(sample: dict[str, Any], rows: int = 5) -> None:
    typer.echo(f"{sample['sample']}: the {rows} strongest of {len(sample['blobs'])}")
    typer.echo("  number    y    x  size  torque")
    for blob in sample["blobs"][:rows]:
        kind = "bright" if blob["torque"] > 0 else "dark"
        typer.echo(
            f"  {blob['number']:6} {blob['y']:4.0f} {blob['x']:4.0f} {blob['size']:5}   {blob['torque']:+.2f}  {kind}"
        )
