"""Minimum cuts on pixel grids."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque import _native
from imtorque.core.types import BoolArray, FloatArray
from imtorque.segmentation.links import check_links, check_plane

Flow = NDArray[np.int64]  # as the kernels keep it


def grid_max_flow(
    source: ArrayLike,
    sink: ArrayLike,
    right: ArrayLike,
    down: ArrayLike,
    *,
    down_right: ArrayLike | None = None,
    down_left: ArrayLike | None = None,
    wrap: int | None = None,
) -> tuple[BoolArray, float]:
    """Cut a pixel grid in two at the least cost: maximum flow from a source to a sink.

    The mask M minimises

        sum over pixels of  sink[p] if M[p] else source[p]  +  sum over links (p, q) with M[p] != M[q] of  link[p, q]

    so `source` is what it costs to take a pixel away from the source's side, `sink` what it costs to put it there.

    Parameters
    ----------
    source, sink
        Shape (H, W), not negative; infinite holds a pixel to that side. Finite numbers are at most 1e300.
    right
        Shape (H, W - 1): links (y, x) and (y, x + 1). No link is negative, all cost the same either way, and infinite
        ones are never cut.
    down
        Shape (H - 1, W): links (y, x) and (y + 1, x).
    down_right, down_left
        Shape (H - 1, W - 1): links (y, x) and (y + 1, x + 1); links (y, x + 1) and (y + 1, x). None: four neighbours.
    wrap
        0 closes the rows of the grid into a ring, 1 the columns: the first and the last are then neighbours, and the
        links across that axis have one entry more (with 0: `down` (H, W) and the diagonals (H, W - 1)).

    Returns
    -------
    mask
        Shape (H, W), bool, True on the source's side. Of several cuts of the same cost, the one with the fewest pixels
        there, so that the result is unique.
    flow
        The cost of the cut, which is the flow.

    See Also
    --------
    alpha_expansion

    Notes
    -----
    Incremental breadth-first search (Goldberg et al., 2011) on integers. Capacities are rounded down to steps; a step
    is a power of two, and about 2^59 make the widest link or, if less, a cut that is easy to find, since it does not
    matter how much wider a link is. The cut found is wrong by no more than its own links lost. Where that is above
    1e-12 of its cost, steps are made finer and the flow goes on. So no cut costs less by more than 1e-12 of it,
    whatever the range of capacities. Whole numbers are exact where that widest link or cut is below 2^59.

    Examples
    --------
    Two pixels that disagree, and a link between them too weak to hold.

    >>> import numpy as np
    >>> mask, flow = grid_max_flow([[3, 0]], [[0, 5]], [[2]], np.zeros((0, 2)))
    >>> mask, flow
    (array([[ True, False]]), 2.0)
    """
    shape = np.shape(source)
    if len(shape) != 2 or 0 in shape:
        raise ValueError(f"source must have two dimensions and at least one pixel, got the shape {shape}")
    give, take = check_plane("source", source, shape), check_plane("sink", sink, shape)
    both = np.isinf(give) & np.isinf(take)
    if both.any():
        y, x = np.argwhere(both)[0]
        raise ValueError(f"source and sink must not both be infinite at a pixel, got that at y={y}, x={x}")
    links = check_links((shape[0], shape[1]), right, down, down_right, down_left, wrap)
    if wrap == 1:
        give, take = np.ascontiguousarray(give.T), np.ascontiguousarray(take.T)
    mask, flow = _native.max_flow(
        give,
        take,
        links.right,
        links.down,
        links.down_right,
        links.down_left,
        links.diagonal,
        links.wrap_rows,
    )
    if np.isinf(flow):
        raise ValueError("links must not all be infinite on a way from an infinite source to an infinite sink, got one")
    cut = mask.view(bool)
    return (np.ascontiguousarray(cut.T) if wrap == 1 else cut), flow


def cut_grid(
    source: FloatArray, sink: FloatArray, right: FloatArray, down: FloatArray, *, wrap_rows: bool = False
) -> BoolArray:
    """Return the mask of `grid_max_flow` with four neighbours, without checks."""
    give, take, across, along = (np.ascontiguousarray(plane, np.float64) for plane in (source, sink, right, down))
    mask, _ = _native.max_flow(give, take, across, along, across, across, False, wrap_rows)
    return mask.view(bool)


def cut_grid_from(
    source: FloatArray, sink: FloatArray, right: FloatArray, down: FloatArray, flow: Flow, *, wrap_rows: bool = False
) -> BoolArray:
    """Return the same, warm-started from the flow of another cut, which is overwritten.

    Where capacities are much alike, that takes less time; the mask is the same with any.
    """
    give, take, across, along = (np.ascontiguousarray(plane, np.float64) for plane in (source, sink, right, down))
    return _native.max_flow_from(give, take, across, along, wrap_rows, flow).view(bool)


def no_flow(right: FloatArray, down: FloatArray) -> Flow:
    """Return the zero flow of a grid with these links."""
    return np.zeros(1 + right.size + down.size, np.int64)
