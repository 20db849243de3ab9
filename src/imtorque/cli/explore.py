"""The verb that opens the explorer."""

from __future__ import annotations

import contextlib
import importlib.util
from functools import partial
from typing import Annotated

import typer

from imtorque.cli.options import SAMPLE
from imtorque.cli.runner import one_line_errors
from imtorque.explorer.image_store import StartImage, image_of_path, image_of_sample, start_image
from imtorque.files import find_images

MOST_IMAGES = 1000  # bound: of what a page lists
MISSING = "imtorque explore needs starlette, uvicorn and threadpoolctl: pip install 'imtorque[explore]'"


def explore(
    images: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[IMAGES]...",
            help="Images or folders to go through, or sample:NAME; a drawn scene by default.",
            show_default=False,
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen at. Others than 127.0.0.1 let other machines in.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, show_default="8745, or the next free one", help="Port to listen at.")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    token: Annotated[
        bool, typer.Option(help="Have a token in the address: who does not know it is not answered.")
    ] = True,
) -> None:
    """See torque happen: a page in the browser where a patch turns, maps change and objects are cut out.

    Everything runs on this machine; nothing is sent elsewhere. Ctrl+C ends it.

    Example: [bold]imtorque explore sample:hopper[/bold]

    To count in the images of a folder, one after the other: [bold]imtorque explore cells/[/bold]
    """
    with one_line_errors():
        if any(importlib.util.find_spec(name) is None for name in ("starlette", "uvicorn", "threadpoolctl")):
            raise ValueError(MISSING)
        from imtorque.explorer.launch import is_loopback, serve  # here, because they bring the server

        start = start_images(images or [])
        if not is_loopback(host):
            who = "whoever has the address below" if token else f"whoever reaches {host}"
            seen = f"the {len(start)} given" if start else "none of yours"
            typer.echo(
                f"Note: {who} can use the explorer and send it images. Of the images here they see {seen}. "
                "What is sent is not encrypted.",
                err=True,
            )
        with contextlib.suppress(KeyboardInterrupt):
            serve(start, host=host, port=port, browser=browser, token=token, announce=_announce)


def start_images(images: list[str]) -> list[StartImage]:
    """Return the images that arguments name; the first is read, so that what is wrong with it is said at once."""
    start: list[StartImage] = []
    for image in images:
        if image.startswith(SAMPLE):
            start.append(start_image(image_of_sample(image.removeprefix(SAMPLE))))
        else:
            start += [StartImage(str(path), partial(image_of_path, str(path))) for path in find_images([image])]
    if len(start) > MOST_IMAGES:
        raise ValueError(f"images must be at most {MOST_IMAGES}, got {len(start)}")
    return [start_image(start[0].read(), start[0].read), *start[1:]] if start else []


def _announce(address: str) -> None:
    typer.echo(f"The explorer is at {address} (Ctrl+C ends it)")
