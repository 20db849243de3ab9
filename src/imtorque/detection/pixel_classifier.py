"""A pixel classifier: a quadratic form of an image's planes, by least squares."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.threads import thread_map
from imtorque.core.types import Float32Array, FloatArray
from imtorque.detection.annotations import Annotations
from imtorque.detection.feature_maps import FeatureMaps

RIDGE = 1e-3  # of the mean diagonal, so that planes that repeat each other can be solved for; untuned
BAND_ROWS = 32  # rows that fit the cache; bound: memory
MAX_CLASS_PIXELS = 1500  # of each class and image that are learned from; bound: time
INNER, OUTER = 0.85, 1.2  # parts of an outline: pixels between are neither object nor background; untuned


Moments = tuple[FloatArray, FloatArray]


def pixel_moments(maps: FeatureMaps, annotations: Annotations) -> Moments:
    """Return what least squares needs of one image; the moments of several images add up."""
    count = len(maps.stack) + 1
    terms = count * (count + 1) // 2
    products, sums = np.zeros((terms, terms)), np.zeros(terms)
    pixels = _pixels(maps)
    for chosen, side in zip(_pixels_of(maps, annotations), (1.0, -1.0), strict=True):
        places = np.flatnonzero(chosen)
        if len(places):
            rows = _quadratic(pixels[places[:: max(1, len(places) // MAX_CLASS_PIXELS)]])
            products += rows.T @ rows / len(rows)
            sums += side * rows.mean(axis=0)
    return products, sums


def solve_classifier(moments: Sequence[Moments]) -> FloatArray:
    """Return the form, (C + 1, C + 1), that is near 1 on pixels of objects and near -1 on others."""
    products, sums = (np.sum([m[i] for m in moments], axis=0) for i in (0, 1))
    products[np.diag_indices_from(products)] += RIDGE * products.diagonal().mean()
    count = int(np.sqrt(2 * len(sums)))
    form = np.zeros((count, count))
    form[np.triu_indices(count)] = np.linalg.solve(products, sums)
    return form


def checked_form(form: FloatArray, planes: Sequence[str]) -> FloatArray:
    """Return the form of these planes, else raise: files can hold anything."""
    if form.shape != (len(planes) + 1, len(planes) + 1) or form.dtype != np.float64 or not np.isfinite(form).all():
        raise ValueError(f"a form of {form.dtype} and shape {form.shape}, or of what is no number")
    return form


def classify_pixels(maps: FeatureMaps, form: FloatArray) -> Float32Array:
    """Return the form's value at each pixel, cut at -1.5 and 1.5, in bands of rows that fit the cache."""
    bands = [maps.stack[:, top : top + BAND_ROWS] for top in range(0, maps.shape[0], BAND_ROWS)]
    weights = form.astype(np.float32)
    return np.concatenate(thread_map(*(partial(_values, band, weights) for band in bands)))


def _values(stack: Float32Array, weights: Float32Array) -> Float32Array:
    # Plane by plane: a product of matrices would wake all of its library's threads for a few milliseconds of work.
    score = np.full(stack.shape[1:], weights[-1, -1], np.float32)
    for i, plane in enumerate(stack):
        factor = np.full(plane.shape, weights[i, -1], np.float32)
        for j in range(i, len(stack)):
            factor += weights[i, j] * stack[j]
        score += plane * factor
    return np.clip(score, -1.5, 1.5, out=score)


def _pixels(maps: FeatureMaps) -> Float32Array:
    flat = maps.stack.reshape(len(maps.stack), -1).T
    return np.concatenate([flat, np.ones((len(flat), 1), np.float32)], axis=1)


def _quadratic(pixels: Float32Array) -> FloatArray:
    i, j = np.triu_indices(pixels.shape[1])
    terms: FloatArray = pixels[:, i].astype(np.float64) * pixels[:, j]
    return terms


def _pixels_of(maps: FeatureMaps, annotations: Annotations) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which pixels certainly belong to an object, and which certainly do not."""
    y, x = np.ascontiguousarray(annotations.points.T, np.float32)
    if annotations.form == "points":
        radii = np.full((len(annotations), 16), maps.diameter / 2, np.float32)
        parts = (0.5, 1.5)
    else:
        radii, parts = annotations.radii, (INNER, OUTER)
    inner, outer = (_native.paint_outlines(y, x, radii * np.float32(part), *maps.shape) > 0 for part in parts)
    free = ~outer
    for y0, x0, y1, x1 in annotations.ignored.astype(int):
        free[max(y0, 0) : y1, max(x0, 0) : x1] = False
    return inner, free
