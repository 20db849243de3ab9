"""Two-stage logistic scoring of contours: by features of the contour itself, then of its context.

The weights, `imtorque/io/weights/contour.json`, were learned by `python -m imtorque_reproduce.counting.weights` from
labelled microscopy and from drawn scenes; those for noisy images, `contour_noisy.json`, from copies of the same images
in noise and uneven light (`--noisy`), and the same scenes.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, NamedTuple

import numpy as np

from imtorque.core.logistic import LogisticModel, sigmoid
from imtorque.core.types import Float32Array, FloatArray
from imtorque.detection.contour_features import (
    CLEAR_QUANTILE,
    CONTEXT_FEATURES,
    UNARY_FEATURES,
    context_features,
    unary_features,
)
from imtorque.detection.proposals import Proposals
from imtorque.io.weights import read_weights

# Of the search for an image's class prior; clear objects stand in any clutter; chosen on training images.
MAX_ITERATIONS, MIN_PRIOR = 100, 0.08
# Contrast of clear contours in standard deviations of one pixel's noise: at the first an image is not noisy yet, at the
# second it is; tuned on the counting sets' training images, as they are and in noise.
CLEAR_SNR, NOISY_SNR = 8.0, 3.0
SizesKnown = Literal["given", "found", "unknown"]


class ContourScorer(NamedTuple):
    """The models of both stages."""

    unary: LogisticModel
    context: LogisticModel


@cache
def contour_scorer(sizes: SizesKnown, *, noisy: bool = False) -> ContourScorer:
    """Return the scorer for sizes that are given, found in the image itself, or unknown; or that for noisy images."""
    stored = read_weights("contour_noisy" if noisy else "contour")[sizes]
    names = {"unary": UNARY_FEATURES, "context": CONTEXT_FEATURES}
    return ContourScorer(**{stage: LogisticModel.from_dict(stored[stage], order) for stage, order in names.items()})


def contour_scores(
    contours: Proposals,
    shape: tuple[int, int],
    sizes: tuple[float, float] | None,
    grey: Float32Array | None,
    signed: bool,
    scorer: ContourScorer | None = None,
    noisy: ContourScorer | None = None,
) -> FloatArray:
    """Return for each contour the probability that it outlines an object.

    Parameters are those of `unary_features`; the scorer is by default the one for sizes that are given, or unknown.
    Where there is a scorer for noisy images, it takes the place of the other as far as the image is noisy.
    """
    if len(contours) == 0:
        return np.zeros(0)
    clear = scorer or contour_scorer("unknown" if sizes is None else "given")
    share = 0.0 if noisy is None else noise_share(contours)
    parts = [(weight, part) for weight, part in ((1 - share, clear), (share, noisy)) if part is not None and weight]
    unary = unary_features(contours, shape, sizes, grey, signed)
    logit = sum(weight * part.unary.logit(unary) for weight, part in parts)
    context = context_features(contours, np.asarray(logit), shape, signed)
    return sigmoid(adapt_prior(np.asarray(sum(weight * part.context.logit(context) for weight, part in parts))))


def noise_share(contours: Proposals) -> float:
    """Return how noisy an image is, from 0 to 1, by the contrast of its clearest contours; 0 where it is not known."""
    contrast = contours.sign * contours.contrast
    with np.errstate(divide="ignore"):
        ratio = contrast / contours.noise
    told = ratio[(contours.closure >= np.quantile(contours.closure, CLEAR_QUANTILE)) & ~np.isnan(ratio)]
    if not len(told):
        return 0.0
    away = np.log(CLEAR_SNR / max(float(np.median(told)), 1e-6)) / np.log(CLEAR_SNR / NOISY_SNR)
    return float(np.clip(away, 0, 1))


def adapt_prior(logit: FloatArray) -> FloatArray:
    """Correct the logits of a balanced scorer for the image's class prior (Saerens et al. 2002).

    The prior is the one that the mean of the corrected probabilities equals, between `MIN_PRIOR` and one half.
    """
    prior = 0.5
    for _ in range(MAX_ITERATIONS):
        before = prior
        prior = float(np.clip(sigmoid(logit + np.log(prior / (1 - prior))).mean(), MIN_PRIOR, 0.5))
        if prior == before:
            break
    adapted: FloatArray = logit + np.log(prior / (1 - prior))
    return adapted
