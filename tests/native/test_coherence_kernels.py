import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

import naive
from imtorque import Edges, _native, torque_map
from strategies import exact_fields, odd_sizes


@given(exact_fields(), odd_sizes)
def test_kernels_are_their_definitions(edges, size):
    tau = torque_map(edges, size)
    coherence = tau.copy()
    _native.divide_by_mass(edges.field, size // 2, coherence)
    assert_allclose(coherence, naive.torque_coherence(edges.fx, edges.fy, size), atol=2e-5)
    total = np.full(edges.shape, 3.0)
    _native.add_coherent_votes(edges.field, np.array([size // 2]), tau[None], total)
    assert_array_equal(tau, coherence)
    assert_allclose(total - 3, naive.dense_contribution(edges.fx, edges.fy, [size]), atol=2e-5)


@pytest.mark.parametrize("shape", [(1, 200), (200, 1), (130, 67)])
def test_patches_larger_than_the_image_and_several_bands_of_rows(shape):
    rng = np.random.default_rng(0)
    fx, fy = (rng.normal(size=shape).astype(np.float32) for _ in range(2))
    uniform = np.ones(shape, np.float32)
    _native.divide_by_mass(Edges(fx, fy).field, 500_000, uniform)
    assert_allclose(uniform, uniform[0, 0], rtol=1e-6)  # every patch holds the whole image
    total = np.zeros(shape)
    _native.add_coherent_votes(Edges(fx, fy).field, np.array([500_000]), np.ones((1, *shape), np.float32), total)
    assert np.all(np.isfinite(total))


def test_planes_of_other_shapes_are_refused():
    plane, other = np.zeros((3, 4), np.float32), np.zeros((4, 3), np.float32)
    with pytest.raises(ValueError, match="differ"):
        _native.divide_by_mass(Edges(plane, plane).field, 1, other)
    with pytest.raises(ValueError, match="differ"):
        _native.add_coherent_votes(Edges(plane, plane).field, np.array([1]), other[None], np.zeros((3, 4)))
    with pytest.raises(ValueError, match="differ"):
        _native.add_coherent_votes(Edges(plane, plane).field, np.array([1]), plane[None], np.zeros((4, 3)))
    with pytest.raises(ValueError, match="range"):
        _native.add_coherent_votes(Edges(plane, plane).field, np.array([-1]), plane[None], np.zeros((3, 4)))
