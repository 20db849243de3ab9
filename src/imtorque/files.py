"""Pictures in, complete files out, and names for outputs that never collide."""

from __future__ import annotations

import glob
import io
import os
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage
from PIL import ImageOps, UnidentifiedImageError

from imtorque._atomic import replacing
from imtorque._types import BoolArray, Image

SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp", ".gif", ".ppm", ".pgm", ".pbm")
FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "WEBP", "GIF", "PPM")
LARGEST_PICTURE = 2**30  # pixels; Pillow alone warns at 2^26.4, which microscopes and satellites exceed

_pillow_limit = threading.Lock()


def read_image(path: str | os.PathLike[str]) -> Image:
    """Read a picture as an array that every function here takes.

    Parameters
    ----------
    path
        A PNG, JPEG, TIFF or any other file Pillow reads, of up to 2^30 pixels.

    Returns
    -------
    ndarray
        Grey (H, W) or colour (H, W, 3), or (H, W, 4) with an alpha channel. uint8; uint16 for 16-bit grey; float for
        32-bit grey. Upright: a camera's note on how it was held (EXIF) is applied. Palettes are looked up. Colour of
        16 bits a channel comes with 8, the most Pillow keeps.

    Examples
    --------
    >>> read_image("no.png")
    Traceback (most recent call last):
    ...
    FileNotFoundError: no.png: no such file
    """
    with _reading(path):
        picture = _open(path)
    with picture:
        _check_extent(path, picture)
        with _reading(path):
            return _pixels(ImageOps.exif_transpose(picture))


def decode_image(data: bytes, *, name: str, most_pixels: int | None = None) -> Image:
    """Read a picture from the bytes of a file, in memory, as `read_image` does.

    Parameters
    ----------
    data
        A file of one of the usual formats (`FORMATS`).
    name
        What errors call it.
    most_pixels
        A picture that says it has more is refused before any of them is decoded; 2^30 by default.
    """
    with _reading(name):
        picture = _open(io.BytesIO(data), FORMATS)
    with picture:
        _check_extent(name, picture, most_pixels)
        with _reading(name):
            return _pixels(ImageOps.exif_transpose(picture))


def encode_png(pixels: NDArray[Any]) -> bytes:
    """Return an array of bytes, grey (H, W) or colour (H, W, 3 or 4), as a PNG file in memory."""
    file = io.BytesIO()
    PillowImage.fromarray(np.ascontiguousarray(pixels)).save(file, "PNG", compress_level=2)
    return file.getvalue()


