"""What a TIFF file says about its pages, read without decoding any: how many there are, and how pixels are kept."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

BITS, PHOTOMETRIC, SAMPLES, PLANAR, FORMAT = 258, 262, 277, 284, 339
_DEFAULTS = {BITS: (1,), PHOTOMETRIC: (1,), SAMPLES: (1,), PLANAR: (1,), FORMAT: (1,)}
_KINDS = {1: "uint", 2: "int", 3: "float", 5: "complex int", 6: "complex"}
_PHOTOMETRIC = {0: "grey, white as 0", 1: "grey", 2: "RGB", 3: "palette", 5: "CMYK", 6: "YCbCr", 8: "Lab"}
_TYPES = {1: "B", 3: "H", 4: "I", 16: "Q"}  # the whole numbers among the types of values


class Page:
    """How one page keeps its pixels."""

    def __init__(self, tags: dict[int, tuple[int, ...]], order: str) -> None:
        """Take what its tags say, and the standard's defaults for the rest."""
        said = {tag: tags.get(tag) or default for tag, default in _DEFAULTS.items()}
        self.samples, self.photometric = said[SAMPLES][0], said[PHOTOMETRIC][0]
        self.planar = said[PLANAR][0] == 2 and self.samples > 1
        self.order = order
        self.bits, self.kind = said[BITS][0], _KINDS.get(said[FORMAT][0], "unknown")

    @property
    def inverted(self) -> bool:
        """Whether 0 stands for white."""
        return self.photometric == 0

    def __str__(self) -> str:
        colours = _PHOTOMETRIC.get(self.photometric, f"photometric {self.photometric}")
        channels = f", {self.samples} channels" if self.samples > 1 else ""
        planes = ", one plane after the other" if self.planar else ""
        return f"{self.kind}{self.bits} {colours}{channels}{planes}{', big-endian' if self.order == '>' else ''}"


def count_pages(file: BinaryIO) -> int:
    """Return how many pages a TIFF file has; a chain of pages that is cut or runs in a circle ends there."""
    return sum(1 for _ in _offsets(file))


def read_page(file: BinaryIO, number: int = 0) -> Page:
    """Return how a page of a TIFF file keeps its pixels; a ValueError where it has no such page."""
    for k, offset in enumerate(_offsets(file)):
        if k == number:
            return _page(file, offset)
    raise ValueError("a TIFF without this page")


def _layout(file: BinaryIO) -> tuple[str, bool] | None:
    """Return the byte order, and whether the file is a BigTIFF; None where it is no TIFF."""
    file.seek(0)
    head = file.read(4)
    order = {b"II": "<", b"MM": ">"}.get(head[:2])
    if order is None or len(head) < 4:
        return None
    version = struct.unpack(f"{order}H", head[2:])[0]
    return (order, version == 43) if version in (42, 43) else None


def _offsets(file: BinaryIO) -> Iterator[int]:
    """Yield where each page begins. Linear in their number."""
    layout = _layout(file)
    if layout is None:
        return
    order, big = layout
    number, many, entry = ("Q", "Q", 20) if big else ("I", "H", 12)
    seen: set[int] = set()
    place = 8 if big else 4
    while True:
        offset = _number(file, place, order + number)
        entries = _number(file, offset, order + many) if offset else None
        if not offset or entries is None or offset in seen:
            return
        seen.add(offset)
        yield offset
        place = offset + struct.calcsize(order + many) + entries * entry


def _number(file: BinaryIO, place: int, form: str) -> int | None:
    """Return the number at a place, None beyond the end."""
    if place >= 2**63:
        return None
    file.seek(place)
    data = file.read(struct.calcsize(form))
    return int(struct.unpack(form, data)[0]) if len(data) == struct.calcsize(form) else None


def _page(file: BinaryIO, offset: int) -> Page:
    """Read the tags of a page that matter here; all are whole numbers, and few."""
    order, big = _layout(file) or ("<", False)
    many, form = ("Q", "HHQ8s") if big else ("H", "HHI4s")
    length = struct.calcsize(order + form)
    found = {}
    entries = min(_number(file, offset, order + many) or 0, 4096)
    start = offset + struct.calcsize(order + many)
    for k in range(entries):
        file.seek(start + k * length)
        data = file.read(length)
        if len(data) < length:
            break
        tag, kind, count, value = struct.unpack(order + form, data)
        if tag in _DEFAULTS and kind in _TYPES and 0 < count <= 64:
            size = struct.calcsize(f"{order}{count}{_TYPES[kind]}")
            if size > len(value):
                file.seek(struct.unpack(order + ("Q" if big else "I"), value)[0])
                value = file.read(size)
            if len(value) >= size:
                found[tag] = struct.unpack(f"{order}{count}{_TYPES[kind]}", value[:size])
    return Page(found, order)
