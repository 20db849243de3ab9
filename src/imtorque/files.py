"""Images in, complete files out, and names for outputs that never collide."""

from __future__ import annotations

import glob
import hashlib
import io
import operator
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from imtorque import _native
from imtorque.io.arrays import BoolArray, Image
from imtorque.io.atomic import open_regular, replacing, write_bytes, write_text
from imtorque.io.decoding import FORMATS, decode, decode_pages, decode_shape, reading
from imtorque.io.fits import FITS_SUFFIXES, is_fits, read_fits
from imtorque.io.ledger import checksum, read_record
from imtorque.io.microscopy import READERS, is_microscopy, plane_size, read_plane
from imtorque.io.pixel_size import checked, tiff_pixel_size
from imtorque.io.tiff_opening import is_tiff

__all__ = [
    "FORMATS",
    "LARGEST_IMAGE",
    "LONGEST_STEM",
    "SUFFIXES",
    "checksum",
    "decode_image",
    "encode_png",
    "find_images",
    "image_shape",
    "output_names",
    "page_count",
    "pixel_size",
    "read_image",
    "read_mask",
    "write_array",
    "write_bytes",
    "write_image",
    "write_stack",
    "write_text",
]

SUFFIXES = (
    ".png",
    ".jpg",
    ".jpeg",
    ".tif",
    ".tiff",
    ".bmp",
    ".webp",
    ".gif",
    ".ppm",
    ".pgm",
    ".pbm",
    *FITS_SUFFIXES,
    *READERS,
)
LARGEST_IMAGE = 2**30  # bound: pixels; Pillow alone warns at 2^26.4, which microscopes and satellites exceed
LONGEST_STEM = 200  # bound: bytes of an output's name before what a verb adds; file systems allow 255 in all


def read_image(path: str | os.PathLike[str], page: int | None = None, channel: int | None = None) -> Image:
    """Read an image as an array that every function here takes.

    Parameters
    ----------
    path
        A PNG, JPEG, TIFF, BMP, WebP, GIF or PPM file of up to 2^30 pixels, whatever its name; or a .czi, .lif or .nd2
        file, where bioio is installed, or .fits, where astropy is.
    page
        Which image of a stack or an animation, counted from 0; by default there must be one only. In ImageJ and OME
        TIFF and microscopes' files all axes but Y, X and channels count pages, the last fastest, in the first series.
    channel
        Which channel, counted from 0; of a colour image, which of its colours. By default there must be one channel,
        or red, green and blue, with or without opacity.

    Returns
    -------
    ndarray
        Grey (H, W) or colour (H, W, 3), or (H, W, 4) with an alpha channel, of the type it has in the file; colour of
        16 bits a channel comes with 8 from all formats but TIFF, the most Pillow keeps. Upright: a camera's note on how
        it was held (EXIF) is applied. Palettes are looked up. In a TIFF whose 0 is white values are turned round: v
        becomes largest - v, floats -v.

    See Also
    --------
    files.write_image, images.CheckedImage

    Examples
    --------
    >>> read_image("no.png")
    Traceback (most recent call last):
    ...
    FileNotFoundError: no.png: no such file
    """
    numbers = _number("page", page), _number("channel", channel)
    with reading(path), open_regular(path) as file:
        if is_microscopy(path):
            return read_plane(path, LARGEST_IMAGE, *numbers)
        if is_fits(path):
            return read_fits(path, LARGEST_IMAGE, *numbers)
        return decode(file, LARGEST_IMAGE, *numbers)


def pixel_size(path: str | os.PathLike[str]) -> tuple[float, float] | None:
    """Return how many micrometres a pixel is high and wide, (y, x), as far as a file says; else None.

    OME and ImageJ TIFF and microscopes' files say it. The resolution in inches or centimetres of any other TIFF counts
    where it is finer than 1000 dots an inch: what is coarser is mostly what a program put there for screen or printer.
    """
    with reading(path), open_regular(path) as file:
        if is_microscopy(path):
            return checked(plane_size(path))
        return tiff_pixel_size(file) if is_tiff(file) else None


def image_shape(path: str | os.PathLike[str]) -> tuple[int, int]:
    """Return (H, W) of an image from its header, without decoding it."""
    with reading(path), open_regular(path) as file:
        return decode_shape(file)


def page_count(path: str | os.PathLike[str]) -> int:
    """Return how many images `read_image(path, page=...)` can read of a stack or an animation."""
    with reading(path), open_regular(path) as file:
        return decode_pages(file)


