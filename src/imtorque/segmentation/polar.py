"""The cut around a fixation in polar coordinates: the cheapest closed curve, whatever its size (Mishra et al. 2009)."""

import math

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.types import BoolArray, Float32Array, FloatArray, IntArray
from imtorque.segmentation.graph_cut import Flow, cut_grid, cut_grid_from

RADIUS_OF_SIZE = 0.4  # expected distance of the outline from the fixation, over the size; untuned: 0.8 of its half
MIN_EDGE_STRENGTH = 5 / 255  # edges up to this are none; convention of Mishra's program
BORDER_STRENGTH = 20 / 255  # strength that the image's border is given; convention of Mishra's program
OUTER_COLUMNS = 9  # that are ground, or a quarter of all if that is less; convention of Mishra's program
INNER_COLUMNS = 3  # that are figure where a size is expected; untuned
BORDER_REACH = 2  # pixels outside of the image that a cut may still follow; untuned
SIZE_SIGMA = 0.5  # of the logarithm of the radius about the expected one; untuned
MAX_SIZE_PENALTY = 3.0  # bound: of half the square of that logarithm, in sigmas
# For which these two were set; a steeper cost of edges needs a steeper one of sizes; convention of Mishra et al.
PRIOR_ETA = 5.0


def polar_edge_map(
    strength: FloatArray, direction: tuple[Float32Array, Float32Array], fixation: tuple[int, int]
) -> NDArray[np.float64]:
    """Return edges as seen from the fixation, (360, columns), 1 at most: a row a degree, a column a pixel of distance.

    `direction` is (dx, dy) along the edge; of any length, 0 where it is not known.
    """
    values, (dx, dy) = _with_border(strength, direction)
    polar = _native.polar_edges(values, dx, dy, *fixation, MIN_EDGE_STRENGTH, columns_for(strength.shape, fixation))
    return polar / max(float(polar.max()), 1e-300)


def columns_for(shape: tuple[int, ...], fixation: tuple[int, int]) -> int:
    """Return how many columns reach the corner that is farthest from the fixation."""
    y, x = (max(at, side - 1 - at) for at, side in zip(fixation, shape, strict=True))
    return math.ceil(math.hypot(y, x)) + 1


def cut_polar(polar: FloatArray, outside: BoolArray, eta: float, k: float, radius: float | None = None) -> BoolArray:
    """Return the figure in polar coordinates: the minimum cut between the first column and what is ground.

    A link between two neighbours of mean edge strength m costs exp(-eta m), or k where m is below `MIN_EDGE_STRENGTH`;
    rows are a circle. The last columns are ground, and cells outside of the image, which the cut would never gain by.
    Where a radius is expected, links along a row cost the more the further they are from it.
    """
    if polar.shape[1] == 1:
        return np.ones(polar.shape, bool)
    return cut_grid(*_capacities(polar_links(polar, eta, k), outside, eta, radius), wrap_rows=True)


def polar_links(polar: FloatArray, eta: float, k: float) -> tuple[FloatArray, FloatArray]:
    """Return the costs of links along a row and from row to row."""
    across = link_costs((polar[:, 1:] + polar[:, :-1]) / 2, eta, k)
    return across, link_costs((polar + np.roll(polar, -1, axis=0)) / 2, eta, k)


def cut_links(
    links: tuple[FloatArray, FloatArray], outside: BoolArray, eta: float, radius: float | None, flow: Flow
) -> BoolArray:
    """Cut as `cut_polar` does, from links that several cuts share, warm-started as by `cut_grid_from`."""
    if outside.shape[1] == 1:
        return np.ones(outside.shape, bool)
    return cut_grid_from(*_capacities(links, outside, eta, radius), flow, wrap_rows=True)


def _capacities(
    links: tuple[FloatArray, FloatArray], outside: BoolArray, eta: float, radius: float | None
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the capacities to figure and ground, and those along a row and from row to row."""
    columns = outside.shape[1]
    across, along = links
    inner = 1
    if radius is not None:
        off = np.log((np.arange(columns - 1) + 0.5) / radius) / SIZE_SIGMA
        across = across * np.exp(eta * np.minimum(off**2 / 2, MAX_SIZE_PENALTY) / PRIOR_ETA)
        inner = min(INNER_COLUMNS, columns - 1)
    figure, ground = np.zeros(outside.shape), np.where(outside, np.inf, 0.0)
    ground[:, max(inner, columns - max(1, min(OUTER_COLUMNS, columns // 4))) :] = np.inf
    ground[:, :inner] = 0.0
    figure[:, :inner] = np.inf
    return figure, ground, across, along


def outside_image(shape: tuple[int, ...], fixation: tuple[int, int]) -> BoolArray:
    """Return which cells of the polar map lie outside of the image."""
    angle = np.radians(np.arange(360))[:, None]
    distance = np.arange(columns_for(shape, fixation))
    y, x = fixation[0] - distance * np.sin(angle), fixation[1] + distance * np.cos(angle)
    inside = (
        (y >= -BORDER_REACH)
        & (y <= shape[0] - 1 + BORDER_REACH)
        & (x >= -BORDER_REACH)
        & (x <= shape[1] - 1 + BORDER_REACH)
    )
    return np.asarray(~inside)


def link_costs(strength: FloatArray, eta: float, k: float) -> FloatArray:
    """Return the costs of links of these mean edge strengths."""
    return np.where(strength >= MIN_EDGE_STRENGTH, np.exp(-eta * strength), k)


def from_polar(figure: BoolArray, shape: tuple[int, ...], fixation: tuple[int, int]) -> BoolArray:
    """Map a polar mask back to the image."""
    reach = int(np.flatnonzero(figure.any(axis=0))[-1]) + 1  # farther away there is no figure
    rows, columns = (slice(max(0, at - reach), at + reach + 1) for at in fixation)
    dy, dx = np.arange(shape[0])[rows, None] - fixation[0], np.arange(shape[1])[columns] - fixation[1]
    mask = np.zeros(shape, bool)
    mask[rows, columns] = figure[polar_places(dy, dx, figure.shape[1])]
    return mask


def polar_places(dy: IntArray, dx: IntArray, columns: int) -> tuple[IntArray, IntArray]:
    """Return the row and the column of the polar map for offsets from the fixation."""
    degrees = np.degrees(np.arctan2(-dy, dx)) % 360
    return np.minimum(degrees.astype(np.intp), 359), np.minimum(np.hypot(dy, dx).astype(np.intp), columns - 1)


def _with_border(
    strength: FloatArray, direction: tuple[Float32Array, Float32Array]
) -> tuple[Float32Array, tuple[Float32Array, Float32Array]]:
    """Return the edges with the image's border as a weak edge, so that a cut may follow it."""
    values = np.array(strength, dtype=np.float32)
    dx, dy = (np.array(component, dtype=np.float32) for component in direction)
    for side, (across, down) in (
        (np.s_[0], (1, 0)),
        (np.s_[-1], (1, 0)),
        (np.s_[:, 0], (0, 1)),
        (np.s_[:, -1], (0, 1)),
    ):
        values[side], dx[side], dy[side] = BORDER_STRENGTH, across, down
    return values, (dx, dy)
