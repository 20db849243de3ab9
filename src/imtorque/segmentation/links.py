"""Links between the pixels of a grid: what graph cuts may separate, and at what cost."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque.io.arrays import whole_array

Capacities = NDArray[np.float64]
Indices = NDArray[np.intp]
MAX_FINITE = 1e300  # of finite numbers, so that their sums are finite; bound: overflow
TRANSPOSED = {"right": "down", "down": "right", "down_right": "down_right", "down_left": "down_left"}  # by transposing


@dataclass(frozen=True, eq=False)
class GridLinks:
    """Capacities between neighbours of a grid, checked, with rows that may wrap around. Infinite ones are never cut.

    `right[y, x]` links (y, x) and (y, x + 1), `down[y, x]` (y, x) and (y + 1, x), `down_right[y, x]` (y, x) and
    (y + 1, x + 1), `down_left[y, x]` (y, x + 1) and (y + 1, x).
    """

    right: Capacities
    down: Capacities
    down_right: Capacities
    down_left: Capacities
    diagonal: bool
    wrap_rows: bool


def check_links(
    shape: tuple[int, int],
    right: ArrayLike,
    down: ArrayLike,
    down_right: ArrayLike | None,
    down_left: ArrayLike | None,
    wrap: int | None,
) -> GridLinks:
    """Check the links of a grid; where columns wrap around, turn them so that rows do."""
    if wrap not in (None, 0, 1):
        raise ValueError(f"wrap must be None, 0 (rows) or 1 (columns), got {wrap!r}")
    height, width = shape
    across, along = height - (wrap != 0), width - (wrap != 1)
    diagonal = down_right is not None or down_left is not None
    none = np.zeros((across, along))
    planes = {
        "right": check_plane("right", right, (height, along)),
        "down": check_plane("down", down, (across, width)),
        "down_right": check_plane("down_right", none if down_right is None else down_right, (across, along)),
        "down_left": check_plane("down_left", none if down_left is None else down_left, (across, along)),
    }
    if wrap == 1:
        planes = {TRANSPOSED[name]: np.ascontiguousarray(plane.T) for name, plane in planes.items()}
    return GridLinks(**planes, diagonal=diagonal, wrap_rows=wrap is not None)


def check_plane(name: str, values: ArrayLike, shape: tuple[int, ...]) -> Capacities:
    """Check capacities of this shape and return them as float64; infinite ones pass."""
    array = whole_array(values, name)
    if array.dtype.kind not in "buif":
        raise TypeError(f"{name} must hold real numbers, got {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"{name} must have the shape {shape}, got {array.shape}")
    array = np.ascontiguousarray(array, np.float64)
    if array.size and not array.min() >= 0:  # NaN fails this too
        worst = "NaN" if np.isnan(array).any() else f"{array.min():g}"
        raise ValueError(f"{name} must not be negative or NaN, got {worst}")
    check_size(name, array)
    return array


def check_size(name: str, values: Capacities) -> None:
    """Refuse finite numbers whose sums might overflow."""
    if not values.size or max(values.max(), -values.min()) <= MAX_FINITE:
        return
    worst = np.abs(values, where=np.isfinite(values), out=np.zeros(values.shape)).max()
    if worst > MAX_FINITE:
        raise ValueError(f"{name} must be at most {MAX_FINITE:g}, or infinite, got {worst:g}")


def never_cut(links: GridLinks, shape: tuple[int, int]) -> tuple[Indices, Indices]:
    """Return both ends of the infinite links, as flat indices."""
    if all(np.isfinite(plane.max(initial=0)) for plane in (links.right, links.down, links.down_right, links.down_left)):
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    number = np.arange(shape[0] * shape[1]).reshape(shape)
    below = np.roll(number, -1, axis=0) if links.wrap_rows else number[1:]
    above = number[: len(below)]
    ends = (
        (links.right, number[:, :-1], number[:, 1:]),
        (links.down, above, below),
        (links.down_right, above[:, :-1], below[:, 1:]),
        (links.down_left, above[:, 1:], below[:, :-1]),
    )
    kept = [(first[np.isinf(plane)], second[np.isinf(plane)]) for plane, first, second in ends]
    return np.concatenate([first for first, _ in kept]), np.concatenate([second for _, second in kept])
