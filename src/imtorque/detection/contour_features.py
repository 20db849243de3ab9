"""Features of a contour: unary ones, of the contour itself, and context ones, beside the other contours of the image.

All are ratios: magnification, contrast and light do not matter. What is not known (sizes wanted, grey values) is NaN.
"""

from __future__ import annotations

import numpy as np

from imtorque.core.logistic import sigmoid
from imtorque.core.types import BoolArray, Float32Array, FloatArray, IntArray
from imtorque.detection.polygons import Moments
from imtorque.detection.proposals import Proposals
from imtorque.detection.selection import suppress_by_edges

CLEAR_QUANTILE = 0.8  # of closure: contours above are typical before anything is selected; chosen on training images
# By unary features, from which a selected contour says what objects look like here; chosen on training images.
CONTEXT_PROBABILITY = 0.7
MIN_CONTEXT = 3  # contours that say so in any case; chosen on training images
CONTEXT_PRIOR = 4.0  # contours' worth of doubt in the spread of a few; chosen on training images
MIN_EDGE_EVIDENCE = 0.3  # from which a point of a contour has an edge; chosen on training images
# Shares of the radius at which grey values are read; untuned.
INSIDE, OUTSIDE = (0.15, 0.4, 0.6, 0.75, 0.85), (1.15, 1.3)
UNARY_FEATURES = (
    "torque", "torque_to_best", "median_edge", "weakest_third", "patch_torque", "contrast_mass", "size", "size_squared",
    "size_distance", "aspect", "roughness", "rim_share", "sign_share", "size_change", "edge_share", "inside_spread",
    "outside_spread", "weak_step", "step_share", "hollow",
)  # fmt: skip
COMPARED = ("diameter", "contrast", "inside", "outside", "aspect", "torque")
CONTEXT_FEATURES = ("unary_logit", "sign_share", *(f"{name}{form}" for name in COMPARED for form in ("", "_distance")))


