"""Logistic regression on standardised features: the one form of every scorer stored in `imtorque/io/weights`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from imtorque.core.types import FloatArray

LARGEST_LOGIT = 50.0  # bound: exp(50) is far from overflow, and sigmoid(50) is 1 within rounding


def sigmoid(logit: FloatArray) -> FloatArray:
    """Return 1 / (1 + exp(-logit)), the probability of a logit."""
    probability: FloatArray = 1 / (1 + np.exp(-np.clip(logit, -LARGEST_LOGIT, LARGEST_LOGIT)))
    return probability


@dataclass(frozen=True, eq=False)
class LogisticModel:
    """A linear predictor over standardised features.

        logit = bias + sum_i weight_i z_i,    z_i = (feature_i - mean_i) / spread_i

    Features that are NaN (not known) count as average, z = 0.

    Parameters
    ----------
    mean, spread, weight
        One value per feature.
    bias
        The logit of an average sample.
    names
        Of the features, in order; empty where the caller keeps them.
    limit
        Standard deviations at which a standardised feature is clipped, so that outliers do not dominate.
    interaction
        One weight per feature, multiplied by the first feature: weight_i becomes weight_i + z_0 interaction_i.
    """

    mean: FloatArray
    spread: FloatArray
    weight: FloatArray
    bias: float = 0.0
    names: tuple[str, ...] = ()
    limit: float = np.inf
    interaction: FloatArray | None = None

    def logit(self, features: FloatArray) -> FloatArray:
        """Return the logits, shape (...), of features of shape (..., k)."""
        if self.interaction is None:
            return np.asarray(self.bias + self.standardised(features) @ self.weight)
        return np.asarray(self.terms(features).sum(axis=-1) + self.bias)

    def terms(self, features: FloatArray) -> FloatArray:
        """Return what each feature adds to the logit, shape (..., k)."""
        z = self.standardised(features)
        return np.asarray(
            z * (self.weight if self.interaction is None else self.weight + z[..., :1] * self.interaction)
        )

    def standardised(self, features: FloatArray) -> FloatArray:
        """Return the standardised features, shape (..., k)."""
        return standardised(features, self.mean, self.spread, self.limit)

    def probability(self, features: FloatArray) -> FloatArray:
        """Return the probabilities, in [0, 1], of features of shape (..., k)."""
        return sigmoid(self.logit(features))

    def to_dict(self, digits: int = 5) -> dict[str, Any]:
        """Return the model as `from_dict` reads it, its numbers rounded to so many significant digits."""
        columns = [self.mean, self.spread, self.weight, *([] if self.interaction is None else [self.interaction])]
        rows = np.stack(columns, axis=1).tolist()
        features = {name: [_rounded(v, digits) for v in row] for name, row in zip(self.names, rows, strict=True)}
        return {"bias": _rounded(self.bias, digits), "limit": self.limit, "features": features}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any], names: Sequence[str] | None = None) -> LogisticModel:
        """Build a model from its bias, limit and, for each feature, mean, spread, weight and interaction if any.

        With `names`, features take that order; the stored ones must be the same.
        """
        features = stored["features"]
        order = tuple(features if names is None else names)
        if set(order) != set(features):
            raise ValueError(f"weights must be for the features {', '.join(order)}, got {', '.join(features)}")
        mean, spread, weight, *rest = np.array([features[name] for name in order], np.float64).T
        interaction = rest[0] if rest else None
        return cls(mean, spread, weight, float(stored["bias"]), order, float(stored["limit"]), interaction)


def standardised(features: FloatArray, mean: FloatArray, spread: FloatArray, limit: float = np.inf) -> FloatArray:
    """Return features less their means, over their spreads, within ±limit; 0 where they are NaN."""
    z: FloatArray = np.clip((features - mean) / spread, -limit, limit)
    np.copyto(z, 0.0, where=np.isnan(z))  # in the memory order of the features, which sums depend on
    return z


def _rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")
