"""Many cuts around one fixation, of many sizes: candidates for the figure, each made again by colour and texture."""

from __future__ import annotations

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
from imtorque.segmentation.polar import cut_links, outside_image, polar_edge_map, polar_links, polar_places

WORKING_SIDE = 200  # pixels of the longer side at most: outlines are followed there
SMALLEST_SIDE = 8  # pixels; smaller images have no room for a choice
POLAR_SIZES = (0.15, 0.25, 0.4, 0.65, 1.0)  # expected, of the square root of the image's area
RADIUS_OF_SIZE = 0.4  # expected distance of the outline from the fixation, over the size
FIXATED = (0.4, 0.56, 0.8)  # sides of boxes around the fixation, of the square root of the area
CENTRED = (0.7, 0.9)  # of the image's sides
FREE_COSTS, SIZED_COSTS = (20.0, 50.0), (5.0, 20.0)  # eta and k without and with an expected size
DEGREES = 3  # of the polar map that make one row of the cut
ROOM = 2.0  # sides of the box that a polar cut may grow into, over those of its own
COLOUR_SMOOTHING = 1.0  # sigma in pixels of half the size


@dataclass(frozen=True, eq=False)
class View:
    """An image at the working size, and what cuts are made from; maps are mostly at half of that size."""

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
    share = min(1.0, WORKING_SIDE / max(shape))
    return max(1, round(shape[0] * share)), max(1, round(shape[1] * share))


def view_image(image: CheckedImage, hints: Hints, *, torque: bool = True) -> View:
    """Return an image as cuts need it; without torque, edges as the gradient has them."""
    from scipy import ndimage

    planes = np.stack([fitted(plane.astype(np.float32), WORKING_SIDE) for plane in image.rgb()])
    grey = fitted(image.grey(), WORKING_SIDE)
    levels = appearance(lab(planes.astype(np.float64)))
    strength = edge_cue(CheckedImage(grey, (0.0, 1.0)), "strengthened" if torque else "magnitude")
    gx, gy = _native.smoothed_gradient(shrunk(grey, 2), SQRT2)
    sigma = (0, COLOUR_SMOOTHING, COLOUR_SMOOTHING)
    colours = ndimage.gaussian_filter(levels[1].lab, sigma, mode="nearest")
    return View(levels, strength, shrunk(strength, 2, np.max), (gx, gy), colours, hints, torque)


def figure_cuts(view: View) -> dict[str, BoolArray]:
    """Return figures by the name of how they were begun, each at one of the two levels' sizes."""
    cuts = {}
    for name, start in polar_starts(view).items():
        box = [2 * float(at) for at in bounding_box(start)]
        cuts[name] = colour_cut(view.levels, enlarged(box, ROOM), start, view.hints)
    for name, fixed in box_starts(view).items():
        cuts[name] = colour_cut(view.levels, fixed, None, view.hints)
    return cuts


def polar_starts(view: View) -> dict[str, BoolArray]:
    """Return polar cuts of all expected sizes, and of none, at half of the working size."""
    gx, gy = view.gradient
    polar = polar_edge_map(view.edges, (gy, -gx), view.fixation)
    outside = outside_image(view.shape, view.fixation)
    rows = (360 // DEGREES, DEGREES, -1)
    polar, outside = polar.reshape(rows).max(axis=1), np.asarray(outside.reshape(rows).all(axis=1))
    free, sized = polar_links(polar, *FREE_COSTS), polar_links(polar, *SIZED_COSTS)
    flow = no_flow(*free)
    cuts = {"polar": cut_links(free, outside, FREE_COSTS[0], None, flow)}
    root = math.sqrt(view.shape[0] * view.shape[1])
    for size in POLAR_SIZES:
        cuts[f"polar-{size}"] = cut_links(sized, outside, SIZED_COSTS[0], RADIUS_OF_SIZE * (size * root), flow)
    y, x = (np.arange(side) - at for side, at in zip(view.shape, view.fixation, strict=True))
    row, column = polar_places(y[:, None], x, polar.shape[1])
    place = row // DEGREES * polar.shape[1] + column
    found = {name: cut.ravel().take(place) for name, cut in cuts.items()}
    for mask in found.values():
        mask[view.fixation] = True
    return found


def box_starts(view: View) -> dict[str, Box]:
    """Return boxes of all sizes, in pixels of the working size; with torque, also those that it finds."""
    shape, fixation = view.levels[0].shape, view.hints.on[0]
    boxes = {f"fixated-{part}": fixated_box(shape, fixation, part) for part in FIXATED}
    if view.hints.box is None:
        boxes |= {f"centred-{part}": centred_box(shape, part) for part in CENTRED}
    else:
        boxes["given"] = view.hints.box
    if view.torque:
        for name, (top, left, bottom, right) in torque_boxes(view.colours, view.fixation).items():
            boxes[f"box-{name}"] = (2 * top, 2 * left, 2 * bottom, 2 * right)
    return boxes
