"""Images for benchmarks/scale.py that are drawn when they are read, so that no disk must hold them."""

import os
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from imtorque.tiling.grid import Box
from imtorque.tiling.source import NpySource, Source

CELL = 64  # pixels a side; each holds a disc
REPEATED_SIDE = 9 * CELL


def _mixed(values):
    """A hash of 32-bit numbers: as good as noise, the same everywhere."""
    values = (values ^ (values >> np.uint32(16))) * np.uint32(0x7FEB352D)
    values = (values ^ (values >> np.uint32(15))) * np.uint32(0x846CA68B)
    return values ^ (values >> np.uint32(16))


@dataclass(frozen=True)
class DrawnSource(Source):
    """Discs of many sizes and contrasts on a slowly changing ground, with noise; uint8."""

    @classmethod
    def of(cls, side):
        return cls("drawn", (side, side), 1, "|u1", None)

    def read(self, box):
        y = np.arange(box.top, box.bottom, dtype=np.uint32)[:, None]
        x = np.arange(box.left, box.right, dtype=np.uint32)[None, :]
        rows, columns = y // CELL, x // CELL
        cells = _mixed(
            np.arange(rows[0, 0], rows[-1, 0] + 1, dtype=np.uint32)[:, None] * np.uint32(65599)
            + np.arange(columns[0, 0], columns[0, -1] + 1, dtype=np.uint32)[None, :]
        )
        own = cells[(rows - rows[0, 0]).astype(np.intp), (columns - columns[0, 0]).astype(np.intp)]
        radius = (own % np.uint32(24) + np.uint32(5)).astype(np.float32)
        contrast = ((own >> np.uint32(8)) % np.uint32(160)).astype(np.float32) - 80
        distance = np.hypot((y % CELL).astype(np.float32) - 31.5, (x % CELL).astype(np.float32) - 31.5)
        noise = (_mixed(y * np.uint32(2654435761) + x) % np.uint32(13)).astype(np.float32)
        ground = 120 + 20 * np.sin(x.astype(np.float32) / 700) * np.cos(y.astype(np.float32) / 900)
        return (ground + contrast * np.clip(radius - distance + 0.5, 0, 1) + noise).astype(np.uint8)

    def fingerprint(self):
        return {"name": self.name, "shape": self.shape}


@lru_cache(maxsize=1)
def _drawn(side):
    return DrawnSource.of(side).read(Box(0, 0, side, side))


@dataclass(frozen=True)
class RepeatedSource(DrawnSource):
    """A small drawn image over and over: a window takes no longer than to copy it."""

    def read(self, box):
        drawn = _drawn(REPEATED_SIDE)
        rows, columns = np.arange(box.top, box.bottom), np.arange(box.left, box.right)
        return drawn.take(rows, axis=0, mode="wrap").take(columns, axis=1, mode="wrap")


@dataclass(frozen=True)
class LoggedSource(NpySource):
    """A NumPy file that notes each window that is read of it: how often tiles are done shows there."""

    log: str = ""

    def read(self, box):
        handle = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, f"{box.top} {box.left}\n".encode())
        os.close(handle)
        return super().read(box)
