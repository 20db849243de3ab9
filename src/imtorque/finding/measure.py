"""From contours to the table: shape, grey values and label image of each thing."""

from __future__ import annotations

import numpy as np

from imtorque._types import Edges, FloatArray, Image
from imtorque.finding.contours import Contours
from imtorque.finding.shapes import polygon_moments
from imtorque.finding.suppress import label_image
from imtorque.finding.table import Blobs
from imtorque.images import FULL_RANGE, grey_image


def measured(contours: Contours, image: Image | Edges, shape: tuple[int, int]) -> Blobs:
    """Measure the things that contours outline.

    Parameters
    ----------
    contours
        Their outlines.
    image
        The picture they were found in, or its edges.
    shape
        Of the picture.
    """
    contours = contours[np.argsort(-contours.closure, kind="stable")]
    shapes = polygon_moments(contours.y, contours.x)
    labels = label_image(contours, shape)
    scale, intensity = _grey_values(image, labels, len(contours))
    boxes = [np.floor(contours.y.min(axis=1) + 0.5), np.floor(contours.x.min(axis=1) + 0.5)]
    boxes += [np.floor(contours.y.max(axis=1) + 0.5) + 1, np.floor(contours.x.max(axis=1) + 0.5) + 1]
    limits = (shape[0] - 1, shape[1] - 1, *shape)
    ratio = np.minimum(shapes.short / np.maximum(shapes.long, 1e-9), 1)
    return Blobs(
        shapes.y,
        shapes.x,
        2 * np.rint((contours.size - 1) / 2).astype(np.int64) + 1,
        contours.sign * contours.closure,
        np.sqrt(shapes.area * (4 / np.pi)),
        shapes.area,
        2 * shapes.long,
        2 * shapes.short,
        np.sqrt(1 - ratio**2),
        shapes.turn,
        contours.contrast * scale,
        np.abs(contours.contrast) / contours.noise,
        intensity,
        *(np.clip(side.astype(np.int64), 0, limit) for side, limit in zip(boxes, limits, strict=True)),
        np.stack([contours.y, contours.x], axis=2),
        labels,
    )


def _grey_values(image: Image | Edges, labels: FloatArray, count: int) -> tuple[float, FloatArray]:
    """Return how many of the picture's own values make 1, and the mean own value under each label."""
    if isinstance(image, Edges):
        return np.nan, np.full(count, np.nan)
    grey, unit = grey_image(image)
    kind = np.asarray(image).dtype
    scale = FULL_RANGE.get(kind, unit)
    offset = float(np.min(image)) if kind.kind == "f" else 0.0
    pixels = np.bincount(labels.ravel(), minlength=count + 1)[1:]
    sums = np.bincount(labels.ravel(), grey.ravel(), minlength=count + 1)[1:]
    mean = np.where(pixels > 0, sums / np.maximum(pixels, 1), np.nan)
    return scale, mean * scale + offset
