"""What the first round sees and what neighbours settle, as slow, plain loops. Imports numpy only."""

import math

import numpy as np

from naive import bilinear


def beside(plane, fx, fy, distance, dark):
    """plane(q + d n) + dark * plane(q - d n) for every edge pixel, n towards the right of the force."""
    found = []
    for y, x in zip(*np.nonzero((fx != 0) | (fy != 0)), strict=True):
        length = math.hypot(fx[y, x], fy[y, x])
        ny, nx = fx[y, x] / length, -fy[y, x] / length
        bright = bilinear(plane, y + distance * ny, x + distance * nx)
        found.append(bright + dark * bilinear(plane, y - distance * ny, x - distance * nx))
    return np.array(found)


def smoothed_along_contours(fx, fy, side, sigma):
    """For every edge pixel the mean of its neighbours' side times normal, along its own normal."""
    reach = int(4 * sigma + 0.5)
    places = list(zip(*np.nonzero((fx != 0) | (fy != 0)), strict=True))
    normals = [(fx[p] / math.hypot(fx[p], fy[p]), -fy[p] / math.hypot(fx[p], fy[p])) for p in places]
    found = []
    for (y, x), (ny, nx) in zip(places, normals, strict=True):
        total = weights = 0.0
        for k, ((v, u), (my, mx)) in enumerate(zip(places, normals, strict=True)):
            if abs(v - y) <= reach and abs(u - x) <= reach:
                weight = math.exp(-((v - y) ** 2 + (u - x) ** 2) / (2 * sigma**2))
                weights += weight
                total += weight * side[k] * (my * ny + mx * nx)
        found.append(total / weights)
    return np.array(found)
