"""Files of microscopes (CZI, LIF, ND2) by bioio, where it is installed."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.io.stacks import RefusedError, choose

READERS = {".czi": "bioio-czi", ".lif": "bioio-lif", ".nd2": "bioio-nd2"}


def is_microscopy(path: str | os.PathLike[str]) -> bool:
    """Return whether a file's name is that of a microscope's file."""
    return _suffix(path) in READERS


def read_plane(path: str | os.PathLike[str], most_pixels: int, page: int | None, channel: int | None) -> NDArray[Any]:
    """Return one image of the first scene of a file; no other is read."""
    image = _opened(path)
    axes, shape = str(image.dims.order), tuple(int(length) for length in image.shape)
    height, width = shape[axes.index("Y")], shape[axes.index("X")]
    if height * width > most_pixels:
        raise RefusedError(f"must have at most {most_pixels} pixels, got {width} x {height}")
    colour = "S" not in axes or shape[axes.index("S")] in (1, 3, 4)
    chosen = choose(axes, shape, page, channel, kind=_suffix(path)[1:].upper(), colour=colour)
    kept = "".join(axis for axis, number in zip(axes, chosen.numbers, strict=True) if number is None)
    numbers = {axis: number for axis, number in zip(axes, chosen.numbers, strict=True) if number is not None}
    pixels = np.asarray(image.get_image_dask_data("YX" + kept.replace("Y", "").replace("X", ""), **numbers))
    return pixels[:, :, 0] if pixels.ndim == 3 and pixels.shape[2] == 1 else pixels


def plane_size(path: str | os.PathLike[str]) -> tuple[float | None, float | None]:
    """Return how many micrometres a pixel is high and wide; None for what the file does not say."""
    sizes = _opened(path).physical_pixel_sizes
    return sizes.Y, sizes.X


def _opened(path: str | os.PathLike[str]) -> Any:
    try:
        return import_module("bioio").BioImage(os.fspath(path))
    except ImportError:
        wanted = f"bioio {READERS[_suffix(path)]}"
        raise RefusedError(f"must be read by bioio, which is not installed: pip install {wanted}") from None
    except Exception as error:
        if type(error).__name__ != "UnsupportedFileFormatError":  # bioio has no reader for it, or it is damaged
            raise
        raise RefusedError(
            f"must be whole, and bioio must have a reader for it: pip install {READERS[_suffix(path)]}"
        ) from None


def _suffix(path: str | os.PathLike[str]) -> str:
    return os.path.splitext(os.fspath(path))[1].lower()
