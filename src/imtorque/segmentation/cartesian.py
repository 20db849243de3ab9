"""The cut around a fixation on the image itself, links weighed by their distance: no polar coordinates needed."""

import numpy as np

from imtorque.core.types import BoolArray, FloatArray
from imtorque.segmentation.graph_cut import grid_max_flow

# Pixels from a side of the image: nearer to it, a fixation's object may reach beyond that side; untuned.
BORDER_MARGIN = 2


def cut_cartesian(strength: FloatArray, fixation: tuple[int, int], eta: float, k: float) -> BoolArray:
    """Return the minimum cut between the fixation and the border of the image.

    A link of mean edge strength m costs exp(-eta m), or k where there is no edge, over its distance from the fixation:
    then a circle costs the same at every radius, as it does in polar coordinates (A. Ecins, C. Fermüller, Y. Aloimonos:
    Shadow free segmentation in still images, ICCP 2014). Sides of the image beside the fixation are no ground.
    """
    height, width = strength.shape
    y, x = np.arange(height)[:, None] - fixation[0], np.arange(width) - fixation[1]
    right = _link_costs(strength[:, :-1], strength[:, 1:], eta, k) / np.hypot(y, x[:-1] + 0.5)
    down = _link_costs(strength[:-1], strength[1:], eta, k) / np.hypot(y[:-1] + 0.5, x)
    ground = np.zeros(strength.shape, bool)
    if fixation[0] >= BORDER_MARGIN:
        ground[0] = True
    if fixation[0] < height - BORDER_MARGIN:
        ground[-1] = True
    if fixation[1] >= BORDER_MARGIN:
        ground[:, 0] = True
    if fixation[1] < width - BORDER_MARGIN:
        ground[:, -1] = True
    if not ground.any():
        return np.ones(strength.shape, bool)
    figure = np.zeros(strength.shape)
    figure[fixation] = np.inf
    mask, _ = grid_max_flow(figure, np.where(ground & (figure == 0), np.inf, 0.0), right, down)
    return mask


def _link_costs(one: FloatArray, other: FloatArray, eta: float, k: float) -> FloatArray:
    strength = (one + other) / 2
    return np.where(strength > 0, np.exp(-eta * strength), k)
