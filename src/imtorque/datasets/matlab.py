"""MATLAB files of version 5 to 7, read in plain Python: no file, however damaged, can do more than be refused.

Numbers, logicals, lines of text, cells and structs, dense: what the data sets of this field hold. Variables of other
kinds (tables of text, sparse matrices, objects) are left out.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.io.atomic import open_regular

MAX_VARIABLE_BYTES = 2**31  # of one variable, unpacked; bound: memory
MAX_DEPTH = 16  # cells and structs within each other; bound: recursion
HEADER = 128  # bytes; convention: the MAT-file format, version 5, as are the numbers below
MATRIX, COMPRESSED = 14, 15  # types of elements; format: MAT-file
CELL, STRUCT, TEXT, NUMBERS = 1, 2, 4, range(6, 16)  # classes of arrays
# Encodings of the text in an element, by their numbers; 16-bit units have the file's byte order.
ENCODINGS = {1: "latin-1", 2: "latin-1", 4: "utf-16-", 16: "utf-8", 17: "utf-16-"}
# Types of the numbers in an element, by the numbers the format has for them.
TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}


@dataclass
class _Reader:
    """Bytes, the place reached in them, and their byte order ("<" or ">")."""

    data: memoryview
    order: str
    place: int = 0

    def element(self) -> tuple[int, _Reader]:
        """Return the type and the content of the next element."""
        kind, size = self._numbers(2)
        if kind >> 16:  # a short element keeps up to 4 bytes in its own tag
            size, kind, start, after = kind >> 16, kind & 0xFFFF, self.place + 4, self.place + 8
            if size > 4:
                raise ValueError(f"a short element of {size} bytes")
        else:
            start = self.place + 8
            # All but compressed elements are padded to 8 bytes.
            after = start + size + (0 if kind == COMPRESSED else -size % 8)
        if start + size > len(self.data):
            raise ValueError("the file ends early")
        self.place = after
        return kind, _Reader(self.data[start : start + size], self.order)

    def numbers(self) -> NDArray[Any]:
        """Return the next element, which holds numbers."""
        kind, content = self.element()
        if kind not in TYPES:
            raise ValueError(f"an element of type {kind} where numbers must be")
        dtype = np.dtype(self.order + TYPES[kind])
        if len(content.data) % dtype.itemsize:
            raise ValueError(f"{len(content.data)} bytes of numbers of {dtype.itemsize}")
        return np.frombuffer(content.data, dtype)

    @property
    def at_end(self) -> bool:
        return self.place >= len(self.data)

    def _numbers(self, count: int) -> tuple[int, ...]:
        if self.place + 4 * count > len(self.data):
            raise ValueError("the file ends early")
        return struct.unpack_from(f"{self.order}{count}I", self.data, self.place)


def read_mat(path: Path) -> dict[str, Any]:
    """Read the variables of a MATLAB file (version 5 to 7) by name.

    Numbers come as arrays of the type they are stored in, logicals as uint8, cells as arrays of objects, structs as
    structured arrays whose fields are objects; all of at least 2 dimensions. A line of text is an array of one string.
    """
    try:
        with open_regular(path) as file:
            data = file.read()
        return _variables(data)
    except (OSError, ValueError, IndexError, struct.error, zlib.error, OverflowError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{path} must be a readable .mat file: {reason}") from error


def _variables(data: bytes) -> dict[str, Any]:
    order = {b"IM": "<", b"MI": ">"}.get(data[126:HEADER])
    if data[:8] == b"\x89HDF\r\n\x1a\n" or data[512:520] == b"\x89HDF\r\n\x1a\n":
        raise ValueError("it is of version 7.3; save it with -v7")
    if order is None or struct.unpack(f"{order}H", data[124:126])[0] >> 8 != 1:
        raise ValueError("it is no MATLAB file of version 5 to 7")
    reader = _Reader(memoryview(data), order, HEADER)
    found = {}
    while not reader.at_end:
        kind, content = reader.element()
        if kind == COMPRESSED:
            kind, content = _unpacked(content).element()
        if kind == MATRIX:
            name, value = _array(content, 0)
            if value is not None:
                found[name] = value
    return found


def _unpacked(content: _Reader) -> _Reader:
    engine = zlib.decompressobj()
    data = engine.decompress(content.data, MAX_VARIABLE_BYTES)
    if engine.unconsumed_tail:
        raise ValueError(f"a variable must unpack to at most {MAX_VARIABLE_BYTES} bytes")
    return _Reader(memoryview(data), content.order)


def _array(content: _Reader, depth: int) -> tuple[str, NDArray[Any] | None]:
    """Return an array and its name; None for kinds that are not read."""
    if not len(content.data):
        return "", np.empty((0, 0))
    if depth > MAX_DEPTH:
        raise ValueError(f"cells and structs lie in each other deeper than {MAX_DEPTH}")
    flags = content.numbers()
    if len(flags) < 2:
        raise ValueError("an array without its class")
    which = int(flags[0]) & 0xFF
    if which == TEXT:
        return _text(content)
    if which not in (CELL, STRUCT, *NUMBERS):
        return _name_of_other(content), None
    shape = tuple(int(side) for side in content.numbers())
    name = content.numbers().tobytes().decode("latin-1")
    if len(shape) < 2 or min(shape) < 0:
        raise ValueError(f"an array of shape {shape}")
    if which == CELL:
        return name, _objects(content, _count(content, shape, 1), depth).reshape(shape, order="F")
    if which == STRUCT:
        return name, _structs(content, shape, depth)
    numbers = content.numbers()
    if int(flags[0]) & 0x800:
        numbers = np.stack([numbers, content.numbers()], axis=-1).astype(float).view(complex)[..., 0]
    return name, numbers.reshape(shape, order="F").astype(numbers.dtype.newbyteorder("="))


def _text(content: _Reader) -> tuple[str, NDArray[Any] | None]:
    """Return a line of text and its name; None for several lines."""
    shape = content.numbers()
    name = content.numbers().tobytes().decode("latin-1")
    kind, part = content.element()
    if len(shape) != 2 or shape[0] > 1:
        return name, None
    encoding = ENCODINGS.get(kind)
    if encoding is None:
        raise ValueError(f"an element of type {kind} where text must be")
    if encoding == "utf-16-":
        encoding += "le" if content.order == "<" else "be"
    return name, np.array([bytes(part.data).decode(encoding)])


def _name_of_other(content: _Reader) -> str:
    """Return the name of an array of a kind that is not read."""
    try:
        content.numbers()
        return content.numbers().tobytes().decode("latin-1")
    except ValueError:
        return ""


def _structs(content: _Reader, shape: tuple[int, ...], depth: int) -> NDArray[Any]:
    length = int(content.numbers()[0])
    if length < 1:
        raise ValueError("a struct whose fields have no names")
    listed = content.numbers().tobytes()
    names = [listed[k : k + length].split(b"\0")[0].decode("latin-1") for k in range(0, len(listed), length)]
    if "" in names or len(set(names)) < len(names):
        raise ValueError("a struct whose fields have no names of their own")
    count = _count(content, shape, len(names))
    values = _objects(content, count * len(names), depth).reshape(count, len(names))
    filled = np.empty(count, [(name, object) for name in names])
    for k, name in enumerate(names):
        filled[name] = values[:, k]
    return filled.reshape(shape, order="F")


def _count(content: _Reader, shape: tuple[int, ...], fields: int) -> int:
    """Return how many entries there are, where the bytes that are left can hold them."""
    count = 1
    for side in shape:
        count *= side
    if count * max(fields, 1) > (len(content.data) - content.place) // 8:
        raise ValueError(f"{count} entries in {max(0, len(content.data) - content.place)} bytes")
    return count


def _objects(content: _Reader, count: int, depth: int) -> NDArray[Any]:
    found = np.empty(count, object)
    for k in range(count):
        kind, part = content.element()
        if kind != MATRIX:
            raise ValueError(f"an element of type {kind} where an array must be")
        found[k] = _array(part, depth + 1)[1]
    return found
