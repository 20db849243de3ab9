"""Pictures and arrays in; every error names the file."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.files import image_shape, read_image
from imtorque.io.atomic import open_regular
from imtorque.io.errors import reading_file

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp")


def read_picture(path: Path) -> NDArray[Any]:
    """Read a picture, (H, W) grey or (H, W, 3) colour, without its alpha channel."""
    picture = read_image(path)
    return picture[:, :, :3] if picture.ndim == 3 else picture


def picture_shape(path: Path) -> tuple[int, int]:
    """Return (H, W) of a picture from its header."""
    return image_shape(path)


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
    with reading_file(path, "a readable .npy array"), open_regular(path) as file:
        array = np.load(file, allow_pickle=False)
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "buif":
        raise ValueError(f"{path} must hold one array of numbers")
    return array


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
