"""What is known of places in an image: patches with their edges, descriptors, codes. One structure each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from imtorque._types import Edges, Float32Array, FloatArray, Image, IntArray
from imtorque.images import Picture, fitted

LONGEST_SIDE = 300  # to which larger pictures are reduced before they are described
SMALLEST_SIDE = 16  # of a picture that holds a patch worth describing


@dataclass(frozen=True, eq=False)
class Patches:
    """Square patches of an image, and the edges they lie in.

    Parameters
    ----------
    edges
        The image's edge vectors, in which the patches were found.
    y, x, size
        Centres and odd side lengths in pixels, (n,) each.
    described
        The fields of edge vectors to describe the patches by, one after the other; `edges` alone by default.
    """

    edges: Edges
    y: IntArray
    x: IntArray
    size: IntArray
    described: tuple[Edges, ...] = ()

    def __post_init__(self) -> None:
        """Describe the edges the patches were found in, where nothing else is asked for."""
        if not self.described:
            object.__setattr__(self, "described", (self.edges,))

    def __len__(self) -> int:
        """How many there are."""
        return len(self.y)


@dataclass(frozen=True, eq=False)
class Descriptors:
    """Descriptors of an image's patches, and where the patches lie.

    Parameters
    ----------
    vectors
        A row for each patch, (n, d) float32.
    y, x
        Centres in pixels, (n,).
    shape
        Height and width of the image.
    """

    vectors: Float32Array
    y: FloatArray
    x: FloatArray
    shape: tuple[int, int]

    def __len__(self) -> int:
        """How many there are."""
        return len(self.vectors)


@dataclass(frozen=True, eq=False)
class Codes:
    """Descriptors in terms of a codebook: descriptor i is about the sum of weight[i, j] times word index[i, j].

    Parameters
    ----------
    index, weight
        Words and their weights, (n, k).
    words
        Number of words in the codebook.
    y, x, shape
        As in `Descriptors`.
    """

    index: NDArray[np.int32]
    weight: Float32Array
    words: int
    y: FloatArray
    x: FloatArray
    shape: tuple[int, int]

    def __len__(self) -> int:
        """How many there are."""
        return len(self.index)


def reduced_grey(image: Image, longest: int = LONGEST_SIDE) -> Float32Array:
    """Return a picture as grey in [0, 1] with no side longer than `longest`; each pixel the mean of those it covers."""
    return reduced(Picture(image).grey(), longest)


def opponent_colours(image: Image, longest: int = LONGEST_SIDE) -> tuple[Float32Array, Float32Array]:
    """Return red minus green and yellow minus blue of a picture, reduced as `reduced_grey`; zeros where it is grey."""
    picture = Picture(image)
    if picture.is_grey:
        nothing = np.zeros_like(reduced_grey(image, longest))
        return nothing, nothing
    red, green, blue = picture.rgb().astype(np.float32)
    return (
        reduced(np.ascontiguousarray((red - green) / np.float32(sqrt(2)), dtype=np.float32), longest),
        reduced(np.ascontiguousarray((red + green - 2 * blue) / np.float32(sqrt(6)), dtype=np.float32), longest),
    )


def reduced(grey: Float32Array, longest: int) -> Float32Array:
    """Return a plane with no side longer than `longest`."""
    height, width = grey.shape
    if min(height, width) < SMALLEST_SIDE:
        raise ValueError(
            f"image must be at least {SMALLEST_SIDE} x {SMALLEST_SIDE} pixels to hold a patch, got {height} x {width}"
        )
    return fitted(grey, longest, SMALLEST_SIDE)


def unit_rows(vectors: Float32Array, least: float) -> tuple[Float32Array, NDArray[np.bool_]]:
    """Return the rows at least `least` long, scaled to length 1, and which they are."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    kept = lengths >= least
    rows: Float32Array = vectors[kept] / lengths[kept, None]
    return rows, kept


def require_images(images: Iterable[Image]) -> list[Image]:
    """Return a list of images; one image alone is an error that is easily made."""
    if isinstance(images, np.ndarray) and images.ndim < 4 and images.dtype != object:
        raise ValueError(f"images must be a list of arrays, got one array of shape {images.shape}")
    return list(images)
