"""Verbs and options of 0.2 that were renamed: they work with a warning until 0.4."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

GONE = "0.4"
# What each old verb is now, with the options that keep its meaning.
VERBS: dict[str, tuple[str, ...]] = {
    "blobs": ("count",),
    "fixate": ("segment",),
    "large": ("tile",),
    "owners": ("border-ownership",),
    "predict": ("classify",),
    "teach": ("train-detector",),
    "train": ("train-classifier",),
    "video": ("track", "--no-link"),
}
# What each old option is now, by the verb that had it as that is called now.
OPTIONS: dict[str, dict[str, str]] = {
    "count": {"--sure": "--min-score"},
    "track": {"--reach": "--search-range", "--track": "--link"},
    "train-detector": {"--objects": "--annotations"},
}


def renamed(arguments: Sequence[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Return arguments, a verb and what follows, by the names of today, and the pairs (old, new) that were changed.

    Examples
    --------
    >>> renamed(["teach", "cells", "--objects=a.csv"])
    (['train-detector', 'cells', '--annotations=a.csv'], [('teach', 'train-detector'), ('--objects', '--annotations')])
    """
    old, *rest = arguments
    verb = VERBS.get(old, (old,))
    changed = [(old, " ".join(verb))] if old in VERBS else []
    options = OPTIONS.get(verb[0], {})
    given = list(verb)
    for k, argument in enumerate(rest):
        if argument == "--":
            return [*given, *rest[k:]], changed
        name, equals, value = argument.partition("=")
        if name in options:
            changed.append((name, options[name]))
        given.append(f"{options.get(name, name)}{equals}{value}")
    return given, changed


class Verbs(TyperGroup):
    """The verbs, and those of 0.2 by the names of today."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a verb; say in one line on standard error what is called otherwise today."""
        given, changed = renamed(args)
        if changed and not ctx.resilient_parsing:
            told = ", ".join(f"{old} is now {new}" for old, new in dict(changed).items())
            typer.echo(f"imtorque: {told}; old names work until {GONE}", err=True)
        return super().resolve_command(ctx, given)
