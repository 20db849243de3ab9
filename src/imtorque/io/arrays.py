"""Array types, and arrays as they come from callers and from files: whatever is wrong with one is one line."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from imtorque.io.atomic import open_regular

FloatArray = NDArray[np.floating[Any]]
Float32Array = NDArray[np.float32]
IntArray = NDArray[np.integer[Any]]
BoolArray = NDArray[np.bool_]
Image = NDArray[Any]
Planes = NDArray[np.float64]  # (C, H, W)

_ZIP = b"PK"


def whole_array(values: Any, name: str, dtype: DTypeLike | None = None) -> NDArray[Any]:
    """Return an array that a caller gave, all of whose elements count: masked ones are refused."""
    if np.ma.is_masked(values):
        hidden = np.count_nonzero(np.ma.getmask(values))
        raise ValueError(f"{name} must be an array without masked elements, got a masked one with {hidden} of them")
    return as_array(values, name, dtype)


def as_array(values: Any, name: str, dtype: DTypeLike | None = None) -> NDArray[Any]:
    """Return what the array protocols make of an object: of tensors, lazy and labelled arrays, images of Pillow."""
    try:
        return np.asarray(values.data if isinstance(values, np.ma.MaskedArray) else values, dtype)
    except (RuntimeError, TypeError, ValueError) as error:
        kind = f"{type(values).__module__.partition('.')[0]}.{type(values).__name__}"
        told = (str(error).splitlines() or [""])[0]
        raise TypeError(f"{name} must be an array in this machine's memory, got a {kind}: {told}") from error


def read_arrays(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """Return the arrays of an .npz file by name; to be called within `reading_file`."""
    with open_regular(path) as file:
        start = file.read(len(_ZIP))
        file.seek(0)
        if start != _ZIP:  # NumPy takes every other file for pickles
            raise ValueError("no archive of arrays")
        stored = np.load(file, allow_pickle=False)
        arrays = {name: stored[name] for name in stored.files}
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise ValueError(f"{name} is no array")
    return arrays
