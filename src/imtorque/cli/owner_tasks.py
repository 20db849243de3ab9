"""What the verb about owners of edges does to one image: files in, files and numbers out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from imtorque.boundaries.ownership import Learned, border_ownership, ownership_edges
from imtorque.cli.opening import AS_IT_IS, Opening
from imtorque.cli.tasks import Written
from imtorque.files import write_array, write_image
from imtorque.render.ownership import owner_image


@dataclass(frozen=True)
class FindOwners:
    """Owners of edges: an image with a coloured rim on the side of each, and an array."""

    verb: ClassVar[str] = "owners"
    model: Learned
    rounds: int
    opening: Opening = AS_IT_IS

    def inputs(self, source: Path) -> list[Path]:
        """Return the image."""
        return [source]

    def run(self, source: Path, stem: str) -> Written:
        """Write the owners of one image's edges."""
        image = self.opening.read(source)
        edges = ownership_edges(image)
        side = border_ownership(edges, model=self.model, rounds=self.rounds)
        outputs = [
            write_image(f"{stem}.png", owner_image(image, edges, side)),
            write_array(f"{stem}.npy", side.astype(np.float32)),
        ]
        found = {"edge_pixels": int(np.count_nonzero(edges.mask)), "brighter": int(np.count_nonzero(side > 0))}
        return outputs, {"height": edges.shape[0], "width": edges.shape[1], **found}
