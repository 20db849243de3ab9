"""The verb `border-ownership`: which side of each edge is the figure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import typer

from imtorque.boundaries.ownership import Learned, ownership_edges
from imtorque.boundaries.ownership import border_ownership as owned_sides
from imtorque.cli.batch import Task, Written
from imtorque.cli.options import Opening
from imtorque.cli.runner import Batch
from imtorque.files import write_array, write_image
from imtorque.render.ownership import owner_image


@dataclass(frozen=True)
class AssignBorders(Task):
    """Border ownership: an image with a coloured rim on the side of each edge's owner, and an array."""

    verb: ClassVar[str] = "border-ownership"
    model: Learned
    rounds: int
    opening: Opening

    def run(self, source: Path, stem: str) -> Written:
        """Write the owners of one image's edges."""
        image = self.opening.read(source)
        edges = ownership_edges(image)
        side = owned_sides(edges, model=self.model, rounds=self.rounds)
        outputs = [
            write_image(f"{stem}.png", owner_image(image, edges, side)),
            write_array(f"{stem}.npy", side.astype(np.float32)),
        ]
        found = {"edge_pixels": int(np.count_nonzero(edges.mask)), "brighter": int(np.count_nonzero(side > 0))}
        return outputs, {"height": edges.shape[0], "width": edges.shape[1], **found}


def border_ownership(
    *,
    model: Annotated[Learned, typer.Option(help="What the weights were learned from.")] = "photographs",
    rounds: Annotated[
        int, typer.Option(min=1, max=100, metavar="N", help="How often edges are judged; 2 for photographs.")
    ] = 2,
    opening: Opening,
    batch: Batch,
) -> None:
    """Say which side of each edge is the figure: an image with a rim on that side, and an array.

    Red rims lie on the brighter side, blue ones on the darker. The array is positive, negative, and 0 off the edges.

    Example: [bold]imtorque border-ownership sample:hopper[/bold]
    """
    batch.run(AssignBorders(model, rounds, opening), _describe)


def _describe(result: dict[str, Any]) -> str:
    return f"{result['edge_pixels']} edge pixels, {result['brighter']} owned by their brighter side"