def unary_features(
    contours: Proposals,
    shape: tuple[int, int],
    sizes: tuple[float, float] | None,
    grey: Float32Array | None,
    signed: bool,
) -> FloatArray:
    """Return the features of each contour by itself, shape (n, `UNARY_FEATURES`).

    Parameters
    ----------
    contours
        The proposals of one image.
    shape
        Of the image.
    sizes
        Smallest and largest diameter wanted, None where they are not known.
    grey
        The image, None where there are edges alone.
    signed
        Whether the sign was asked for: then bright and dark are not compared.
    """
    moments = contours.moments
    diameter = _diameter(moments)
    contrast = _contrast(contours)
    mass = contrast * diameter
    weight = np.maximum(contours.closure, 0) * mass
    clear = contours.closure >= np.quantile(contours.closure, CLEAR_QUANTILE)
    evidence = np.sort(contours.evidence, axis=1)
    third = evidence.shape[1] // 3 + 1
    features = [
        contours.closure,
        contours.closure / max(float(np.quantile(contours.closure, 0.95)), 1e-6),
        evidence[:, evidence.shape[1] // 2],
        evidence[:, :third].mean(axis=1),
        np.log(contours.strength + 0.1),
        np.log(mass / weighted_quantile(mass[clear], weight[clear])),
        *_size_features(diameter, sizes),
        moments.long / np.maximum(moments.short, 1e-6),
        _roughness(contours, moments),
        _rim_share(contours, shape),
        _sign_share(contours.sign, np.where(clear, weight, 0), signed),
        np.log(diameter / np.maximum(contours.size, 1)),
        (contours.evidence > MIN_EDGE_EVIDENCE).mean(axis=1),
        *_grey_features(contours, moments, grey),
    ]
    return np.stack(features, axis=1).astype(np.float64)


def context_features(contours: Proposals, logit: FloatArray, shape: tuple[int, int], signed: bool) -> FloatArray:
    """Return how each contour compares with those selected by their unary logits, shape (n, `CONTEXT_FEATURES`)."""
    probability = sigmoid(logit)
    selected = suppress_by_edges(contours, logit, shape)
    likely = selected[probability[selected] >= CONTEXT_PROBABILITY]
    selected = likely if len(likely) >= MIN_CONTEXT else selected[:MIN_CONTEXT]
    weight = np.zeros(len(contours))
    weight[selected] = probability[selected]
    moments = contours.moments
    contrast = _contrast(contours)
    grey_step = 0.1 * weighted_quantile(contrast[selected], weight[selected])
    columns = [logit, _sign_share(contours.sign, weight, signed)]
    for values, least in (
        (np.log(_diameter(moments)), 0.1),
        (np.log(contrast), 0.15),
        (contours.inside, grey_step),
        (contours.outside, grey_step),
        (moments.long / np.maximum(moments.short, 1e-6), 0.1),
        (contours.closure, 0.05),
    ):
        z = _robust_z(values, selected, weight, least)
        columns += [z, np.abs(z)]
    return np.stack(columns, axis=1)


def _robust_z(values: FloatArray, selected: IntArray, weight: FloatArray, least: float) -> FloatArray:
    """Return robust z-scores: distances from the weighted median of the selected, over their median deviation.

    To the deviation `least` is added, and more where few are selected: two or three do not say what others look like.
    """
    middle = weighted_quantile(values[selected], weight[selected])
    least = least * (1 + CONTEXT_PRIOR / len(selected))
    spread = weighted_quantile(np.abs(values[selected] - middle), weight[selected])
    z: FloatArray = np.clip((values - middle) / (spread + least), -5, 5)
    return z


def weighted_quantile(values: FloatArray, weight: FloatArray, share: float = 0.5) -> float:
    """Return the value below which this share of the weight lies; 1 where there is none."""
    if not len(values):
        return 1.0
    order = np.argsort(values)
    passed = np.cumsum(weight[order])
    return float(values[order][min(np.searchsorted(passed, share * passed[-1]), len(values) - 1)])


def _diameter(moments: Moments) -> FloatArray:
    diameter: FloatArray = np.maximum(np.sqrt(moments.area * (4 / np.pi)), 1.0)
    return diameter


def _contrast(contours: Proposals) -> FloatArray:
    """Return the contrast with the sign of the object, at least a little; 1 where only edges are known."""
    contrast = contours.sign * contours.contrast
    return np.where(np.isnan(contrast), 1.0, np.maximum(contrast, 1e-6))


def _size_features(diameter: FloatArray, sizes: tuple[float, float] | None) -> list[FloatArray]:
    """Return where in the range of sizes wanted an object lies, -1 to 1 from end to end."""
    if sizes is None:
        return [np.full(len(diameter), np.nan)] * 3
    smallest, largest = sizes
    half = max(np.log(largest / smallest) / 2, 0.2)
    place = np.log(diameter / np.sqrt(smallest * largest)) / half
    return [place, place**2, np.abs(place)]


def _roughness(contours: Proposals, moments: Moments) -> FloatArray:
    """Return the mean change of the radius from point to point, as a share."""
    radius = np.hypot(contours.y - moments.y[:, None], contours.x - moments.x[:, None])
    change: FloatArray = np.abs(np.diff(np.log(np.maximum(radius, 0.1)), axis=1)).mean(axis=1)
    return change


def _rim_share(contours: Proposals, shape: tuple[int, int]) -> FloatArray:
    """Return the share of a contour's points that lie at the image's rim."""
    y, x = contours.y, contours.x
    share: FloatArray = ((y < 1) | (x < 1) | (y > shape[0] - 2) | (x > shape[1] - 2)).mean(axis=1)
    return share


def _sign_share(sign: FloatArray, weight: FloatArray, signed: bool) -> FloatArray:
    """Return how much a contour's sign explains beside the other one: 1 where it is the main one."""
    if signed:
        return np.ones(len(sign))
    bright, dark = (float(weight[sign == s].sum()) for s in (1, -1))
    own = np.where(sign > 0, bright, dark)
    share: FloatArray = own / max(bright, dark, 1e-12)
    return share


def _grey_features(contours: Proposals, moments: Moments, grey: Float32Array | None) -> list[FloatArray]:
    """Return how even an object is inside and its ground outside, how its edge steps, and how its middle differs."""
    if grey is None:
        return [np.full(len(contours), np.nan)] * 5
    contrast = np.maximum(np.abs(contours.contrast), 1e-6)
    inner = [_rays(contours, moments, grey, share)[0] for share in INSIDE]
    outer, seen = zip(*(_rays(contours, moments, grey, share) for share in OUTSIDE), strict=True)
    inside, outside, known = (np.concatenate(part, axis=1) for part in (inner, outer, seen))
    number = np.maximum(known.sum(axis=1), 1)
    ground = (outside * known).sum(axis=1) / number
    spread = np.sqrt(((outside - ground[:, None]) ** 2 * known).sum(axis=1) / number)
    step = contours.sign[:, None] * (inner[-1] - np.where(seen[0], outer[0], inner[-1]))
    hollow = contours.sign * (inner[0].mean(axis=1) - inner[-1].mean(axis=1))
    ratios = (inside.std(axis=1), spread, np.quantile(step, 0.25, axis=1), hollow)
    uneven, around, weak, middle = (np.clip(ratio / contrast, -5, 5) for ratio in ratios)
    return [uneven, around, weak, (step > 0.25 * contrast[:, None]).mean(axis=1), middle]


def _rays(contours: Proposals, moments: Moments, grey: Float32Array, share: float) -> tuple[FloatArray, BoolArray]:
    """Return grey values at this share of the way from the middle to the contour, and which lie in the image."""
    y = moments.y[:, None] + (contours.y - moments.y[:, None]) * share
    x = moments.x[:, None] + (contours.x - moments.x[:, None]) * share
    row, column = np.rint(y).astype(np.int64), np.rint(x).astype(np.int64)
    height, width = grey.shape
    seen: BoolArray = (row >= 0) & (column >= 0) & (row < height) & (column < width)
    values: FloatArray = grey[np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)].astype(np.float64)
    return values, seen
