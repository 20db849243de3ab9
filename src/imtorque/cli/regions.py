"""The verb that divides images into regions, or cuts objects out of them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from imtorque.cli.boundary_tasks import detector_option
from imtorque.cli.figure_tasks import CutOutObjects
from imtorque.cli.opening import Channel, Opening, Page, Reduce
from imtorque.cli.region_tasks import DivideIntoRegions
from imtorque.cli.running import DEFAULT_OUT, Images, Jobs, Json, Out, run_task
from imtorque.edges import DETECTORS
from imtorque.segmentation.regions import SMOOTHNESS


class RegionMethod(StrEnum):
    """What regions are made from."""

    torque = "torque"
    ucm = "ucm"


def segment(
    images: Images,
    out: Out = DEFAULT_OUT,
    count: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="How many regions; by default as many as it takes.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(metavar="T", help="How unlike regions must be not to be merged; higher for fewer.")
    ] = None,
    smoothness: Annotated[
        float, typer.Option(min=0, help="What borders cost: higher for simpler outlines.")
    ] = SMOOTHNESS,
    method: Annotated[
        RegionMethod, typer.Option(help="ucm: between the closed contours of gPb, in seconds; --threshold from 0 to 1.")
    ] = RegionMethod.torque,
    detector: Annotated[
        str | None, detector_option("With --method ucm: whose contours are closed, instead of gPb's.")
    ] = None,
    objects: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Cut out the N figures most like objects instead of regions."),
    ] = None,
    page: Page = None,
    channel: Channel = None,
    reduce: Reduce = 1,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Divide images into regions: outlines on the image, regions in their mean colours, their numbers, a table.

    The table has area, bounding box, centroid and mean colour of each region. With --objects what looks most like
    objects is cut out instead.

    Example: [bold]imtorque segment sample:hopper --count 8[/bold]
    """
    if objects is not None:
        if count is not None or threshold is not None:
            raise typer.BadParameter("objects and regions are not asked for at a time", param_hint="--objects")
        cut = CutOutObjects(objects, Opening(page, channel, reduce))
        run_task(cut, images, out, jobs, as_json, lambda result: f"{result['count']} objects")
        return
    if count is not None and threshold is not None:
        raise typer.BadParameter("leave out --count or --threshold", param_hint="--threshold")
    if detector is not None and (method != RegionMethod.ucm or DETECTORS[detector].oriented_map is None):
        raise typer.BadParameter("goes with --method ucm, and Canny's edges do not close", param_hint="--detector")
    task = DivideIntoRegions(count, threshold, smoothness, method.value, Opening(page, channel, reduce), detector)
    run_task(task, images, out, jobs, as_json, _describe)


def _describe(result: dict[str, Any]) -> str:
    largest = max(row["area"] for row in result["regions"]) / (result["height"] * result["width"])
    return f"{result['count']} regions, the largest {largest:.0%} of the image"
