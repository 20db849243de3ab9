"""How the blocks of the kernels share memory and work: which table rows they hold, how far down they walk."""

from __future__ import annotations

import functools
import itertools
import math
from typing import NamedTuple

Macros = tuple[tuple[str, int], ...]

REACHES = (13, 29, 45)  # that tables are compiled for: the widths of their rows are whole; derived
MOST_SIZES = 64  # as in tables.cu; convention
DIAGONAL = 4  # pixels of a thread; unrecorded
FACTOR_BYTES = 8 * MOST_SIZES  # derived: 8 for each size


class Layout(NamedTuple):
    """How a block shares its memory: columns, groups of rows, the half-size its tables serve, bytes.

    Where extrema are searched for, tiles of `cell_rows` rows, and bytes.
    """

    columns: int
    groups: int
    reach: int
    shared: int
    cell_rows: int
    search_shared: int

    @property
    def skew(self) -> int:
        """Columns before the strip that a diagonal starts from."""
        return DIAGONAL - 1

    @property
    def rows(self) -> int:
        """Rows that are computed together."""
        return self.groups * DIAGONAL

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.columns * self.groups

    @property
    def macros(self) -> Macros:
        """What the kernels are compiled with."""
        return ("TX", self.columns), ("GY", self.groups), ("REACH", self.reach), ("CELL_ROWS", self.cell_rows)


class Shape(NamedTuple):
    """The work of a block that writes the volume: groups of rows, rows and columns of a thread's pixels.

    `parts`: sets of threads that share the sizes of the same pixels; `unrolled`: sizes that a loop takes together.
    """

    groups: int
    pixel_rows: int
    pixel_columns: int
    parts: int
    unrolled: int


TILES = (Shape(6, 4, 4, 4, 4),)  # the best where there are sizes for all parts
COLUMN_SHAPES = tuple(Shape(groups, 2, 1, 1, 1) for groups in (14, 12, 8, 4))  # the best first
MANY_SIZES = 12  # from which on TILES are used; unrecorded


class VolumeLayout(NamedTuple):
    """How a block that writes the volume shares its memory."""

    columns: int
    reach: int
    shape: Shape

    @property
    def skew(self) -> int:
        """Columns before the strip that threads start from."""
        return 0

    @property
    def rows(self) -> int:
        """Rows that are computed together."""
        return self.shape.groups * self.shape.pixel_rows

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.columns // self.shape.pixel_columns * self.shape.groups * self.shape.parts

    @property
    def shared(self) -> int:
        """Bytes of shared memory."""
        row = 3 * row_cells(self.columns, self.shape.pixel_rows, self.reach) + self._pad
        return 4 * (self.rows + 2 * self.reach + self.shape.pixel_rows) * row + FACTOR_BYTES

    @property
    def _pad(self) -> int:
        """Cells after each row, so that the two groups of rows in a warp read from different banks."""
        return {2: 8, 3: 16, 4: 4}[self.shape.pixel_rows] if self.shape.pixel_columns == 4 else 0

    @property
    def macros(self) -> Macros:
        """What the kernel is compiled with."""
        groups, rows, columns, parts, unrolled = self.shape
        given = {"TX": self.columns, "GY": groups, "REACH": self.reach, "J": rows, "C": columns, "PARTS": parts}
        return tuple((given | {"PAD": self._pad, "MIRROR": rows - 1, "UNROLLED": unrolled}).items())


def served_reach(reach: int) -> int:
    """Return the half-size of tables that serve this one."""
    return next(served for served in REACHES if served >= reach)


@functools.cache
def fitting_layout(reach: int, limit: int) -> Layout | None:
    """Return the best layout within a limit of shared memory."""
    choices = itertools.product((64, 32), (7, 6, 5, 4, 3, 2), (16, 8))
    layouts = (layout(columns, groups, reach, cell_rows) for columns, groups, cell_rows in choices)
    fitting = (fit for fit in layouts if max(fit.shared, fit.search_shared) <= limit)
    return next((fit for fit in fitting if fit.threads >= row_cells(fit.columns, DIAGONAL, reach)), None)


@functools.cache
def fitting_volume(reach: int, limit: int, shapes: tuple[Shape, ...] = COLUMN_SHAPES) -> VolumeLayout | None:
    """Return the best layout of the volume within a limit of shared memory."""
    layouts = (VolumeLayout(columns, reach, shape) for columns in (64, 32) for shape in shapes)
    fitting = (fit for fit in layouts if fit.shared <= limit)
    return next((fit for fit in fitting if fit.threads >= row_cells(fit.columns, fit.shape.pixel_rows, reach)), None)


def layout(columns: int, groups: int, reach: int, cell_rows: int) -> Layout:
    """Return a layout with the memory it needs."""
    row = 3 * row_cells(columns, DIAGONAL, reach)
    cells = (groups * DIAGONAL + 2 * reach + 1) * row
    searched = (cell_rows + 2 + 2 * reach + 1) * row + 3 * (cell_rows + 2) * columns
    return Layout(columns, groups, reach, 4 * cells + FACTOR_BYTES, cell_rows, 4 * searched + FACTOR_BYTES)


def row_cells(columns: int, pixels: int, reach: int) -> int:
    """Return how many cells a row of one table has; each needs a thread that sums its column."""
    return 32 * -(-(columns + pixels - 1 + 2 * reach + 1) // 32)


@functools.lru_cache(maxsize=256)
def rows_per_band(height: int, strips: int, step: int, reach: int, processors: int) -> int:
    """Return how many rows a block walks down, so that all processors end at about the same time.

    A block makes tables of 2 reach rows before its first output, at a third of the cost of computed rows.
    """

    def time(bands: int) -> float:
        rounds = -(-strips * bands // processors)
        made = -(-(-(-height // bands) + 2 * reach) // step)
        computed = -(-height // bands) / step + 0.5
        return rounds * (0.3 * made + computed)

    bands = min(range(1, max(2, math.ceil(height / step) + 1)), key=time)
    return -(-height // bands)
