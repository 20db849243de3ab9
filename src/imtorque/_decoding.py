"""From an open file to pixels, by Pillow: the usual formats only, every error in one line, nothing left out."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import numpy as np
from PIL import Image as PillowImage
from PIL import ImageOps, UnidentifiedImageError

from imtorque import _tiff
from imtorque._types import Image

FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "WEBP", "GIF", "PPM")


class RefusedError(ValueError):
    """A picture that is whole, and refused for what it is; the text says what must hold."""


@contextmanager
def reading(name: str | os.PathLike[str]) -> Iterator[None]:
    """Say in one line, with the name, what is wrong with a file."""
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(f"{name}: no such file") from None
    except MemoryError:
        raise
    except RefusedError as refusal:
        raise ValueError(f"{name}: {refusal}") from None
    # Pillow's readers meet a damaged file with any of OSError, SyntaxError, IndexError, EOFError, struct.error, ...
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, OSError) and error.strerror:
            reason = error.strerror
        if isinstance(error, UnidentifiedImageError):
            reason = "no picture format that is known"
        raise ValueError(f"{name}: must be a picture that can be read, got: {reason}") from error


def decode(file: BinaryIO, most_pixels: int, page: int | None) -> Image:
    """Return the pixels of the only picture in a file, or of one page; to be called within `reading`."""
    pages = _tiff.count_pages(file)  # 0 for all other formats
    with _limit_lifted(), _open(file, page or 0) as picture:
        _check_extent(picture, most_pixels)
        _turn_to(picture, pages, page)
        _check_extent(picture, most_pixels)
        if picture.format == "TIFF":
            return _tiff_pixels(picture, _tiff.read_page(file, page or 0))
        return _pixels(picture)


def decode_shape(file: BinaryIO) -> tuple[int, int]:
    """Return (H, W) of a picture from its header; to be called within `reading`."""
    with _limit_lifted(), _open(file, 0) as picture:
        return picture.height, picture.width


def _open(file: BinaryIO, page: int) -> PillowImage.Image:
    try:
        return PillowImage.open(file, formats=FORMATS)
    except UnidentifiedImageError:
        if _tiff.count_pages(file) == 0:
            raise
        kept = _tiff.read_page(file, page)
    raise RefusedError(f"must be a TIFF of a kind that Pillow reads, got {kept}")


def _check_extent(picture: PillowImage.Image, most: int) -> None:
    width, height = picture.size
    if width * height > most:
        raise RefusedError(f"must have at most {most} pixels, got {width} x {height}")


def _turn_to(picture: PillowImage.Image, pages: int, page: int | None) -> None:
    """Turn to a page. Where none is named there must be one only, but for the previews that cameras add to a JPEG."""
    if page is None:
        if picture.format != "MPO" and (pages > 1 or getattr(picture, "is_animated", False)):
            many = f"a TIFF of {pages} pages" if pages else f"a {picture.format} of several frames"
            raise RefusedError(f"must hold one picture, got {many}; page=0, 1, ... reads one of them")
        return
    try:
        if pages and page >= pages:
            raise EOFError
        picture.seek(page)
    except EOFError:
        raise RefusedError(f"page must be one of the file's, counted from 0, got {page}") from None


def _tiff_pixels(picture: PillowImage.Image, kept: _tiff.Page) -> Image:
    """Return the pixels of a page as its tags mean them, where Pillow takes no notice of these."""
    if kept.planar and kept.bits > 8:
        raise RefusedError(f"must keep the channels of a pixel together, or 8 bits of each, got {kept}")
    if kept.inverted and (kept.bits, kept.kind) not in (
        (1, "uint"),
        (2, "uint"),
        (4, "uint"),
        (8, "uint"),
        (16, "uint"),
    ):
        raise RefusedError(f"must have black as 0, got {kept}")
    pixels = _pixels(picture)
    if kept.kind == "int" and kept.bits == 8:
        return pixels.view(np.int8).astype(np.float64)
    if kept.inverted and kept.bits == 16:
        return np.uint16(65535) - pixels
    if kept.kind == "uint" and kept.bits == 32:
        return np.where(pixels < 0, pixels + 2.0**32, pixels)
    return pixels


def _pixels(picture: PillowImage.Image) -> Image:
    """Return the pixels, upright, in one of the forms that every function here takes."""
    ImageOps.exif_transpose(picture, in_place=True)
    mode = picture.mode
    if mode.startswith("I;16"):
        return np.asarray(picture).astype(np.uint16)
    if mode == "I":  # 16-bit PNG in older versions of Pillow; 32-bit TIFF
        numbers = np.asarray(picture)
        return numbers.astype(np.uint16 if picture.format == "PNG" else np.float64)
    if mode in ("L", "RGB", "RGBA", "F", "1"):
        return np.array(picture)
    clear = mode in ("LA", "La", "PA", "RGBa") or "transparency" in picture.info
    return np.array(picture.convert("RGBA" if clear else "RGB"))


class _Limit:
    """Pillow's limit on the size of pictures, one for the whole process, as it is while nobody reads here."""

    lock = threading.Lock()
    readers = 0
    kept: int | None = None


@contextmanager
def _limit_lifted() -> Iterator[None]:
    """Read without Pillow's limit; `_check_extent` has ours. Pillow looks at it when a file is opened and later."""
    with _Limit.lock:
        if _Limit.readers == 0:
            _Limit.kept, PillowImage.MAX_IMAGE_PIXELS = PillowImage.MAX_IMAGE_PIXELS, None
        _Limit.readers += 1
    try:
        yield
    finally:
        with _Limit.lock:
            _Limit.readers = max(0, _Limit.readers - 1)
            if _Limit.readers == 0:
                PillowImage.MAX_IMAGE_PIXELS = _Limit.kept


def _forget_readers() -> None:
    """Put the limit back in a forked process, which has none of the threads that were reading."""
    if _Limit.readers:
        _Limit.readers, PillowImage.MAX_IMAGE_PIXELS = 0, _Limit.kept
    _Limit.lock.release()


if hasattr(os, "register_at_fork"):  # so that no forked process inherits the lock as another thread held it
    os.register_at_fork(before=_Limit.lock.acquire, after_in_parent=_Limit.lock.release, after_in_child=_forget_readers)
