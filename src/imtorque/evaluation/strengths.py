"""Strengths in [0, 1], their thresholds, and precision, recall and F."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque.io.arrays import shaped_array

Floats = NDArray[np.float64]


def as_strength(strength: ArrayLike, name: str) -> Floats:
    """Check a map of strengths in [0, 1] and return it as floats."""
    array = shaped_array(strength, name)
    if array.dtype in (np.uint8, np.uint16):
        # Divided, not multiplied by 1/255: the last bit decides ties with a threshold.
        return array / float(np.iinfo(array.dtype).max)
    if array.dtype != bool and not np.issubdtype(array.dtype, np.floating):
        raise TypeError(f"{name} must be bool, uint8, uint16 or float, got {array.dtype}")
    array = array.astype(float)
    if not ((array >= 0) & (array <= 1)).all():
        raise ValueError(f"{name} must hold values from 0 to 1, got values from {array.min()} to {array.max()}")
    return array


def threshold_levels(thresholds: int | Sequence[float]) -> Floats:
    """Return the Berkeley benchmark's n thresholds 1/(n+1), ..., n/(n+1), or check those given."""
    if isinstance(thresholds, (int, np.integer)):
        if thresholds < 1:
            raise ValueError(f"thresholds must be at least 1, got {thresholds}")
        return np.linspace(1 / (thresholds + 1), 1 - 1 / (thresholds + 1), thresholds)
    levels = np.asarray(thresholds, dtype=float)
    if levels.ndim != 1 or levels.size == 0 or not np.isfinite(levels).all() or (np.diff(levels) <= 0).any():
        raise ValueError(f"thresholds must be a number or rising finite values, got {thresholds}")
    return levels


def shared_thresholds(scores: Sequence[Any]) -> Floats:
    """Return the thresholds of the scores of one or more images, which must be the same."""
    if len(scores) == 0:
        raise ValueError("scores must hold at least one image, got none")
    first: Floats = scores[0].thresholds
    for own in (score.thresholds for score in scores):
        if own.shape != first.shape or (own != first).any():
            raise ValueError(f"scores must share their thresholds, got {len(first)} and {len(own)} or other values")
    return first


def ratio(part: NDArray[np.number], whole: NDArray[np.number]) -> Floats:
    """Return part / whole, and 0 where the whole is 0."""
    result: Floats = part / (whole + (whole == 0))
    return result


def f_measure(precision: Floats, recall: Floats) -> Floats:
    """Return 2 P R / (P + R), and 0 where both are 0."""
    return ratio(2 * precision * recall, precision + recall)
