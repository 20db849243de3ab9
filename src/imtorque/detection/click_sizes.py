"""Clicked objects: of the closed outlines around the clicks, those of the size they have in common."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from imtorque.core.torque import torque_spectrum
from imtorque.core.types import Edges, Extrema, Float32Array, FloatArray, Image, IntArray
from imtorque.detection.annotations import Annotations
from imtorque.detection.colour import object_plane
from imtorque.detection.contour_proposals import MIN_CLOSURE, level_sizes, significant
from imtorque.detection.outlines import fit_outlines
from imtorque.detection.proposals import ANGLES, Outlines, Proposals
from imtorque.detection.pyramid import Level, image_pyramid
from imtorque.detection.ring_torque import hole_sizes, ring_shares
from imtorque.detection.scoring import contour_scores
from imtorque.images import grey_image

MIN_SIZE = 5.0  # pixels; bound: of what has an outline
MAX_CLICKED_SHARE = 0.8  # of the image's shorter side; untuned
MAX_POINTS = 40  # of an image that are looked at; bound: time
MAX_OFF_CENTRE = 0.3  # of an outline's diameter, from its middle to the click; untuned
SIZE_WINDOW = 1.25  # ratio of diameters that count as one when outlines around all clicks are compared; untuned
SIZE_RATIO = 1.8  # of sizes that objects of one kind have; untuned


def clicked_diameters(image: Image, points: FloatArray) -> FloatArray:
    """Return the diameters of the outlines around points, in pixels; of many points only some are looked at."""
    return clicked_outlines(image, points[:: max(1, len(points) // MAX_POINTS)])[0].diameter


def clicked_outlines(image: Image, points: FloatArray) -> tuple[Proposals, IntArray]:
    """Return the outline of the object at each point, and the numbers of the points where one is found.

    Contours are fitted around each point at every size and for either sign, and scored as those of `find_blobs`.
    Objects of one kind have about one size: it is the one at which the best outlines around all points together score
    most. Near it, each point takes its own best outline.
    """
    grey = grey_image(object_plane(image)[0])
    contours, owner = _of_one_click(*_outlines_around(grey, points), points)
    if not len(contours):
        return contours, owner
    shape = (grey.shape[0], grey.shape[1])
    score = contour_scores(contours, shape, None, grey, signed=False)
    size = np.log(contours.diameter)
    near = np.abs(size - _common_size(size, score, owner, len(points))) <= np.log(SIZE_RATIO)
    contours, owner, score = contours[near], owner[near], score[near]
    order = np.lexsort((-score, owner))
    first = order[np.unique(owner[order], return_index=True)[1]]
    return contours[first], owner[first]


def outlined_clicks(image: Image, annotations: Annotations, diameter: float) -> Annotations:
    """Return points with the outlines found at them; discs of the diameter where there are none."""
    centres = annotations.points.copy()
    radii = np.full((len(centres), ANGLES), diameter / 2, np.float32)
    contours, owner = clicked_outlines(image, centres)
    y, x, found = contours.outlines.polar
    centres[owner, 0], centres[owner, 1], radii[owner] = y, x, found
    rows, columns = Outlines.of_polar(centres[:, 0], centres[:, 1], radii).points
    low, high = (np.stack([getattr(part, end)(axis=1) for part in (rows, columns)], axis=1) for end in ("min", "max"))
    boxes = np.concatenate([low, high + 1], axis=1)
    return replace(annotations, form="labels", points=centres, boxes=boxes, radii=radii)


def _common_size(size: FloatArray, score: FloatArray, owner: IntArray, clicks: int) -> float:
    """Return the logarithm of the diameter at which the best outlines of all clicks have the highest sum of scores."""
    tried = np.unique(size)
    nearness = np.maximum(1 - np.abs(tried[:, None] - size) / np.log(SIZE_WINDOW), 0) * score
    best = np.zeros((clicks, len(tried)))
    np.maximum.at(best, owner, nearness.T)
    return float(tried[best.sum(axis=0).argmax()])


def _of_one_click(contours: Proposals, owner: IntArray, points: FloatArray) -> tuple[Proposals, IntArray]:
    """Return of the contours around each click those that hold fewest clicks: each is meant for an object of its own.

    So a dish, a clump or a fold is no object of those clicked in it.
    """
    moments = contours.moments
    away = np.hypot(moments.y[:, None] - points[:, 0], moments.x[:, None] - points[:, 1])
    held = (away <= contours.diameter[:, None] / 2).sum(axis=1)
    fewest = np.full(len(points), len(points))
    np.minimum.at(fewest, owner, held)
    lone = held == fewest[owner]
    return contours[lone], owner[lone]


def _outlines_around(grey: Float32Array, points: FloatArray) -> tuple[Proposals, IntArray]:
    """Return the contours fitted around all points at every size, and the number of the point of each.

    Where any stand out of the noise and are as good as closed, only these are returned.
    """
    largest = max(2 * MIN_SIZE, MAX_CLICKED_SHARE * min(grey.shape))
    parts, owners = [Proposals.none()], [np.zeros(0, np.int64)]
    for level in image_pyramid(grey, MIN_SIZE, largest):
        seeds, owner = _seeds(level, points)
        contours = fit_outlines(level, seeds)
        moments = contours.moments
        away = np.hypot(moments.y - points[owner, 0], moments.x - points[owner, 1])
        near = away <= MAX_OFF_CENTRE * contours.diameter
        parts.append(contours[near])
        owners.append(owner[near])
    contours, owner = Proposals.join(parts), np.concatenate(owners)
    clear = (contours.closure >= MIN_CLOSURE) & significant(contours, grey.shape)
    return (contours[clear], owner[clear]) if clear.any() else (contours, owner)


def _seeds(level: Level, points: FloatArray) -> tuple[Extrema, IntArray]:
    """Return seeds of every size and either sign at points of the image, with their ring torque, and whose each is."""
    sides = level_sizes(level)
    inner = hole_sizes(sides)
    every = np.union1d(sides, inner)
    pixels = np.clip(np.rint((points - level.offset) / level.factor), 0, np.array(level.grey.shape) - 1).astype(int)
    edges = Edges(level.gy, -level.gx)
    tau = np.array([torque_spectrum(edges, (y, x), every, patch="disk") for y, x in pixels.tolist()])
    of_whole, of_hole = ring_shares(sides, inner, "disk")
    ring = of_whole * tau[:, np.searchsorted(every, sides)] - of_hole * tau[:, np.searchsorted(every, inner)]
    strength = np.maximum(np.abs(ring), 1e-6).ravel()
    owner = np.repeat(np.arange(len(points)), len(sides))
    strength, owner = np.concatenate([strength, -strength]), np.tile(owner, 2)
    order = np.argsort(-np.abs(strength), kind="stable")  # as Extrema are sorted
    y, x = pixels[owner[order]].T
    return Extrema(y, x, np.tile(sides, 2 * len(points))[order], strength[order]), owner[order]
