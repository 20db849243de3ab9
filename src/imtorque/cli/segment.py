"""The verb `segment`: regions of an image, the object under a click, or what looks most like objects."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
import typer

from imtorque.cli.batch import Task, Written, csv_table
from imtorque.cli.options import Opening, detector_option, number_of, refuse
from imtorque.cli.runner import Batch
from imtorque.edges import DETECTORS, find_recipe
from imtorque.files import write_array, write_image, write_text
from imtorque.images import CheckedImage
from imtorque.paper import in_unit_range
from imtorque.render.figures import figure_overlay, figure_rows, label_mask
from imtorque.render.regions import mean_colour_image, outline_image, region_rows
from imtorque.segmentation import segment_figure, segment_regions
from imtorque.segmentation.cues import CUES, TYPICAL_QUANTILE
from imtorque.segmentation.objects import segment_objects
from imtorque.segmentation.regions import SMOOTHNESS

if TYPE_CHECKING:
    Cue = str
else:
    Cue = Literal[*CUES]
Method = Literal["torque", "ucm"]
Points = tuple[tuple[float, float], ...]
OBJECT = ["number", "area", "y0", "x0", "y1", "x1", "centroid_y", "centroid_x"]
REGION = [*OBJECT, "red", "green", "blue"]
REGIONS_PANEL, OBJECTS_PANEL, CLICK_PANEL = "Regions", "Objects, without a click", "The object under a click"


@dataclass(frozen=True)
class SegmentRegions(Task):
    """Regions: their outlines on the image, the regions in their mean colours, their numbers, a table."""

    verb: ClassVar[str] = "segment"
    count: int | None
    threshold: float | None
    smoothness: float
    method: Method
    detector: str | None
    opening: Opening

    def run(self, source: Path, stem: str) -> Written:
        """Write the regions of one image."""
        image = self.opening.read(source)
        closed = None if self.detector is None else DETECTORS[self.detector].oriented_map
        labels = segment_regions(
            image,
            count=self.count,
            threshold=self.threshold,
            smoothness=self.smoothness,
            method=self.method,
            boundaries=None if closed is None else closed(CheckedImage(image)),
        )
        rows = region_rows(image, labels)
        outputs = [
            write_image(f"{stem}.png", outline_image(image, labels)),
            write_image(f"{stem}.colours.png", mean_colour_image(image, labels)),
            write_image(f"{stem}.labels.tiff", (labels + 1).astype(np.uint16)),
            write_array(f"{stem}.npy", labels),
            write_text(f"{stem}.csv", csv_table(REGION, rows)),
        ]
        return outputs, {"height": labels.shape[0], "width": labels.shape[1], "count": len(rows), "regions": rows}


@dataclass(frozen=True)
class SegmentObjects(Task):
    """What looks most like objects: a label image, the image with their outlines, a table."""

    verb: ClassVar[str] = "segment"
    objects: int
    opening: Opening

    def run(self, source: Path, stem: str) -> Written:
        """Write the objects of one image."""
        image = self.opening.read(source)
        masks, shape = list(segment_objects(image, self.objects)), (image.shape[0], image.shape[1])
        rows = figure_rows(masks)
        outputs = [
            write_image(f"{stem}.labels.tiff", label_mask(masks, shape)),
            write_image(f"{stem}.png", figure_overlay(image, masks)),
            write_text(f"{stem}.csv", csv_table(OBJECT, rows)),
        ]
        return outputs, {"height": shape[0], "width": shape[1], "count": len(rows), "objects": rows}


@dataclass(frozen=True)
class SegmentFigure(Task):
    """The object under a click: its mask, the image with its outline, a table."""

    verb: ClassVar[str] = "segment"
    at: Points
    remove: Points
    box: tuple[float, ...] | None
    cue: str | None
    detector: str | None
    size: float | None
    opening: Opening

    def run(self, source: Path, stem: str) -> Written:
        """Write the object of one image."""
        image = self.opening.read(source)
        edge_map: Any = self.cue
        if self.detector is not None:  # as strong as the cues: 1 % of the edges reach 1
            edges = find_recipe(self.detector).edges(image)
            edge_map = in_unit_range(edges.strength.astype(np.float64), TYPICAL_QUANTILE)
        mask = segment_figure(
            image, self.at[0], add=self.at[1:], remove=self.remove, edge_map=edge_map, size=self.size, box=self.box
        )
        rows = figure_rows([mask])
        outputs = [
            write_image(f"{stem}.mask.png", mask.astype(np.uint8) * np.uint8(255)),
            write_image(f"{stem}.png", figure_overlay(image, [mask], self.at, self.remove)),
            write_text(f"{stem}.csv", csv_table(OBJECT, rows)),
        ]
        return outputs, {"height": mask.shape[0], "width": mask.shape[1], **rows[0]}


def segment(
    *,
    count: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="How many regions; by default as many as it takes.", rich_help_panel=REGIONS_PANEL
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="T",
            help="How unlike regions must be not to be merged; higher for fewer.",
            rich_help_panel=REGIONS_PANEL,
        ),
    ] = None,
    smoothness: Annotated[
        float | None,
        typer.Option(
            min=0,
            show_default=f"{SMOOTHNESS:g}",
            help="What borders cost: higher for simpler outlines.",
            rich_help_panel=REGIONS_PANEL,
        ),
    ] = None,
    method: Annotated[
        Method | None,
        typer.Option(
            show_default="torque",
            help="ucm: between the closed contours of gPb or of --detector, in seconds; --threshold from 0 to 1.",
            rich_help_panel=REGIONS_PANEL,
        ),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(
            "--at", "--add", metavar="Y,X", help="A pixel on the object; repeatable.", rich_help_panel=CLICK_PANEL
        ),
    ] = None,
    remove: Annotated[
        list[str] | None,
        typer.Option(metavar="Y,X", help="A pixel that is not on the object; repeatable.", rich_help_panel=CLICK_PANEL),
    ] = None,
    box: Annotated[
        str | None,
        typer.Option(
            metavar="TOP,LEFT,BOTTOM,RIGHT", help="A box that the object lies in.", rich_help_panel=CLICK_PANEL
        ),
    ] = None,
    cue: Annotated[
        Cue | None,
        typer.Option(
            help="One cut along these edges alone, not the best of many by colour, texture and edges.",
            rich_help_panel=CLICK_PANEL,
        ),
    ] = None,
    size: Annotated[
        float | None,
        typer.Option(min=1, metavar="PIXELS", help="One cut of about this size.", rich_help_panel=CLICK_PANEL),
    ] = None,
    objects: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="The N figures most like objects, without a click.", rich_help_panel=OBJECTS_PANEL
        ),
    ] = None,
    detector: Annotated[
        str | None,
        detector_option("With --at: cut along the edges of this detector. With --method ucm: close its contours."),
    ] = None,
    opening: Opening,
    batch: Batch,
) -> None:
    """Divide images into regions: outlines on the image, mean colours, their numbers, a table.

    With --at the object under a click is cut out instead: its mask, the image with its outline, a table. Rows and
    columns count from 0 at the top left; several --at are one object, --remove takes parts away again.

    With --objects what looks most like objects is cut out.

    Example: [bold]imtorque segment sample:hopper --count 8[/bold]

    The object under a click: [bold]imtorque segment sample:hopper --at 250,260[/bold]
    """
    of_regions = {"count": count, "threshold": threshold, "smoothness": smoothness, "method": method}
    of_clicks = {"remove": remove, "box": box, "cue": cue, "size": size}
    if at:
        refuse("must be left out with --at, which cuts out one object", objects=objects, **of_regions)
        if cue is not None:
            refuse("must be left out with --cue: edges are those of one of the two", detector=detector)
        points, taken = _points("--at", at), _points("--remove", remove or [])
        batch.run(SegmentFigure(points, taken, _box(box), cue, detector, size, opening), _describe_figure)
        return
    refuse("must come with --at", **of_clicks)
    if objects is not None:
        refuse("must be left out with --objects", **of_regions, detector=detector)
        batch.run(SegmentObjects(objects, opening), lambda result: number_of(result["count"], "object"))
        return
    if count is not None:
        refuse("must be left out with --count", threshold=threshold)
    if method != "ucm" or (detector is not None and DETECTORS[detector].oriented_map is None):
        refuse("must come with --at or --method ucm, and Canny's edges do not close", detector=detector)
    task = SegmentRegions(
        count=count,
        threshold=threshold,
        smoothness=SMOOTHNESS if smoothness is None else smoothness,
        method=method or "torque",
        detector=detector,
        opening=opening,
    )
    batch.run(task, _describe_regions)


def _points(option: str, texts: list[str]) -> Points:
    """Read places such as 120,200."""
    points = []
    for text in texts:
        try:
            y, x = (float(part) for part in text.split(","))
        except ValueError:
            raise typer.BadParameter(f"a place must be like 120,200 (y,x), got {text!r}", param_hint=option) from None
        points.append((y, x))
    return tuple(points)


def _box(text: str | None) -> tuple[float, ...] | None:
    """Read a box such as 10,20,110,220."""
    if text is None:
        return None
    try:
        top, left, bottom, right = (float(part) for part in text.split(","))
    except ValueError:
        message = f"a box must be like 10,20,110,220 (top,left,bottom,right), got {text!r}"
        raise typer.BadParameter(message, param_hint="--box") from None
    return top, left, bottom, right


def _describe_figure(result: dict[str, Any]) -> str:
    rows, columns = f"rows {result['y0']} to {result['y1'] - 1}", f"columns {result['x0']} to {result['x1'] - 1}"
    return f"{number_of(result['area'], 'pixel')}, {rows}, {columns}"


def _describe_regions(result: dict[str, Any]) -> str:
    largest = max(row["area"] for row in result["regions"]) / (result["height"] * result["width"])
    return f"{number_of(result['count'], 'region')}, the largest {largest:.0%} of the image"
