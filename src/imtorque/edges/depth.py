"""Edges of depth maps: where one surface hides another, with the nearer one inside."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from imtorque.core.types import BoolArray, Edges
from imtorque.edges.canny import Force, check_force
from imtorque.edges.jumps import Plane, Window, check_jump, filled, jump_edges, jumps, least_jump, slopes
from imtorque.io.arrays import as_array

Kind = Literal["depth", "disparity", "height"]
# The first by which noise alone hardly makes the least jump is taken.
FIT_WINDOWS = (Window(1, 3), Window(1, 5, 1.7), Window(2, 8, 2.5), Window(3, 12, 4.0))


def edges_from_depth(
    depth: ArrayLike,
    *,
    jump: float = 0.05,
    kind: Kind = "depth",
    valid: ArrayLike | None = None,
    force: Force = "unit",
) -> Edges:
    """Find the edges at which one surface hides another; the nearer one is the inner side.

    Torque is then positive around what stands in front of its surroundings and negative around openings, whatever is
    painted on either. Slopes are no edges, however steep, nor are creases where two surfaces meet: inverse depth is
    linear on a plane, and only where it jumps from one line to another there is an edge.

    Parameters
    ----------
    depth
        Distances from the camera, shape (H, W), in any unit.
    jump
        Least jump, (far - near) / far: a share of the farther distance. With kind="height" in units of the map. Where
        the map's own noise makes such jumps, more pixels are taken together, and jumps below five of its standard
        deviations are none either.
    kind
        "depth": distances, smaller is nearer. "disparity": inverse distances up to a factor, larger is nearer, 0 is
        infinitely far. "height": over any ground, larger is nearer.
    valid
        Which pixels have a value, shape (H, W), bool. By default all that are finite and, but for heights, above 0 (as
        sensors mark what they did not see; of disparities 0 is a value). Holes are taken to belong to what lies behind.
    force
        "unit", or "strength": the jump itself.

    Returns
    -------
    Edges
        Along the rims, one pixel wide. A pixel of the outermost rows and columns is never an edge.

    Examples
    --------
    A box half a metre in front of a wall that recedes from 2 to 3 metres:

    >>> depth = np.tile(np.linspace(2, 3, 60), (50, 1))
    >>> depth[15:35, 20:40] -= 0.5
    >>> edges = edges_from_depth(depth)
    >>> from imtorque import find_extrema
    >>> find_extrema(edges, count=1).to_csv().split()[1][:8]
    '24,29,21'
    """
    check_force(force)
    check_jump(jump)
    if kind not in ("depth", "disparity", "height"):
        raise ValueError(f'kind must be "depth", "disparity" or "height", got {kind!r}')
    values, known = _nearness(depth, kind, valid)
    rows, columns = (filled(values, known, axis, 0.0 if kind == "height" else jump) for axis in (1, 0))
    typical = 1.0 if kind == "height" or not known.any() else float(np.median(values[known])) or 1.0
    for window in FIT_WINDOWS:
        (across, noise_x), (down, noise_y) = (jumps(v, axis, window) for v, axis in ((rows, 1), (columns, 0)))
        least = least_jump(jump, noise_x / typical, noise_y / typical)
        if least == jump:
            break
    strength = np.maximum(np.abs(across), np.abs(down))  # an oblique edge makes rows and columns jump by all of it
    if kind != "height":
        nearest = np.maximum(_largest_near(rows, window), _largest_near(columns, window))
        strength = np.divide(strength, nearest, out=np.zeros_like(strength), where=nearest > 0)
    across, down = _direction(across, down, slopes(rows, 1, window), slopes(columns, 0, window))
    return jump_edges(strength, across, down, least, window, force)


def _nearness(depth: ArrayLike, kind: Kind, valid: ArrayLike | None) -> tuple[Plane, BoolArray]:
    """Return a plane that is linear where the surface is plane and grows towards the viewer, and where it is known."""
    given = as_array(depth, "depth")
    if given.dtype.kind not in "fiu":
        raise TypeError(f"depth must be real numbers, got dtype {given.dtype}")
    if given.ndim != 2 or given.size == 0:
        raise ValueError(f"depth must have shape (H, W) and not be empty, got {given.shape}")
    values = given.astype(np.float64)
    known = np.isfinite(values) & ~np.ma.getmask(depth)
    if kind == "depth":
        known &= values > 0
    elif kind == "disparity":
        known &= values >= 0
    if valid is not None:
        chosen = as_array(valid, "valid")
        if chosen.shape != given.shape or chosen.dtype != bool:
            raise ValueError(
                f"valid must be booleans of shape {given.shape}, got {chosen.dtype} of shape {chosen.shape}"
            )
        known &= chosen
    values = np.where(known, values, 1.0)
    return (1 / values if kind == "depth" else values), known


def _direction(across: Plane, down: Plane, slope_x: Plane, slope_y: Plane) -> tuple[Plane, Plane]:
    """Return the direction of the slope at each jump; that of the jump itself where a steep surface turns it round."""
    against = across * slope_x + down * slope_y < 0
    return np.where(against, across, slope_x), np.where(against, down, slope_y)


def _largest_near(values: Plane, window: Window) -> Plane:
    """Return the largest of the values that a jump at each pixel is measured between."""
    from scipy import ndimage

    largest: Plane = ndimage.maximum_filter(values, 2 * window.gap + 1, mode="nearest")
    return largest
