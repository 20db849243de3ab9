"""The command line: `imtorque VERB ...`, also `python -m imtorque`."""

from __future__ import annotations

from typing import Annotated

import typer

import imtorque
from imtorque import cli_evaluate, cli_pictures, cli_reproduce

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(cli_pictures.demo)
app.command()(cli_pictures.maps)
app.command()(cli_pictures.blobs)
app.command()(cli_pictures.edges)
app.command()(cli_pictures.saliency)
app.add_typer(cli_evaluate.evaluate_app, name="evaluate")
app.command()(cli_evaluate.data)
app.command()(cli_reproduce.reproduce)


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
    """Find closed contours, objects and their sizes in pictures: the image torque operator.

    See what it does to a drawing and a photograph: [bold]imtorque demo[/bold]

    Try a verb on a sample, then on pictures of your own: [bold]imtorque blobs sample:hopper --count 10[/bold]
    """


def main() -> None:
    """Run the command line."""
    app(prog_name="imtorque")
