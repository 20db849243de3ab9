"""The kernels of recognition against their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

import imtorque
import naive
from imtorque import _native
from strategies import exact_fields, odd_sizes

values = st.floats(-1, 1, width=16)


@st.composite
def descriptors_and_words(draw):
    length = draw(st.integers(1, 20))
    descriptors = draw(hnp.arrays(np.float32, (draw(st.integers(0, 50)), length), elements=values))
    words = draw(hnp.arrays(np.float32, (draw(st.integers(1, 40)), length), elements=values))
    return descriptors, words, draw(st.integers(1, min(6, len(words))))


def distances(descriptors, words, index):
    gaps = descriptors[:, None, :].astype(float) - words[index].astype(float)
    return np.sum(gaps**2, axis=2)


@given(descriptors_and_words())
def test_nearest_words_are_as_near_as_the_definition_finds(case):
    descriptors, words, neighbours = case
    index, _ = _native.linear_codes(descriptors, words, neighbours, 1e-4)
    expected = naive.nearest_words(descriptors, words, neighbours)
    # Words that are equally near but for rounding may change places.
    assert_allclose(distances(descriptors, words, index), distances(descriptors, words, expected), atol=1e-5)
    for row in index:
        assert len(set(row)) == neighbours


@given(descriptors_and_words())
def test_weights_solve_the_small_systems(case):
    descriptors, words, neighbours = case
    index, weight = _native.linear_codes(descriptors, words, neighbours, 1e-2)
    for x, chosen, w in zip(descriptors, index, weight, strict=True):
        assert_allclose(w, naive.linear_code(x, words[chosen], 1e-2), atol=2e-3)
        assert_allclose(w.sum(), 1, atol=1e-4)


def test_equal_words_share_a_descriptor_that_equals_them():
    words = np.ones((4, 3), np.float32)
    _, weight = _native.linear_codes(words[:1], words, 4, 1e-4)
    assert_array_equal(weight, np.full((1, 4), 0.25, np.float32))


@given(descriptors_and_words())
def test_sums_by_word_add_up_each_words_descriptors(case):
    descriptors, words, _ = case
    sums, counts, index = _native.sum_by_word(descriptors, words)
    assert_array_equal(counts, np.bincount(index, minlength=len(words)))
    expected = np.zeros(words.shape)
    np.add.at(expected, index, descriptors)
    assert_allclose(sums, expected, atol=1e-6)
    nearest = naive.nearest_words(descriptors, words, 1)
    found = distances(descriptors, words, index[:, None])
    assert_allclose(found, distances(descriptors, words, nearest), atol=1e-5)


@given(st.data())
def test_pooling_keeps_the_largest_weight_of_each_word_in_each_cell(data):
    n, k, levels, words, cells = (data.draw(st.integers(1, 6)) for _ in range(5))
    index = data.draw(hnp.arrays(np.int32, (n, k), elements=st.integers(0, words - 1)))
    weight = data.draw(hnp.arrays(np.float32, (n, k), elements=values))
    cell = data.draw(hnp.arrays(np.int32, (n, levels), elements=st.integers(0, cells - 1)))
    pooled = _native.max_pool(index, weight, cell, words, cells)
    assert_array_equal(pooled, naive.max_pool(index, weight, cell, words, cells).astype(np.float32))


shares = st.lists(st.sampled_from([0.1, 0.125, 0.25, 0.4, 0.5, 1.0]), min_size=1, max_size=3)


@given(exact_fields(), st.data())
def test_the_multiscale_descriptor_is_the_torque_of_its_regions(edges, data):
    y, x = (data.draw(st.integers(-3, n + 3)) for n in edges.shape)
    height, width, regions, away = (data.draw(drawn) for drawn in (odd_sizes, odd_sizes, shares, shares))
    align = data.draw(st.booleans())
    patch = (np.array([value]) for value in (y, x, height, width))
    found = _native.multiscale_torque(edges.fx, edges.fy, edges.steps, *patch, np.array(regions), np.array(away), align)
    expected = naive.multiscale_torque(edges.fx, edges.fy, y, x, (height, width), regions, away, align)
    assert_allclose(found[0], expected, atol=1e-5)


@given(
    hnp.arrays(np.float32, st.tuples(st.integers(8, 14), st.integers(8, 14), st.just(2)), elements=values),
    st.sampled_from([4, 8]),
)
def test_direction_histograms_are_their_definition(gradient, size):
    gx, gy = np.ascontiguousarray(gradient[..., 0]), np.ascontiguousarray(gradient[..., 1])
    top, left = (np.array([0, n - size], np.int32) for n in gx.shape)
    found = _native.direction_histograms(gx, gy, size, top, left)
    expected = [naive.direction_histogram(gx, gy, a, b, size) for a in top for b in left]
    assert_allclose(found, expected, atol=1e-5)


@pytest.mark.slow
@settings(max_examples=15)
@given(st.integers(0, 1000), st.integers(2, 12), st.integers(2, 40))
def test_machines_reach_the_minimum_of_the_definition(seed, n, classes):
    rng = np.random.default_rng(seed)
    points = rng.random((n, 5)).astype(np.float32)
    label = rng.integers(0, min(classes, 4), n).astype(np.int32)
    products = points @ points.T + 1
    coefficient = np.zeros((n, classes), np.float32)
    passes = _native.train_linear_svms(products, label, 10.0, 1e-4, 5000, coefficient)
    assert 1 <= passes <= 5000
    for k in range(min(classes, 4)):
        expected = naive.train_machine(products.astype(float), np.where(label == k, 1.0, -1.0), 10.0)
        assert_allclose(products @ coefficient[:, k], products @ expected, atol=5e-3)


def test_every_kernel_gives_the_same_bits_with_and_without_avx2_and_with_any_number_of_threads():
    rng = np.random.default_rng(0)
    descriptors, words = (rng.random((n, 99), dtype=np.float32) for n in (700, 70))
    gx, gy = (rng.standard_normal((70, 90)).astype(np.float32) for _ in range(2))
    starts = np.arange(0, 40, 8, dtype=np.int32)
    patches = [rng.integers(0, 70, 600), rng.integers(0, 90, 600), *2 * rng.integers(2, 20, (2, 600)) + 1]
    edges = imtorque.Edges(gx, gy)
    layout = (np.array([0.25, 0.5]), np.array([0.25, 0.5]), True)
    products = descriptors[:60] @ descriptors[:60].T
    label = np.arange(60, dtype=np.int32) % 45

    def everything():
        coefficient = np.zeros((60, 45), np.float32)
        _native.train_linear_svms(products, label, 10.0, 1e-2, 20, coefficient)
        return [
            *_native.linear_codes(descriptors, words, 5, 1e-4),
            *_native.sum_by_word(descriptors, words),
            _native.direction_histograms(gx, gy, 24, starts, starts),
            _native.multiscale_torque(gx, gy, edges.steps, *patches, *layout),
            coefficient,
        ]

    imtorque.set_num_threads(1)
    expected = everything()
    imtorque.set_num_threads(3)
    for found, array in zip(everything(), expected, strict=True):
        assert_array_equal(found, array)
    try:
        _native.allow_avx2(False)
        for found, array in zip(everything(), expected, strict=True):
            assert_array_equal(found, array)
    finally:
        _native.allow_avx2(True)


def test_kernels_refuse_what_does_not_fit_together():
    plane = np.zeros((3, 4), np.float32)
    with pytest.raises(ValueError, match="differ in length"):
        _native.linear_codes(plane, np.zeros((3, 5), np.float32), 1, 1e-4)
    with pytest.raises(ValueError, match="neighbours"):
        _native.linear_codes(plane, plane, 4, 1e-4)
    with pytest.raises(ValueError, match="out of range"):
        _native.max_pool(np.full((1, 1), 5, np.int32), plane[:1, :1].copy(), np.zeros((1, 1), np.int32), 5, 1)
    with pytest.raises(ValueError, match="differ in shape"):
        _native.max_pool(np.zeros((1, 1), np.int32), plane, np.zeros((1, 1), np.int32), 5, 1)
    with pytest.raises(ValueError, match="multiple of 4"):
        _native.direction_histograms(plane, plane, 6, np.zeros(1, np.int32), np.zeros(1, np.int32))
    with pytest.raises(ValueError, match="differ in number"):
        _native.train_linear_svms(plane, np.zeros(3, np.int32), 1.0, 0.1, 1, plane)
    one, two, share = np.zeros(1, np.int64), np.zeros(2, np.int64), np.ones(1)
    with pytest.raises(ValueError, match="differ in number"):
        _native.multiscale_torque(plane, plane, 1.0, one, two, one, one, share, share, False)
