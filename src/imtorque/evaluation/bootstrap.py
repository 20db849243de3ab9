"""Is A better than B? Paired bootstrap intervals over images.

B. Efron, R. J. Tibshirani: An Introduction to the Bootstrap. Chapman & Hall, 1993, chapter 13 (percentile intervals).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque.evaluation.boundaries import BoundaryScores
from imtorque.evaluation.boundary_summary import boundary_counts, interpolate, precision_and_recall
from imtorque.evaluation.fixation_f import FixationScores
from imtorque.evaluation.strengths import Floats, f_measure

CHUNK_RESAMPLES = 50  # resamples at a time, which bounds memory; bound: memory


@dataclass(frozen=True)
class Difference:
    """A difference of two methods, and the interval that holds it with the confidence asked for."""

    value: float
    low: float
    high: float


def bootstrap_difference(
    a: ArrayLike,
    b: ArrayLike,
    *,
    statistic: Callable[[Floats], Floats] | None = None,
    samples: int = 2000,
    confidence: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> Difference:
    """Return the difference of two methods' scores on the same images, with its paired bootstrap interval.

    Images are drawn with replacement, the same for both methods; the interval is
    between the (1 - c)/2 and (1 + c)/2 quantiles of the difference, c = `confidence`.

    Parameters
    ----------
    a, b
        Scores of the two methods, (n,) one per image, or (n, ...) arrays per image.
    statistic
        From the mean over images, a batch (m, ...), to one number for each, (m,). By
        default the mean itself.
    samples
        How many times the images are drawn.
    confidence
        The share of differences within the interval.
    rng
        Seed or generator.

    Examples
    --------
    >>> round(bootstrap_difference([0.5, 0.7, 0.6], [0.4, 0.6, 0.5]).value, 6)
    0.1
    """
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if first.ndim == 0 or first.shape != second.shape or len(first) == 0:
        raise ValueError(f"a and b must hold the same images, got shapes {first.shape} and {second.shape}")
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("a and b must be finite, got NaN or infinity")
    if samples < 1 or not 0 < confidence < 1:
        raise ValueError(f"samples must be at least 1 and confidence within 0 and 1, got {samples} and {confidence}")
    of_mean = statistic or (lambda means: means)
    drawn = np.random.default_rng(rng).multinomial(len(first), np.full(len(first), 1 / len(first)), size=samples)
    chunks = [drawn[i : i + CHUNK_RESAMPLES] for i in range(0, samples, CHUNK_RESAMPLES)]
    differences = np.concatenate(
        [_statistics(first, part, of_mean) - _statistics(second, part, of_mean) for part in chunks]
    )
    once = np.ones((1, len(first)))
    value = _statistics(first, once, of_mean) - _statistics(second, once, of_mean)
    low, high = np.quantile(differences, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Difference(float(value[0]), float(low), float(high))


def bootstrap_ods_difference(
    a: Sequence[BoundaryScores],
    b: Sequence[BoundaryScores],
    *,
    samples: int = 2000,
    confidence: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> Difference:
    """Return the difference of two methods' ODS F, with its paired bootstrap interval.

    `a` and `b` are the scores of the same images in the same order. The best
    threshold is chosen anew in every resample, for each method.
    """
    return bootstrap_difference(
        boundary_counts(a), boundary_counts(b), statistic=_ods_f, samples=samples, confidence=confidence, rng=rng
    )


def bootstrap_f_difference(
    a: Sequence[FixationScores],
    b: Sequence[FixationScores],
    *,
    samples: int = 2000,
    confidence: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> Difference:
    """Return the difference of two saliency methods' F from averaged precision and recall, with its paired interval.

    `a` and `b` are the scores of the same images in the same order. The best
    threshold is chosen anew in every resample, for each method.
    """
    curves = [[(score.precision, score.recall) for score in scores] for scores in (a, b)]
    return bootstrap_difference(*curves, statistic=_averaged_f, samples=samples, confidence=confidence, rng=rng)


def _averaged_f(curves: Floats) -> Floats:
    best: Floats = f_measure(curves[:, 0], curves[:, 1]).max(axis=-1)
    return best


def _ods_f(counts: Floats) -> Floats:
    precision, recall = precision_and_recall(counts)
    best: Floats = f_measure(interpolate(precision), interpolate(recall)).max(axis=-1)
    return best


def _statistics(scores: Floats, drawn: NDArray[np.number], statistic: Callable[[Floats], Floats]) -> Floats:
    return statistic(np.tensordot(drawn / drawn.sum(axis=1, keepdims=True), scores, axes=1))
