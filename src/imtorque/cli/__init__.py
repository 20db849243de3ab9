"""The command line: `imtorque VERB ...`, also `python -m imtorque`."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import entry_points
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import Annotated, Any

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


class _Patient(FileIO):
    """A standard stream into a file, whose disk may be full: the work is done all the same, and the end says so."""

    failure: OSError | None = None
    replaced: TextIOWrapper | None = None  # which would close the file if it were forgotten

    def write(self, data: Any) -> int:
        """Write as much as there is room for."""
        if self.failure is not None:
            return len(data)
        try:
            return super().write(data)
        except OSError as error:
            self.failure = error
            if isinstance(error, BrokenPipeError):  # nobody listens any more
                raise
            return len(data)


def _make_patient() -> list[_Patient]:
    """Let no standard stream end the work; return those that may fail, whose end is to be looked at."""
    patient = []
    for number, name in ((1, "stdout"), (2, "stderr")):
        stream = getattr(sys, name)
        if not isinstance(stream, TextIOWrapper):
            continue
        stream.reconfigure(errors="backslashreplace")  # names of files may be no UTF-8
        if not stream.isatty():
            stream.flush()
            patient.append(_Patient(number, "wb", closefd=False))
            patient[-1].replaced = stream
            told = BufferedWriter(patient[-1])
            lines = stream.line_buffering
            setattr(sys, name, TextIOWrapper(told, stream.encoding, stream.errors, line_buffering=lines))
    return patient


def main() -> None:
    """Run the command line."""
    _open_streams()
    patient = _make_patient()
    try:
        app(prog_name="imtorque")
    finally:
        sys.stdout.flush()
        failure = next((stream.failure for stream in patient if stream.failure is not None), None)
        if failure is not None and not isinstance(failure, BrokenPipeError):
            typer.echo(f"imtorque: {describe_error(failure)}", err=True)
            raise SystemExit(1) from None
