"""From descriptors to one vector an image: codebook, locality-constrained linear coding, spatial pyramid."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from imtorque import _native
from imtorque.core.types import Float32Array, FloatArray
from imtorque.recognition.local import Codes, Descriptors

MAX_NEIGHBOURS = 32  # bound: kMostNeighbours of native/recognition/nearest_words.hpp


@dataclass(eq=False, repr=False)
class Codebook(ClusterMixin, BaseEstimator):
    """Learn typical descriptors, the words, by k-means.

    Parameters
    ----------
    words
        How many.
    samples
        Descriptors to learn from, drawn evenly from the images.
    iterations
        Of k-means, at most.
    seed
        Of the draw and of the first words.

    Attributes
    ----------
    words_
        The words, (words, d) float32.
    labels_
        The word nearest to each descriptor learned from, (samples,).

    Examples
    --------
    >>> points = np.repeat([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]], 5, axis=0)
    >>> sorted(map(tuple, Codebook(3).fit(points).words_.tolist()))
    [(0.0, 0.0), (0.0, 4.0), (4.0, 0.0)]
    """

    words: int = 1024
    samples: int = 30_000
    iterations: int = 12
    seed: int = 0

    def fit(self, descriptors: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn the words from the descriptors of many images, or from an array (n, d)."""
        rng = np.random.default_rng(self.seed)
        if isinstance(descriptors, list) and descriptors and isinstance(descriptors[0], Descriptors):
            pooled = sample_descriptors(descriptors, self.samples, rng)
            self.n_features_in_ = pooled.shape[1]
        else:
            given = validate_data(self, descriptors, dtype=np.float64)
            pooled = np.ascontiguousarray(given, dtype=np.float32)
            if len(pooled) > self.samples:
                pooled = pooled[rng.choice(len(pooled), self.samples, replace=False)]
        if not 1 <= self.words <= len(pooled):
            raise ValueError(f"n_samples={len(pooled)} must be at least the number of words, got words={self.words}")
        self.words_, self.labels_ = _k_means(pooled, self.words, self.iterations, rng)
        return self

    def predict(self, descriptors: Any) -> NDArray[np.int32]:
        """Return the word nearest to each descriptor (n, d)."""
        check_is_fitted(self)
        given = validate_data(self, descriptors, dtype=np.float64, reset=False)
        return _native.sum_by_word(np.ascontiguousarray(given, dtype=np.float32), self.words_)[2]


@dataclass(eq=False, repr=False)
class LLCEncoder(TransformerMixin, BaseEstimator):
    """Write descriptors as sums of their nearest words: locality-constrained linear coding (Wang et al. 2010).

    With Z the nearest words minus the descriptor, the weights c minimise |c Z|^2 + beta trace(Z Z^T) |c|^2 among those
    that add up to 1.

    Parameters
    ----------
    codebook
        What to learn the words with; `Codebook()` by default.
    neighbours
        Words per descriptor.
    beta
        Share of the ridge that keeps the small systems well posed.

    Attributes
    ----------
    codebook_
        The codebook learned.
    """

    codebook: Codebook | None = None
    neighbours: int = 5
    beta: float = 1e-4

    def fit(self, descriptors: Sequence[Descriptors], y: Any = None) -> Self:  # noqa: ARG002
        """Learn the codebook from the descriptors of many images."""
        self.codebook_ = clone(self.codebook if self.codebook is not None else Codebook())
        self.codebook_.fit(list(descriptors))
        return self

    def transform(self, descriptors: Iterable[Descriptors]) -> list[Codes]:
        """Return the codes of every image's descriptors."""
        check_is_fitted(self)
        return [self.encode(one) for one in descriptors]

    def encode(self, descriptors: Descriptors) -> Codes:
        """Return the codes of one image's descriptors."""
        words = self.codebook_.words_
        if not 1 <= self.neighbours <= min(MAX_NEIGHBOURS, len(words)):
            most = min(MAX_NEIGHBOURS, len(words))
            raise ValueError(f"neighbours must be between 1 and {most} with {len(words)} words, got {self.neighbours}")
        if not self.beta > 0:
            raise ValueError(f"beta must be positive, got {self.beta}")
        vectors = np.ascontiguousarray(descriptors.vectors, dtype=np.float32)
        index, weight = _native.linear_codes(vectors, words, self.neighbours, self.beta)
        return Codes(index, weight, len(words), descriptors.y, descriptors.x, descriptors.shape)


