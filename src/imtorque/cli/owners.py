"""The verb that says which side of each edge is the figure."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from imtorque.cli.opening import Channel, Opening, Page, Reduce
from imtorque.cli.owner_tasks import FindOwners
from imtorque.cli.running import DEFAULT_OUT, Images, Jobs, Json, Out, run_task


class Model(StrEnum):
    """What the weights were learned from."""

    photographs = "photographs"
    drawings = "drawings"


def owners(
    images: Images,
    out: Out = DEFAULT_OUT,
    model: Annotated[Model, typer.Option(help="What the weights were learned from.")] = Model.photographs,
    rounds: Annotated[
        int, typer.Option(min=1, max=100, metavar="N", help="How often edges are judged; 2 for photographs.")
    ] = 2,
    page: Page = None,
    channel: Channel = None,
    reduce: Reduce = 1,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Say which side of each edge is the figure: an image with a rim on that side, and an array.

    Red rims lie on the brighter side, blue ones on the darker. The array is positive, negative, and 0 off the edges.

    Example: [bold]imtorque owners sample:hopper[/bold]
    """
    task = FindOwners(model.value, rounds, Opening(page, channel, reduce))
    run_task(
        task,
        images,
        out,
        jobs,
        as_json,
        lambda result: f"{result['edge_pixels']} edge pixels, {result['brighter']} owned by their brighter side",
    )
