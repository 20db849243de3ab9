"""Rules that say which side owns an edge without torque: for every edge pixel +1 for the brighter side, -1 else."""

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import Edges

MIN_COSINE = 0.7  # of the angle between two edges that may belong to one contour: 45 degrees; untuned
MAX_SLOPE = 0.5  # pixels across the contour, per pixel along it, that such edges may lie apart; untuned


def towards_centre(edges: Edges) -> NDArray[np.float64]:
    """Give each edge to the side that faces the middle of the image."""
    y, x = np.nonzero(edges.mask)
    ny, nx = edges.fx[y, x], -edges.fy[y, x]
    height, width = edges.shape
    return np.sign(((height - 1) / 2 - y) * ny + ((width - 1) / 2 - x) * nx).astype(np.float64)


def bent_towards(edges: Edges, reach: int) -> NDArray[np.float64]:
    """Give each edge to the side towards which its contour bends: the convex one.

    A parabola with its vertex at the edge pixel, along the edge, is fitted to the edges of like direction that lie at
    most `reach` pixels away.
    """
    y, x = np.nonzero(edges.mask)
    length = edges.strength[y, x]
    ty, tx = edges.fy[y, x] / length, edges.fx[y, x] / length
    ny, nx = tx, -ty  # towards the brighter side
    padded = [np.pad(plane, reach) for plane in (edges.fy, edges.fx)]
    bend = np.zeros(len(y))
    for dy in range(-reach, reach + 1):
        for dx in range(-reach, reach + 1):
            if not 0 < dy**2 + dx**2 <= reach**2:
                continue
            fy, fx = (plane[y + reach + dy, x + reach + dx] for plane in padded)
            along, across = dx * tx + dy * ty, dx * nx + dy * ny
            alike = fy * ty + fx * tx > MIN_COSINE * np.hypot(fy, fx)
            bend += np.where(alike & (np.abs(across) <= MAX_SLOPE * np.abs(along) + 1), along**2 * across, 0.0)
    return np.sign(bend)
