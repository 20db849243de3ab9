"""FITS files of telescopes by astropy, where it is installed."""

from __future__ import annotations

import math
import os
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.io.stacks import RefusedError, choose

FITS_SUFFIXES = (".fits", ".fit", ".fts")


def is_fits(path: str | os.PathLike[str]) -> bool:
    """Return whether a file's name is that of a FITS file."""
    return os.fspath(path).lower().endswith(FITS_SUFFIXES)


def read_fits(path: str | os.PathLike[str], most_pixels: int, page: int | None, channel: int | None) -> NDArray[Any]:
    """Return one image of the first part of a file that holds any; the row that FITS counts as 1 is row 0."""
    with _opened(path) as parts:
        part = next((part for part in parts if part.is_image and len(part.shape) >= 2), None)
        if part is None:
            raise RefusedError("must hold an image, got none")
        shape = tuple(int(length) for length in part.shape)
        if math.prod(shape[-2:]) > most_pixels:
            raise RefusedError(f"must have at most {most_pixels} pixels, got {shape[-1]} x {shape[-2]}")
        axes = "ABDEFGHIJKLMNOPQRTUVWZ"[: len(shape) - 2] + "YX"
        chosen = choose(axes, shape, page, channel, kind="FITS", colour=False)
        pixels = np.array(part.data[tuple(slice(None) if n is None else n for n in chosen.numbers)])
    return pixels.astype(pixels.dtype.newbyteorder("="), copy=False)


def _opened(path: str | os.PathLike[str]) -> Any:
    try:
        fits = import_module("astropy.io.fits")
    except ImportError:
        raise RefusedError("must be read by astropy, which is not installed: pip install astropy") from None
    return fits.open(os.fspath(path), memmap=False)
