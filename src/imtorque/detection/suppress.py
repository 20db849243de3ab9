"""Which contours stand: each edge is explained once, by the strongest object that has it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.types import FloatArray, IntArray
from imtorque.detection.contours import Contours

FRESH = 0.65  # least share of a contour's evidence that no stronger object claims
NESTED = 4.0  # ratio of areas from which one object may lie in another
REACH = 0.08  # how far beside its contour an object claims edges, in diameters
CELLS = 9.0  # cells of the grid across the smallest object


def claim_edges(
    contours: Contours, strength: FloatArray, shape: tuple[int, int], *, overlap: float = 0.4, nested: float = NESTED
) -> IntArray:
    """Return the indices of the contours that stand, strongest first.

    From the strongest down, a contour stands when at least 0.65 of its evidence is not claimed by those that stand
    already, and when it shares no more than `overlap` of the smaller area with one of less than `nested` times, and
    more than 1 / `nested` of, its own area. An edge is claimed with the direction of its gradient, for either sign: so
    the gaps between objects fall, and neighbours that touch do not take each other's sides.

    Parameters
    ----------
    contours
        The candidates.
    strength
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
    order = np.argsort(-strength, kind="stable")
    cell = max(1.0, float(contours.diameter.min()) / CELLS)
    _, label = _label(contours[order], shape, cell, FRESH, overlap, nested)
    return order[label > 0]


def label_image(contours: Contours, shape: tuple[int, int]) -> NDArray[np.int32]:
    """Draw the inside of each contour: 1 for the first, 2 for the second, 0 where there is none.

    Where two meet, the earlier has the pixels; what lies in an object of at least four times its area lies on top.
    """
    return _label(contours, shape, 1.0, -1.0, np.inf, NESTED)[0]


def _label(
    contours: Contours, shape: tuple[int, int], cell: float, fresh: float, overlap: float, nested: float
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return labels on a grid of cells of so many pixels, and the label of each contour."""

    def flat(array: NDArray[Any], kind: type = np.float64) -> NDArray[Any]:
        return np.ascontiguousarray(array, kind)

    rows, columns = (int(-(-n // cell)) for n in shape)
    middle = (cell - 1) / 2  # of the first cell, in pixels
    y, x = flat((contours.y - middle) / cell), flat((contours.x - middle) / cell)
    evidence, sign, across = flat(contours.evidence, np.float32), flat(contours.sign), flat(contours.diameter / cell)
    return _native.suppress_by_edges(y, x, evidence, sign, across, rows, columns, fresh, overlap, nested, REACH)
