"""Local features of an image: patches with their edges, descriptors, codes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import Edges, Float32Array, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Patches:
    """Patches of an image, and the edges they lie in.

    Parameters
    ----------
    edges
        The image's edge vectors, in which the patches were found.
    y, x, size
        Centres and odd side lengths in pixels, (n,) each; of rectangles, heights and widths, (n, 2).
    described
        The fields of edge vectors to describe the patches by, one after the other; `edges` alone by default.
    """

    edges: Edges
    y: IntArray
    x: IntArray
    size: IntArray
    described: tuple[Edges, ...] = ()

    def __post_init__(self) -> None:
        """Describe the edges that the patches were found in, by default."""
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


def unit_rows(vectors: Float32Array, least: float) -> tuple[Float32Array, NDArray[np.bool_]]:
    """Return the rows at least `least` long, scaled to length 1, and which they are."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    kept = lengths >= least
    rows: Float32Array = vectors[kept] / lengths[kept, None]
    return rows, kept
