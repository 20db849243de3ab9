"""The verb `reproduce` where imtorque-reproduce, which brings the real one, is not installed."""

from __future__ import annotations

from imtorque.cli.runner import one_line_errors

CONTEXT = {"ignore_unknown_options": True, "allow_extra_args": True}  # the options are those of the real verb
MISSING = "reproduce needs the experiments: pip install imtorque-reproduce (of a checkout: ./reproduce)"


def reproduce() -> None:
    """Repeat an experiment of the paper. Needs imtorque-reproduce: [bold]pip install imtorque-reproduce[/bold].

    Example: [bold]imtorque reproduce boundary --data DIR --split val --out results/boundary[/bold]
    """
    with one_line_errors():
        raise ValueError(MISSING)