def shrink_image(image: Image, factor: int) -> Image:
    """Average blocks of factor x factor pixels; what does not fill a block at the right and the bottom is left out.

    Examples
    --------
    >>> shrink_image(np.array([[0, 10, 7], [20, 30, 7]], np.uint8), 2)
    array([[15]], dtype=uint8)
    """
    pixels = np.asarray(image)
    height, width = (side // factor for side in pixels.shape[:2]) if factor >= 1 else (0, 0)
    if height < 1 or width < 1:
        raise ValueError(f"factor must be from 1 to the shorter side of {pixels.shape[:2]}, got {factor}")
    blocks = pixels[: height * factor, : width * factor].reshape(height, factor, width, factor, *pixels.shape[2:])
    mean = blocks.mean(axis=(1, 3))
    shrunk: Image = (mean if pixels.dtype.kind == "f" else mean.round()).astype(pixels.dtype)
    return shrunk


def read_mask(path: str | os.PathLike[str]) -> BoolArray:
    """Read a region from a picture: True where it is not black (or, with an alpha channel, neither black nor clear)."""
    pixels = read_image(path)
    if pixels.ndim == 2:
        return np.asarray(pixels != 0)
    inside = np.any(pixels[:, :, :3] != 0, axis=2)
    return np.asarray(inside & (pixels[:, :, 3] != 0) if pixels.shape[2] == 4 else inside)


def write_picture(path: str | os.PathLike[str], pixels: NDArray[Any]) -> Path:
    """Write an array as a picture, complete or not at all, and return its path.

    Parameters
    ----------
    path
        Ends in .png, .jpg or .tiff, which says the format. PNG holds uint8 and grey uint16, TIFF also float32 and
        int32.
    pixels
        Grey (H, W) or colour (H, W, 3 or 4).
    """
    target = Path(path)
    with replacing(target) as partial, open(partial, "wb") as file:
        kind = PillowImage.registered_extensions()[target.suffix.lower()]
        # Deflate keeps the large empty areas of labels small; harder work on a PNG would take longer than the torque.
        options: dict[str, Any] = {"compression": "tiff_deflate"} if kind == "TIFF" else {"compress_level": 2}
        PillowImage.fromarray(np.ascontiguousarray(pixels)).save(file, kind, **options)
    return target


def write_array(path: str | os.PathLike[str], array: NDArray[Any]) -> Path:
    """Write an array to an .npy file, complete or not at all, and return its path."""
    target = Path(path)
    with replacing(target) as partial, open(partial, "wb") as file:
        np.save(file, array, allow_pickle=False)
    return target


def write_arrays(path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]]) -> Path:
    """Write arrays by their names to one file in the form of an .npz, complete or not at all, and return its path."""
    target = Path(path)
    with replacing(target) as partial, open(partial, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
    return target


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Write text as UTF-8, complete or not at all, and return its path."""
    target = Path(path)
    with replacing(target) as partial:
        partial.write_text(text, encoding="utf-8")
    return target


def find_pictures(arguments: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """Return the files that arguments name: files, folders (the pictures in them) and patterns with * ? [ ].

    A file that does not exist is returned as it is, to be reported when it is read. A folder or a pattern without
    pictures is a ValueError. Pictures that a run over the same folder wrote are passed over.

    Parameters
    ----------
    arguments
        Paths and patterns; `**` goes through folders.
    """
    found: dict[str, Path] = {}
    for argument in arguments:
        path = Path(argument)
        if path.is_dir():
            pictures = _pictures(path.iterdir())
        elif not path.exists() and glob.has_magic(str(argument)):
            pictures = _pictures(Path(name) for name in glob.iglob(str(argument), recursive=True))
        else:
            pictures = [path]
        if not pictures:
            raise ValueError(f"{argument}: must hold or match at least one picture ({', '.join(SUFFIXES[:5])}, ...)")
        for picture in pictures:
            found.setdefault(os.path.abspath(picture), picture)
    return list(found.values())


def output_names(paths: Sequence[Path]) -> list[str]:
    """Return for each input what the names of its outputs begin with: its own name, and never the same for two.

    Inputs of one name are told apart by the folders they lie in, below the one they share.

    Examples
    --------
    >>> output_names([Path("a.png"), Path("a.jpg"), Path("left/b.png"), Path("right/b.png")])
    ['a.png', 'a.jpg', 'b.png.left', 'b.png.right']
    """
    shared = Counter(path.name for path in paths)
    full = [Path(os.path.abspath(path)) for path in paths]
    names = []
    for path in full:
        namesakes = [str(other.parent) for other in full if other.name == path.name] if shared[path.name] > 1 else []
        below = path.parent.relative_to(os.path.commonpath(namesakes)).as_posix() if namesakes else "."
        label = below.replace("%", "%25").replace("/", "%2F")
        names.append(path.name if below == "." else f"{path.name}.{label}")
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise ValueError(f"inputs must differ in what their outputs are called, got two for {twice}")
    return names


@contextmanager
def _reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say in one line, with the name, what is wrong with a file."""
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such file") from None
    except MemoryError:
        raise
    # Pillow's readers meet a damaged file with any of OSError, SyntaxError, ValueError, EOFError, struct.error, ...
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, OSError) and error.strerror:
            reason = error.strerror
        if isinstance(error, UnidentifiedImageError):
            reason = "no picture format that is known"
        raise ValueError(f"{path}: must be a picture that can be read, got: {reason}") from error


def _open(source: str | os.PathLike[str] | io.BytesIO, formats: tuple[str, ...] | None = None) -> PillowImage.Image:
    """Open a picture without Pillow's limit on its size, which is one for the whole process."""
    with _pillow_limit:
        limit, PillowImage.MAX_IMAGE_PIXELS = PillowImage.MAX_IMAGE_PIXELS, None
        try:
            return PillowImage.open(source, formats=formats)
        finally:
            PillowImage.MAX_IMAGE_PIXELS = limit


def _check_extent(path: str | os.PathLike[str], picture: PillowImage.Image, most_pixels: int | None = None) -> None:
    width, height = picture.size
    most = LARGEST_PICTURE if most_pixels is None else most_pixels
    if width * height > most:
        raise ValueError(f"{path}: must have at most {most} pixels, got {width} x {height}")
    pages = getattr(picture, "n_frames", 1)
    if picture.format == "TIFF" and pages > 1:
        raise ValueError(f"{path}: must hold one picture, got a TIFF of {pages} pages")


def _pixels(picture: PillowImage.Image) -> Image:
    """Return the pixels in one of the forms that `grey_image` takes."""
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


def _pictures(paths: Iterable[Path]) -> list[Path]:
    """Return the pictures among paths, in order of their names, without hidden files and our own outputs."""
    return sorted(
        path
        for path in paths
        if path.suffix.lower() in SUFFIXES and not path.name.startswith(".") and path.is_file() and not _is_output(path)
    )


def _is_output(path: Path) -> bool:
    """Return whether a file is named as an output, a.png.verb..., beside its record a.png.verb.json."""
    parts = path.name.split(".")
    for i, part in enumerate(parts[:-1]):
        if i and f".{part.lower()}" in SUFFIXES:
            stems = (".".join(parts[:j]) for j in range(i + 2, len(parts)))
            if any(path.with_name(f"{stem}.json").exists() for stem in stems):
                return True
    return False
