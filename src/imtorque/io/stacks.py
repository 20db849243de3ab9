"""Which part of a stack of images is the one image that is asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


class RefusedError(ValueError):
    """An image that is whole, and refused for what it is; the text says what must hold."""


@dataclass(frozen=True)
class Chosen:
    """Where an image lies in a stack: a number for each axis, None where all stay; in colour or not; of how many."""

    numbers: tuple[int | None, ...]
    colour: bool
    pages: int = 1
    channels: int = 1


def choose(
    axes: str, shape: Sequence[int], page: int | None, channel: int | None, *, kind: str, colour: bool = True
) -> Chosen:
    """Return where the image lies that `page` and `channel` ask for; refuse where they leave open which.

    Parameters
    ----------
    axes
        A letter for each axis: Y and X are of the image, S the samples of a pixel, C the channels; all others count
        pages, the last of them fastest.
    shape
        The length of each axis.
    page, channel
        Numbers from 0; None where there is one only, and for the channels of a colour.
    kind
        What errors call the file.
    colour
        Whether the samples are red, green and blue, with or without opacity.
    """
    channels = _channel_axis(axes, shape, taken_apart=channel is not None or not colour)
    kept = {axes.rfind("Y"), axes.rfind("X"), axes.rfind("S")}
    pages = [i for i in range(len(axes)) if i not in kept and i != channels]
    count, many = math.prod(shape[i] for i in pages), 1 if channels is None else shape[channels]
    number = _one_of("page", page, count, f"must hold one image, got a {kind} of {count} pages")
    picked = _one_of("channel", channel, many, f"must have one channel or be in colour, got {many} channels")
    numbers: list[int | None] = [None] * len(axes)
    for i, place in zip(pages, np.unravel_index(number, [shape[i] for i in pages]) if pages else (), strict=True):
        numbers[i] = int(place)
    if channels is not None:
        numbers[channels] = picked
    return Chosen(tuple(numbers), colour and (channels is None or axes[channels] == "C"), count, many)


def _channel_axis(axes: str, shape: Sequence[int], *, taken_apart: bool) -> int | None:
    """Return which axis is of channels: C, or the samples of a pixel where these are no colour or one is asked for."""
    named, samples = axes.find("C"), axes.rfind("S")
    if samples >= 0 and taken_apart and (named < 0 or shape[named] == 1) and shape[samples] > 1:
        return samples
    return named if named >= 0 else None


def _one_of(option: str, number: int | None, count: int, several: str) -> int:
    if number is None:
        if count != 1:
            raise RefusedError(f"{several}; {option}=0, 1, ... reads one of them")
        return 0
    if number >= count:
        raise RefusedError(f"{option} must be one of the file's {count}, counted from 0, got {number}")
    return number
