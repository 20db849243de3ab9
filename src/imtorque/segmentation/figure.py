"""The object under a click: figure-ground segmentation around a fixation (Sec. 4.3.2 of the paper)."""

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from imtorque import _native
from imtorque.core.types import BoolArray, FloatArray, Image
from imtorque.images import CheckedImage, ValueRange
from imtorque.segmentation.colour_cut import Hints, sharpened
from imtorque.segmentation.cues import Cue
from imtorque.segmentation.edge_figures import CutCosts, figures_by_edges
from imtorque.segmentation.figure_cuts import (
    SMALLEST_SIDE,
    View,
    at_half_size,
    at_working_size,
    figure_cuts,
    holding_fixation,
    view_image,
    working_shape,
)
from imtorque.segmentation.figure_features import cut_features
from imtorque.segmentation.figure_scores import figure_scores
from imtorque.segmentation.fixated_boxes import Box
from imtorque.segmentation.working_size import enlarge, moved

Point = tuple[float, float]
Pixel = tuple[int, int]
# Eta and k, as in the program of the cut's authors (docs/guides/segmentation.md); convention.
POLAR_COSTS = (20.0, 50.0)
# Per step where there is no edge, against 1 across the strongest: for pixels between two clicks; unrecorded.
GROUND_COST = 0.02


def segment_figure(
    image: Image | CheckedImage,
    fixation: Point,
    *,
    edge_map: Cue | ArrayLike | None = None,
    add: Sequence[Point] = (),
    remove: Sequence[Point] = (),
    size: float | Literal["torque"] | None = None,
    method: Literal["best", "polar", "cartesian"] | None = None,
    eta: float = POLAR_COSTS[0],
    k: float = POLAR_COSTS[1],
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
        fixation is taken away, by the path that crosses the fewest and weakest edges; then whatever is no longer
        connected to a fixation.
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
    one_cut = edge_map is not None or size is not None or (eta, k) != POLAR_COSTS
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
        found = _best_of_many(checked, clicks, removed, within)
        chosen = "polar"  # where there is nothing to choose by
    cuts, strength = found or figures_by_edges(checked, clicks, edge_map, size, CutCosts(chosen, eta, k))
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
    """Check that a box holds all clicks, and return it."""
    try:
        top, left, bottom, right = (float(operator.pos(at)) for at in box)
    except (TypeError, ValueError) as error:
        raise TypeError(f"box must be four numbers (top, left, bottom, right), got {box!r}") from error
    for y, x in clicks:
        if not (top <= y < bottom and left <= x < right):
            raise ValueError(f"box must hold all fixations, got {(top, left, bottom, right)} and ({y}, {x})")
    return top, left, bottom, right


def _best_of_many(
    image: CheckedImage, clicks: Sequence[tuple[int, int]], removed: Sequence[tuple[int, int]], box: Box | None
) -> tuple[list[BoolArray], FloatArray] | None:
    """Return the best of many cuts for every click; None where the image is too small or has no edges."""
    shape, small = image.shape, working_shape(image.shape)
    if min(small) < SMALLEST_SIDE:
        return None
    added, taken = ([moved(point, shape, small) for point in points] for points in (clicks, removed))
    scale = max(small) / max(shape)
    held = None if box is None else (box[0] * scale, box[1] * scale, box[2] * scale, box[3] * scale)
    return best_cuts(image, added, taken, held)


def best_cuts(
    image: CheckedImage, clicks: Sequence[Pixel], removed: Iterable[Pixel], box: Box | None, *, torque: bool = True
) -> tuple[list[BoolArray], FloatArray] | None:
    """Return the best cut for every click that none before it holds, and the edges, at the working size.

    All points are in pixels of that size. None where the image has no edges to choose by.
    """
    view = view_image(image, Hints(clicks[:1], tuple(removed), box), torque=torque)
    if not view.edges.any():
        return None
    found: list[BoolArray] = []
    for click in clicks:
        if not any(cut[click] for cut in found):
            found.append(best_cut(replace(view, hints=replace(view.hints, on=[click]))))
    return found, view.strength


def best_cut(view: View) -> BoolArray:
    """Propose cuts, compute their features, score them, and return the best, sharpened, at the working size."""
    cuts = list(figure_cuts(view).values())
    names, features = cut_features(view, [holding_fixation(view, at_half_size(view, cut)) for cut in cuts])
    scores = figure_scores(names, features, torque=view.torque)
    return sharpened(view.levels[0], at_working_size(view, cuts[int(scores.argmax())]), view.hints.on)


def pixel(point: Point, shape: tuple[int, int], name: str = "fixation") -> tuple[int, int]:
    """Return the pixel (y, x) that a point of the image lies in."""
    try:
        y, x = (float(operator.pos(at)) for at in point)  # pos: a digit of a text is no number
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be two numbers (y, x), got {point!r}") from error
    if not (math.isfinite(y) and math.isfinite(x) and 0 <= round(y) < shape[0] and 0 <= round(x) < shape[1]):
        raise ValueError(f"{name} must lie in the image of {shape[0]} x {shape[1]}, got (y, x) = ({y:g}, {x:g})")
    return round(y), round(x)


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
    """Fill what no path of four neighbours connects with the image's border."""
    return _native.fill_holes(np.ascontiguousarray(figure).view(np.uint8)).view(bool)
