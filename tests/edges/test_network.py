"""The network that finds boundaries: its kernel, its layers without torch, and the file it is kept in."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import naive_detectors as naive
from imtorque import Edges, _native, torque_volume
from imtorque.edges import RECIPES, BoundaryNetwork, boundary_map
from imtorque.edges.network import SIZES, ridges, turning
from random_network import random_network
from strategies import assert_same_on_every_path


def layer(seed, shape, side):
    """Planes and a layer's weights: planes, weight, bias, added."""
    rng, (channels, outputs, height, width) = np.random.default_rng(seed), shape
    planes, added = rng.normal(size=(channels, height, width)), rng.normal(size=(outputs, height, width))
    parts = planes, rng.normal(size=(outputs, channels, side, side)), rng.normal(size=outputs), added
    return tuple(part.astype(np.float32) for part in parts)


@given(
    st.integers(0, 1000),
    st.tuples(st.integers(1, 3), st.integers(1, 6), st.integers(1, 6), st.integers(1, 20)),
    st.sampled_from([1, 3]),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_a_layer_is_the_convolution_of_the_definition(seed, shape, side, adds, rectified):
    *given_, added = layer(seed, shape, side)
    args = *given_, added if adds else None, rectified
    assert_allclose(_native.convolve_planes(*args), naive.convolve_planes(*args), atol=1e-5)


@pytest.mark.parametrize("side", [1, 3])
def test_a_layer_does_not_depend_on_threads_or_vectors(side):
    assert_same_on_every_path(lambda: _native.convolve_planes(*layer(0, (9, 10, 61, 75), side), True))


def test_layers_that_do_not_fit_are_refused():
    planes, weight, bias, added = layer(0, (3, 4, 5, 6), 3)
    for args in (
        (planes[:2], weight, bias, None),
        (planes, weight, bias[1:], None),
        (planes, weight[..., :2], bias, None),
    ):
        with pytest.raises(ValueError, match="do not belong together"):
            _native.convolve_planes(*args, True)
    with pytest.raises(ValueError, match="added must have the shape of the result"):
        _native.convolve_planes(planes, weight, bias, added[1:], True)


def test_turning_is_the_torque_of_a_field_and_of_that_turned_by_a_quarter():
    fx, fy, gx, gy = np.random.default_rng(0).uniform(-1, 1, (4, 70, 80)).astype(np.float32)
    found = turning(np.stack([fx, fy, gx, gy])).reshape(len(SIZES), 4, 70, 80)
    for k, (x, y) in enumerate(((fx, fy), (gx, gy), (-fy, fx), (-gy, gx))):
        assert_allclose(found[:, k], torque_volume(Edges(x, y), SIZES).tau, atol=1e-3)


@pytest.mark.parametrize("k", range(8))
def test_ridges_have_the_angle_of_a_line(k):
    y, x = np.mgrid[-20:21, -20:21]
    angle = np.pi * k / 8
    line = np.exp(-((np.cos(angle) * y - np.sin(angle) * x) ** 2) / 4).astype(np.float32)
    assert ridges(line).angle[20, 20] == pytest.approx(angle)


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (5, 4), (33, 18), (16, 64)])
def test_maps_have_the_size_of_the_image(shape):
    assert random_network(0)(np.ones(shape)).shape == shape


def test_grey_and_equal_channels_give_one_map():
    grey = np.random.default_rng(0).random((30, 40))
    network, coloured = random_network(0), np.repeat(grey[:, :, None], 3, axis=2)
    assert_allclose(network(grey).strength, network(coloured).strength, atol=1e-6)


def test_the_odds_at_several_scales_are_their_geometric_mean():
    network, colours = random_network(0), np.random.default_rng(0).random((3, 32, 48))
    fine, coarse, both = (network.likely(colours, scales) for scales in ([1.0], [0.5], [1.0, 0.5]))
    assert_allclose(fine, network.answer(colours), atol=1e-6)
    assert np.ptp(fine) > 0.02
    assert_allclose((both / (1 - both)) ** 2, fine / (1 - fine) * coarse / (1 - coarse), rtol=1e-4)


def test_a_saved_network_gives_the_same_map(tmp_path):
    network, image = random_network(0), np.random.default_rng(0).random((30, 40))
    loaded = BoundaryNetwork.load(network.save(tmp_path / "kept.npz"))
    assert_array_equal(loaded(image).strengths, network(image).strengths)


def test_a_file_of_other_layers_is_refused(tmp_path):
    network = random_network(0)
    for settings_, told in (
        ({"widths": [3, 4, 4, 5, 6]}, "weights, not"),
        ({"widths": [3, 4]}, "not 5 counts from 1 to 512"),
        ({"depths": [1, 1, 1, 2**40, 1]}, "not 5 counts from 1 to 16"),
        ({"context": "box"}, "a context of box, not torque"),
    ):
        about = {"settings": network.about["settings"] | settings_}
        path = BoundaryNetwork(network.weights, about).save(tmp_path / "other.npz")
        with pytest.raises(
            ValueError, match=rf"other.npz: must be a network of this version; train it again, got: .*{told}"
        ):
            BoundaryNetwork.load(path)


def test_the_kept_network_is_a_detector_and_a_recipe(tmp_path, monkeypatch):
    monkeypatch.setenv("IMTORQUE_CACHE", str(tmp_path))
    network, image = random_network(0), np.random.default_rng(0).random((30, 40, 3))
    network.save(tmp_path / "network.npz")
    assert_array_equal(boundary_map(image, "network").strengths, network(image).strengths)
    edges = RECIPES["network"].edges(image)
    assert np.count_nonzero(edges.mask) > 0
    assert np.hypot(edges.fx, edges.fy).max() <= network(image).strength.max() + 1e-6


def test_without_a_network_it_is_said_what_to_run(tmp_path, monkeypatch):
    monkeypatch.setenv("IMTORQUE_CACHE", str(tmp_path))
    with pytest.raises(ValueError, match="must be trained first, by imtorque data train network --data BSDS; got no"):
        boundary_map(np.zeros((9, 9)), "network")
