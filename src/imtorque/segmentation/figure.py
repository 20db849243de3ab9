"""The object under a click: figure-ground segmentation around a fixation (Sec. 4.3.2 of the paper)."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from imtorque import _native
from imtorque.core.torque import torque_spectrum
from imtorque.core.types import BoolArray, Float32Array, FloatArray, Image
from imtorque.edges import SQRT2, detect_edges
from imtorque.images import CheckedImage, ValueRange
from imtorque.io.arrays import whole_array
from imtorque.segmentation.best_figure import best_cuts
from imtorque.segmentation.cartesian import cut_cartesian
from imtorque.segmentation.cues import Cue, edge_cue
from imtorque.segmentation.figure_cuts import SMALLEST_SIDE, working_shape
from imtorque.segmentation.fixated_boxes import Box
from imtorque.segmentation.polar import cut_polar, from_polar, outside_image, polar_edge_map
from imtorque.segmentation.working_size import enlarge, moved, working_image

Point = tuple[float, float]
Cuts = tuple[list[BoolArray], FloatArray]  # and the edges, of the same shape
DEFAULT_CUE: Cue = "strengthened"
RADIUS_OF_SIZE = 0.4  # expected distance of the outline from the fixation, over the size of the object
COSTS = (20.0, 50.0)  # eta and k
GROUND_COST = 0.02  # of a step where there is no edge, against 1 across the strongest: for pixels between two clicks


def segment_figure(
    image: Image | CheckedImage,
    fixation: Point,
    *,
    edge_map: Cue | ArrayLike | None = None,
    add: Sequence[Point] = (),
    remove: Sequence[Point] = (),
    size: float | Literal["torque"] | None = None,
    method: Literal["best", "polar", "cartesian"] | None = None,
    eta: float = COSTS[0],
    k: float = COSTS[1],
    box: Sequence[float] | None = None,
    value_range: ValueRange | None = None,
) -> BoolArray:
    """Cut out the object under a click, of any size.

    Many cuts are made, and the best is kept. Some begin with the region around the fixation that the edges,
    strengthened by torque, close off best: drawn in polar coordinates, where a closed contour is a curve from top to
    bottom, and the cheapest such curve is found by a minimum cut (A. Mishra, Y. Aloimonos, C. L. Fah: Active
    segmentation with fixation, ICCV 2009), once for each of several sizes. Others begin with boxes around the
    fixation, among them those of strongest torque. Then each cut is made again by the colours and textures inside and
    outside of it. Which is best was learned from what can be measured of cuts: edges along the outline, contrast of
    colours to the surround, torque of the bounding box, overlap with the other cuts, and so on.

    Parameters
    ----------
    image
        Grey or colour, as for `detect_edges`. Images whose longer side exceeds 200 pixels are cut at that size (the
        other methods: 360, unless an edge map is given), and the mask is enlarged again.
    fixation
        (y, x) of a pixel on the object; the more central the better.
    edge_map
        A cue by its name, as `edge_cue` has them, or any edge map: shape (H, W), in [0, 1].
    add
        More fixations on the object, or the points of a scribble. Each that no cut holds yet is cut out by itself, and
        the figure is all of them together.
    remove
        Points that are not on the object: every pixel of the figure that is nearer to one of these than to any
        fixation is taken away, on the way that crosses the fewest and faintest edges; then whatever no longer hangs
        together with a fixation.
    size
        About how large the object is, in pixels across, or "torque": the patch size of strongest torque (alpha = 1) at
        the fixation. Contours of another size then cost more. By default no size is preferred.
    method
        "best"; "polar": the one cut by edges alone; "cartesian": the same with links weighed by 1 / distance instead of
        polar coordinates. By default "best", but "polar" where an edge map, a size or other costs are given.
    eta, k
        A link of mean edge strength m costs exp(-eta m), or k where there is no edge; not for "best".
    box
        (top, left, bottom, right) in pixels of a box that holds the object: nothing outside of it is figure.
    value_range
        As for `detect_edges`.

    Returns
    -------
    ndarray
        Shape (H, W), bool. It holds the fixations, always.

    See Also
    --------
    segment_objects, propose_objects, edge_cue

    Examples
    --------
    >>> image = np.zeros((60, 80))
    >>> image[20:41, 30:61] = 1
    >>> mask = segment_figure(image, (30, 45))
    >>> bool(mask[30, 45]), bool(mask[5, 5]), bool(abs(int(mask.sum()) - 651) < 120)
    (True, False, True)
    """
    one_cut = edge_map is not None or size is not None or (eta, k) != COSTS
    chosen = _check_method(method or ("polar" if one_cut else "best"), size, eta, k)
    if chosen == "best" and one_cut:
        raise ValueError('edge_map, size, eta and k must be left out with method="best", got one of them')
    checked = CheckedImage(image, value_range)
    shape = checked.shape
    clicks = [pixel(point, shape) for point in (fixation, *add)]
    removed = [pixel(point, shape, "remove") for point in remove]
    if both := set(clicks) & set(removed):
        raise ValueError(f"a point must be added or removed, not both, got (y, x) = {min(both)}")
    within = None if box is None else check_box(box, clicks)
    found = None
    if chosen == "best":
        found = _best(checked, clicks, removed, within)
        chosen = "polar"  # where there is nothing to choose by
    cuts, strength = found or _by_edges(checked, clicks, edge_map, size, (chosen, eta, k))
    small = strength.shape[0], strength.shape[1]
    added = [moved(click, shape, small) for click in clicks]
    taken = {moved(click, shape, small) for click in removed} - set(added)
    figure = enlarge(_together(cuts, added, sorted(taken), strength), shape)
    if within is not None:
        y, x = np.ogrid[: shape[0], : shape[1]]
        figure = figure & (y >= within[0]) & (x >= within[1]) & (y < within[2]) & (x < within[3])
    for points, value in ((removed, False), (clicks, True)):
        for point in points:
            figure[point] = value
    return figure


def _check_method(method: str, size: float | str | None, eta: float, k: float) -> str:
    if method not in ("best", "polar", "cartesian"):
        raise ValueError(f'method must be "best", "polar" or "cartesian", got {method!r}')
    if method == "cartesian" and size is not None:
        raise ValueError(f'size must be left out with method="cartesian", got {size!r}')
    for name, value in (("eta", eta), ("k", k)):
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name} must be positive, got {value}")
    return method


def check_box(box: Sequence[float], clicks: Sequence[tuple[int, int]]) -> Box:
    """Return a box that is given, checked: it holds all clicks."""
    try:
        top, left, bottom, right = (float(operator.pos(at)) for at in box)
    except (TypeError, ValueError) as error:
        raise TypeError(f"box must be four numbers (top, left, bottom, right), got {box!r}") from error
    for y, x in clicks:
        if not (top <= y < bottom and left <= x < right):
            raise ValueError(f"box must hold all fixations, got {(top, left, bottom, right)} and ({y}, {x})")
    return top, left, bottom, right


def _best(
    image: CheckedImage, clicks: Sequence[tuple[int, int]], removed: Sequence[tuple[int, int]], box: Box | None
) -> Cuts | None:
    """Return the best of many cuts, where the image has room and edges enough."""
    shape, small = image.shape, working_shape(image.shape)
    if min(small) < SMALLEST_SIDE:
        return None
    added, taken = ([moved(point, shape, small) for point in points] for points in (clicks, removed))
    scale = max(small) / max(shape)
    held = None if box is None else (box[0] * scale, box[1] * scale, box[2] * scale, box[3] * scale)
    return best_cuts(image, added, taken, held)


def _by_edges(
    image: CheckedImage,
    clicks: Sequence[tuple[int, int]],
    edge_map: Cue | ArrayLike | None,
    size: float | Literal["torque"] | None,
    way: tuple[str, float, float],
) -> Cuts:
    """Return one cut for every click, by edges alone."""
    shape = image.shape
    if edge_map is None or isinstance(edge_map, str):
        working = working_image(image)
        strength = edge_cue(working, cast(Cue, edge_map or DEFAULT_CUE))
    else:
        working, strength = CheckedImage(image.grey(), (0.0, 1.0)), check_edge_map(edge_map, shape)
    method, eta, k = way
    added = [moved(click, shape, working.shape) for click in clicks]
    radii = [_radius(working, click, size, max(working.shape) / max(shape)) for click in added]
    if method == "cartesian":
        return [cut_cartesian(strength, click, eta, k) for click in added], strength
    return _polar_figures(working.grey(), strength, added, radii, (eta, k)), strength


def pixel(point: Point, shape: tuple[int, int], name: str = "fixation") -> tuple[int, int]:
    """Return the pixel (y, x) that a point of the image lies in."""
    try:
        y, x = (float(operator.pos(at)) for at in point)  # pos: a digit of a text is no number
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be two numbers (y, x), got {point!r}") from error
    if not (math.isfinite(y) and math.isfinite(x) and 0 <= round(y) < shape[0] and 0 <= round(x) < shape[1]):
        raise ValueError(f"{name} must lie in the image of {shape[0]} x {shape[1]}, got (y, x) = ({y:g}, {x:g})")
    return round(y), round(x)


def check_edge_map(edge_map: ArrayLike | None, shape: tuple[int, int]) -> FloatArray:
    """Return an edge map that is given, checked."""
    values = whole_array(edge_map, "edge_map")
    if values.dtype.kind not in "fiub":
        raise TypeError(f"edge_map must be real numbers or the name of a cue, got dtype {values.dtype}")
    if values.shape != shape:
        raise ValueError(f"edge_map must have the image's shape {shape}, got {values.shape}")
    floats = values.astype(np.float64)
    if not (floats.min() >= 0 and floats.max() <= 1):  # false for NaN
        raise ValueError(f"edge_map must lie in [0, 1], got {floats.min():g} to {floats.max():g}")
    return floats


def _radius(image: CheckedImage, fixation: tuple[int, int], size: float | str | None, scale: float) -> float | None:
    """Return the distance at which the outline is expected, if at any, in pixels of an image shrunk by `scale`."""
    if size is None:
        return None
    if isinstance(size, str):
        if size != "torque":
            raise ValueError(f'size must be a number of pixels, "torque" or None, got {size!r}')
        return RADIUS_OF_SIZE * torque_size(image, fixation)
    if not (math.isfinite(size) and size > 0):
        raise ValueError(f"size must be positive, got {size}")
    return RADIUS_OF_SIZE * size * scale


def torque_size(image: Image | CheckedImage, fixation: tuple[int, int]) -> int:
    """Return the side of the square of strongest torque at the fixation, with alpha = 1: whole objects, not parts."""
    edges = detect_edges(image, force="strength")
    sizes = np.arange(3, max(4, math.ceil(math.sqrt(edges.shape[0] * edges.shape[1]))), 2)
    torque = np.abs(torque_spectrum(edges, fixation, sizes, alpha=1.0))
    return int(sizes[torque.argmax()])


def _polar_figures(
    grey: Float32Array,
    strength: FloatArray,
    fixations: Sequence[tuple[int, int]],
    radii: Sequence[float | None],
    costs: tuple[float, float],
) -> list[BoolArray]:
    """Return the polar cut around each fixation."""
    gx, gy = _native.smoothed_gradient(grey, SQRT2)
    cuts = []
    for fixation, radius in zip(fixations, radii, strict=True):
        polar = polar_edge_map(strength, (gy, -gx), fixation)
        figure = cut_polar(polar, outside_image(strength.shape, fixation), *costs, radius)
        cuts.append(from_polar(figure, strength.shape, fixation))
    return cuts


def _together(
    cuts: Sequence[BoolArray],
    clicks: Sequence[tuple[int, int]],
    removed: Sequence[tuple[int, int]],
    strength: FloatArray,
) -> BoolArray:
    """Join the cuts, fill their holes, and take away what belongs to removed points."""
    from scipy import ndimage  # here, because it takes longer to load than the rest of the library

    figure = _without_holes(np.logical_or.reduce(cuts))
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


def _without_holes(figure: BoolArray) -> BoolArray:
    """Fill what no way of four neighbours joins with the image's border."""
    return _native.fill_holes(np.ascontiguousarray(figure).view(np.uint8)).view(bool)
