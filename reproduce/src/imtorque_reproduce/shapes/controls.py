"""Peers of torque tuned to shapes: chamfer matching and the generalised Hough transform, over the same edges."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from imtorque.core.types import BoolArray, Edges, FloatArray
from imtorque.detection.shape_classes.patches import SMALLEST_HEIGHT
from imtorque.detection.shape_classes.tuned import HEIGHT_GROWTH
from imtorque.edges import detect_edges
from imtorque_reproduce.objects.rows import bounding_box
from imtorque_reproduce.scoring import evenly

CHAMFER_DISTANCE = 0.1  # of the shape's height, at which distances to the next edge are truncated; untuned
EXEMPLARS = 3  # outlines that are matched, evenly over the examples; bound: time
HOUGH_LEVELS = 90  # of the Hough transform's table, over the full turn; untuned


def heights_for(shape: tuple[int, int], aspect: float) -> list[float]:
    """Return the heights that are looked for, the same as those of ShapeTorque."""
    largest = min(shape[0], shape[1] * aspect)
    smallest = min(float(SMALLEST_HEIGHT), largest)
    return [smallest * HEIGHT_GROWTH**k for k in range(1 + int(np.log(largest / smallest) / np.log(HEIGHT_GROWTH)))]


def exemplars(masks: Sequence[BoolArray]) -> list[BoolArray]:
    """Return a few masks, each cropped to its box."""
    found = []
    for mask in evenly(masks, EXEMPLARS):
        y0, x0, y1, x1 = bounding_box(mask)
        found.append(mask[y0:y1, x0:x1])
    return found


def chamfer_boxes(edges: Edges, shapes: Sequence[BoolArray], count: int, bins: int = 1) -> NDArray[np.float64]:
    """Return boxes (y0, x0, y1, x1, score) by chamfer matching: how near the outline's points are to edges, truncated.

    The score is how many standard deviations the mean nearness of the outline's points lies above that of as many
    random points, without which the smallest outlines would always fit best. With several bins of directions, only
    edges of the point's own and the two neighbouring bins count.
    """
    from scipy import signal

    away = _distances(edges, bins)
    found = []
    for shape in shapes:
        for height in heights_for(edges.shape, shape.shape[0] / shape.shape[1]):
            outline = _outline_edges(shape, height)
            own, score, spread = _bins(outline, bins), np.zeros(edges.shape), 1e-12
            for k in range(bins):
                near = (1 - np.minimum(away[k] / (CHAMFER_DISTANCE * height), 1)).astype(np.float32)
                points = (own == k)[::-1, ::-1].astype(np.float32)
                score += signal.fftconvolve(near - near.mean(), points, mode="same")
                spread += float(points.sum()) * float(near.var())
            score /= np.sqrt(spread)
            found.append(_best(score, _resized(shape, height).shape, count))
    return _sorted(found)


def hough_boxes(edges: Edges, shapes: Sequence[BoolArray], count: int) -> NDArray[np.float64]:
    """Return boxes (y0, x0, y1, x1, score) by Ballard's generalised Hough transform, as OpenCV has it.

    The score is the number of votes for a place over the square root of the outline's points: by their share alone, the
    smallest outlines would always win.
    """
    cv2: Any = import_module("cv2")
    found = []
    image = _as_gradients(edges)
    for shape in shapes:
        for height in heights_for(edges.shape, shape.shape[0] / shape.shape[1]):
            outline = _outline_edges(shape, height)
            points, (h, w) = max(1, int(np.count_nonzero(outline.mask))), _resized(shape, height).shape
            transform = cv2.createGeneralizedHoughBallard()
            transform.setLevels(HOUGH_LEVELS)
            transform.setDp(2)
            transform.setMinDist(max(4, height / 4))
            transform.setVotesThreshold(max(1, int(0.05 * points)))
            transform.setTemplate(*_as_gradients(outline))
            places, votes = transform.detect(*image)
            if places is None:
                continue
            x, y = places[0, :, 0], places[0, :, 1]
            score = votes[0, :, 0] / np.sqrt(points)
            rows = np.stack([y - h / 2, x - w / 2, y + h / 2, x + w / 2, score], axis=1)
            found.append(rows[np.argsort(-score, kind="stable")[:count]])
    return _sorted(found)


def _outline_edges(shape: BoolArray, height: float) -> Edges:
    """Return the edges of a mask at another height, with a rim of three pixels."""
    mask = np.pad(_resized(shape, height), 3).astype(np.float32)
    return detect_edges(mask, sigma=1.0, low=0.02, high=0.05)


def _bins(edges: Edges, bins: int) -> NDArray[np.int64]:
    """Return the bin of each edge pixel's direction without its sign, -1 where there is none."""
    angle = np.mod(np.arctan2(edges.fy, edges.fx), np.pi)
    return np.where(edges.mask, np.minimum((angle / np.pi * bins).astype(np.int64), bins - 1), -1)


def _distances(edges: Edges, bins: int) -> list[FloatArray]:
    """Return for each bin the distance to the next edge whose bin is the same or a neighbour."""
    from scipy import ndimage

    own = _bins(edges, bins)
    found = []
    for k in range(bins):
        alike = np.isin(own, [(k + step) % bins for step in (-1, 0, 1)]) if bins > 1 else own >= 0
        found.append(ndimage.distance_transform_edt(~alike) if alike.any() else np.full(edges.shape, np.inf))
    return found


def _resized(shape: BoolArray, height: float) -> BoolArray:
    size = max(3, round(height * shape.shape[1] / shape.shape[0])), max(3, round(height))
    shares = PillowImage.fromarray(shape.astype(np.float32)).resize(size, PillowImage.Resampling.BOX)
    mask: BoolArray = np.asarray(shares) >= 0.5
    return mask


def _as_gradients(edges: Edges) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.float32]]:
    """Return edges as OpenCV takes them: a map, and the gradient across; its sign does not count, so it points down."""
    dx, dy = -edges.fy, edges.fx
    turn = np.where((dy < 0) | ((dy == 0) & (dx < 0)), np.float32(-1), np.float32(1))
    mask = edges.mask.astype(np.uint8) * 255
    return mask, np.ascontiguousarray(100 * turn * dx), np.ascontiguousarray(100 * turn * dy)


def _best(score: FloatArray, shape: tuple[int, int], count: int) -> FloatArray:
    """Return boxes around the highest local maxima of a map."""
    from scipy import ndimage

    y, x = np.nonzero(score == ndimage.maximum_filter(score, 5, mode="nearest"))
    best = np.argsort(-score[y, x], kind="stable")[:count]
    y, x = y[best], x[best]
    h, w = shape
    return np.stack([y - h / 2, x - w / 2, y + h / 2, x + w / 2, score[y, x]], axis=1)


def _sorted(found: list[FloatArray]) -> NDArray[np.float64]:
    rows = np.concatenate(found) if found else np.zeros((0, 5))
    return np.asarray(rows[np.argsort(-rows[:, 4], kind="stable")], np.float64)
