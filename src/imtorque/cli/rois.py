"""The option that has outlines written for other programs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from imtorque.detection import Blobs
from imtorque.files import write_bytes, write_text


class Form(StrEnum):
    """Whose form outlines are written in."""

    geojson = "geojson"
    imagej = "imagej"


Rois = Annotated[
    Form | None, typer.Option(help="Also write outlines for QuPath (geojson) or for ImageJ (imagej, needs roifile).")
]


def write_rois(stem: str, blobs: Blobs, form: Form | None, reduced: int) -> list[Path]:
    """Write outlines in the pixels of the file itself, and return what was written; nothing where no form is given."""
    if form is None:
        return []
    if form is Form.geojson:
        return [write_text(f"{stem}.geojson", blobs.to_geojson(scale=reduced))]
    return [write_bytes(f"{stem}.rois.zip", blobs.to_imagej_rois(scale=reduced))]
