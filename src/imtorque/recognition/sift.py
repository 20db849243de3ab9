"""Dense SIFT: histograms of gradient directions over the patches of a grid (Lowe 2004; Lazebnik et al. 2006)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from imtorque import _native
from imtorque.core.types import Float32Array, Image
from imtorque.recognition.local import Descriptors, unit_rows
from imtorque.recognition.working_image import WORKING_SIDE, WorkingImage, working_image, working_images

MAX_DIRECTION_SHARE = 0.2  # largest share of one direction in one cell (Lowe); convention


@dataclass(eq=False, repr=False)
class DenseSIFT(TransformerMixin, BaseEstimator):
    """Describe the patches of a grid by 4 x 4 cells of 8 directions of gradient, 128 numbers.

    Parameters
    ----------
    sizes
        Sides of the patches in pixels, multiples of 4.
    step
        Distance between patches, in pixels.
    sigma
        Smoothing before the gradient is taken, in pixels.
    least
        Patches whose histogram is shorter than this, in grey values of gradient per pixel, are left out as flat.
    longest
        Images are reduced to this many pixels on their longer side.
    """

    sizes: Sequence[int] = (16, 24, 32)
    step: int = 8
    sigma: float = 1.0
    least: float = 0.04
    longest: int = WORKING_SIDE

    def fit(self, images: Any = None, y: Any = None) -> Self:  # noqa: ARG002
        """Do nothing: there is nothing to learn."""
        return self

    def transform(self, images: Iterable[Image | WorkingImage]) -> list[Descriptors]:
        """Return the descriptors of every image."""
        return [self.describe(image) for image in working_images(images, self.longest)]

    def describe(self, image: Image | WorkingImage) -> Descriptors:
        """Return the descriptors of one image. Patches larger than it are left out, and flat ones."""
        if not self.sizes or any(size < 4 or size % 4 for size in self.sizes):
            raise ValueError(f"sizes must be multiples of 4, got {list(self.sizes)}")
        if self.step < 1:
            raise ValueError(f"step must be at least 1, got {self.step}")
        if not (math.isfinite(self.sigma) and 0 < self.sigma <= 1000):
            raise ValueError(f"sigma must be positive and at most 1000, got {self.sigma}")
        grey = working_image(image, self.longest).grey
        gx, gy = _native.smoothed_gradient(np.ascontiguousarray(grey), self.sigma)
        fitting = [size for size in self.sizes if size <= min(grey.shape)]
        if not fitting:
            raise ValueError(f"image must hold a patch of {min(self.sizes)} pixels, got {grey.shape}")
        parts = [self._of_size(gx, gy, size) for size in fitting]
        vectors, y, x = (np.concatenate(part) for part in zip(*parts, strict=True))
        return Descriptors(vectors, y, x, (grey.shape[0], grey.shape[1]))

    def __sklearn_is_fitted__(self) -> bool:
        """Return True: there is nothing to fit."""
        return True

    def _of_size(
        self, gx: Float32Array, gy: Float32Array, size: int
    ) -> tuple[Float32Array, NDArray[np.float64], NDArray[np.float64]]:
        top, left = (grid_starts(n, size, self.step) for n in gx.shape)
        raw = _native.direction_histograms(gx, gy, size, top, left)
        cell = size // 4
        vectors, kept = unit_rows(raw, self.least * cell * cell)
        vectors, _ = unit_rows(np.minimum(vectors, np.float32(MAX_DIRECTION_SHARE)), 0.0)
        y, x = (a.ravel()[kept] for a in np.meshgrid(top + size / 2, left + size / 2, indexing="ij"))
        return vectors, y, x


def grid_starts(length: int, size: int, step: int) -> NDArray[np.int32]:
    """Return where patches start along an axis, `step` apart and centred."""
    spare = (length - size) % step
    return np.arange(spare // 2, length - size + 1, step, dtype=np.int32)