@dataclass(eq=False, repr=False)
class SpatialPyramid(TransformerMixin, BaseEstimator):
    """Pool codes over ever smaller cells of the image, largest weight first, into one vector of length 1.

    Parameters
    ----------
    levels
        Cells per side: 1, 2 and 4 make 21 cells.
    """

    levels: Sequence[int] = (1, 2, 4)

    def fit(self, codes: Any = None, y: Any = None) -> Self:  # noqa: ARG002
        """Do nothing: there is nothing to learn."""
        return self

    def transform(self, codes: Iterable[Codes]) -> Float32Array:
        """Return one row for every image, (n, cells * words) float32."""
        rows = [self.pool(one) for one in codes]
        return np.stack(rows) if rows else np.zeros((0, 0), np.float32)

    def pool(self, codes: Codes) -> Float32Array:
        """Return the vector of one image; zeros where it has no codes."""
        if not self.levels or any(level < 1 for level in self.levels):
            raise ValueError(f"levels must be at least 1 each, got {list(self.levels)}")
        cells = pyramid_cells(codes.y, codes.x, codes.shape, self.levels)
        count = sum(level**2 for level in self.levels)
        pooled = _native.max_pool(codes.index, codes.weight, cells, codes.words, count).ravel()
        length = np.sqrt(np.dot(pooled, pooled))
        return pooled / length if length > 0 else pooled

    def __sklearn_is_fitted__(self) -> bool:
        """Return True: there is nothing to fit."""
        return True


def pyramid_cells(y: FloatArray, x: FloatArray, shape: tuple[int, int], levels: Sequence[int]) -> NDArray[np.int32]:
    """Return the cell of each point at every level, (n, levels), cells counted through the levels, row by row."""
    cells = np.empty((len(y), len(levels)), np.int32)
    first = 0
    for k, level in enumerate(levels):
        row, column = (
            np.clip(np.floor(np.asarray(at) * level / n), 0, level - 1) for at, n in zip((y, x), shape, strict=True)
        )
        cells[:, k] = first + row * level + column
        first += level**2
    return cells


def sample_descriptors(descriptors: Sequence[Descriptors], count: int, rng: np.random.Generator) -> Float32Array:
    """Draw about `count` descriptors, evenly from all images as far as they have enough."""
    share = -(-count // max(1, len(descriptors)))
    drawn = [
        one.vectors if len(one) <= share else one.vectors[np.sort(rng.choice(len(one), share, replace=False))]
        for one in descriptors
    ]
    return np.ascontiguousarray(np.concatenate(drawn), dtype=np.float32)


def _k_means(
    points: Float32Array, count: int, iterations: int, rng: np.random.Generator
) -> tuple[Float32Array, NDArray[np.int32]]:
    """Return centres and the nearest one of each point; an empty cluster restarts at a random point."""
    centres = points[rng.choice(len(points), count, replace=False)].copy()
    label = np.full(len(points), -1, np.int32)
    for _ in range(iterations):
        sums, counts, found = _native.sum_by_word(points, centres)
        if (found == label).all():
            break
        label = found
        empty = counts == 0
        centres = (sums / np.maximum(counts, 1)[:, None]).astype(np.float32)
        centres[empty] = points[rng.choice(len(points), int(empty.sum()), replace=False)]
    return centres, _native.sum_by_word(points, centres)[2]
