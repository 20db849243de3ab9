"""An image cut into tiles: where each lies, what lies around it, and on which lines windows around tiles end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imtorque.core.caching import cached_property

Lines = NDArray[np.int64]


@dataclass(frozen=True)
class Box:
    """Part of an image, half-open."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.bottom - self.top, self.right - self.left

    @property
    def bounds(self) -> tuple[int, int, int, int]:
        """Top, left, bottom and right."""
        return self.top, self.left, self.bottom, self.right

    def grown(self, halo: int, shape: tuple[int, int]) -> Box:
        """Return the box with a halo around it, which ends at the image's border."""
        top, left = max(0, self.top - halo), max(0, self.left - halo)
        return Box(top, left, min(shape[0], self.bottom + halo), min(shape[1], self.right + halo))

    def inside(self, outer: Box) -> Box:
        """Return the same box as seen from the first pixel of one that holds it."""
        return Box(self.top - outer.top, self.left - outer.left, self.bottom - outer.top, self.right - outer.left)

    def meets(self, other: Box) -> bool:
        """Return whether the two share a pixel."""
        rows = self.top < other.bottom and other.top < self.bottom
        return rows and self.left < other.right and other.left < self.right

    @property
    def slices(self) -> tuple[slice, slice]:
        """Return what cuts the box out of an array."""
        return slice(self.top, self.bottom), slice(self.left, self.right)


@dataclass(frozen=True)
class Grid:
    """The tiles of an image, squares of `tile` pixels a side but for the last of a row or column."""

    shape: tuple[int, int]
    tile: int

    @cached_property
    def rows(self) -> int:
        """How many rows of tiles there are."""
        return -(-self.shape[0] // self.tile)

    @cached_property
    def columns(self) -> int:
        """How many tiles a row has."""
        return -(-self.shape[1] // self.tile)

    def box(self, row: int, column: int) -> Box:
        """Return where a tile lies."""
        top, left = row * self.tile, column * self.tile
        return Box(top, left, min(top + self.tile, self.shape[0]), min(left + self.tile, self.shape[1]))

    def tiles(self) -> list[tuple[str, Box]]:
        """Return the name and the place of every tile, row by row."""
        places = [(row, column) for row in range(self.rows) for column in range(self.columns)]
        return [(name_of(row, column), self.box(row, column)) for row, column in places]

    def near(self, box: Box) -> list[tuple[str, Box]]:
        """Return the tiles that share a pixel with a box."""
        rows = range(box.top // self.tile, -(-box.bottom // self.tile))
        columns = range(box.left // self.tile, -(-box.right // self.tile))
        return [(name_of(row, column), self.box(row, column)) for row in rows for column in columns]

    def lines(self, box: Box, halo: int) -> tuple[Lines, Lines]:
        """Return the rows and columns of a tile, counted in it, at which it or the window around any tile ends."""
        return (
            _ends(box.top, box.bottom, self.rows, self.tile, halo, self.shape[0]),
            _ends(box.left, box.right, self.columns, self.tile, halo, self.shape[1]),
        )


def name_of(row: int, column: int) -> str:
    """Return the name of a tile, which is that of its files."""
    return f"{row:05d}-{column:05d}"


def _ends(first: int, last: int, count: int, tile: int, halo: int, length: int) -> Lines:
    """Return where windows that reach `halo` beyond tiles begin and end, within [first, last)."""
    starts = np.arange(count, dtype=np.int64) * tile
    ends = np.minimum(starts + tile, length)
    lines = np.concatenate([starts - halo, ends + halo - 1, [first, last - 1]])
    return np.unique(lines[(lines >= first) & (lines < last)]) - first
