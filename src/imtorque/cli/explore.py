"""The verb that opens the explorer."""

from __future__ import annotations

import contextlib
import importlib.util
from typing import Annotated

import typer

from imtorque.cli.running import SAMPLE, one_line_errors
from imtorque.explorer.held import HeldPicture, picture_of_array, picture_of_sample, read_as
from imtorque.files import read_image

MISSING = "imtorque explore needs starlette, uvicorn and segno: pip install 'imtorque[explore]'"


def explore(
    image: Annotated[
        str | None,
        typer.Argument(metavar="IMAGE", help="A picture to open with, or sample:NAME; a drawn scene by default."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen at. Others than 127.0.0.1 let other machines in.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, show_default="8745, or the next free one", help="Port to listen at.")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
) -> None:
    """See torque happen: a page in the browser where a patch turns, maps change and objects are cut out.

    Everything runs on this machine; nothing is sent elsewhere. Ctrl+C ends it.

    Example: [bold]imtorque explore sample:hopper[/bold]
    """
    with one_line_errors():
        if any(importlib.util.find_spec(name) is None for name in ("starlette", "uvicorn", "segno")):
            raise ValueError(MISSING)
        from imtorque.explorer.launch import is_loopback, serve  # here, because they bring the server

        start = _start_picture(image)
        if not is_loopback(host):
            typer.echo(f"Note: whoever reaches {host} can use the explorer and send it pictures.", err=True)
        with contextlib.suppress(KeyboardInterrupt):
            serve(start, host=host, port=port, browser=browser, announce=_announce)


def _start_picture(image: str | None) -> HeldPicture | None:
    if image is None:
        return None
    if image.startswith(SAMPLE):
        return picture_of_sample(image.removeprefix(SAMPLE))
    return picture_of_array(read_image(image), image, read_as(image))


def _announce(address: str) -> None:
    typer.echo(f"The explorer is at {address} (Ctrl+C ends it)")
