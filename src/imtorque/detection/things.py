"""How much a contour looks like an object: first by its own edges, shape and grey values, then beside the others.

Two logistic rules over a few dozen measures, all of them ratios: magnification, contrast and light do not matter. What
is not known (sizes wanted, grey values) counts as average. Their weights were learned by
`python -m imtorque_reproduce.counting.weights` from labelled microscopy and from drawn scenes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

import numpy as np

from imtorque.core.types import BoolArray, Float32Array, FloatArray, IntArray
from imtorque.detection.contours import Contours
from imtorque.detection.shapes import Moments
from imtorque.detection.suppress import claim_edges

CLEAREST = 0.8  # quantile of torque from which contours say what is typical before anything stands
STANDING = 0.7  # score of the first look from which a contour says what objects look like here
FEWEST = 3  # contours that say so in any case
FEW = 4.0  # contours that do not yet say it clearly
PLAIN = 0.3  # evidence from which a point of a contour has an edge
FARTHEST = 4.0  # standard deviations from the mean, beyond which a measure says no more
INSIDE, OUTSIDE = (0.15, 0.4, 0.6, 0.75, 0.85), (1.15, 1.3)  # shares of the radius at which grey values are read
ROUNDS, RAREST = 100, 0.08  # of the search for the share of contours that outline objects, and its least
MEASURES = (
    "torque", "torque_to_best", "median_edge", "weakest_edges", "patch_torque", "edges", "size", "size_squared",
    "size_apart", "aspect", "roughness", "rim", "sign", "moved", "plain", "inside_spread", "outside_spread",
    "weak_step", "stepped", "hollow",
)  # fmt: skip
ALIKE = ("diameter", "contrast", "inside", "outside", "aspect", "torque")
SizesKnown = Literal["given", "found", "unknown"]
BESIDE = ("first_look", "sign", *(f"{name}{form}" for name in ALIKE for form in ("", "_apart")))


@dataclass(frozen=True, eq=False)
class Look:
    """A logistic rule: a weight for each measure, once its mean is taken off and it is divided by its spread."""

    mean: FloatArray
    spread: FloatArray
    weight: FloatArray
    bias: float

    def __call__(self, measures: FloatArray) -> FloatArray:
        """Return the logarithm of the odds for measures of shape (n, k)."""
        standard = np.clip((measures - self.mean) / self.spread, -FARTHEST, FARTHEST)
        odds: FloatArray = self.bias + np.nan_to_num(standard, nan=0.0) @ self.weight
        return odds

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any], names: tuple[str, ...]) -> Look:
        """Read a rule as `experiments.thing_weights` writes it: for each measure its mean, spread and weight."""
        mean, spread, weight = np.array([stored["measures"][name] for name in names], dtype=np.float64).T
        return cls(mean, spread, weight, float(stored["bias"]))


@cache
def looks(sizes: SizesKnown) -> tuple[Look, Look]:
    """Return the two rules: for sizes that are given, found in the image itself, or unknown."""
    text = resources.files("imtorque.detection").joinpath("thing_weights.json").read_text("utf-8")
    stored = json.loads(text)[sizes]
    return Look.from_dict(stored["first"], MEASURES), Look.from_dict(stored["second"], BESIDE)


def thing_scores(
    contours: Contours,
    shape: tuple[int, int],
    sizes: tuple[float, float] | None,
    grey: Float32Array | None,
    signed: bool,
    rules: tuple[Look, Look] | None = None,
) -> FloatArray:
    """Return for each contour how likely it outlines an object, 0 to 1.

    Parameters
    ----------
    contours
        The candidates of one image.
    shape
        Of the image.
    sizes
        Smallest and largest diameter wanted, None where they are not known.
    grey
        The image, None where there are edges alone.
    signed
        Whether the sign was asked for: then bright and dark are not compared.
    rules
        Both looks; by default those for sizes that are given, or unknown where there are none.
    """
    if len(contours) == 0:
        return np.zeros(0)
    first, second = rules or looks("unknown" if sizes is None else "given")
    odds = first(first_measures(contours, shape, sizes, grey, signed))
    return _chance(_for_this_image(second(second_measures(contours, odds, shape, signed))))


def _for_this_image(odds: FloatArray) -> FloatArray:
    """Return odds that reckon with how many of the image's contours outline objects, where the rules took half.

    That share is the one at which the contours' chances have it as their mean (Saerens et al. 2002), from `RAREST`, so
    that a clear object stands in any clutter, to one half.
    """
    share = 0.5
    for _ in range(ROUNDS):
        before = share
        share = float(np.clip(_chance(odds + np.log(share / (1 - share))).mean(), RAREST, 0.5))
        if share == before:
            break
    adjusted: FloatArray = odds + np.log(share / (1 - share))
    return adjusted


def _chance(odds: FloatArray) -> FloatArray:
    chance: FloatArray = 1 / (1 + np.exp(-np.clip(odds, -50, 50)))
    return chance


def first_measures(
    contours: Contours,
    shape: tuple[int, int],
    sizes: tuple[float, float] | None,
    grey: Float32Array | None,
    signed: bool,
) -> FloatArray:
    """Return what is measured of each contour by itself, shape (n, `MEASURES`)."""
    moments = contours.moments
    diameter = _diameter(moments)
    contrast = _contrast(contours)
    mass = contrast * diameter
    weight = np.maximum(contours.closure, 0) * mass
    clear = contours.closure >= np.quantile(contours.closure, CLEAREST)
    evidence = np.sort(contours.evidence, axis=1)
    third = evidence.shape[1] // 3 + 1
    measures = [
        contours.closure,
        contours.closure / max(float(np.quantile(contours.closure, 0.95)), 1e-6),
        evidence[:, evidence.shape[1] // 2],
        evidence[:, :third].mean(axis=1),
        np.log(np.abs(contours.torque) + 0.1),
        np.log(mass / weighted_quantile(mass[clear], weight[clear])),
        *_size_measures(diameter, sizes),
        moments.long / np.maximum(moments.short, 1e-6),
        _roughness(contours, moments),
        _at_rim(contours, shape),
        _sign_share(contours.sign, np.where(clear, weight, 0), signed),
        np.log(diameter / np.maximum(contours.size, 1)),
        (contours.evidence > PLAIN).mean(axis=1),
        *_grey_measures(contours, moments, grey),
    ]
    return np.stack(measures, axis=1).astype(np.float64)


def second_measures(contours: Contours, odds: FloatArray, shape: tuple[int, int], signed: bool) -> FloatArray:
    """Return how each contour compares with those that stand by the first look, shape (n, `BESIDE`)."""
    chance = _chance(odds)
    standing = claim_edges(contours, odds, shape)
    likely = standing[chance[standing] >= STANDING]
    standing = likely if len(likely) >= FEWEST else standing[:FEWEST]
    weight = np.zeros(len(contours))
    weight[standing] = chance[standing]
    moments = contours.moments
    contrast = _contrast(contours)
    grey_step = 0.1 * weighted_quantile(contrast[standing], weight[standing])
    columns = [odds, _sign_share(contours.sign, weight, signed)]
    for values, least in (
        (np.log(_diameter(moments)), 0.1),
        (np.log(contrast), 0.15),
        (contours.inside, grey_step),
        (contours.outside, grey_step),
        (moments.long / np.maximum(moments.short, 1e-6), 0.1),
        (contours.closure, 0.05),
    ):
        apart = _apart(values, standing, weight, least)
        columns += [apart, np.abs(apart)]
    return np.stack(columns, axis=1)


def _apart(values: FloatArray, standing: IntArray, weight: FloatArray, least: float) -> FloatArray:
    """Return how far values lie from those that stand, in units of their own spread.

    To the spread `least` is added, and more where few stand: two or three do not say what others must look like.
    """
    middle = weighted_quantile(values[standing], weight[standing])
    least = least * (1 + FEW / len(standing))
    spread = weighted_quantile(np.abs(values[standing] - middle), weight[standing])
    apart: FloatArray = np.clip((values - middle) / (spread + least), -5, 5)
    return apart


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


def _contrast(contours: Contours) -> FloatArray:
    """Return the contrast with the sign of the object, at least a little; 1 where only edges are known."""
    contrast = contours.sign * contours.contrast
    return np.where(np.isnan(contrast), 1.0, np.maximum(contrast, 1e-6))


def _size_measures(diameter: FloatArray, sizes: tuple[float, float] | None) -> list[FloatArray]:
    """Return where in the range of sizes wanted an object lies, -1 to 1 from end to end."""
    if sizes is None:
        return [np.full(len(diameter), np.nan)] * 3
    smallest, largest = sizes
    half = max(np.log(largest / smallest) / 2, 0.2)
    place = np.log(diameter / np.sqrt(smallest * largest)) / half
    return [place, place**2, np.abs(place)]


def _roughness(contours: Contours, moments: Moments) -> FloatArray:
    """Return the mean change of the radius from point to point, as a share."""
    radius = np.hypot(contours.y - moments.y[:, None], contours.x - moments.x[:, None])
    change: FloatArray = np.abs(np.diff(np.log(np.maximum(radius, 0.1)), axis=1)).mean(axis=1)
    return change


def _at_rim(contours: Contours, shape: tuple[int, int]) -> FloatArray:
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


def _grey_measures(contours: Contours, moments: Moments, grey: Float32Array | None) -> list[FloatArray]:
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


def _rays(contours: Contours, moments: Moments, grey: Float32Array, share: float) -> tuple[FloatArray, BoolArray]:
    """Return grey values at this share of the way from the middle to the contour, and which lie in the image."""
    y = moments.y[:, None] + (contours.y - moments.y[:, None]) * share
    x = moments.x[:, None] + (contours.x - moments.x[:, None]) * share
    row, column = np.rint(y).astype(np.int64), np.rint(x).astype(np.int64)
    height, width = grey.shape
    seen: BoolArray = (row >= 0) & (column >= 0) & (row < height) & (column < width)
    values: FloatArray = grey[np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)].astype(np.float64)
    return values, seen
