"""Selection: greedy suppression by edge ownership, the heaviest set of proposals as a whole, and the label image."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.types import BoolArray, FloatArray, IntArray
from imtorque.detection.proposals import Proposals

MIN_UNCLAIMED = 0.65  # of a contour's evidence, which none with a higher score claims; chosen on training images
NESTED_RATIO = 4.0  # of areas, from which one object may lie in another; chosen on training images
CLAIM_REACH = 0.08  # how far beside its contour an object claims edges, in diameters; chosen on training images
CELLS_PER_DIAMETER = 9.0  # of the grid on which edges are claimed, across the smallest object; untuned
MAX_BRANCHINGS = 300  # bound: of the exact search in one group of proposals that overlap
# Ratio of areas, and distance over size, within which proposals are merged; chosen on training images.
MERGED_AREA, MERGED_DISTANCE = 1.25, 0.15


def suppress_by_edges(
    contours: Proposals,
    score: FloatArray,
    shape: tuple[int, int],
    *,
    overlap: float = 0.4,
    nested: float = NESTED_RATIO,
) -> IntArray:
    """Return the indices of the contours left by greedy suppression by edge ownership, highest score first.

    From the highest score down, a contour is kept when at least 0.65 of its evidence is not claimed by those kept
    already, and when it shares no more than `overlap` of the smaller area with one of less than `nested` times, and
    more than 1 / `nested` of, its own area. An edge is claimed with the direction of its gradient, for either sign: so
    the gaps between objects fall, and neighbours that touch do not take each other's sides.

    Parameters
    ----------
    contours
        The proposals.
    score
        By which they come, shape (n,).
    shape
        Of the image.
    overlap
        Largest shared part of the smaller one's area.
    nested
        Ratio of areas from which one object may lie in another.
    """
    if len(contours) == 0:
        return np.zeros(0, np.int64)
    order = np.argsort(-score, kind="stable")
    cell = max(1.0, float(contours.diameter.min()) / CELLS_PER_DIAMETER)
    _, label = _claim(contours[order], shape, cell, MIN_UNCLAIMED, overlap, nested)
    return order[label > 0]


def label_image(contours: Proposals, shape: tuple[int, int]) -> NDArray[np.int32]:
    """Draw the inside of each contour: 1 for the first, 2 for the second, 0 where there is none.

    Where two meet, the earlier has the pixels; what lies in an object of at least four times its area lies on top.
    """
    return _claim(contours, shape, 1.0, -1.0, np.inf, NESTED_RATIO)[0]


def _claim(
    contours: Proposals, shape: tuple[int, int], cell: float, unclaimed: float, overlap: float, nested: float
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return labels on a grid of cells of so many pixels, and the label of each contour."""

    def flat(array: NDArray[Any], kind: type = np.float64) -> NDArray[Any]:
        return np.ascontiguousarray(array, kind)

    rows, columns = (int(-(-n // cell)) for n in shape)
    middle = (cell - 1) / 2  # of the first cell, in pixels
    y, x = flat((contours.y - middle) / cell), flat((contours.x - middle) / cell)
    evidence, sign, across = flat(contours.evidence, np.float32), flat(contours.sign), flat(contours.diameter / cell)
    return _native.suppress_by_edges(
        y, x, evidence, sign, across, rows, columns, unclaimed, overlap, nested, CLAIM_REACH
    )


def select_set(
    weight: FloatArray, area: FloatArray, first: IntArray, second: IntArray, common: IntArray, *, overlap: float
) -> BoolArray:
    """Return which proposals make the maximum-weight independent set: no two share too much.

    Parameters
    ----------
    weight
        What each proposal adds to the set; only positive ones are chosen.
    area
        Pixels of each.
    first, second, common
        Pairs of proposals and the pixels they share.
    overlap
        Largest part of the smaller proposal that two chosen ones may share.
    """
    smaller = np.minimum(area[first], area[second])
    rivals = (common > overlap * smaller) & (weight[first] > 0) & (weight[second] > 0)
    members = np.ascontiguousarray(weight, np.float64)
    a, b = (np.ascontiguousarray(pair[rivals], np.int32) for pair in (first, second))
    chosen, _ = _native.max_weight_set(members, a, b, MAX_BRANCHINGS)
    return chosen.astype(bool)


def merge_duplicates(proposals: Proposals, shape: tuple[int, int]) -> Proposals:
    """Return one of each group of proposals of about the same place and size, with the number of the group as votes."""
    shapes = _native.outline_shapes(*proposals.outlines.polar, *shape)
    proposals, shapes = proposals[shapes[:, 0] > 0], shapes[shapes[:, 0] > 0]
    octave = np.rint(np.log(shapes[:, 0]) / np.log(MERGED_AREA))
    step = MERGED_DISTANCE * np.sqrt(MERGED_AREA**octave)
    ratio = np.rint(np.log((shapes[:, 5] - shapes[:, 3]) / (shapes[:, 6] - shapes[:, 4])) / np.log(MERGED_AREA))
    cell = (octave, ratio, np.rint(shapes[:, 1] / step), np.rint(shapes[:, 2] / step))
    order = np.lexsort((-proposals.closure, *reversed(cell)))  # groups, in each the best outline first
    first = np.ones(len(proposals), bool)
    first[1:] = np.any([part[order[1:]] != part[order[:-1]] for part in cell], axis=0)
    places = np.flatnonzero(first)
    votes = np.diff(places, append=len(proposals))
    return replace(proposals[order[places]], votes=votes.astype(np.float32))
