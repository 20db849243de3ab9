"""The object under a click: figure-ground segmentation around a fixation (Sec. 4.3.2 of the paper)."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque import _native
from imtorque._types import BoolArray, Float32Array, FloatArray, Image
from imtorque.edges import SQRT2, detect_edges, grey_image
from imtorque.segmentation.cartesian import cut_cartesian
from imtorque.segmentation.cues import edge_cue
from imtorque.segmentation.polar import cut_polar, from_polar, outside_image, polar_edge_map
from imtorque.torque import torque_spectrum

Point = tuple[float, float]
DEFAULT_CUE = "strengthened"
RADIUS_OF_SIZE = 0.4  # expected distance of the outline from the fixation, over the size of the object
GROUND_COST = 0.02  # of a step where there is no edge, against 1 across the strongest: for pixels between two clicks


def segment_figure(
    image: Image,
    fixation: Point,
    *,
    edge_map: str | ArrayLike | None = None,
    add: Sequence[Point] = (),
    remove: Sequence[Point] = (),
    size: float | str | None = None,
    method: str = "polar",
    eta: float = 20.0,
    k: float = 50.0,
) -> BoolArray:
    """Cut out the object under a click: the region around the fixation that the edges close off best.

    The edges are drawn in polar coordinates about the fixation, where a closed contour of any size is a curve from top
    to bottom, and the cheapest such curve is found by a minimum cut (A. Mishra, Y. Aloimonos, C. L. Fah: Active
    segmentation with fixation, ICCV 2009).

    Parameters
    ----------
    image
        Grey or colour, as for `detect_edges`.
    fixation
        (y, x) of a pixel on the object; the more central the better.
    edge_map
        A cue by its name, as `edge_cue` has them, or any edge map: shape (H, W), in [0, 1].
    add
        More fixations on the object. Each is cut out by itself, and the figure is all of them together.
    remove
        Points that are not on the object: every pixel of the figure that is nearer to one of these than to any
        fixation is taken away, on the way that crosses the fewest and faintest edges; then whatever no longer hangs
        together with a fixation.
    size
        About how large the object is, in pixels across, or "torque": the patch size of strongest torque (alpha = 1) at
        the fixation. Contours of another size then cost more. By default no size is preferred.
    method
        "polar", or "cartesian": links weighed by 1 / distance instead of polar coordinates.
    eta, k
        A link of mean edge strength m costs exp(-eta m), or k where there is no edge.

    Returns
    -------
    ndarray
        Shape (H, W), bool. It holds the fixations, always.

    Examples
    --------
    >>> image = np.zeros((60, 80))
    >>> image[20:41, 30:61] = 1
    >>> mask = segment_figure(image, (30, 45))
    >>> bool(mask[30, 45]), bool(mask[5, 5]), bool(abs(int(mask.sum()) - 651) < 120)
    (True, False, True)
    """
    if method not in ("polar", "cartesian"):
        raise ValueError(f'method must be "polar" or "cartesian", got {method!r}')
    for name, value in (("eta", eta), ("k", k)):
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name} must be positive, got {value}")
    grey = grey_image(image)[0]
    shape = (grey.shape[0], grey.shape[1])
    clicks = [pixel(point, shape) for point in (fixation, *add)]
    removed = [pixel(point, shape, "remove") for point in remove]
    if both := set(clicks) & set(removed):
        raise ValueError(f"a point must be added or removed, not both, got (y, x) = {min(both)}")
    strength = _edge_map(edge_map, image, shape)
    if method == "cartesian":
        if size is not None:
            raise ValueError(f'size must be left out with method="cartesian", got {size!r}')
        cuts = [cut_cartesian(strength, click, eta, k) for click in clicks]
    else:
        gx, gy = _native.smoothed_gradient(grey, SQRT2)
        cuts = [_polar_figure(strength, (gy, -gx), click, _radius(image, click, size), eta, k) for click in clicks]
    return _together(cuts, clicks, removed, strength)


def pixel(point: Point, shape: tuple[int, int], name: str = "fixation") -> tuple[int, int]:
    """Return the pixel (y, x) that a point of the image lies in."""
    try:
        y, x = (float(operator.pos(at)) for at in point)  # pos: a digit of a text is no number
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be two numbers (y, x), got {point!r}") from error
    if not (math.isfinite(y) and math.isfinite(x) and 0 <= round(y) < shape[0] and 0 <= round(x) < shape[1]):
        raise ValueError(f"{name} must lie in the image of {shape[0]} x {shape[1]}, got (y, x) = ({y:g}, {x:g})")
    return round(y), round(x)


def _edge_map(edge_map: str | ArrayLike | None, image: Image, shape: tuple[int, int]) -> FloatArray:
    if edge_map is None or isinstance(edge_map, str):
        return edge_cue(image, edge_map or DEFAULT_CUE)
    values = np.asarray(edge_map)
    if values.dtype.kind not in "fiub":
        raise TypeError(f"edge_map must be real numbers or the name of a cue, got dtype {values.dtype}")
    if values.shape != shape:
        raise ValueError(f"edge_map must have the image's shape {shape}, got {values.shape}")
    floats = values.astype(np.float64)
    if not (floats.min() >= 0 and floats.max() <= 1):  # false for NaN
        raise ValueError(f"edge_map must lie in [0, 1], got {floats.min():g} to {floats.max():g}")
    return floats


def _radius(image: Image, fixation: tuple[int, int], size: float | str | None) -> float | None:
    """Return the distance at which the outline is expected, if at any."""
    if size is None:
        return None
    if isinstance(size, str):
        if size != "torque":
            raise ValueError(f'size must be a number of pixels, "torque" or None, got {size!r}')
        return RADIUS_OF_SIZE * torque_size(image, fixation)
    if not (math.isfinite(size) and size > 0):
        raise ValueError(f"size must be positive, got {size}")
    return RADIUS_OF_SIZE * size


def torque_size(image: Image, fixation: tuple[int, int]) -> int:
    """Return the side of the square of strongest torque at the fixation, with alpha = 1: whole objects, not parts."""
    edges = detect_edges(image, force="strength")
    sizes = np.arange(3, max(4, math.ceil(math.sqrt(edges.shape[0] * edges.shape[1]))), 2)
    torque = np.abs(torque_spectrum(edges, fixation, sizes, alpha=1.0))
    return int(sizes[torque.argmax()])


def _polar_figure(
    strength: FloatArray,
    direction: tuple[Float32Array, Float32Array],
    fixation: tuple[int, int],
    radius: float | None,
    eta: float,
    k: float,
) -> BoolArray:
    polar = polar_edge_map(strength, direction, fixation)
    figure = cut_polar(polar, outside_image(strength.shape, fixation), eta, k, radius)
    return from_polar(figure, strength.shape, fixation)


def _together(
    cuts: Sequence[BoolArray],
    clicks: Sequence[tuple[int, int]],
    removed: Sequence[tuple[int, int]],
    strength: FloatArray,
) -> BoolArray:
    """Join the cuts, fill their holes, and take away what belongs to removed points."""
    from scipy import ndimage  # here, because it takes longer to load than the rest of the library

    figure: NDArray[np.bool_] = ndimage.binary_fill_holes(np.logical_or.reduce(cuts))
    for y, x in clicks:
        figure[y, x] = True
    if removed:
        seeds = np.zeros(figure.shape, np.int32)
        for label, points in ((1, clicks), (2, removed)):
            for y, x in points:
                seeds[y, x] = label
        # Two pixels thick, an edge cannot be crossed between its pixels.
        cost = GROUND_COST + ndimage.maximum_filter(strength.astype(np.float64), 2)
        figure &= _native.nearest_seeds(cost, seeds) == 1
    parts, _ = ndimage.label(figure, np.ones((3, 3)))
    figure = np.isin(parts, [parts[click] for click in clicks])
    return figure
