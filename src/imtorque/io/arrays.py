"""Array types, and arrays as they come from callers and from files: whatever is wrong with one is one line."""

from __future__ import annotations

import math
import os
import re
import zipfile
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from imtorque.io.atomic import open_regular

# NumPy would import it with the first array: a process forked meanwhile, by another thread, would wait for ever.
import_module("numpy.ma")

FloatArray = NDArray[np.floating[Any]]
Float32Array = NDArray[np.float32]
IntArray = NDArray[np.integer[Any]]
BoolArray = NDArray[np.bool_]
Image = NDArray[Any]
Planes = NDArray[np.float64]  # (C, H, W)

MOST_BYTES = 2**36  # bound: of arrays that a user computed; models say less
MOST_ARRAYS = 64  # bound: a recogniser has one for each block, and three
MOST_TEXT = 2**20  # bound: of an array of text
_ZIP = b"PK"

Form = tuple[str, tuple[str | int, ...]]  # types, shape
Layout = Mapping[str, Form]


def whole_array(values: Any, name: str, dtype: DTypeLike | None = None) -> NDArray[Any]:
    """Return an array that a caller gave, all of whose elements count: masked ones are refused."""
    if np.ma.is_masked(values):
        hidden = np.count_nonzero(np.ma.getmask(values))
        raise ValueError(f"{name} must be an array without masked elements, got a masked one with {hidden} of them")
    return as_array(values, name, dtype)


def shaped_array(values: Any, name: str, axes: str = "(H, W)", dtype: DTypeLike | None = None) -> NDArray[Any]:
    """Return a whole array with these axes that is not empty."""
    array = whole_array(values, name, dtype)
    if array.ndim != axes.count(",") + 1 or array.size == 0:
        raise ValueError(f"{name} must have shape {axes} and not be empty, got {array.shape}")
    return array


def real_array(values: Any, name: str, axes: str = "(H, W)") -> NDArray[Any]:
    """Return such an array, of real numbers."""
    kind = whole_array(values, name).dtype
    if kind.kind not in "fiub":
        raise TypeError(f"{name} must be real numbers, got dtype {kind}")
    return shaped_array(values, name, axes)


def as_array(values: Any, name: str, dtype: DTypeLike | None = None) -> NDArray[Any]:
    """Return what the array protocols make of an object: of tensors, lazy and labelled arrays, images of Pillow."""
    try:
        return np.asarray(values.data if isinstance(values, np.ma.MaskedArray) else values, dtype)
    except (RuntimeError, TypeError, ValueError) as error:
        kind = f"{type(values).__module__.partition('.')[0]}.{type(values).__name__}"
        told = (str(error).splitlines() or [""])[0]
        raise TypeError(f"{name} must be an array in this machine's memory, got a {kind}: {told}") from error


def read_arrays(
    path: str | os.PathLike[str],
    layout: Layout,
    most_bytes: int = MOST_BYTES,
    optional: tuple[str, Form] | None = None,
) -> dict[str, NDArray[Any]]:
    """Return the arrays of an .npz file by name; to be called within `reading_file`.

    Nothing is unpacked before all of it is known: which arrays there are, of which types and shapes, and how large.

    Parameters
    ----------
    path
        The file.
    layout
        The arrays that must be there: their types, as "f4|f8", or "" for any; and their shapes, of numbers and of
        letters that stand for the same number wherever they are.
    most_bytes
        Of all arrays together.
    optional
        A pattern of the names of others that may be, and their form, whose letters stand for themselves.
    """
    with open_regular(path) as file:
        if file.read(len(_ZIP)) != _ZIP:  # NumPy takes every other file for pickles
            raise ValueError("no archive of arrays")
        with zipfile.ZipFile(file) as archive:
            listed = archive.infolist()
            members = {member.filename.removesuffix(".npy"): member for member in listed}
            if len(members) != len(listed) or len(members) > MOST_ARRAYS:
                raise ValueError(f"{len(listed)} arrays, some twice or too many")
            if missing := [name for name in layout if name not in members]:
                raise ValueError(f"no array {missing[0]}, only {', '.join(sorted(members))[:80]}")
            total = sum(member.file_size for member in listed)
            if total > most_bytes:
                raise ValueError(f"{total} bytes of arrays, more than {most_bytes}")
            sizes: dict[str, int] = {}
            for name, member in members.items():
                if name in layout:
                    _check_member(archive, member, name, layout[name], sizes)
                elif optional is not None and re.fullmatch(optional[0], name):
                    _check_member(archive, member, name, optional[1], {})
                else:
                    raise ValueError(f"an array that is none of its own, {name:.80}")
            return {name: _unpacked(archive, member) for name, member in members.items()}


def _check_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, form: Form, sizes: dict[str, int]
) -> None:
    """Refuse an array of another form, or whose header promises another size than the archive's."""
    with archive.open(member) as packed:
        version = np.lib.format.read_magic(packed)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in readers:
            raise ValueError(f"{name} of format {version}")
        shape, _, dtype = readers[version](packed)
        size = packed.tell() + math.prod(shape) * dtype.itemsize
    kinds, sides = form
    if kinds and not any(dtype.str[1:].startswith(kind) for kind in kinds.split("|")):
        raise ValueError(f"{name} of type {dtype.str:.20}")
    known = [
        sizes.setdefault(side, n) if isinstance(side, str) else side for side, n in zip(sides, shape, strict=False)
    ]
    if len(shape) != len(sides) or list(shape) != known:
        raise ValueError(f"{name} of shape {shape}")
    if dtype.hasobject or min(shape, default=0) < 0 or size != member.file_size:
        raise ValueError(f"{name} of shape {shape}, which is another size than it has")
    if dtype.kind == "U" and size > MOST_TEXT:
        raise ValueError(f"{name} of {size} bytes of text, more than {MOST_TEXT}")


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(member) as packed:
        array: NDArray[Any] = np.lib.format.read_array(packed, allow_pickle=False)
        if packed.read(1):  # which also compares the checksum
            raise ValueError("more than an array")
    return array
