"""Whether a Matroska or WebM file ends in the middle of an element, as recordings do that were cut off."""

from __future__ import annotations

import os
from pathlib import Path

from imtorque.io.atomic import open_regular

SEGMENT, CLUSTER = 0x18538067, 0x1F43B675  # convention: elements that hold others here; all else is passed over whole
LONGEST_HEADER = 12  # convention: bytes of an identifier, at most 4, and of a size, at most 8


def is_cut_off(path: str | os.PathLike[str]) -> bool:
    """Return whether an element goes beyond the end of the file; nothing that is no element is looked at."""
    length = Path(path).stat().st_size
    with open_regular(path) as file:
        place = 0
        while place < length:
            file.seek(place)
            head = file.read(LONGEST_HEADER)
            start = _width(head[0], 4)
            width = _width(head[start], 8) if start and start < len(head) else 0
            if not start or not width or start + width > len(head):
                return bool(start) and length - place < LONGEST_HEADER
            size = int.from_bytes(head[start : start + width], "big") & ((1 << 7 * width) - 1)
            is_open = size == (1 << 7 * width) - 1  # of no size that was known: it ends where the next one begins
            if not is_open and place + start + width + size > length:
                return True
            holds_others = int.from_bytes(head[:start], "big") in (SEGMENT, CLUSTER)
            if is_open and not holds_others:
                return False
            place += start + width + (0 if holds_others else size)
    return False


def _width(first: int, most: int) -> int:
    """Return how many bytes a number has, by its first one; 0 where that is none."""
    width = 9 - first.bit_length()
    return width if width <= most else 0
