"""The best set of candidates that do not overlap: not the best candidate first, but the heaviest set as a whole."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.types import FloatArray, IntArray

BUDGET = 300  # branchings for one group of candidates that hang together


def choose_set(
    weight: FloatArray, area: FloatArray, first: IntArray, second: IntArray, common: IntArray, *, overlap: float
) -> NDArray[np.bool_]:
    """Return which candidates make the heaviest set in which no two share too much.

    Parameters
    ----------
    weight
        What each candidate adds to the set; only positive ones are chosen.
    area
        Pixels of each.
    first, second, common
        Pairs of candidates and the pixels they share.
    overlap
        Largest part of the smaller candidate that two chosen ones may share.
    """
    smaller = np.minimum(area[first], area[second])
    rivals = (common > overlap * smaller) & (weight[first] > 0) & (weight[second] > 0)
    members = np.ascontiguousarray(weight, np.float64)
    a, b = (np.ascontiguousarray(pair[rivals], np.int32) for pair in (first, second))
    chosen, _ = _native.max_weight_set(members, a, b, BUDGET)
    return chosen.astype(bool)
