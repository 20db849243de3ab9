"""Boxes are looked for in cache and no further than needed; what comes out is what plain steps give."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import ndimage

from imtorque import _native
from imtorque.images import TO_XYZ, CheckedImage, linear_rgb
from imtorque.segmentation import boxes

colours = hnp.arrays(np.uint8, st.tuples(st.integers(1, 90), st.integers(1, 90), st.just(3)))


def plain_lab(image):
    """The definition, over whole planes."""
    rgb = np.moveaxis(image / 255.0, 2, 0)
    xyz = np.tensordot(TO_XYZ / TO_XYZ.sum(axis=1, keepdims=True), linear_rgb(rgb), axes=1)
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.stack([1.16 * f[1] - 0.16, 5 * (f[0] - f[1]), 2 * (f[1] - f[2])])


@given(colours)
def test_colours_by_table_and_in_pieces_are_those_of_whole_planes(image):
    checked = CheckedImage(image, (0.0, 255.0))
    assert_array_equal(checked.lab(), plain_lab(image))
    assert_array_equal(CheckedImage(image.astype(np.float64), (0.0, 255.0)).lab(), plain_lab(image))


@given(colours)
def test_smooth_colours_are_each_plane_smoothed(image):
    planes = CheckedImage(image).lab()
    expected = [ndimage.gaussian_filter(plane, boxes.GRADIENT_SIGMA, mode="nearest") for plane in planes]
    assert_array_equal(boxes.smooth_lab(image), expected)


@given(st.integers(0, 10_000), st.integers(1, 300), st.integers(1, 12), st.sampled_from([1, 3, 40]))
def test_the_first_boxes_suffice_or_all_are_compared(seed, number, count, first):
    rng = np.random.default_rng(seed)
    top, left = rng.integers(0, 20, (2, number))
    candidates = np.stack([top, left, top + rng.integers(1, 9, number), left + rng.integers(1, 9, number)], axis=1)
    planes = np.round(rng.random((2, 30, 30)))  # many scores are equal
    before = boxes.FIRST_COMPARED
    boxes.FIRST_COMPARED = first
    try:
        found = boxes.best_boxes(planes, candidates, count, "both", 0.3)
    finally:
        boxes.FIRST_COMPARED = before
    scores = boxes.box_scores(planes, candidates, "both") * boxes.gradient_contrast(planes, candidates)
    order = np.argsort(-scores, kind="stable")
    kept = order[_native.distinct_boxes(candidates[order], 0.3, count)]
    assert_array_equal(found.as_array(), candidates[kept])
    assert_array_equal(found.score, scores[kept])


def naive_gradient_contrast(planes, box):
    coarse = planes[:, :: boxes.GRADIENT_STEP, :: boxes.GRADIENT_STEP]
    steps = np.zeros(coarse.shape[1:])
    for plane in coarse:
        for y, x in np.ndindex(steps.shape):
            for below, beside in ((1, 0), (0, 1)):
                if y + below < steps.shape[0] and x + beside < steps.shape[1]:
                    steps[y, x] += abs(plane[y + below, x + beside] - plane[y, x])
    y0, x0, y1, x1 = (math.ceil(at / boxes.GRADIENT_STEP) for at in box)
    down, across = (max(1, side // boxes.RING_DIVISOR) for side in (y1 - y0, x1 - x0))
    own, ring = [], []
    for y, x in np.ndindex(steps.shape):
        if y0 <= y < y1 and x0 <= x < x1:
            own.append(steps[y, x])
        elif y0 - down <= y < y1 + down and x0 - across <= x < x1 + across:
            ring.append(steps[y, x])
    around = np.mean(ring) if ring else 0.0
    return (np.mean(own) if own else 0.0) / (around + (boxes.GRADIENT_FLOOR * steps.mean() or 1.0))


@given(hnp.arrays(np.float64, (2, 11, 14), elements=st.integers(0, 8).map(lambda k: k / 8)), st.integers(0, 10_000))
def test_gradient_contrast_is_the_gradient_within_over_that_around(planes, seed):
    rng = np.random.default_rng(seed)
    found = [[0, 0, *planes.shape[1:]]]
    for _ in range(5):
        (y0, y1), (x0, x1) = (np.sort(rng.choice(side + 1, 2, replace=False)) for side in planes.shape[1:])
        found.append([y0, x0, y1, x1])
    expected = [naive_gradient_contrast(planes, box) for box in found]
    assert_allclose(boxes.gradient_contrast(planes, np.array(found)), expected, rtol=1e-6, atol=1e-9)


def test_a_whole_is_busier_than_its_surround_and_its_half_is_not():
    planes = np.zeros((1, 60, 80))
    planes[0, 20:40, 20:60] = np.random.default_rng(0).random((20, 40))
    whole, half, flat = boxes.gradient_contrast(planes, np.array([[20, 20, 40, 60], [20, 20, 40, 40], [44, 4, 58, 30]]))
    assert whole > 1.5 * half > flat


@given(st.integers(1, 400), st.integers(1, 400))
def test_places_are_even_and_each_comes_once(side, own):
    if own > side:
        return
    room = side - own
    expected = np.unique(np.round(np.linspace(0, room, int(room * boxes.PLACES_PER_SIDE / own) + 1)).astype(np.int64))
    assert_array_equal(boxes._places(side, own), expected)
