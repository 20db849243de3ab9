"""The kernels of finding beside their slow twins."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import naive
from imtorque import _native
from imtorque.detection import noise_level
from imtorque.detection.polygons import polygon_moments

RAYS = (12, 9, 0.4, 1.8, 0.1)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(18, 22), st.floats(18, 26), st.floats(2, 4), st.floats(0, 3), st.floats(1, 4))
def test_the_contour_found_has_the_evidence_of_the_best_one(seed, y, x, radius, turn, aspect):
    rng = np.random.default_rng(seed)
    gx, gy, grey = rng.uniform(-0.7, 0.7, (3, 40, 44)).astype(np.float32)
    one = (y, x, radius, turn, aspect, 1.0)
    py, px, *_ = _native.closed_contours(gx, gy, grey, np.array([*one, -1])[:, None], *RAYS)
    path, _ = naive.closed_contour(gx, gy, one, *RAYS)
    # The frame undone, a point's distance says which radius it has, to half a step.
    v, u = py[0] - y, px[0] - x
    along, beside = u * np.cos(turn) + v * np.sin(turn), v * np.cos(turn) - u * np.sin(turn)
    length = np.hypot(along / np.sqrt(aspect), beside * np.sqrt(aspect)) / radius
    step = np.log(RAYS[3] / RAYS[2]) / (RAYS[1] - 1)
    assert_allclose(np.log(length / RAYS[2]) / step, path, atol=0.51)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_a_contour_is_filled_with_the_pixels_inside_it(seed):
    rng = np.random.default_rng(seed)
    angle = np.arange(10) * (np.pi / 5)
    length = rng.uniform(2, 9, 10)
    y, x = 8.13 + length * np.sin(angle), 9.27 + length * np.cos(angle)
    evidence, one = np.ones((1, 10), np.float32), np.ones(1)
    labels, label = _native.suppress_by_edges(y[None], x[None], evidence, one, 9 * one, 17, 19, 0, 0.4, 4, 0.08)
    assert_array_equal(labels, naive.inside_polygon(y, x, (17, 19)))
    assert label.tolist() == [1]


def test_a_second_contour_of_the_same_edges_does_not_stand():
    angle = np.arange(32) * (np.pi / 16)
    ring = np.stack([np.sin(angle), np.cos(angle)])
    y, x = (
        np.stack([20 + 9 * ring[0], 20 + 9.5 * ring[0], 20 + 3 * ring[0]]),
        20 + np.stack([9, 9.5, 3])[:, None] * ring[1],
    )
    rest = (np.ones((3, 32), np.float32), np.ones(3), np.array([18.0, 19, 6]), 41, 41, 0.5, 0.4, 4, 0.08)
    labels, label = _native.suppress_by_edges(y, x, *rest)
    assert label.tolist() == [1, 0, 2]  # the third lies in the first, and is much smaller
    assert labels[20, 20] == 2
    assert labels[20, 27] == 1


def test_moments_of_a_turned_ellipse_are_its_axes():
    angle = np.arange(400) * (np.pi / 200)
    u, v = 12 * np.cos(angle), 5 * np.sin(angle)
    y, x = 30 + u * np.sin(0.6) + v * np.cos(0.6), 40 + u * np.cos(0.6) - v * np.sin(0.6)
    moments = polygon_moments(y[None], x[None])
    assert_allclose([m[0] for m in moments], [np.pi * 60, 30, 40, 12, 5, 0.6], rtol=1e-3)


def test_noise_is_measured_in_images_with_objects_margins_and_ramps():
    rng = np.random.default_rng(1)
    image = rng.normal(0, 0.02, (200, 240)) + np.linspace(0, 1, 240)
    image[60:140, 50:180] += 0.5
    assert_allclose(noise_level(image.astype(np.float32)), 0.02, rtol=0.06)
    assert_allclose(noise_level(np.pad(image, 300).astype(np.float32)), 0.02, rtol=0.1)


def test_a_drawing_has_no_noise():
    image = np.zeros((80, 80), np.float32)
    image[20:50, 30:60] = 1
    assert noise_level(image) == 0


def test_grey_is_read_beside_contours_that_are_worth_it_and_nowhere_else():
    rng = np.random.default_rng(3)
    gx, gy, grey = rng.uniform(-0.7, 0.7, (3, 60, 64)).astype(np.float32)
    n = 40
    frames = [rng.uniform(-2, 62, n), rng.uniform(-2, 66, n), rng.uniform(2, 9, n), rng.uniform(-2, 2, n)]
    seeds = np.stack([*frames, rng.uniform(1, 3, n), rng.choice([-1.0, 1.0], n), np.full(n, -1.0)])
    every = _native.closed_contours(gx, gy, grey, seeds, *RAYS)
    mean = every[2].sum(axis=1) / np.maximum(every[3].sum(axis=1), 1)
    seeds[6] = np.median(mean) + 1e-3
    some = _native.closed_contours(gx, gy, grey, seeds, *RAYS)
    unread = mean < seeds[6]
    assert 0 < unread.sum() < n
    for grey_all, grey_some in zip(every[4:], some[4:], strict=True):
        assert_array_equal(grey_some, np.where(unread, np.nan, grey_all))
    for before, after in zip(every[:4], some[:4], strict=True):
        assert_array_equal(after, before)
