"""An image that is read in windows: its shape, its kind of pixels, and their place in world coordinates."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from imtorque.core.deprecation import deprecated_attribute
from imtorque.core.types import FloatArray
from imtorque.tiling.grid import Box

BAND_PIXELS = 1 << 24  # bound: held at a time while an image is reduced


@dataclass(frozen=True)
class Affine:
    """Affine map from pixels to world coordinates: x = a column + b row + c, y = d column + e row + f."""

    matrix: tuple[float, float, float, float, float, float]
    unit: str = ""  # "micrometer", "metre", the name of a reference system; empty where it is not said

    def transform(self, y: NDArray[Any], x: NDArray[Any]) -> tuple[FloatArray, FloatArray]:
        """Return the world y and x of pixel centres."""
        a, b, c, d, e, f = self.matrix
        return d * x + e * y + f, a * x + b * y + c

    def reduced(self, factor: int) -> Affine:
        """Return the map of the same image when blocks of `factor` x `factor` pixels become one."""
        a, b, c, d, e, f = self.matrix
        middle = (factor - 1) / 2
        corner = (c + middle * (a + b), f + middle * (d + e))
        return Affine((a * factor, b * factor, corner[0], d * factor, e * factor, corner[1]), self.unit)

    @property
    def is_axis_aligned(self) -> bool:
        """Whether rows and columns run along the axes of the world."""
        a, b, _, d, e, _ = self.matrix
        return b == d == 0 and a > 0 and e > 0

    @property
    def pixel_size(self) -> tuple[float, float]:
        """Height and width of a pixel, in the unit."""
        a, b, _, d, e, _ = self.matrix
        return float(np.hypot(b, e)), float(np.hypot(a, d))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return what an old name stands for."""
            return deprecated_attribute(self, name)


def scaled(pixel_size: tuple[float, float], unit: str) -> Affine:
    """Return the map of pixels of this height and width, with the first one at the origin."""
    return Affine((pixel_size[1], 0.0, 0.0, 0.0, pixel_size[0], 0.0), unit)


@dataclass(frozen=True)
class Source(ABC):
    """An image of any size that can be read in windows. It holds names only, so that it can be sent to workers.

    Parameters
    ----------
    name
        What errors call it; the path of a file.
    shape
        Height and width.
    samples
        Values per pixel: 1 for grey, 3 for colour, 4 with opacity.
    dtype
        Of the values, as a string.
    affine
        Map to world coordinates; None where it is not known.
    """

    name: str
    shape: tuple[int, int]
    samples: int
    dtype: str
    affine: Affine | None

    @abstractmethod
    def read(self, box: Box) -> NDArray[Any]:
        """Return the pixels of a window, (h, w) or (h, w, 3 or 4)."""

    def fingerprint(self) -> dict[str, Any]:
        """Return what changes when the image does."""
        return {"name": self.name, **file_print(self.name)}

    def __str__(self) -> str:
        height, width = self.shape
        return f"{self.name}: {height} x {width}, {self.samples} x {self.dtype}"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return what an old name stands for."""
            return deprecated_attribute(self, name)


def file_print(path: str) -> dict[str, Any]:
    """Return the size and the time of the last change of a file, or of the newest file just inside a folder."""
    try:
        status = os.stat(path)
    except OSError:
        return {}
    if not Path(path).is_dir():
        return {"bytes": status.st_size, "changed": status.st_mtime_ns}
    inside = [entry.stat() for entry in os.scandir(path)]
    return {"bytes": sum(s.st_size for s in inside), "changed": max((s.st_mtime_ns for s in inside), default=0)}


@dataclass(frozen=True)
class ArraySource(Source):
    """An array in memory, or anything that is sliced like one. Sent to workers as it is: for images that fit."""

    array: Any = None

    @classmethod
    def of(cls, array: Any, affine: Affine | None = None) -> ArraySource:
        """Take an array of shape (H, W) or (H, W, 3 or 4)."""
        shape = array.shape
        if len(shape) not in (2, 3) or 0 in shape or (len(shape) == 3 and shape[2] not in (1, 3, 4)):
            raise ValueError(f"image must be grey (H, W) or colour (H, W, 3 or 4) and not empty, got shape {shape}")
        samples = shape[2] if len(shape) == 3 else 1
        return cls("array", (shape[0], shape[1]), samples, np.dtype(array.dtype).str, affine, array)

    def read(self, box: Box) -> NDArray[Any]:
        """Return the pixels of a window."""
        return native(np.asarray(self.array[box.slices]))

    def fingerprint(self) -> dict[str, Any]:
        """Return a digest of the whole array where it is in memory."""
        import hashlib

        if isinstance(self.array, np.ndarray):
            return {"sha256": hashlib.sha256(np.ascontiguousarray(self.array).data).hexdigest()}
        return {"name": self.name}


@dataclass(frozen=True)
class NpySource(Source):
    """An array in a .npy file, of which only windows are read."""

    def read(self, box: Box) -> NDArray[Any]:
        """Return the pixels of a window."""
        stored = np.load(self.name, mmap_mode="r", allow_pickle=False)
        return native(np.array(stored[box.slices]))


@dataclass(frozen=True)
class ReducedSource(Source):
    """Another source of which blocks of factor x factor pixels are averaged, as `resizing.shrink_image` does."""

    source: Source = None  # type: ignore[assignment]
    factor: int = 1

    @classmethod
    def of(cls, source: Source, factor: int) -> Source:
        """Reduce a source; by 1 it stays itself."""
        if factor == 1:
            return source
        height, width = (side // factor for side in source.shape)
        if min(height, width) < 1:
            raise ValueError(f"level must leave at least a pixel of {source.shape}, got a factor of {factor}")
        affine = source.affine and source.affine.reduced(factor)
        return cls(source.name, (height, width), source.samples, source.dtype, affine, source, factor)

    def read(self, box: Box) -> NDArray[Any]:
        """Return the pixels of a window, read in bands of rows so that the full window is never held."""
        from imtorque.core.resizing import shrink_image

        rows = max(1, BAND_PIXELS // (self.factor**2 * max(1, box.right - box.left)))
        bands = []
        for top in range(box.top, box.bottom, rows):
            bottom = min(top + rows, box.bottom)
            wide = Box(*(side * self.factor for side in (top, box.left, bottom, box.right)))
            bands.append(shrink_image(self.source.read(wide), self.factor))
        return np.concatenate(bands)

    def fingerprint(self) -> dict[str, Any]:
        """Return what changes when the image does."""
        return {**self.source.fingerprint(), "factor": self.factor}


def native(pixels: NDArray[Any]) -> NDArray[Any]:
    """Return pixels in this machine's byte order, without an axis of one sample."""
    flat = pixels[:, :, 0] if pixels.ndim == 3 and pixels.shape[2] == 1 else pixels
    return flat if flat.dtype.isnative else flat.astype(flat.dtype.newbyteorder("="))
