"""What the verbs that cut objects out do to one image."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from imtorque.cli.boundary_tasks import edge_map_by
from imtorque.cli.opening import AS_IT_IS, Opening
from imtorque.cli.tasks import Written, table
from imtorque.files import write_image, write_text
from imtorque.render.figures import figure_overlay, figure_rows, label_mask
from imtorque.segmentation import segment_figure
from imtorque.segmentation.objects import segment_objects

Points = tuple[tuple[float, float], ...]
COLUMNS = ["number", "area", "y0", "x0", "y1", "x1", "centroid_y", "centroid_x"]


@dataclass(frozen=True)
class CutOutFigure:
    """The object under a click: its mask, the image with its outline, a table."""

    verb: ClassVar[str] = "fixate"
    at: Points
    remove: Points
    cue: str | None
    size: float | None
    box: tuple[float, ...] | None = None
    opening: Opening = AS_IT_IS
    detector: str | None = None

    def inputs(self, source: Path) -> list[Path]:
        """Return the image."""
        return [source]

    def run(self, source: Path, stem: str) -> Written:
        """Write the figure of one image."""
        image = self.opening.read(source)
        edge_map: Any = self.cue if self.detector is None else edge_map_by(self.detector, image)
        mask = segment_figure(
            image, self.at[0], add=self.at[1:], remove=self.remove, edge_map=edge_map, size=self.size, box=self.box
        )
        rows = figure_rows([mask])
        outputs = [
            write_image(f"{stem}.mask.png", mask.astype(np.uint8) * np.uint8(255)),
            write_image(f"{stem}.png", figure_overlay(image, [mask], self.at, self.remove)),
            write_text(f"{stem}.csv", table(COLUMNS, rows)),
        ]
        return outputs, {"height": mask.shape[0], "width": mask.shape[1], **rows[0]}


@dataclass(frozen=True)
class CutOutObjects:
    """What looks most like objects: a label image, the image with their outlines, a table."""

    verb: ClassVar[str] = "objects"
    count: int
    opening: Opening = AS_IT_IS

    def inputs(self, source: Path) -> list[Path]:
        """Return the image."""
        return [source]

    def run(self, source: Path, stem: str) -> Written:
        """Write the objects of one image."""
        image = self.opening.read(source)
        masks: NDArray[np.bool_] = segment_objects(image, self.count)
        shape = (image.shape[0], image.shape[1])
        rows = figure_rows(list(masks))
        outputs = [
            write_image(f"{stem}.labels.tiff", label_mask(list(masks), shape)),
            write_image(f"{stem}.png", figure_overlay(image, list(masks))),
            write_text(f"{stem}.csv", table(COLUMNS, rows)),
        ]
        result: dict[str, Any] = {"height": shape[0], "width": shape[1], "count": len(rows), "objects": rows}
        return outputs, result
