"""Diameters of clicked objects: the size at which the torque around the clicks stands out most from elsewhere."""

from __future__ import annotations

import numpy as np

from imtorque import _native
from imtorque.core.torque import torque_spectrum
from imtorque.core.types import Edges, FloatArray, Image, IntArray
from imtorque.detection.pyramid import saturate
from imtorque.detection.ring_torque import hole_sizes, ring_shares, size_ladder
from imtorque.images import grey_image

MIN_SIZE, CLICKED_SIZE_STEP = 7, 1.15  # pixels; ratio of neighbouring sizes
MAX_CLICKED_SHARE = 0.4  # of the image's shorter side
CLICK_SIGMA = 1.5  # of the edges, in pixels
MAX_POINTS = 40  # of an image that are looked at
COMPARED_GRID = 12  # rows and columns of places all over the image, with which the clicks are compared
SIZE_RATIO = 1.8  # of sizes that objects of one kind have
TORQUE_FLOOR = 0.1  # torque that stands out where there is none elsewhere


def clicked_diameters(image: Image, points: FloatArray) -> FloatArray:
    """Return a diameter for each point, in pixels; of many points only some are looked at.

    Objects of one kind have torque of one sign and about one size, so their spectra add up; those of what lies around
    them, large folds of tissue or a whole clump, are as strong anywhere else. Around the size at which all together
    stand out most, each has the size of its own strongest torque.
    """
    grey = grey_image(image)
    gx, gy = _native.smoothed_gradient(grey, CLICK_SIGMA)
    strength = np.hypot(gx, gy)
    gx, gy = saturate(gx, gy, strength, 2 * float(np.median(strength)) + 1e-6)
    edges = Edges(gy, -gx)
    largest = max(MIN_SIZE + 4, MAX_CLICKED_SHARE * min(edges.shape))
    steps = max(3, int(np.log(largest / MIN_SIZE) / np.log(CLICKED_SIZE_STEP))) - 1
    sides = size_ladder(MIN_SIZE, largest, steps)
    clicked = _ring_spectra(edges, points[:: max(1, len(points) // MAX_POINTS)], sides)
    rows, columns = ((np.arange(COMPARED_GRID) + 0.5) * side / COMPARED_GRID for side in edges.shape)
    elsewhere = _ring_spectra(edges, np.stack(np.meshgrid(rows, columns), axis=-1).reshape(-1, 2), sides)
    stands_out = np.abs(clicked.mean(axis=0)) / (elsewhere.std(axis=0) + TORQUE_FLOOR)
    common = int(stands_out.argmax())
    near = (sides >= sides[common] / SIZE_RATIO) & (sides <= sides[common] * SIZE_RATIO)
    sign = np.sign(clicked[:, common].mean())
    sizes: FloatArray = sides[near][(sign * clicked[:, near]).argmax(axis=1)].astype(np.float64)
    return sizes


def _ring_spectra(edges: Edges, points: FloatArray, sides: IntArray) -> FloatArray:
    """Return the torque of patches around each point without their inner part, (points, sides)."""
    inner = hole_sizes(sides)
    sizes = np.union1d(sides, inner)
    pixels = np.clip(np.rint(points).astype(int), 0, np.array(edges.shape) - 1)
    tau = np.array([torque_spectrum(edges, (y, x), sizes) for y, x in pixels.tolist()])
    whole, hole = (tau[:, np.searchsorted(sizes, part)] for part in (sides, inner))
    of_whole, of_hole = ring_shares(sides, inner, "square")
    spectra: FloatArray = of_whole * whole - of_hole * hole
    return spectra
