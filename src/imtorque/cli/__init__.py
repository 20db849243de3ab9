"""The command line: `imtorque VERB ...`, also `python -m imtorque`."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Annotated

import typer

import imtorque
from imtorque.cli import (
    counting,
    data,
    demo,
    evaluate,
    explore,
    figures,
    large,
    owners,
    recognition,
    regions,
    torque,
    video,
)

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo.demo)
app.command()(torque.maps)
app.command()(torque.blobs)
app.command()(torque.edges)
app.command()(owners.owners)
app.command()(counting.count)
app.command()(counting.teach)
app.command()(torque.saliency)
app.command()(figures.fixate)
app.command()(regions.segment)
app.command()(video.video)
app.command()(large.large)
app.command()(explore.explore)
app.command()(recognition.train)
app.command()(recognition.predict)
app.add_typer(evaluate.evaluate_app, name="evaluate")
app.add_typer(data.data_app, name="data")
for _command in entry_points(group="imtorque.commands"):
    app.command(_command.name)(_command.load())


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"imtorque {imtorque.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Find closed contours, objects and their sizes in images: the image torque operator.

    See what it does to a drawing and a photograph: [bold]imtorque demo[/bold]

    Try a verb on a sample, then on images of your own: [bold]imtorque blobs sample:hopper --count 10[/bold]
    """


def main() -> None:
    """Run the command line."""
    app(prog_name="imtorque")
