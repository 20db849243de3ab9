"""The verb `maps`: how strongly edges circle each pixel, and at which patch size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import typer
from numpy.typing import NDArray

from imtorque.cli.batch import Task, Written, csv_table
from imtorque.cli.options import Canny, Opening, PatchShape, PatchSizes, parse_sizes
from imtorque.cli.runner import TableBatch
from imtorque.core.extrema import find_extrema
from imtorque.core.patterns import Pattern, Polarity, pattern_edges, pattern_matrix
from imtorque.core.torque import default_sizes, torque_map, value_and_scale_maps
from imtorque.core.types import Edges, Patch
from imtorque.files import write_array, write_image, write_text
from imtorque.render.torque import scale_image, value_image

EXTREMUM = ["y", "x", "size", "torque"]
WRITERS = {"npy": write_array, "tiff": write_image}
FORMS: dict[str, tuple[str, ...]] = {"npy": ("npy",), "tiff": ("tiff",), "both": ("npy", "tiff"), "none": ()}


@dataclass(frozen=True)
class DrawMaps(Task):
    """Value and scale maps, and torque maps of chosen sizes, as images and arrays."""

    verb: ClassVar[str] = "maps"
    canny: Canny
    opening: Opening
    sizes: tuple[int, ...] | None
    at: tuple[int, ...]
    patch: Patch
    alpha: float
    arrays: tuple[str, ...]
    pattern: Pattern
    polarity: Polarity
    extrema: int

    def run(self, source: Path, stem: str) -> Written:
        """Write the maps of one image."""
        field, value, scale, result = self._measured(source)
        limit, largest = result["full_colour_at"], float(result["sizes"][-1])
        outputs = [
            write_image(f"{stem}.value.png", value_image(value, limit)),
            write_image(f"{stem}.scale.png", scale_image(scale, largest)),
            *self._write_arrays(f"{stem}.value", value),
            *self._write_arrays(f"{stem}.scale", scale),
        ]
        for size in self.at:
            torque = torque_map(field, size, patch=self.patch, alpha=self.alpha, polarity=self.polarity)
            outputs.append(write_image(f"{stem}.size{size}.png", value_image(torque, limit)))
            outputs += self._write_arrays(f"{stem}.size{size}", torque)
        if self.extrema:
            outputs.append(write_text(f"{stem}.extrema.csv", csv_table(EXTREMUM, result["extrema"])))
        return outputs, result

    def measure(self, source: Path) -> dict[str, Any]:
        """Return the result for one image."""
        return self._measured(source)[-1]

    def rows(self, result: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the extrema asked for, or the strongest torque of the image."""
        found: list[dict[str, Any]] = result["extrema"] if self.extrema else [result["strongest"]]
        return found

    def _measured(self, source: Path) -> tuple[Edges, NDArray[Any], NDArray[Any], dict[str, Any]]:
        edges = self.canny.detect(self.opening.read(source))
        sizes = default_sizes(edges.shape) if self.sizes is None else np.asarray(self.sizes, np.int64)
        field = pattern_edges(edges, self.pattern)
        options: dict[str, Any] = {"patch": self.patch, "alpha": self.alpha, "polarity": self.polarity}
        value, scale = value_and_scale_maps(field, sizes, **options)
        y, x = (int(i) for i in np.unravel_index(np.argmax(np.abs(value)), value.shape))
        result: dict[str, Any] = {
            "height": edges.shape[0],
            "width": edges.shape[1],
            "full_colour_at": float(np.abs(value).max()),
            "sizes": sizes.tolist(),
            "strongest": {"y": y, "x": x, "size": abs(int(scale[y, x])), "torque": float(value[y, x])},
        }
        if self.extrema:
            found = find_extrema(field, sizes, count=self.extrema, **options)
            columns = (found.y.tolist(), found.x.tolist(), found.size.tolist(), found.value.tolist())
            rows = [(*place, float(f"{torque:.6g}")) for *place, torque in zip(*columns, strict=True)]
            result["extrema"] = [dict(zip(EXTREMUM, row, strict=True)) for row in rows]
        return field, value, scale, result

    def _write_arrays(self, stem: str, array: NDArray[Any]) -> list[Path]:
        return [WRITERS[form](f"{stem}.{form}", array) for form in self.arrays]


def maps(
    *,
    sizes: PatchSizes = None,
    at: Annotated[str | None, typer.Option(metavar="SIZES", help="Sizes to write the torque map of as well.")] = None,
    arrays: Annotated[
        Literal["npy", "tiff", "both", "none"], typer.Option(help="Form in which the maps are also written as numbers.")
    ] = "npy",
    patch: PatchShape = "square",
    alpha: Annotated[float, typer.Option(help="Exponent of the normalisation; below 2 favours larger patches.")] = 2.0,
    pattern: Annotated[
        str,
        typer.Option(
            metavar="PATTERN",
            help="What edges are to form around a pixel: circle, star, spiral, saddle, saddle-diagonal, or an angle in "
            "degrees, 0 for circles, 90 for stars, spirals between.",
        ),
    ] = "circle",
    polarity: Annotated[
        Polarity, typer.Option(help="free: how closed edges are, whichever of their sides is brighter.")
    ] = "signed",
    extrema: Annotated[
        int, typer.Option(min=0, metavar="N", help="Write a table of the N strongest extrema, too.")
    ] = 0,
    canny: Canny,
    opening: Opening,
    batch: TableBatch,
) -> None:
    """Write the value map and the scale map: how strongly edges circle each pixel, and at which patch size.

    Red is positive (bright object), blue negative (dark object). With --polarity free red is what edges circle, and
    blue what they point to.

    Example: [bold]imtorque maps sample:hopper --at 5,21,45,81[/bold]

    Of very many: [bold]imtorque maps --paths list.txt --extrema 20 --table all.parquet[/bold]
    """
    task = DrawMaps(
        canny=canny,
        opening=opening,
        sizes=parse_sizes("--sizes", sizes),
        at=parse_sizes("--at", at) or (),
        patch=patch,
        alpha=alpha,
        arrays=FORMS[arrays],
        pattern=_parse_pattern(pattern),
        polarity=polarity,
        extrema=extrema,
    )
    batch.run(task, _describe)


def _parse_pattern(text: str) -> Pattern:
    """Read the name of a pattern, or an angle in degrees."""
    try:
        pattern: Any = math.radians(float(text))
    except ValueError:
        pattern = text
    try:
        pattern_matrix(pattern)
    except ValueError as error:
        message = str(error).replace("radians", "degrees")
        raise typer.BadParameter(message, param_hint="--pattern") from None
    chosen: Pattern = pattern
    return chosen


def _describe(result: dict[str, Any]) -> str:
    best = result["strongest"]
    if best["torque"] == 0:
        return "no torque anywhere"
    return f"strongest torque {best['torque']:+.2f} at y {best['y']}, x {best['x']}, size {best['size']}"
