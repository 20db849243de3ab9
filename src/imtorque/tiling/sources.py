"""Opening images of any size: zarr, TIFF, NumPy files. Only windows are read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.files import read_image
from imtorque.io.errors import reading_file
from imtorque.tiling.grid import Box
from imtorque.tiling.source import Affine, ArraySource, NpySource, ReducedSource, Source, native
from imtorque.tiling.tiff_source import open_tiff
from imtorque.tiling.zarr_source import open_zarr

WHOLE_SUFFIXES = (".png", ".jpg", ".jpeg")  # convention: formats that have no windows

__all__ = ["Affine", "ArraySource", "ReducedSource", "Source", "as_source", "open_image"]


def open_image(
    path: str | os.PathLike[str], *, level: int | None = None, channel: int | None = None, page: int | None = None
) -> Source:
    """Open an image that may be larger than memory.

    Parameters
    ----------
    path
        A zarr array or OME-Zarr group (a folder, or an address such as s3://... where fsspec is installed); a TIFF of
        any kind, BigTIFF, OME-TIFF, GeoTIFF, COG and whole slides (.svs, .ndpi, .scn, .bif); a NumPy array (.npy); a
        PNG or JPEG, which each worker reads whole, once.
    level
        Of a file's own pyramid, 0 for the full size.
    channel, page
        As for `imtorque.files.read_image`.

    Returns
    -------
    Source
        With `shape`, `samples`, `dtype`, `affine` (from pixels to world coordinates, None where the file does not say)
        and `read`.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> np.save(f"{folder}/image.npy", np.zeros((50, 70), np.uint8))
    >>> open_image(f"{folder}/image.npy").shape
    (50, 70)
    """
    given = os.fspath(path)
    name = given if "://" in given else os.path.abspath(given)  # workers may stand in other folders
    for option, number in (("level", level), ("channel", channel), ("page", page)):
        if number is not None and number < 0:
            raise ValueError(f"{option} must not be negative, got {number}")
    if "://" not in name and not os.path.exists(name):
        raise ValueError(f"{name}: there is no such file")
    if "://" in name or os.path.isdir(name):
        return open_zarr(name, level, channel, page)
    if Path(name).suffix.lower() == ".npy":
        return _open_npy(name, level, channel, page)
    if Path(name).suffix.lower() in WHOLE_SUFFIXES:
        return _open_whole(name, level, channel, page)
    return open_tiff(name, level, channel, page)


def as_source(image: Any) -> Source:
    """Return a source as it is, an array as one, a path opened."""
    if isinstance(image, Source):
        return image
    if isinstance(image, str | os.PathLike):
        return open_image(image)
    if hasattr(image, "shape") and hasattr(image, "dtype"):
        return ArraySource.of(image)
    raise TypeError(f"source must be a path, a Source or an array, got {type(image).__name__}")


@dataclass(frozen=True)
class WholeSource(Source):
    """An image in a file that can only be read as a whole: each process decodes it once."""

    channel: int | None = None

    def read(self, box: Box) -> NDArray[Any]:
        """Return the pixels of a window."""
        return native(_decoded(self.name, self.channel, os.stat(self.name).st_mtime_ns)[box.slices])

    def fingerprint(self) -> dict[str, Any]:
        """Return what changes when the image does."""
        return {**super().fingerprint(), "channel": self.channel}


@lru_cache(maxsize=1)
def _decoded(name: str, channel: int | None, _changed: int) -> NDArray[Any]:
    return read_image(name, channel=channel)


def _open_whole(name: str, level: int | None, channel: int | None, page: int | None) -> WholeSource:
    if level or page:
        raise ValueError(f"{name}: level and page must be left out with {Path(name).suffix.lower()} files")
    kind = ArraySource.of(_decoded(name, channel, os.stat(name).st_mtime_ns))
    return WholeSource(name, kind.shape, kind.samples, kind.dtype, None, channel)


def _open_npy(name: str, level: int | None, channel: int | None, page: int | None) -> NpySource:
    if level or page or channel is not None:
        raise ValueError(f"{name}: level, page and channel must be left out with a NumPy file")
    with reading_file(name, "a whole NumPy file"):
        stored = np.load(name, mmap_mode="r", allow_pickle=False)
    try:
        kind = ArraySource.of(stored)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    return NpySource(name, kind.shape, kind.samples, kind.dtype, None)
