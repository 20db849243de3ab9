"""The command line: `imtorque VERB ...`, also `python -m imtorque`."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from importlib.metadata import entry_points
from io import TextIOWrapper
from typing import Annotated

import typer

import imtorque
from imtorque.cli.deprecated import Verbs
from imtorque.cli.options import expand
from imtorque.io.errors import describe_error

# Each is the function of its module's name, or the module's `app` of several; the help has them in this order.
VERBS = {
    "Start": ("demo", "explore"),
    "Look at images": ("maps", "edges", "border_ownership", "saliency", "segment"),
    "Count and track objects": ("count", "train_detector", "track"),
    "Classify images": ("train_classifier", "classify"),
    "Very large images": ("tile",),
    "Measure": ("evaluate", "data", "reproduce"),
}


def command_line() -> typer.Typer:
    """Return the verbs of this package, and those that other distributions bring, in place of ours of the same name."""
    app = typer.Typer(
        cls=Verbs,
        callback=_options,
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    brought = dict(_brought())
    for panel, names in VERBS.items():
        for name in names:
            called = name.replace("_", "-")
            module = import_module(f"imtorque.cli.{name}")
            if called in brought:
                app.command(called, rich_help_panel=panel)(expand(brought.pop(called)))
            elif hasattr(module, "app"):
                app.add_typer(module.app, name=called, rich_help_panel=panel)
            else:
                settings = getattr(module, "CONTEXT", None)
                app.command(called, rich_help_panel=panel, context_settings=settings)(expand(getattr(module, name)))
    for called, verb in brought.items():
        app.command(called)(expand(verb))
    return app


def _brought() -> Iterator[tuple[str, Callable[..., None]]]:
    """Yield the verbs that other distributions bring; one that cannot be imported must not take ours down."""
    for entry in entry_points(group="imtorque.commands"):
        try:
            yield entry.name, entry.load()
        except ImportError as error:
            logging.getLogger("imtorque").warning("imtorque %s: cannot be loaded: %s", entry.name, error)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"imtorque {imtorque.__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Find closed contours, objects and their sizes in images: the image torque operator.

    See what it does to a drawing and a photograph: [bold]imtorque demo[/bold]

    Try a verb on a sample, then on images of your own: [bold]imtorque count sample:hopper --count 10[/bold]
    """


app = command_line()


def _open_streams() -> None:
    """Put /dev/null where a standard stream was closed: a file opened later would take its number and its text."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115 - until the end


def main() -> None:
    """Run the command line."""
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names of files may be no UTF-8
    try:
        app(prog_name="imtorque")
    except OSError as error:  # of a standard stream, such as one on a full disk
        with suppress(OSError):
            typer.echo(f"imtorque: {describe_error(error)}", err=True)
        raise SystemExit(1) from None
