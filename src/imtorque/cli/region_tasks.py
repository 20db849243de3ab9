"""What the verb that divides images into regions does to one of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from imtorque.cli.boundary_tasks import boundaries_by
from imtorque.cli.opening import AS_IT_IS, Opening
from imtorque.cli.tasks import Written, table
from imtorque.files import write_array, write_image, write_text
from imtorque.render.regions import mean_colour_image, outline_image, region_rows
from imtorque.segmentation import segment_regions

COLUMNS = ["number", "area", "y0", "x0", "y1", "x1", "centroid_y", "centroid_x", "red", "green", "blue"]


@dataclass(frozen=True)
class DivideIntoRegions:
    """Regions: their outlines on the image, the regions in their mean colours, their numbers, a table."""

    verb: ClassVar[str] = "segment"
    count: int | None
    threshold: float | None
    smoothness: float
    method: Literal["torque", "ucm"] = "torque"
    opening: Opening = AS_IT_IS
    detector: str | None = None

    def inputs(self, source: Path) -> list[Path]:
        """Return the image."""
        return [source]

    def run(self, source: Path, stem: str) -> Written:
        """Write the regions of one image."""
        image = self.opening.read(source)
        labels = segment_regions(
            image,
            count=self.count,
            threshold=self.threshold,
            smoothness=self.smoothness,
            method=self.method,
            boundaries=None if self.detector is None else boundaries_by(self.detector, image),
        )
        rows = region_rows(image, labels)
        outputs = [
            write_image(f"{stem}.png", outline_image(image, labels)),
            write_image(f"{stem}.colours.png", mean_colour_image(image, labels)),
            write_image(f"{stem}.labels.tiff", (labels + 1).astype(np.uint16)),
            write_array(f"{stem}.npy", labels),
            write_text(f"{stem}.csv", table(COLUMNS, rows)),
        ]
        return outputs, {"height": labels.shape[0], "width": labels.shape[1], "count": len(rows), "regions": rows}
