"""Texts of the command line that stand for more than a number."""

from __future__ import annotations

import math
from typing import Any

import typer

from imtorque.core.patterns import Pattern, pattern_matrix
from imtorque.core.types import LARGEST_SIZE, check_sizes


def parse_sizes(option: str, text: str | None) -> tuple[int, ...] | None:
    """Read sizes such as 3-91 or 5,21,45."""
    if text is None:
        return None
    first, dash, last = text.partition("-")
    try:
        # A last size beyond all that is allowed is refused with the rest, without a list of all up to it.
        end = min(int(last), LARGEST_SIZE + 2) if dash else 0
        chosen = list(range(int(first), end + 1, 2)) if dash else [int(part) for part in text.split(",")]
    except (ValueError, OverflowError):
        chosen = []
    if not chosen:
        raise typer.BadParameter(f"sizes must be like 3-91 or 5,21,45, got {text!r}", param_hint=option)
    try:
        return tuple(check_sizes(chosen).tolist())
    except (TypeError, ValueError) as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def parse_pattern(text: str) -> Pattern:
    """Read the name of a pattern, or an angle in degrees."""
    try:
        pattern: Any = math.radians(float(text))
    except ValueError:
        pattern = text
    try:
        pattern_matrix(pattern)
    except ValueError as error:
        message = str(error).replace("radians", "degrees")
        raise typer.BadParameter(message, param_hint="--pattern") from None
    chosen: Pattern = pattern
    return chosen


def parse_settings(settings: list[str]) -> dict[str, str]:
    """Read settings such as name=value."""
    options = {}
    for text in settings:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise ValueError(f"--set must be like name=value, got {text}")
        options[name] = value
    return options
