"""TIFF files opened by tifffile, quietly and within their bounds, once the chain of their pages is known to end."""

from __future__ import annotations

import io
import logging
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from imtorque.io.stacks import RefusedError

if TYPE_CHECKING:
    import tifffile

# Kinds that lie in several files, of which only the one that is named is opened, or whose values mean others.
NOT_KINDS = ("is_mmstack", "is_ndtiff", "is_mdgel", "is_eer", "is_avs", "is_indica", "is_scanimage", "is_nih")


def is_tiff(file: BinaryIO) -> bool:
    """Return whether a file begins as a TIFF does."""
    return _layout(file) is not None


@contextmanager
def opened(file: BinaryIO) -> Iterator[tifffile.TiffFile]:
    """Open a file by tifffile, which says nothing meanwhile, reads no other file, and never beyond the end."""
    import tifffile

    find_pages(file)  # refuses pages in a circle, which tifffile would follow for ever
    flags = {flag: False for flag in NOT_KINDS if flag.removeprefix("is_") in tifffile.TIFF.FILE_FLAGS}
    with _silence(), tifffile.TiffFile(_Bounded(file), **flags) as tiff:  # type: ignore[arg-type]
        yield tiff


class _Bounded(io.RawIOBase):
    """A file that is never asked for more than it has, whatever a damaged header says."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.length = file, file.seek(0, io.SEEK_END)
        file.seek(0)

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.file.seek(offset, whence)

    def tell(self) -> int:
        return self.file.tell()

    def read(self, size: int = -1) -> bytes:
        left = max(0, self.length - self.file.tell())
        return self.file.read(left if size < 0 else min(size, left))

    def readinto(self, buffer: Any) -> int:
        return int(self.file.readinto(buffer))  # type: ignore[attr-defined]


class _Silenced(threading.local):
    on = 0


_silenced = _Silenced()


def _is_heard(_record: logging.LogRecord) -> bool:
    return not _silenced.on


@contextmanager
def _silence() -> Iterator[None]:
    """Keep what tifffile logs in this thread from standard error: what is wrong with a file is told in one line."""
    logging.getLogger("tifffile").addFilter(_is_heard)  # once, however often it is added
    _silenced.on += 1
    try:
        yield
    finally:
        _silenced.on -= 1


def _layout(file: BinaryIO) -> tuple[str, bool] | None:
    """Return the byte order, and whether the file is a BigTIFF; None where it is no TIFF."""
    file.seek(0)
    head = file.read(4)
    order = {b"II": "<", b"MM": ">"}.get(head[:2])
    if order is None or len(head) < 4:
        return None
    version = struct.unpack(f"{order}H", head[2:])[0]
    return (order, version == 43) if version in (42, 43) else None


def find_pages(file: BinaryIO) -> list[tuple[int, bool]]:
    """Return where each page begins, and whether it says to be another at a reduced size. Linear in their number."""
    layout = _layout(file)
    if layout is None:
        raise RefusedError("must be a TIFF, got another file")
    order, big = layout
    number, many, entry = ("Q", "Q", "HHQQ") if big else ("I", "H", "HHII")
    found: dict[int, bool] = {}
    place = 8 if big else 4
    while True:
        offset = _number(file, place, order + number)
        count = _number(file, offset, order + many) if offset else None
        if not offset or count is None:
            return list(found.items())
        if offset in found:
            raise ValueError("a TIFF whose pages run in a circle")
        tag, kind, _, value = _first_tag(file, order + entry) if count else (0, 0, 0, 0)
        # A short number stands in the first bytes of its field, whichever the byte order.
        value >>= (48 if big else 16) if order == ">" and kind == 3 else 0
        found[offset] = tag == 254 and bool(value & 1)
        place = offset + struct.calcsize(order + many) + count * struct.calcsize(order + entry)


def _first_tag(file: BinaryIO, form: str) -> tuple[int, ...]:
    data = file.read(struct.calcsize(form))
    return struct.unpack(form, data) if len(data) == struct.calcsize(form) else (0, 0, 0, 0)


def _number(file: BinaryIO, place: int, form: str) -> int | None:
    """Return the number at a place, None beyond the end."""
    if place >= 2**63:
        return None
    file.seek(place)
    data = file.read(struct.calcsize(form))
    return int(struct.unpack(form, data)[0]) if len(data) == struct.calcsize(form) else None
