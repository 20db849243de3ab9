"""Images at the size at which they are described. The only place in recognition that makes grey or colours."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from imtorque.core.caching import cached_property
from imtorque.core.resizing import fitted
from imtorque.core.types import Float32Array, Image
from imtorque.images import CheckedImage

WORKING_SIDE = 300  # to which larger images are reduced before they are described; convention of LLC
MIN_SIDE = 16  # of an image that holds a patch worth describing; bound: of a patch


@dataclass(frozen=True, eq=False)
class WorkingImage:
    """An image with no side longer than `longest`; what is asked for is made once, and kept.

    Parameters
    ----------
    image
        Grey or colour, of any size from 16 x 16 pixels on.
    longest
        Pixels of the longer side, to which larger images are reduced; each pixel is the mean of those it covers.
    """

    image: Image
    longest: int = WORKING_SIDE

    @cached_property
    def grey(self) -> Float32Array:
        """Luminance in [0, 1], (h, w)."""
        return _reduced(CheckedImage(self.image).grey(), self.longest)

    @cached_property
    def contrasts(self) -> tuple[Float32Array, Float32Array]:
        """Red minus green and yellow minus blue, (h, w) each; zeros where the image is grey."""
        image = CheckedImage(self.image)
        if image.is_grey:
            nothing = np.zeros_like(self.grey)
            return nothing, nothing
        red, green, blue = image.rgb().astype(np.float32)
        return (
            _reduced((red - green) / np.float32(sqrt(2)), self.longest),
            _reduced((red + green - 2 * blue) / np.float32(sqrt(6)), self.longest),
        )


@dataclass(eq=False, repr=False)
class WorkingImages(TransformerMixin, BaseEstimator):
    """Reduce images once for all the steps that follow: first step of a pipeline whose blocks share them.

    Parameters
    ----------
    longest
        Images are reduced to this many pixels on their longer side.
    """

    longest: int = WORKING_SIDE

    def fit(self, images: Any = None, y: Any = None) -> Self:  # noqa: ARG002
        """Do nothing: there is nothing to learn."""
        return self

    def transform(self, images: Iterable[Image | WorkingImage]) -> list[WorkingImage]:
        """Return every image at its working size."""
        return working_images(images, self.longest)

    def __sklearn_is_fitted__(self) -> bool:
        """Return True: there is nothing to fit."""
        return True


def working_image(image: Image | WorkingImage, longest: int = WORKING_SIDE) -> WorkingImage:
    """Return an image at its working size; one that has it already is returned as it is."""
    if not isinstance(image, WorkingImage):
        return WorkingImage(image, longest)
    return image if image.longest == longest else WorkingImage(image.image, longest)


def working_images(images: Iterable[Image | WorkingImage], longest: int = WORKING_SIDE) -> list[WorkingImage]:
    """Return images at their working size; refuse a single image."""
    if isinstance(images, np.ndarray) and images.ndim < 4 and images.dtype != object:
        raise ValueError(f"images must be a list of arrays, got one array of shape {images.shape}")
    return [working_image(image, longest) for image in images]


def _reduced(plane: Float32Array, longest: int) -> Float32Array:
    height, width = plane.shape
    if min(height, width) < MIN_SIDE:
        raise ValueError(
            f"image must be at least {MIN_SIDE} x {MIN_SIDE} pixels to hold a patch, got {height} x {width}"
        )
    return fitted(plane, longest, MIN_SIDE)
