"""The oriented watershed and ultrametric contours."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.testing import assert_allclose, assert_array_equal

import naive_detectors as naive
from imtorque import _native
from imtorque.edges import OrientedMap, ultrametric_contours

SHAPES = st.tuples(st.integers(1, 9), st.integers(1, 9))


@settings(max_examples=60, deadline=None)
@given(arrays.arrays(np.float32, SHAPES, elements=st.integers(0, 6).map(float)))
def test_basins_are_those_of_the_definition(heights):
    assert_array_equal(_native.watershed(heights), naive.watershed(heights))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), SHAPES)
def test_heights_of_merging_are_those_of_the_definition(seed, shape):
    rng = np.random.default_rng(seed)
    regions = _native.watershed(rng.random(shape).astype(np.float32))
    right, down = rng.random((2, *shape)).astype(np.float32)
    wanted = naive.ultrametric(regions, right, down)
    _native.merge_weakest(regions, right, down)
    at = regions[:, :-1] != regions[:, 1:], regions[:-1] != regions[1:]
    assert_allclose(right[:, :-1][at[0]], wanted[0][:, :-1][at[0]], rtol=1e-5)
    assert_allclose(down[:-1][at[1]], wanted[1][:-1][at[1]], rtol=1e-5)


def ring(strength, size=21):
    """A square contour; upright and level sides in their own orientation only."""
    planes = np.zeros((8, size, size), np.float32)
    planes[0, [5, 15], 5:16] = strength
    planes[4, 5:16, [5, 15]] = strength
    return planes


def test_a_square_is_one_region_within_another():
    tree = ultrametric_contours(OrientedMap(ring(0.6)))
    assert len(tree.heights) == 1
    assert tree.regions[10, 10] != tree.regions[0, 0]


def test_sides_have_the_strength_of_their_own_orientation():
    planes = ring(0.6)
    planes[2] = np.maximum(planes[0], planes[4]) * 1.5  # a stronger answer in a direction that the contour has not
    tree = ultrametric_contours(OrientedMap(np.maximum(planes, 0.1)))
    assert_allclose(tree.heights[-1], 0.6, atol=0.12)


def test_a_border_is_as_strong_as_the_mean_of_its_log_odds():
    planes = np.full((8, 20, 9), 0.01, np.float32)
    planes[4, :, 4] = np.repeat([0.98, 0.2], 10)
    tree = ultrametric_contours(OrientedMap(planes))
    assert_allclose(tree.heights, [1 / (1 + np.sqrt(0.02 / 0.98 * 0.8 / 0.2))], atol=1e-5)


def test_every_cut_of_the_contour_map_has_closed_contours():
    from imtorque.evaluation import regions_from_ucm

    rng = np.random.default_rng(0)
    tree = ultrametric_contours(OrientedMap(rng.random((8, 20, 25)) * 0.9))
    contours = tree.contours()
    for level in (0.3, 0.5, 0.7):
        labels = regions_from_ucm(contours.astype(float), level)
        assert labels.max() == 1 + np.count_nonzero(tree.heights > level)


def test_heights_never_fall():
    tree = ultrametric_contours(OrientedMap(np.random.default_rng(1).random((8, 30, 30))))
    assert (np.diff(tree.heights) >= 0).all()


def test_a_level_map_is_one_region():
    tree = ultrametric_contours(OrientedMap(np.full((8, 5, 6), 0.3)))
    assert len(tree.heights) == 0
    assert_array_equal(tree.contours(), np.zeros((11, 13)))
