"""The repr of tables of results: a title, then the first rows."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

FIRST_ROWS = 5  # convention


def with_first_rows(title: str, columns: Mapping[str, NDArray[np.generic]]) -> str:
    """Return the title and, below it, the columns' heads and first rows; the title alone where there are none."""
    count = len(next(iter(columns.values())))
    if not count:
        return title
    shown = [[name, *(f"{value:.4g}" for value in column[:FIRST_ROWS].tolist())] for name, column in columns.items()]
    widths = [max(map(len, column)) for column in shown]
    lines = ["  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in zip(*shown, strict=True)]
    more = [f"... {count - FIRST_ROWS} more"] if count > FIRST_ROWS else []
    return "\n  ".join([title, *lines, *more])
