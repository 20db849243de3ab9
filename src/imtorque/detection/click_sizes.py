"""How large what was clicked on is: the size at which the torque around the clicks stands out most from elsewhere."""

from __future__ import annotations

import numpy as np

from imtorque import _native
from imtorque.core.torque import torque_spectrum
from imtorque.core.types import Edges, FloatArray, Image, IntArray
from imtorque.images import grey_image

SMALLEST, GROWTH, INNER = 7, 1.15, 0.6
LARGEST = 0.4  # of the image's shorter side
SIGMA = 1.5
MOST_POINTS = 40  # of an image that are looked at
ELSEWHERE = 12  # rows and columns of places all over the image
ABOUT = 1.8  # ratio of sizes that objects of one kind have
QUIET = 0.1  # torque that stands out where there is none elsewhere


def clicked_diameters(image: Image, points: FloatArray) -> FloatArray:
    """Return a diameter for each point, in pixels; of many points only some are looked at.

    Objects of one kind have torque of one sign and about one size, so their spectra add up; those of what lies around
    them, large folds of tissue or a whole clump, are as strong anywhere else. Around the size at which all together
    stand out most, each has the size of its own strongest torque.
    """
    grey = grey_image(image)
    gx, gy = _native.smoothed_gradient(grey, SIGMA)
    strength = np.hypot(gx, gy)
    weight = (1 / (strength + 2 * float(np.median(strength)) + 1e-6)).astype(np.float32)
    edges = Edges(gy * weight, -gx * weight)
    largest = max(SMALLEST + 4, LARGEST * min(edges.shape))
    count = max(3, int(np.log(largest / SMALLEST) / np.log(GROWTH)))
    sides = np.unique(2 * (np.geomspace(SMALLEST, largest, count) / 2).astype(int) + 1)
    clicked = _ring_spectra(edges, points[:: max(1, len(points) // MOST_POINTS)], sides)
    rows, columns = ((np.arange(ELSEWHERE) + 0.5) * side / ELSEWHERE for side in edges.shape)
    elsewhere = _ring_spectra(edges, np.stack(np.meshgrid(rows, columns), axis=-1).reshape(-1, 2), sides)
    stands_out = np.abs(clicked.mean(axis=0)) / (elsewhere.std(axis=0) + QUIET)
    common = int(stands_out.argmax())
    near = (sides >= sides[common] / ABOUT) & (sides <= sides[common] * ABOUT)
    sign = np.sign(clicked[:, common].mean())
    sizes: FloatArray = sides[near][(sign * clicked[:, near]).argmax(axis=1)].astype(np.float64)
    return sizes


def _ring_spectra(edges: Edges, points: FloatArray, sides: IntArray) -> FloatArray:
    """Return the torque of patches around each point without their inner part, (points, sides)."""
    inner = 2 * (INNER * sides / 2).astype(int) + 1
    sizes = np.union1d(sides, inner)
    pixels = np.clip(np.rint(points).astype(int), 0, np.array(edges.shape) - 1)
    tau = np.array([torque_spectrum(edges, (y, x), sizes) for y, x in pixels.tolist()])
    whole, hole = (tau[:, np.searchsorted(sizes, part)] for part in (sides, inner))
    spectra: FloatArray = (sides**2 * whole - inner**2 * hole) / (sides**2 - inner**2)
    return spectra
