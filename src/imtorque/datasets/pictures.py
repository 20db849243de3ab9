"""Pictures, arrays and MATLAB files in; every error names the file."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from imtorque.files import read_image

UNREADABLE = (OSError, UnidentifiedImageError, ValueError, SyntaxError)  # what Pillow raises
IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp")


def read_picture(path: Path) -> NDArray[Any]:
    """Read a picture, (H, W) grey or (H, W, 3) colour, without its alpha channel."""
    picture = read_image(path)
    return picture[:, :, :3] if picture.ndim == 3 else picture


def picture_shape(path: Path) -> tuple[int, int]:
    """Return (H, W) of a picture from its header."""
    try:
        with Image.open(path) as picture:
            return picture.height, picture.width
    except UNREADABLE as error:
        raise ValueError(f"{path} must be a readable picture: {_one_line(error)}") from error


def read_grey(path: Path) -> NDArray[Any]:
    """Read a picture that must have one channel; one of three equal channels will do."""
    picture = read_picture(path)
    if picture.ndim == 3:
        if (picture != picture[..., :1]).any():
            raise ValueError(f"{path} must be a grey picture, got colours")
        picture = picture[..., 0]
    return picture


def read_array(path: Path) -> NDArray[Any]:
    """Read a .npy file of numbers."""
    try:
        array = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise ValueError(f"{path} must be a readable .npy array: {_one_line(error)}") from error
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "buif":
        raise ValueError(f"{path} must hold one array of numbers")
    return array


def read_mat(path: Path) -> dict[str, Any]:
    """Read the variables of a MATLAB file (version 5 to 7)."""
    from scipy.io import loadmat  # imported here: it takes longer than the rest of this package

    try:
        contents: dict[str, Any] = loadmat(path)
    except Exception as error:  # zlib and the reader's own errors share no base class
        raise ValueError(f"{path} must be a readable .mat file: {_one_line(error)}") from error
    return contents


def files_by_stem(folder: Path, suffixes: Iterable[str]) -> dict[str, Path]:
    """Return the files of a folder by name without suffix, in order; two of one name are an error."""
    if not folder.is_dir():
        raise ValueError(f"{folder} must be a folder, got {'a file' if folder.exists() else 'nothing'}")
    wanted = tuple(suffixes)
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() not in wanted or path.name.startswith("."):
            continue
        if path.stem in found:
            raise ValueError(f"{folder} must hold one file per image, got {found[path.stem].name} and {path.name}")
        found[path.stem] = path
    return found


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
