"""Two-stage logistic scoring of contours: by features of the contour itself, then of its context.

The weights, `imtorque/io/weights/contour.json`, were learned by `python -m imtorque_reproduce.counting.weights` from
labelled microscopy and from drawn scenes.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, NamedTuple

import numpy as np

from imtorque.core.logistic import LogisticModel, sigmoid
from imtorque.core.types import Float32Array, FloatArray
from imtorque.detection.contour_features import CONTEXT_FEATURES, UNARY_FEATURES, context_features, unary_features
from imtorque.detection.proposals import Proposals
from imtorque.io.weights import read_weights

# Of the search for an image's class prior; clear objects stand in any clutter; unrecorded.
MAX_ITERATIONS, MIN_PRIOR = 100, 0.08
SizesKnown = Literal["given", "found", "unknown"]


class ContourScorer(NamedTuple):
    """The models of both stages."""

    unary: LogisticModel
    context: LogisticModel


@cache
def contour_scorer(sizes: SizesKnown) -> ContourScorer:
    """Return the scorer for sizes that are given, found in the image itself, or unknown."""
    stored = read_weights("contour")[sizes]
    names = {"unary": UNARY_FEATURES, "context": CONTEXT_FEATURES}
    return ContourScorer(**{stage: LogisticModel.from_dict(stored[stage], order) for stage, order in names.items()})


def contour_scores(
    contours: Proposals,
    shape: tuple[int, int],
    sizes: tuple[float, float] | None,
    grey: Float32Array | None,
    signed: bool,
    scorer: ContourScorer | None = None,
) -> FloatArray:
    """Return for each contour the probability that it outlines an object.

    Parameters are those of `unary_features`; the scorer is by default the one for sizes that are given, or unknown.
    """
    if len(contours) == 0:
        return np.zeros(0)
    unary, context = scorer or contour_scorer("unknown" if sizes is None else "given")
    logit = unary.logit(unary_features(contours, shape, sizes, grey, signed))
    return sigmoid(adapt_prior(context.logit(context_features(contours, logit, shape, signed))))


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