def decode_image(
    data: bytes,
    *,
    name: str,
    most_pixels: int | None = None,
    most_bytes: int | None = None,
    page: int | None = None,
    channel: int | None = None,
) -> Image:
    """Read an image from the bytes of a file, in memory, as `read_image` does.

    Parameters
    ----------
    data
        A file of one of the usual formats (`FORMATS`).
    name
        What errors call it.
    most_pixels
        An image that says it has more is refused before any of them is decoded; 2^30 by default.
    most_bytes
        Likewise, of its decoded pixels: a TIFF may have many to each. No bound by default.
    page, channel
        As `read_image` takes them.
    """
    numbers = _number("page", page), _number("channel", channel)
    with reading(name):
        most = LARGEST_IMAGE if most_pixels is None else most_pixels
        return decode(_CancellableBytes(data), most, *numbers, most_bytes=most_bytes)


class _CancellableBytes(io.BytesIO):
    """Bytes of a file whose decoding can be cancelled: decoders read a piece at a time."""

    def read(self, size: int | None = -1, /) -> bytes:
        _native.check_interrupt()
        return super().read(size)


def encode_png(pixels: NDArray[Any]) -> bytes:
    """Return an array of bytes, grey (H, W) or colour (H, W, 3 or 4), as a PNG file in memory."""
    file = io.BytesIO()
    PillowImage.fromarray(np.ascontiguousarray(pixels)).save(file, "PNG", compress_level=2)
    return file.getvalue()


def read_mask(path: str | os.PathLike[str]) -> BoolArray:
    """Read a region from an image: True where it is not black (or, with an alpha channel, neither black nor clear)."""
    pixels = read_image(path)
    if pixels.ndim == 2:
        return np.asarray(pixels != 0)
    inside = np.any(pixels[:, :, :3] != 0, axis=2)
    return np.asarray(inside & (pixels[:, :, 3] != 0) if pixels.shape[2] == 4 else inside)


def write_image(path: str | os.PathLike[str], pixels: NDArray[Any]) -> Path:
    """Write an array as an image, complete or not at all, and return its path.

    Parameters
    ----------
    path
        Ends in .png, .jpg or .tiff, which says the format. PNG holds uint8 and grey uint16, TIFF also float32 and
        int32.
    pixels
        Grey (H, W) or colour (H, W, 3 or 4).
    """
    target = Path(path)
    kind = PillowImage.registered_extensions().get(target.suffix.lower())
    if kind is None:
        raise ValueError(f"{target}: must end in .png, .jpg, .tiff or another format's suffix, got {target.suffix!r}")
    with replacing(target) as partial, open(partial, "wb") as file:
        # Deflate keeps the large empty areas of labels small; harder work on a PNG would take longer than the torque.
        options: dict[str, Any] = {"compression": "tiff_deflate"} if kind == "TIFF" else {"compress_level": 2}
        PillowImage.fromarray(np.ascontiguousarray(pixels)).save(file, kind, **options)
    return target


def write_stack(path: str | os.PathLike[str], volume: NDArray[Any]) -> Path:
    """Write a volume (Z, Y, X) as a TIFF of a page for each slice, complete or not at all, and return its path."""
    import tifffile  # here, because it takes long to load

    target = Path(path)
    with replacing(target) as partial:
        tifffile.imwrite(partial, volume, photometric="minisblack", compression="zlib", metadata={"axes": "ZYX"})
    return target


def write_array(path: str | os.PathLike[str], array: NDArray[Any]) -> Path:
    """Write an array to an .npy file, complete or not at all, and return its path."""
    target = Path(path)
    with replacing(target) as partial, open(partial, "wb") as file:
        # A file itself NumPy writes past Python, and says of a full disk how many numbers it wrote, not what is wrong.
        np.save(SimpleNamespace(write=file.write), array, allow_pickle=False)
    return target


