"""What regions are found from: colours and edges of a picture at a working size."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imtorque._types import FloatArray, Image
from imtorque.boundaries import strengthen_edges
from imtorque.contribution import LOWEST_GRADIENT, dense_contribution
from imtorque.edges import SQRT2, detect_edges
from imtorque.images import Planes, lab, rgb_image

FINE_AREA = 481 * 321  # pixels to which larger pictures are shrunk: boundary sizes and scales were chosen for these
STRENGTH_SCALE = 0.13  # of edge strengths, for pictures of that size


@dataclass(frozen=True, eq=False)
class Evidence:
    """What regions are found from, at the working size: L, a, b planes and the strength of edges in [0, 1]."""

    lab: Planes
    strength: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.strength.shape[0], self.strength.shape[1]


def shrinking(shape: tuple[int, ...]) -> int:
    """Return by how much a picture is shrunk: twice what brings it to about 481 x 321 pixels; not if it is small."""
    fine = _fine_factor(shape)
    return fine * (2 if shape[0] * shape[1] > fine**2 * FINE_AREA / 2 else 1)


def _fine_factor(shape: tuple[int, ...]) -> int:
    return max(1, round(math.sqrt(shape[0] * shape[1] / FINE_AREA)))


def gather_evidence(image: Image, *, torque: bool = True) -> Evidence:
    """Return colours and edges of a picture at the working size; without torque, edges as the gradient has them."""
    planes = rgb_image(image)
    fine_factor = _fine_factor(planes.shape[1:])
    fine = shrunk(planes, fine_factor, np.mean)
    edges = detect_edges(
        np.moveaxis(fine, 0, 2),
        sigma=SQRT2,
        low=LOWEST_GRADIENT,
        high=LOWEST_GRADIENT,
        force="strength",
        strength_scale=STRENGTH_SCALE,
    )
    strength = np.minimum(edges.strength, 1.0).astype(np.float64)
    if torque and strength.any():
        strength = strengthen_edges(strength, dense_contribution(edges)).astype(np.float64)
    further = shrinking(planes.shape[1:]) // fine_factor
    return Evidence(lab(shrunk(fine, further, np.mean)), shrunk(strength, further, np.max))


def shrunk(planes: Planes, factor: int, pool: Callable[..., Planes]) -> Planes:
    """Return planes (..., H, W) shrunk by a whole factor: the mean or the largest of each square."""
    if factor == 1:
        return planes
    height, width = planes.shape[-2:]
    room = [(0, 0)] * (planes.ndim - 2) + [(0, -height % factor), (0, -width % factor)]
    padded = np.pad(planes, room, mode="edge")
    height, width = padded.shape[-2] // factor, padded.shape[-1] // factor
    return pool(padded.reshape(*planes.shape[:-2], height, factor, width, factor), axis=(-3, -1))


def enlarged(labels: NDArray[np.int64], factor: int, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return labels enlarged by a whole factor to the shape they were shrunk from."""
    return labels.repeat(factor, axis=0).repeat(factor, axis=1)[: shape[0], : shape[1]]
