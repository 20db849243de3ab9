"""Learning the numbers of pb, mPb and gPb from Berkeley's training images.

Weights climb the benchmark's own F on the training images, one weight at a time, from those of a logistic regression or
given ones; then scale and intercept are set so that strengths are probabilities.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from imtorque import datasets, evaluation
from imtorque.boundaries.strength import boundary_shares, fit_logistic
from imtorque.core.types import BoolArray, Float32Array, FloatArray
from imtorque.edges.cues import Cue, each_cue
from imtorque.edges.oriented import OrientedMap, probabilities
from imtorque.edges.ultrametric import LOGIT_OFFSET, evidence_above_least, ultrametric_contours
from imtorque.images import CheckedImage

TOLERANCE = 3.0  # pixels within which a boundary counts as drawn; convention
# By which weights are changed, in the first round and in the second; untuned.
WEIGHT_FACTORS = ((1.5, 1 / 1.5), (1.25, 0.8))
LEAST_WEIGHT = 0.15  # below it a weight is set to FIRST_WEIGHT or 0 instead; untuned
FIRST_WEIGHT = 0.6  # of a cue that had none; untuned
LEAST_GAIN = 1e-4  # of F; bound: time
SPAN, THRESHOLDS_TRIED = 0.9, 6  # reach on both sides of the last best threshold, and how many are tried there; untuned
MAXIMA_STEP = 2  # every so many-th maximum is learned from; bound: memory


@dataclass(frozen=True)
class Example:
    """One training image: its features (n, 8, H, W), and what people drew."""

    features: Float32Array
    truths: list[BoolArray]

    def total(self, weights: FloatArray) -> Float32Array:
        """Return the weighted sum of its features, (8, H, W)."""
        summed: Float32Array = np.tensordot(np.asarray(weights, np.float32), self.features, axes=1)
        return summed

    def maxima(self, weights: FloatArray) -> tuple[Float32Array, BoolArray, FloatArray]:
        """Return the weighted sum of its strongest orientation, where it is largest, and the features there (m, n)."""
        total = self.total(weights)
        low, high = float(total.min()), float(total.max())
        scaled = OrientedMap((total - low) / max(high - low, 1e-12) * np.float32(0.999) + np.float32(0.001))
        at = scaled.thinned() > 0
        y, x = np.nonzero(at)
        strongest = total.argmax(axis=0)[y, x]
        return total.max(axis=0), at, self.features[:, strongest, y, x].T.astype(np.float64)

    def contours(self, weights: FloatArray, level: float) -> tuple[Float32Array, BoolArray]:
        """Return how strong its closed contours are, on the scale of the weighted sum, and where they are.

        Likelihoods are one half at `level`.
        """
        likely = ultrametric_contours(probabilities(self.total(weights) - np.float32(level))).contour_map()
        return evidence_above_least(likely) - LOGIT_OFFSET + np.float32(level), likely > 0


def cue_example(record: datasets.BerkeleyImage, cues: Sequence[Cue]) -> Example:
    """Return an image's local cues."""
    truths = [annotation.boundaries for annotation in record.annotations()]
    return Example(each_cue(CheckedImage(record.image()), cues), truths)


def learn(
    examples: Sequence[Example], start: FloatArray | None = None, jobs: int = 1, *, closed: bool = False
) -> FloatArray:
    """Return intercept and weights, (1 + n,).

    With `closed`, the F of closed contours counts as much as that of maxima.
    """
    with ThreadPoolExecutor(jobs) as pool:
        if start is None:
            count = len(examples[0].features)
            start = np.maximum(_logistic(examples, np.ones(count), any_drawn=True, pool=pool)[1:], 0)
        weights = _climb(examples, start, pool, closed)
        intercept, scale = _calibration(examples, weights, pool)
    return np.concatenate([[intercept], scale * weights])


def _samples(example: Example, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    _, at, features = example.maxima(weights)
    shares = boundary_shares(example.truths, at.shape, TOLERANCE)[at]
    return features[::MAXIMA_STEP], shares[::MAXIMA_STEP]


def _logistic(
    examples: Sequence[Example], weights: FloatArray, any_drawn: bool, pool: ThreadPoolExecutor
) -> FloatArray:
    """Return the regression's c0, c1, ... on the maxima that these weights give."""
    parts = list(pool.map(lambda example: _samples(example, weights), examples))
    features, shares = (np.concatenate(part) for part in zip(*parts, strict=True))
    return fit_logistic(features, (shares > 0).astype(float) if any_drawn else shares)


def _calibration(examples: Sequence[Example], weights: FloatArray, pool: ThreadPoolExecutor) -> FloatArray:
    """Return the intercept and scale that make the weighted sum the logit of a drawn boundary."""
    parts = list(pool.map(lambda example: _samples(example, weights), examples))
    features, shares = (np.concatenate(part) for part in zip(*parts, strict=True))
    return fit_logistic((features @ weights)[:, None], shares)


def _climb(examples: Sequence[Example], start: FloatArray, pool: ThreadPoolExecutor, closed: bool) -> FloatArray:
    """Change one weight at a time, for as long as F rises."""
    weights = np.array(start, float)
    peak = max(float(example.maxima(weights)[0].max()) for example in examples)
    best, level = _f(examples, weights, np.linspace(0.1 * peak, 0.9 * peak, 3 * THRESHOLDS_TRIED), pool, closed)
    for factors in WEIGHT_FACTORS:
        for i in np.argsort(-weights):
            for factor in factors:
                tried = weights.copy()
                tried[i] = tried[i] * factor if tried[i] > LEAST_WEIGHT else FIRST_WEIGHT * (factor > 1)
                if tried[i] == weights[i]:
                    continue
                middle = level * 0.5 * (1 + tried.sum() / weights.sum())
                f, at = _f(examples, tried, middle + np.linspace(-SPAN, SPAN, THRESHOLDS_TRIED), pool, closed)
                if f > best + LEAST_GAIN:
                    best, level, weights = f, at, tried
                    break
    return weights


def _f(
    examples: Sequence[Example], weights: FloatArray, levels: FloatArray, pool: ThreadPoolExecutor, closed: bool
) -> tuple[float, float]:
    """Return the best F of any level of the weighted sum, and that level.

    With `closed`, the mean of that and of the best F of closed contours.
    """
    low, width = levels[0] - 1, levels[-1] - levels[0] + 2
    thresholds = list((levels - low) / width)

    def judge(total: Float32Array, at: BoolArray, truths: list[BoolArray]) -> evaluation.BoundaryScores:
        strength = np.where(at, np.clip((total - low) / width, 0, 1), 0)
        return evaluation.boundary_scores(strength, truths, thresholds=thresholds, matching="cardinality")

    def score(example: Example) -> list[evaluation.BoundaryScores]:
        found = [judge(*example.maxima(weights)[:2], example.truths)]
        if closed:
            found.append(judge(*example.contours(weights, float(levels.mean())), example.truths))
        return found

    scores = zip(*pool.map(score, examples), strict=True)
    best = [evaluation.summarise_boundaries(form).ods for form in scores]
    return float(np.mean([point.f for point in best])), float(low + width * best[0].threshold)
