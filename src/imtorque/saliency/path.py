"""Scan paths: fixations in order, by inhibition of return."""

import math
import operator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque.saliency.maps import as_map, unit_range

INHIBITION = 1 / 8  # of the shorter side; untuned


def scan_path(
    saliency: ArrayLike, count: int, *, sigma: float | None = None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Predict fixations in order: the most salient place, then the next, each inhibiting a return to it.

    After each fixation the map is multiplied by 1 - exp(-d^2 / (2 sigma^2)), d being the distance from it (C. Koch, S.
    Ullman: Shifts in selective visual attention, 1985; Itti, Koch and Niebur 1998).

    Parameters
    ----------
    saliency
        A saliency map, shape (H, W), of any finite range.
    count
        How many fixations, at most: the path ends where nothing salient is left.
    sigma
        Reach of the inhibition in pixels; by default 1/8 of the shorter side.

    Returns
    -------
    y, x
        Places in order, (n,) each. Of equally salient places the one nearest to the middle comes first. Empty for a
        constant map.

    See Also
    --------
    torque_saliency, blend_saliency, segment_figure

    Examples
    --------
    >>> saliency = np.zeros((40, 60))
    >>> saliency[10, 15], saliency[30, 45] = 0.5, 1
    >>> scan_path(saliency, 5)
    (array([30, 10]), array([45, 15]))
    """
    left = unit_range(as_map(saliency))
    if operator.index(count) < 0:
        raise ValueError(f"count must not be negative, got {count}")
    reach = INHIBITION * min(left.shape) if sigma is None else sigma
    if not (math.isfinite(reach) and reach > 0):
        raise ValueError(f"sigma must be positive, got {sigma}")
    rows, columns = np.ogrid[: left.shape[0], : left.shape[1]]
    off_centre = (2 * rows - left.shape[0] + 1) ** 2 + (2 * columns - left.shape[1] + 1) ** 2
    y, x = [], []
    for _ in range(count):
        highest = left.max()
        if highest <= 0:
            break
        place = np.where(left == highest, off_centre, np.iinfo(off_centre.dtype).max).argmin()
        row, column = divmod(int(place), left.shape[1])
        y.append(row)
        x.append(column)
        left = left * -np.expm1(-((rows - row) ** 2 + (columns - column) ** 2) / (2 * reach**2))
    return np.array(y, dtype=np.intp), np.array(x, dtype=np.intp)
