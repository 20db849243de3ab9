"""From an open file to pixels, by tifffile or Pillow: the usual formats only, every error in one line."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import BinaryIO

import numpy as np
from PIL import Image as PillowImage
from PIL import ImageOps, UnidentifiedImageError

from imtorque import _native
from imtorque.io.arrays import Image
from imtorque.io.errors import reading_file
from imtorque.io.stacks import RefusedError, choose
from imtorque.io.tiff import Plane
from imtorque.io.tiff_opening import is_tiff, opened
from imtorque.io.tiff_segments import PLAIN, STREAMS

FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "WEBP", "GIF", "PPM")
# Pillow would import these with the first image: a process forked meanwhile, by another thread, would wait for ever.
for _plugin in ("Png", "Jpeg", "Tiff", "Bmp", "WebP", "Gif", "Ppm"):
    import_module(f"PIL.{_plugin}ImagePlugin")
PILLOW_COMPRESSIONS = (2, 3, 4, 6, 7)  # compressions of whole images: three of fax machines, two of JPEG; format: TIFF
MAX_SAMPLES = 4  # bound: for each of the most pixels an image may have
COLOURS = {5: "CMYK", 6: "YCbCr", 8: "Lab", 9: "Lab", 10: "Lab", 32803: "of a camera's raw pattern", 32845: "LogLuv"}


@contextmanager
def reading(name: str | os.PathLike[str]) -> Iterator[None]:
    """Say in one line, with the name, what is wrong with an image."""
    passed = MemoryError, _native.Cancelled
    with reading_file(name, "an image that can be read", said=(RefusedError,), passed=passed):
        try:
            yield
        except UnidentifiedImageError:
            raise OSError("no image format that is known") from None


def decode(
    file: BinaryIO, most_pixels: int, page: int | None, channel: int | None, *, most_bytes: int | None = None
) -> Image:
    """Return the pixels of the only image in a file, or of one page or channel; to be called within `reading`."""
    if is_tiff(file):
        return _decode_tiff(file, most_pixels, most_bytes, page, channel)
    with _limit_lifted(), PillowImage.open(file, formats=FORMATS) as image:
        _check_extent(image.height, image.width, most_pixels)
        _turn_to(image, page)
        _check_extent(image.height, image.width, most_pixels)
        return _one_channel(_pixels(image), channel, str(image.format))


def decode_shape(file: BinaryIO) -> tuple[int, int]:
    """Return (H, W) of an image from its header; to be called within `reading`."""
    if is_tiff(file):
        with opened(file) as tiff:
            plane = Plane(file, tiff, 0, 0)
            return plane.shape if plane.orientation < 5 else (plane.shape[1], plane.shape[0])
    with _limit_lifted(), PillowImage.open(file, formats=FORMATS) as image:
        return image.height, image.width


def decode_channels(file: BinaryIO) -> int:
    """Return of how many channels one must be chosen, 1 of a colour image; to be called within `reading`."""
    if not is_tiff(file):
        return 1
    with opened(file) as tiff:
        try:
            return Plane(file, tiff, 0, None).channels
        except RefusedError:
            return Plane(file, tiff, 0, 0).channels


def decode_pages(file: BinaryIO) -> int:
    """Return how many images a file holds; to be called within `reading`."""
    if is_tiff(file):
        with opened(file) as tiff:
            return Plane(file, tiff, 0, 0).pages
    with _limit_lifted(), PillowImage.open(file, formats=FORMATS) as image:
        return int(getattr(image, "n_frames", 1)) if image.format != "MPO" else 1


def _decode_tiff(
    file: BinaryIO, most_pixels: int, most_bytes: int | None, page: int | None, channel: int | None
) -> Image:
    with opened(file) as tiff:
        plane = Plane(file, tiff, page, channel)
        _check_extent(*plane.shape, most_pixels)
        if plane.key.size > MAX_SAMPLES * most_pixels:
            raise RefusedError(f"must have at most {MAX_SAMPLES * most_pixels} samples, got {plane.key.size}")
        length = plane.key.size * (plane.key.dtype.itemsize if plane.key.dtype is not None else 8)
        if most_bytes is not None and length > most_bytes:
            raise RefusedError(f"must have at most {most_bytes} bytes of pixels, got {length}")
        if plane.is_read_here:
            with _limit_lifted():  # strips are decompressed by Pillow
                return plane.pixels()
    return _one_channel(_by_pillow(file, plane), channel, "TIFF")


def _by_pillow(file: BinaryIO, plane: Plane) -> Image:
    """Return the pixels of a page of a kind that only Pillow knows, or imagecodecs, which is not installed."""
    key = plane.key
    known = key.compression in (PLAIN, *STREAMS, *PILLOW_COMPRESSIONS)
    if known and key.bitspersample in (1, 8) and key.dtype is not None and key.dtype.kind in "bu":
        with _limit_lifted(), suppress(UnidentifiedImageError), PillowImage.open(file, formats=("TIFF",)) as image:
            image.seek(plane.number)
            return _pixels(image)
    if key.compression in (PLAIN, *STREAMS) and key.photometric in COLOURS:
        raise RefusedError(f"must have 8 bits for each of the colours {COLOURS[key.photometric]}, got {key.dtype}")
    raise RefusedError(f"must be compressed in a known way, got {plane.compression}: pip install imagecodecs")


def _one_channel(pixels: Image, channel: int | None, kind: str) -> Image:
    axes = "YX" if pixels.ndim == 2 else "YXS"
    chosen = choose(axes, pixels.shape, None, channel, kind=kind)
    return pixels[tuple(slice(None) if number is None else number for number in chosen.numbers)]


def _check_extent(height: int, width: int, most: int) -> None:
    if width * height > most:
        raise RefusedError(f"must have at most {most} pixels, got {width} x {height}")


def _turn_to(image: PillowImage.Image, page: int | None) -> None:
    """Turn to a frame. Where none is named there must be one only, but for the previews that cameras add to a JPEG."""
    if page is None:
        if image.format != "MPO" and getattr(image, "is_animated", False):
            many = f"a {image.format} of several frames"
            raise RefusedError(f"must hold one image, got {many}; page=0, 1, ... reads one of them")
        return
    try:
        image.seek(page)
    except EOFError:
        raise RefusedError(f"page must be one of the file's, counted from 0, got {page}") from None


def _pixels(image: PillowImage.Image) -> Image:
    """Return the pixels, upright, in one of the forms that every function here takes."""
    ImageOps.exif_transpose(image, in_place=True)
    mode = image.mode
    if mode.startswith("I;16"):
        return np.asarray(image).astype(np.uint16)
    if mode == "I":  # 16-bit PNG in older versions of Pillow
        return np.asarray(image).astype(np.uint16)
    if mode in ("L", "RGB", "RGBA", "F", "1"):
        return np.array(image)
    clear = mode in ("LA", "La", "PA", "RGBa") or "transparency" in image.info
    return np.array(image.convert("RGBA" if clear else "RGB"))


class _Limit:
    """Pillow's limit on the size of images, one for the whole process, as it is while nobody reads here."""

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
