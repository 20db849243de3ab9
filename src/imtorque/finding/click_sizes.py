"""How large what was clicked on is: the size of the patch around each point whose ring has the strongest torque."""

from __future__ import annotations

import numpy as np

from imtorque import _native
from imtorque._types import Edges, FloatArray, Image
from imtorque.images import grey_image
from imtorque.torque import torque_spectrum

SMALLEST, GROWTH, INNER = 7, 1.15, 0.6
LARGEST = 0.4  # of the picture's shorter side
SIGMA = 1.5
MOST_POINTS = 40  # of a picture that are looked at


def clicked_diameters(image: Image, points: FloatArray) -> FloatArray:
    """Return a diameter for each point, in pixels; of many points only some are looked at."""
    grey = grey_image(image)
    gx, gy = _native.smoothed_gradient(grey, SIGMA)
    strength = np.hypot(gx, gy)
    weight = (1 / (strength + 2 * float(np.median(strength)) + 1e-6)).astype(np.float32)
    edges = Edges(gy * weight, -gx * weight)
    largest = max(SMALLEST + 4, LARGEST * min(edges.shape))
    count = max(3, int(np.log(largest / SMALLEST) / np.log(GROWTH)))
    sides = np.unique(2 * (np.geomspace(SMALLEST, largest, count) / 2).astype(int) + 1)
    inner = 2 * (INNER * sides / 2).astype(int) + 1
    distinct, places = np.unique(inner, return_inverse=True)
    shown = points[:: max(1, len(points) // MOST_POINTS)]
    pixels = np.clip(np.rint(shown).astype(int), 0, np.array(edges.shape) - 1)
    sizes = []
    for y, x in pixels.tolist():
        whole, hole = torque_spectrum(edges, (y, x), sides), torque_spectrum(edges, (y, x), distinct)[places]
        ring = (sides**2 * whole - inner**2 * hole) / (sides**2 - inner**2)
        sizes.append(sides[np.abs(ring).argmax()])
    return np.asarray(sizes, dtype=np.float64)
