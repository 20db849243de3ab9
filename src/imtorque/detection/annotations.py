"""Annotations of a training image: boxes, points or label images, as outlines and sizes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque import _native
from imtorque.core.types import Float32Array, FloatArray
from imtorque.detection.proposals import ANGLES


@dataclass(frozen=True)
class Annotations:
    """Annotated objects of one image.

    Parameters
    ----------
    form
        "labels", "boxes" or "points".
    points
        Shape (n, 2): y, x of each object's middle.
    boxes
        Shape (n, 4): y0, x0, y1, x1, exclusive; empty with points.
    radii
        Shape (n, ANGLES): outlines around the points; of boxes, the ellipses in them; empty with points.
    ignored
        Shape (m, 4): boxes of what is to be neither learned nor avoided.
    negatives
        Shape (k, 2): y, x of what is no object, though it may look like one.
    """

    form: str
    points: FloatArray
    boxes: FloatArray
    radii: Float32Array
    ignored: FloatArray
    negatives: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))

    def __len__(self) -> int:
        """Return how many objects were annotated."""
        return len(self.points)

    def reduced(self, factor: int) -> Annotations:
        """Return the annotations on the image whose blocks of factor x factor pixels became one."""
        shift = (factor - 1) / 2
        points = (self.points - shift) / factor
        radii = (self.radii / factor).astype(np.float32)
        negatives = (self.negatives - shift) / factor
        return Annotations(self.form, points, self.boxes / factor, radii, self.ignored / factor, negatives)

    @property
    def diameters(self) -> FloatArray:
        """The objects' diameters: those of discs of the outlines' areas; none with points."""
        corner = np.sin(2 * np.pi / ANGLES) / 2
        areas = corner * (self.radii * np.roll(self.radii, 1, axis=1)).sum(axis=1)
        diameters: FloatArray = 2 * np.sqrt(areas / np.pi)
        return diameters


def read_annotations(
    objects: ArrayLike, shape: tuple[int, int], ignored: ArrayLike = (), negatives: ArrayLike = ()
) -> Annotations:
    """Return annotations from what `ObjectFinder.fit` takes for one image of this shape."""
    places = np.asarray(negatives, dtype=np.float64)
    if places.size and (places.ndim != 2 or places.shape[1] != 2):
        raise ValueError(f"negatives must be points (n, 2), got {places.shape}")
    places = places.reshape(-1, 2)
    annotations = replace(_read_objects(objects, shape, ignored), negatives=places)
    _check_inside(np.concatenate([annotations.points, places]), shape)
    return annotations


def _check_inside(points: FloatArray, shape: tuple[int, int]) -> None:
    """Refuse annotations beside the image, as of exchanged columns; of a box its middle counts."""
    outside = ~((points >= -0.5) & (points <= np.array(shape) - 0.5)).all(axis=1)
    if outside.any():
        y, x = points[outside.argmax()]
        raise ValueError(
            f"annotations must lie in the image, {shape[0]} rows by {shape[1]} columns, got y={y:g}, x={x:g}"
        )


def _read_objects(objects: ArrayLike, shape: tuple[int, int], ignored: ArrayLike) -> Annotations:
    array = np.asarray(objects)
    aside = np.asarray(ignored, dtype=np.float64).reshape(-1, 4)
    if array.shape == tuple(shape) and array.dtype.kind in "iub":
        return _from_labels(_renumbered(array), aside)
    if array.size == 0:
        return Annotations("boxes", np.zeros((0, 2)), np.zeros((0, 4)), np.zeros((0, ANGLES), np.float32), aside)
    if array.ndim == 2 and array.shape[1] == 4:
        return _from_boxes(array.astype(np.float64), aside)
    if array.ndim == 2 and array.shape[1] == 2:
        points = array.astype(np.float64)
        return Annotations("points", points, np.zeros((0, 4)), np.zeros((0, ANGLES), np.float32), aside)
    raise ValueError(
        f"objects must be boxes (n, 4), points (n, 2) or a label image of shape {tuple(shape)}, got {array.shape} "
        f"of {array.dtype}"
    )


def _renumbered(labels: NDArray[np.integer]) -> NDArray[np.int32]:
    """Return labels from 1 on in the order of the given ones, which are integers of any size; those below 1 are 0."""
    zero = labels.dtype.type(0)
    kept = np.concatenate([[zero], np.where(labels > 0, labels, zero).ravel()])  # so that 0 comes first and stays 0
    _, numbers = np.unique(kept, return_inverse=True)
    return numbers[1:].reshape(labels.shape).astype(np.int32)


def _from_labels(labels: NDArray[np.int32], ignored: FloatArray) -> Annotations:
    from scipy import ndimage

    places = ndimage.find_objects(labels)
    numbers = np.arange(1, len(places) + 1)
    boxes = np.array([[s.start for s in place] + [s.stop for s in place] for place in places]).reshape(-1, 4)
    centres = np.array(ndimage.center_of_mass(labels > 0, labels, numbers)).reshape(-1, 2)
    y, x = np.ascontiguousarray(centres.T, np.float32)
    reach = np.hypot(*(boxes[:, 2:] - boxes[:, :2]).T).astype(np.float32)
    radii = _native.label_outlines(labels, numbers.astype(np.int32), y, x, ANGLES, reach)
    return Annotations("labels", centres, boxes.astype(np.float64), radii, ignored)


def _from_boxes(boxes: FloatArray, ignored: FloatArray) -> Annotations:
    middle, half = (boxes[:, :2] + boxes[:, 2:] - 1) / 2, (boxes[:, 2:] - boxes[:, :2]) / 2
    if not (half > 0).all():
        box = boxes[(~(half > 0)).any(axis=1).argmax()]
        raise ValueError(f"boxes must have y0 < y1 and x0 < x1, got {', '.join(f'{side:g}' for side in box)}")
    angles = 2 * np.pi * np.arange(ANGLES) / ANGLES
    radii = 1 / np.hypot(np.sin(angles) / half[:, :1], np.cos(angles) / half[:, 1:])
    return Annotations("boxes", middle, boxes, radii.astype(np.float32), ignored)
