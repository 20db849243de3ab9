"""The verb that cuts out what is clicked at."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from imtorque.cli.boundary_tasks import Boundaries
from imtorque.cli.figure_tasks import CutOutFigure, Points
from imtorque.cli.opening import Channel, Opening, Page, Reduce
from imtorque.cli.running import DEFAULT_OUT, Images, Jobs, Json, Out, run_task
from imtorque.segmentation.cues import CUES

Cue = StrEnum("Cue", {name.replace("-", "_"): name for name in CUES})  # type: ignore[misc]

At = Annotated[
    list[str],
    typer.Option("--at", "--add", metavar="Y,X", show_default=False, help="A pixel on the object; may be repeated."),
]
Remove = Annotated[
    list[str] | None, typer.Option("--remove", metavar="Y,X", help="A pixel that is not on the object; repeatable.")
]


def fixate(
    images: Images,
    at: At,
    remove: Remove = None,
    out: Out = DEFAULT_OUT,
    box: Annotated[
        str | None,
        typer.Option(metavar="TOP,LEFT,BOTTOM,RIGHT", help="A box that the object lies in; not needed."),
    ] = None,
    cue: Annotated[
        Cue | None,
        typer.Option(help="One cut along these edges alone, not the best of many by colour, texture and edges."),
    ] = None,
    detector: Boundaries = None,
    size: Annotated[
        float | None, typer.Option(min=1, metavar="PIXELS", help="One cut of about this size; not needed.")
    ] = None,
    page: Page = None,
    channel: Channel = None,
    reduce: Reduce = 1,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Cut out the object under a click: its mask, the image with its outline, a table of area, box and centroid.

    Rows and columns count from 0 at the top left. Several --at are one object; --remove takes parts away
    again.

    Example: [bold]imtorque fixate sample:hopper --at 250,260[/bold]
    """
    if cue is not None and detector is not None:
        raise typer.BadParameter("edges are those of a cue or of a detector, not of both", param_hint="--detector")
    opening = Opening(page, channel, reduce)
    points, taken = _points("--at", at), _points("--remove", remove or [])
    task = CutOutFigure(points, taken, _name(cue), size, _box(box), opening, detector)
    run_task(task, images, out, jobs, as_json, _describe)


def _name(chosen: StrEnum | None) -> str | None:
    return None if chosen is None else str(chosen)


def _points(option: str, texts: list[str]) -> Points:
    """Read places such as 120,200."""
    points = []
    for text in texts:
        parts = text.split(",")
        try:
            y, x = (float(part) for part in parts)
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
        told = f"a box must be like 10,20,110,220 (top,left,bottom,right), got {text!r}"
        raise typer.BadParameter(told, param_hint="--box") from None
    return top, left, bottom, right


def _describe(result: dict[str, Any]) -> str:
    rows, columns = f"rows {result['y0']} to {result['y1'] - 1}", f"columns {result['x0']} to {result['x1'] - 1}"
    return f"{result['area']} pixels, {rows}, {columns}"
