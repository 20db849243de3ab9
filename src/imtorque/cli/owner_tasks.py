"""What the verb about owners of edges does to one picture: files in, files and numbers out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from imtorque.boundaries.ownership import Learned, border_ownership, ownership_edges
from imtorque.cli.opening import AS_IT_IS, Opening
from imtorque.cli.tasks import Written
from imtorque.files import write_array, write_picture
from imtorque.render.ownership import owner_picture


@dataclass(frozen=True)
class FindOwners:
    """Owners of edges: a picture with a coloured rim on the side of each, and an array."""

    verb: ClassVar[str] = "owners"
    model: Learned
    rounds: int
    opening: Opening = AS_IT_IS

    def inputs(self, source: Path) -> list[Path]:
        """Return the picture."""
        return [source]

    def run(self, source: Path, stem: str) -> Written:
        """Write the owners of one picture's edges."""
        image = self.opening.read(source)
        edges = ownership_edges(image)
        side = border_ownership(edges, model=self.model, rounds=self.rounds)
        outputs = [
            write_picture(f"{stem}.png", owner_picture(image, edges, side)),
            write_array(f"{stem}.npy", side.astype(np.float32)),
        ]
        found = {"edge_pixels": int(np.count_nonzero(edges.mask)), "brighter": int(np.count_nonzero(side > 0))}
        return outputs, {"height": edges.shape[0], "width": edges.shape[1], **found}
