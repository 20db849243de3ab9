"""The verb `saliency`: where people look, as a map and as fixations in order."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
import typer

from imtorque.cli.batch import Task, Written, csv_table
from imtorque.cli.options import Opening, number_of
from imtorque.cli.runner import Batch
from imtorque.files import write_array, write_image, write_text
from imtorque.render.saliency import heat_overlay
from imtorque.saliency import METHODS, saliency_map, scan_path
from imtorque.saliency.registry import DEFAULT_SHARE

FIXATION = ["order", "y", "x", "saliency"]
if TYPE_CHECKING:
    Method = str
else:
    Method = Literal[*METHODS]


@dataclass(frozen=True)
class PredictFixations(Task):
    """Saliency: the map laid over the image, the map in grey and as an array, and a table of fixations in order."""

    verb: ClassVar[str] = "saliency"
    method: str
    share: float
    fixations: int
    opening: Opening

    def run(self, source: Path, stem: str) -> Written:
        """Write the saliency of one image."""
        image = self.opening.read(source)
        saliency = saliency_map(image, self.method, share=self.share)
        y, x = scan_path(saliency, self.fixations)
        rows = [
            {"order": k, "y": int(row), "x": int(column), "saliency": float(f"{saliency[row, column]:.6g}")}
            for k, (row, column) in enumerate(zip(y, x, strict=True), start=1)
        ]
        outputs = [
            write_image(f"{stem}.png", heat_overlay(image, saliency, y, x)),
            write_image(f"{stem}.map.png", np.round(255 * saliency).astype(np.uint8)),
            write_array(f"{stem}.npy", saliency.astype(np.float32)),
            write_text(f"{stem}.csv", csv_table(FIXATION, rows)),
        ]
        size = {"height": image.shape[0], "width": image.shape[1]}
        return outputs, {**size, "salient": bool(saliency.max() > 0), "fixations": rows}


def saliency(
    *,
    method: Annotated[
        Method,
        typer.Option(help="; ".join(f"{name}: {known.title}" for name, known in METHODS.items())),
    ] = "blend",
    share: Annotated[
        float, typer.Option(min=0, max=1, help="Share of torque in the blend; the paper's is 0.3.")
    ] = DEFAULT_SHARE,
    fixations: Annotated[
        int, typer.Option(min=0, max=1000, metavar="N", help="Places to predict, in the order of looking.")
    ] = 10,
    opening: Opening,
    batch: Batch,
) -> None:
    """Predict where people look: a heat map over the image, the map in grey and as an array, a table of fixations.

    Example: [bold]imtorque saliency sample:hopper --fixations 5[/bold]
    """
    batch.run(PredictFixations(method, share, fixations, opening), _describe)


def _describe(result: dict[str, Any]) -> str:
    if not result["fixations"]:
        return "no fixations" if result["salient"] else "nothing is salient"
    first = result["fixations"][0]
    return f"{number_of(len(result['fixations']), 'fixation')}, the first at y {first['y']}, x {first['x']}"