def write_arrays(path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]]) -> Path:
    """Write arrays by their names to one file in the form of an .npz, complete or not at all, and return its path."""
    target = Path(path)
    with replacing(target) as partial, open(partial, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
    return target


def find_images(arguments: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """Return the files that arguments name: files, folders (the images in them) and patterns with * ? [ ].

    A file that does not exist, or a link to none, is returned as it is, to be reported when it is read. A folder or a
    pattern without images is a ValueError. Images that a run over the same folder wrote, which its records say, are
    passed over. Of several names of one file, by links, the first counts.

    Parameters
    ----------
    arguments
        Paths and patterns; `**` goes through folders.
    """
    found: dict[str, Path] = {}
    for argument in arguments:
        if not os.fspath(argument):
            raise ValueError("an image must have a name, got an empty one")
        path = Path(argument)
        if path.is_dir() and path.suffix != ".zarr":  # which is one image
            images = _images(path.iterdir())
        elif not path.exists() and glob.has_magic(str(argument)):
            images = _images(_matches(str(argument)))
        else:
            images = [path]
        if not images:
            raise ValueError(f"{argument}: must hold or match at least one image ({', '.join(SUFFIXES[:5])}, ...)")
        for image in images:
            found.setdefault(os.path.realpath(image), image)
    return list(found.values())


def _matches(pattern: str) -> Iterator[Path]:
    """Yield what a pattern matches; `**` enters each folder once, by its shortest path, also where links go round."""
    head, deep, tail = re.split(r"(?:^|(?<=/))(\*\*)(?:/+|$)", pattern, maxsplit=1) if "**" in pattern else ("", "", "")
    if not deep:
        yield from map(Path, glob.iglob(pattern))
        return
    entered: set[str] = set()
    level = [Path(name) for name in (glob.iglob(head) if head else ["."]) if os.path.isdir(name)]
    while level:
        inner: list[Path] = []
        for folder in level:
            real = os.path.realpath(folder)
            if real not in entered:
                entered.add(real)
                yield from _matches(os.path.join(glob.escape(str(folder)), tail or "*"))
                with suppress(OSError):  # of one that may not be looked into
                    inner += [path for path in sorted(folder.iterdir()) if path.is_dir() and path.name[0] != "."]
        level = inner


def output_names(paths: Sequence[Path]) -> list[str]:
    """Return for each input what the names of its outputs begin with: its own name, and never the same for two.

    Inputs of one name are told apart by the folders they lie in, below the one they share. A name that would be too
    long for the file system with what a verb adds (over 200 bytes) is cut, and the rest of it replaced by a checksum.

    Examples
    --------
    >>> output_names([Path("a.png"), Path("a.jpg"), Path("left/b.png"), Path("right/b.png")])
    ['a.png', 'a.jpg', 'b.png.left', 'b.png.right']
    """
    full = [Path(os.path.abspath(path)) for path in paths]
    folders: dict[str, set[str]] = {}
    for path in full:
        folders.setdefault(path.name, set()).add(str(path.parent))
    shared = {name: os.path.commonpath(places) for name, places in folders.items()}
    below = [path.parent.relative_to(shared[path.name]).as_posix() for path in full]
    labels = [place.replace("%", "%25").replace("/", "%2F") for place in below]
    names = [_cut(p.name if q == "." else f"{p.name}.{q}", p.suffix) for p, q in zip(full, labels, strict=True)]
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise ValueError(f"inputs must differ in what their outputs are called, got two for {twice}")
    return names


def _number(option: str, number: int | None) -> int | None:
    """Return which page or channel is asked for."""
    if number is not None and operator.index(number) < 0:
        raise ValueError(f"{option} must be at least 0, got {number}")
    return None if number is None else operator.index(number)


def _cut(name: str, suffix: str) -> str:
    """Shorten a long name: its beginning, a checksum of the whole, the suffix."""
    data = os.fsencode(name)
    if len(data) <= LONGEST_STEM:
        return name
    ending = f"~{hashlib.sha256(data).hexdigest()[:12]}{suffix if len(suffix) < 16 else ''}"
    return data[: LONGEST_STEM - len(os.fsencode(ending))].decode("utf-8", "ignore") + ending


def _images(paths: Iterable[Path]) -> list[Path]:
    """Return the images among paths, in order of their names, without hidden files and our own outputs."""
    records: dict[Path, bool] = {}
    images = (
        path
        for path in paths
        if path.suffix.lower() in SUFFIXES
        and not path.name.startswith(".")
        and not path.is_dir()
        and not _is_output(path, records)
    )
    shortest: dict[str, Path] = {}
    for path in images:  # a file itself goes before links to it, and of these the one by fewest folders
        real = os.path.realpath(path)
        known = shortest.setdefault(real, path)
        if (path.is_symlink(), len(path.parts), path) < (known.is_symlink(), len(known.parts), known):
            shortest[real] = path
    return sorted(shortest.values())


def _is_output(path: Path, records: dict[Path, bool]) -> bool:
    """Return whether a file is named as an output, a.png.verb..., beside its record a.png.verb.json."""
    parts = path.name.split(".")
    for i, part in enumerate(parts[:-1]):
        if i and f".{part.lower()}" in SUFFIXES:
            for j in range(i + 2, len(parts)):
                record = path.with_name(".".join(parts[:j]) + ".json")
                if record not in records:
                    records[record] = read_record(record, parts[j - 1]) is not None
                if records[record]:
                    return True
    return False
