"""Input of region segmentation: colours and edges of an image at a working size."""

import math
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from imtorque.boundaries.strength import boundary_strength
from imtorque.core.resizing import shrunk
from imtorque.core.types import FloatArray, Image, Planes
from imtorque.edges import RECIPES
from imtorque.images import CheckedImage, lab

Label = TypeVar("Label", bound=np.integer[Any])

FINE_AREA = 481 * 321  # pixels to which larger images are shrunk: boundary sizes and scales were chosen for these
RECIPE = RECIPES["canny"]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Input at the working size: L, a, b planes and the strength of edges in [0, 1]."""

    lab: Planes
    strength: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.strength.shape[0], self.strength.shape[1]


def shrinking(shape: tuple[int, ...]) -> int:
    """Return the shrinking factor: twice the one to about 481 x 321 pixels; 1 for small images."""
    fine = _fine_factor(shape)
    return fine * (2 if shape[0] * shape[1] > fine**2 * FINE_AREA / 2 else 1)


def _fine_factor(shape: tuple[int, ...]) -> int:
    return max(1, round(math.sqrt(shape[0] * shape[1] / FINE_AREA)))


def gather_evidence(image: Image | CheckedImage, *, torque: bool = True) -> Evidence:
    """Compute colours and edges at the working size; without torque, edges have the gradient's strength."""
    checked = CheckedImage(image)
    fine_factor = _fine_factor(checked.shape)
    fine = checked.block_means(fine_factor)
    edges = RECIPE.edges(CheckedImage(np.moveaxis(fine, 0, 2), (0.0, 1.0)))
    strength = boundary_strength(edges, RECIPE) if torque else np.minimum(edges.strength, 1.0)
    further = shrinking(checked.shape) // fine_factor
    return Evidence(lab(shrunk(fine, further)), shrunk(strength.astype(np.float64), further, np.max))


def enlarged(labels: NDArray[Label], factor: int, shape: tuple[int, ...]) -> NDArray[Label]:
    """Return labels enlarged by a whole factor to the shape they were shrunk from."""
    return labels.repeat(factor, axis=0).repeat(factor, axis=1)[: shape[0], : shape[1]]
