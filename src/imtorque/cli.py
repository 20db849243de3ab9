"""The command line: thin verbs over the public functions."""

import typer

from imtorque.cli_evaluate import data, evaluate_app

app = typer.Typer(no_args_is_help=True, add_completion=False)
app.add_typer(evaluate_app, name="evaluate")
app.command()(data)


def main() -> None:
    """Run the command line."""
    app()
