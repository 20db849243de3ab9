"""Proposals for the figure around a fixation: cuts of many sizes, each refined by colour and texture."""

import math
from dataclasses import dataclass

import numpy as np

from imtorque import _native
from imtorque.core.resizing import fitted, shrunk
from imtorque.core.types import BoolArray, FloatArray, Planes
from imtorque.edges import SQRT2
from imtorque.images import CheckedImage, lab
from imtorque.segmentation.appearance import Level, appearance
from imtorque.segmentation.colour_cut import Hints, colour_cut
from imtorque.segmentation.cues import edge_cue
from imtorque.segmentation.fixated_boxes import Box, bounding_box, centred_box, enlarged, fixated_box, torque_boxes
from imtorque.segmentation.graph_cut import no_flow
from imtorque.segmentation.polar import (
    RADIUS_OF_SIZE,
    cut_links,
    outside_image,
    polar_edge_map,
    polar_links,
    polar_places,
)
from imtorque.segmentation.working_size import enlarge

CUT_WORKING_SIDE = 200  # pixels of the longer side at most: outlines are followed there; bound: time
SMALLEST_SIDE = 8  # pixels; smaller images are cut by edges alone; bound: of colour cuts
POLAR_SIZES = (0.15, 0.25, 0.4, 0.65, 1.0)  # expected, of the square root of the image's area; untuned: about 1.6 apart
FIXATED_SIDES = (0.4, 0.56, 0.8)  # of boxes around the fixation, of the square root of the area; untuned: root 2 apart
CENTRED_SIDES = (0.7, 0.9)  # of boxes in the middle, of the image's sides; untuned
# Eta and k without and with an expected size; convention of Mishra's program and paper.
FREE_COSTS, SIZED_COSTS = (20.0, 50.0), (5.0, 20.0)
ROW_DEGREES = 3  # of the polar map, per row of the cut; untuned
POLAR_GROWTH = 2.0  # sides of the box that a polar cut may grow into, over those of its own; measured (+.001, +.008)
COLOUR_SIGMA = 1.0  # pixels of half the working size; measured (0, -.011)


@dataclass(frozen=True, eq=False)
class View:
    """An image at the working size with the maps that cuts are made from, mostly at half of that size."""

    levels: tuple[Level, Level]
    strength: FloatArray  # of edges, in [0, 1], at the working size
    edges: FloatArray  # the same at half of it
    gradient: tuple[FloatArray, FloatArray]  # of the luminance: x, y
    colours: Planes  # L, a, b, smoothed
    hints: Hints
    torque: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width at half of the working size."""
        return self.levels[1].shape

    @property
    def fixation(self) -> tuple[int, int]:
        """The first click, at half of the working size."""
        return self.hints.on[0][0] // 2, self.hints.on[0][1] // 2


def working_shape(shape: tuple[int, int]) -> tuple[int, int]:
    """Return height and width of an image at the working size."""
    share = min(1.0, CUT_WORKING_SIDE / max(shape))
    return max(1, round(shape[0] * share)), max(1, round(shape[1] * share))


def view_image(image: CheckedImage, hints: Hints, *, torque: bool = True) -> View:
    """Compute the maps of a view; without torque, edges are weighted by the gradient alone."""
    from scipy import ndimage

    planes = np.stack([fitted(plane.astype(np.float32), CUT_WORKING_SIDE) for plane in image.rgb()])
    grey = fitted(image.grey(), CUT_WORKING_SIDE)
    levels = appearance(lab(planes.astype(np.float64)))
    strength = edge_cue(CheckedImage(grey, (0.0, 1.0)), "strengthened" if torque else "magnitude")
    gx, gy = _native.smoothed_gradient(shrunk(grey, 2), SQRT2)
    sigma = (0, COLOUR_SIGMA, COLOUR_SIGMA)
    colours = ndimage.gaussian_filter(levels[1].lab, sigma, mode="nearest")
    return View(levels, strength, shrunk(strength, 2, np.max), (gx, gy), colours, hints, torque)


def figure_cuts(view: View) -> dict[str, BoolArray]:
    """Return the cuts, by the name of their start, each at the size of one of the two levels."""
    cuts = {}
    for name, start in polar_starts(view).items():
        box = [2 * float(at) for at in bounding_box(start)]
        cuts[name] = colour_cut(view.levels, enlarged(box, POLAR_GROWTH), start, view.hints)
    for name, fixed in box_starts(view).items():
        cuts[name] = colour_cut(view.levels, fixed, None, view.hints)
    return cuts


def polar_starts(view: View) -> dict[str, BoolArray]:
    """Return polar cuts of all expected sizes, and of none, at half of the working size."""
    gx, gy = view.gradient
    polar = polar_edge_map(view.edges, (gy, -gx), view.fixation)
    outside = outside_image(view.shape, view.fixation)
    rows = (360 // ROW_DEGREES, ROW_DEGREES, -1)
    polar, outside = polar.reshape(rows).max(axis=1), np.asarray(outside.reshape(rows).all(axis=1))
    free, sized = polar_links(polar, *FREE_COSTS), polar_links(polar, *SIZED_COSTS)
    flow = no_flow(*free)
    cuts = {"polar": cut_links(free, outside, FREE_COSTS[0], None, flow)}
    root = math.sqrt(view.shape[0] * view.shape[1])
    for size in POLAR_SIZES:
        cuts[f"polar-{size}"] = cut_links(sized, outside, SIZED_COSTS[0], RADIUS_OF_SIZE * (size * root), flow)
    y, x = (np.arange(side) - at for side, at in zip(view.shape, view.fixation, strict=True))
    row, column = polar_places(y[:, None], x, polar.shape[1])
    place = row // ROW_DEGREES * polar.shape[1] + column
    found = {name: cut.ravel().take(place) for name, cut in cuts.items()}
    for mask in found.values():
        mask[view.fixation] = True
    return found


def box_starts(view: View) -> dict[str, Box]:
    """Return start boxes of all sizes, in pixels of the working size; with torque, also those of strongest torque."""
    shape, fixation = view.levels[0].shape, view.hints.on[0]
    boxes = {f"fixated-{part}": fixated_box(shape, fixation, part) for part in FIXATED_SIDES}
    if view.hints.box is None:
        boxes |= {f"centred-{part}": centred_box(shape, part) for part in CENTRED_SIDES}
    else:
        boxes["given"] = view.hints.box
    if view.torque:
        for name, (top, left, bottom, right) in torque_boxes(view.colours, view.fixation).items():
            boxes[f"box-{name}"] = (2 * top, 2 * left, 2 * bottom, 2 * right)
    return boxes


def at_working_size(view: View, cut: BoolArray) -> BoolArray:
    """Return a cut of either level at the working size."""
    height, width = view.levels[0].shape
    if cut.shape == (height, width):
        return cut
    doubled = enlarge(cut, (2 * cut.shape[0], 2 * cut.shape[1]))
    return np.ascontiguousarray(doubled[:height, :width])


def at_half_size(view: View, cut: BoolArray) -> BoolArray:
    """Return a cut of either level at half of the working size."""
    return cut if cut.shape == view.shape else np.asarray(shrunk(cut.astype(np.float64), 2) >= 0.5)


def holding_fixation(view: View, cut: BoolArray) -> BoolArray:
    """Return a cut at half of the working size with the fixation in it."""
    held = cut.copy()
    held[view.fixation] = True
    return held
