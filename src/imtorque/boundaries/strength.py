"""Learned boundary strength: edges re-weighted by torque, so that boundaries outweigh texture (Sec. 4.2)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque.core.contribution import dense_contribution
from imtorque.core.types import Edges, FloatArray, Image
from imtorque.edges.recipes import RECIPES, EdgeRecipe, find_recipe
from imtorque.images import CheckedImage, ValueRange
from imtorque.io.arrays import shaped_array, whole_array

STRENGTH_ROUNDING = 1e-6  # by which the length of a unit vector in float32 may exceed 1; bound: rounding
LOG_SHIFT = 0.05  # added to the strength before its logarithm is taken; chosen on Berkeley's training images
MAX_NEWTON_STEPS = 100  # bound: of a fit, which ends at a step below 1e-7
Samples = tuple[FloatArray, FloatArray]

# c0, c1, c2 of the logistic rule: whether the strength enters by its logarithm, and the coefficients.
COEFFICIENTS = {
    "paper": (False, (-2.54, 1.86, 2.69)),  # Sec. 4.2
    "learned": (True, RECIPES["canny"].coefficients),
    "learned-sigma-2": (True, RECIPES["canny-2"].coefficients),
}


def boundary_strength(
    source: Image | CheckedImage | Edges,
    recipe: str | EdgeRecipe = "canny",
    *,
    value_range: ValueRange | None = None,
) -> FloatArray:
    """Return the learned probability that each edge pixel bounds an object, from its strength and its torque.

    Parameters
    ----------
    source
        An image, grey or colour, as for `detect_edges`; the recipes were learned on images of about 500 pixels. Or the
        edges that the recipe found.
    recipe
        By name: "canny" (sigma sqrt(2)) or "canny-2" (sigma 2, fewer and smoother edges); or an `EdgeRecipe`.
    value_range
        As for `detect_edges`.

    Returns
    -------
    ndarray
        Shape (H, W), in [0, 1]; zero where there is no edge, everywhere if there is none.

    See Also
    --------
    strengthen_edges, EdgeRecipe, boundary_map

    Examples
    --------
    >>> image = np.zeros((40, 40))
    >>> image[10:31, 10:31] = 1
    >>> strength = boundary_strength(image)
    >>> bool(strength[20, 10] > 0.5), float(strength[20, 20])
    (True, 0.0)
    """
    chosen = find_recipe(recipe)
    edges = source if isinstance(source, Edges) else chosen.edges(CheckedImage(source, value_range))
    at = np.nonzero(edges.mask)
    own = np.minimum(np.hypot(edges.fx[at], edges.fy[at]), 1).astype(np.float64)
    result = np.zeros(edges.shape)
    if own.any():
        contribution = dense_contribution(edges, chosen.sizes)[at]
        result[at] = np.where(own > 0, _logistic_rule(own, contribution, chosen.coefficients), 0)
    return result


def strengthen_edges(
    strength: ArrayLike,
    contribution: ArrayLike,
    *,
    method: Literal["logistic", "blend", "product"] = "logistic",
    coefficients: str | Sequence[float] = "learned",
    share: float = 0.5,
) -> FloatArray:
    """Apply a re-weighting rule to edge strengths and their contributions to torque.

        logistic:  d_s = 1 / (1 + exp(-(c0 + c1 log(d_o + 0.05) + c2 X)))      ("paper": d_o in place of its logarithm)
        blend:     d_s = (1 - share) d_o + share d_tau
        product:   d_s = d_o min(max(X, 0), 1)^2

    Parameters
    ----------
    strength
        d_o: edge strength in [0, 1], shape (H, W), zero where there is no edge.
    contribution
        X: what `dense_contribution` returns; or, for the paper's coefficients and the blend, d_tau: a contribution
        scaled to [0, 1], of which what lies outside is clipped. Same shape.
    method
        "logistic", "blend" (the paper's for cars) or "product" (nothing learned).
    coefficients
        Of the logistic rule: "learned" (on Berkeley's training images, sigma sqrt(2), strength_scale 0.13),
        "learned-sigma-2" (sigma 2, 0.105), "paper", or (c0, c1, c2) with the logarithm.
    share
        Of the contribution in the blend; the paper's alpha.

    Returns
    -------
    ndarray
        Shape (H, W), in [0, 1]; zero where there is no edge.

    See Also
    --------
    boundary_strength, contribution_map

    Examples
    --------
    >>> strengthen_edges([[0.0, 1.0, 1.0]], [[0.0, 0.0, 1.0]], coefficients="paper").round(3)
    array([[0.   , 0.336, 0.882]])
    """
    d = check_strength(strength)
    x: FloatArray = whole_array(contribution, "contribution", np.float64)
    if x.shape != d.shape or not np.all(np.isfinite(x)):
        raise ValueError(f"contribution must be finite, of the strength's shape {d.shape}, got shape {x.shape}")
    if method == "logistic":
        edge = d > 0
        result = np.zeros(d.shape)
        result[edge] = _logistic_rule(d[edge], x[edge], coefficients)
        return result
    if method == "blend":
        if not 0 <= share <= 1:
            raise ValueError(f"share must lie in [0, 1], got {share}")
        return np.where(d > 0, (1 - share) * d + share * np.clip(x, 0, 1), 0.0)
    if method == "product":
        return d * np.clip(x, 0, 1) ** 2
    raise ValueError(f'method must be "logistic", "blend" or "product", got {method!r}')


@dataclass
class BoundaryModel:
    """Logistic regression of boundaries on edge strength and further cues, learned from annotations.

        d_s = 1 / (1 + exp(-(c0 + c . (log(d_o + 0.05), X_1, ..., X_K))))

    and with `quadratic` also (log d_o)^2, X^2 and X log d_o, X the sum of the cues. After `fit`, `intercept_` is c0 and
    `coef_` the others.

    Parameters
    ----------
    quadratic
        Whether the second powers enter.
    logarithm
        Whether the strength enters by its logarithm; the paper's form has it as it is.
    tolerance
        An edge pixel is on a boundary for an annotator who drew one within so many pixels.
    step
        Learn from every so many-th edge pixel of each image.

    Examples
    --------
    >>> strength = np.tile([0.2, 0.8], (8, 4))
    >>> cue = np.repeat([[0.0], [1.0]], 4, axis=0) * np.ones(8)
    >>> truth = np.zeros((8, 8), bool)
    >>> truth[5] = True
    >>> model = BoundaryModel(tolerance=1, step=1).fit([strength], [cue], [[truth]])
    >>> bool(model.coef_[1] > 0)
    True
    """

    quadratic: bool = False
    logarithm: bool = True
    tolerance: float = 3.0
    step: int = 4
    intercept_: float = field(init=False, repr=False)
    coef_: NDArray[np.float64] = field(init=False, repr=False)

    def fit(
        self, strengths: Iterable[ArrayLike], cues: Iterable[ArrayLike], truths: Iterable[Sequence[ArrayLike]]
    ) -> Self:
        """Learn the coefficients.

        Parameters
        ----------
        strengths
            Per image, edge strength in [0, 1], (H, W).
        cues
            Per image, one cue (H, W), such as `dense_contribution` returns, or several, (K, H, W).
        truths
            Per image, the boundaries that each annotator drew, (H, W) binary.
        """
        images = zip(strengths, cues, truths, strict=True)
        return self.fit_samples(self.samples(*image) for image in images)

    def samples(self, strength: ArrayLike, cues: ArrayLike, truth: Sequence[ArrayLike]) -> Samples:
        """Return what `fit` learns from one image: features (n, m), and the share of annotators who drew each pixel."""
        d = check_strength(strength)
        return self.samples_of_shares(d, cues, boundary_shares(truth, d.shape, self.tolerance))

    def samples_of_shares(self, strength: ArrayLike, cues: ArrayLike, shares: FloatArray) -> Samples:
        """Return the same from the shares of `boundary_shares`, which several models may share."""
        d = check_strength(strength)
        return self._features(d, cues)[:: self.step], shares[d > 0][:: self.step]

    def fit_samples(self, samples: Iterable[Samples]) -> Self:
        """Learn from what `samples` returned for each image."""
        parts = list(samples)
        if not parts:
            raise ValueError("BoundaryModel.fit must be given at least one image, got none")
        features, shares = (np.concatenate(part) for part in zip(*parts, strict=True))
        if shares.max() == 0 or shares.min() == 1:
            which = "no" if shares.max() == 0 else "every"
            raise ValueError(
                f"truths must put some edge pixels on a boundary and some off it, got {which} pixel on one"
            )
        self.set_coefficients(fit_logistic(features, shares))
        return self

    def set_coefficients(self, coefficients: ArrayLike) -> Self:
        """Take c0, c1, ... learned before."""
        given = np.asarray(coefficients, dtype=np.float64)
        self.intercept_, self.coef_ = float(given[0]), given[1:]
        return self

    def transform(self, strength: ArrayLike, cues: ArrayLike) -> FloatArray:
        """Return the boundary strength of an image, (H, W) in [0, 1]; zero where there is no edge."""
        if not hasattr(self, "coef_"):
            raise ValueError("BoundaryModel must be fitted before transform, call fit first")
        d = check_strength(strength)
        features = self._features(d, cues)
        if features.shape[1] != len(self.coef_):
            raise ValueError(f"cues must give the {len(self.coef_)} features fitted, got {features.shape[1]}")
        result = np.zeros(d.shape)
        result[d > 0] = logistic(self.intercept_ + features @ self.coef_)
        return result

    def _features(self, strength: FloatArray, cues: ArrayLike) -> FloatArray:
        maps = whole_array(cues, "cues", np.float64)
        maps = maps[None] if maps.ndim == 2 else maps
        if maps.ndim != 3 or maps.shape[1:] != strength.shape or not np.all(np.isfinite(maps)):
            raise ValueError(
                f"cues must be finite, (H, W) or (K, H, W) like strength {strength.shape}, got {maps.shape}"
            )
        edge = strength > 0
        own = np.log(strength[edge] + LOG_SHIFT) if self.logarithm else strength[edge]
        x = maps[:, edge]
        total = x.sum(axis=0)
        squares = [own * total, total**2, own**2] if self.quadratic else []
        return np.column_stack([own, *x, *squares])


def boundary_shares(truth: Sequence[ArrayLike], shape: tuple[int, ...], tolerance: float) -> FloatArray:
    """Return for each pixel the share of annotators who drew a boundary within `tolerance` pixels."""
    from scipy import ndimage  # here, because it takes longer to load than the rest of the library

    if len(truth) == 0:
        raise ValueError("truth must hold at least one annotator's boundaries, got none")
    near = np.zeros(shape)
    for boundary in (whole_array(t, "truth").astype(bool) for t in truth):
        if boundary.shape != shape:
            raise ValueError(f"truth must have the strength's shape {shape}, got {boundary.shape}")
        if boundary.any():
            near += ndimage.distance_transform_edt(~boundary) <= tolerance
    return near / len(truth)


def fit_logistic(features: FloatArray, shares: FloatArray) -> NDArray[np.float64]:
    """Return the maximum-likelihood c0, c1, ..., by Newton's method with slight ridge shrinkage."""
    design = np.column_stack([np.ones(len(features)), features])
    coefficients = np.zeros(design.shape[1])
    shrinkage = 1e-6 * len(design) * np.eye(len(coefficients))
    for _ in range(MAX_NEWTON_STEPS):
        probability = logistic(design @ coefficients)
        slope = design.T @ (shares - probability) - shrinkage @ coefficients
        curvature = (design * (probability * (1 - probability))[:, None]).T @ design + shrinkage
        move = np.linalg.solve(curvature, slope)
        coefficients += move
        if np.abs(move).max() < 1e-7:
            break
    return coefficients


def logistic(z: FloatArray) -> FloatArray:
    """Return 1 / (1 + exp(-z))."""
    probability: FloatArray = 0.5 * (1 + np.tanh(0.5 * z))
    return probability


def _logistic_rule(own: FloatArray, x: FloatArray, coefficients: str | Sequence[float]) -> FloatArray:
    """Return the strength of edges after torque, from their own and from their contribution."""
    logarithm, (c0, c1, c2) = _coefficients(coefficients)
    cue = c1 * (np.log(own + LOG_SHIFT) if logarithm else own)
    return logistic(c0 + cue + c2 * (x if logarithm else np.clip(x, 0, 1)))


def check_strength(strength: ArrayLike) -> FloatArray:
    """Check an edge-strength map, (H, W) in [0, 1] and not all zero, and return it."""
    d: FloatArray = shaped_array(strength, "strength", dtype=np.float64)
    if not (d.min() >= 0 and d.max() <= 1 + STRENGTH_ROUNDING):  # nor is it with NaN
        raise ValueError(f"strength must lie in [0, 1], got {d.min():g} to {d.max():g}")
    if not d.any():
        raise ValueError("strength must have at least one edge pixel, got zeros only")
    return np.minimum(d, 1.0)


def _coefficients(given: str | Sequence[float]) -> tuple[bool, tuple[float, float, float]]:
    if isinstance(given, str):
        if given not in COEFFICIENTS:
            raise ValueError(f"coefficients must be one of {', '.join(COEFFICIENTS)}, or three numbers, got {given!r}")
        return COEFFICIENTS[given]
    values = [float(c) for c in given]
    if len(values) != 3 or not np.all(np.isfinite(values)):
        raise ValueError(f"coefficients must be three finite numbers, got {values}")
    return True, (values[0], values[1], values[2])
