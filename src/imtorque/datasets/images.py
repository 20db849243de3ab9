"""Images and arrays in; every error names the file."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import files
from imtorque.io.atomic import open_regular
from imtorque.io.errors import reading_file

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp")


def read_image(path: Path) -> NDArray[Any]:
    """Read an image, (H, W) grey or (H, W, 3) colour, without its alpha channel."""
    image = files.read_image(path)
    return image[:, :, :3] if image.ndim == 3 else image


def image_shape(path: Path) -> tuple[int, int]:
    """Return (H, W) of an image from its header."""
    return files.image_shape(path)


def read_grey(path: Path) -> NDArray[Any]:
    """Read an image that must have one channel; one of three equal channels will do."""
    image = read_image(path)
    if image.ndim == 3:
        if (image != image[..., :1]).any():
            raise ValueError(f"{path} must be a grey image, got colours")
        image = image[..., 0]
    return image


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
