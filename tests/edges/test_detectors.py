"""pb, mPb, gPb: half-disc gradients, textons, oriented maps, spectral gradients."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.testing import assert_allclose, assert_array_equal

import naive_detectors as naive
from imtorque import _native
from imtorque.edges import RECIPES, OrientedMap, boundary_map, boundary_maps
from imtorque.edges.cues import Cue, combined_cues, each_cue, filled_in, smoothed_along
from imtorque.edges.spectral import contour_affinities, contour_eigenvectors
from imtorque.edges.textons import filter_answers, textons
from imtorque.images import CheckedImage
from strategies import assert_same_on_every_path


def step_image(height=48, width=64, angle=0.0):
    """A bright half-plane above a dark one, the line between them through the middle at this angle."""
    y, x = np.mgrid[:height, :width] - np.array([height / 2, width / 2])[:, None, None]
    return np.where(np.cos(angle) * y - np.sin(angle) * x < 0, 0.8, 0.2)


@settings(max_examples=15, deadline=None)
@given(
    arrays.arrays(np.uint8, st.tuples(st.integers(9, 14), st.integers(9, 14)), elements=st.integers(0, 5)),
    st.integers(1, 4),
    st.integers(0, 2),
    st.integers(1, 2),
)
def test_half_disc_gradients_are_those_of_the_definition(bins, radius, reach, step):
    found = _native.half_disc_gradients(bins, 6, radius, reach, step)
    assert_allclose(found, naive.half_disc_gradients(bins, 6, radius, reach, step), atol=1e-6)


def test_half_disc_gradients_do_not_depend_on_threads_or_vectors():
    bins = np.random.default_rng(0).integers(0, 25, (70, 90)).astype(np.uint8)
    assert_same_on_every_path(lambda: _native.half_disc_gradients(bins, 25, 5, 2, 1))


def test_bins_beyond_their_number_are_refused():
    with pytest.raises(ValueError, match="below count"):
        _native.half_disc_gradients(np.full((9, 9), 6, np.uint8), 6, 2, 0, 1)


def test_smoothing_along_keeps_a_constant():
    assert_allclose(smoothed_along(np.ones((8, 12, 15), np.float32), 5), np.ones((8, 12, 15)), atol=1e-5)


def test_the_sum_of_cues_is_the_sum_of_each():
    image = CheckedImage(np.random.default_rng(0).random((33, 41, 3)))
    cues, weightings = [Cue("brightness", 5), Cue("a", 5), Cue("texture", 10)], [[2.0, -1.0, 0.5], [0.0, 1.0, 3.0]]
    apart = np.tensordot(weightings, each_cue(image, cues), axes=1)
    assert_allclose(combined_cues(image, cues, weightings), apart, atol=1e-5)


def test_filters_do_not_answer_a_flat_image():
    assert_allclose(filter_answers(np.full((30, 40), 0.7, np.float32)), 0, atol=1e-6)


def test_textons_tell_stripes_from_dots():
    y, x = np.mgrid[:60, :80]
    image = np.where(x < 40, y // 3 % 2, (y // 3 + x // 3) % 2).astype(np.float32)
    found = textons(image)
    left, right = set(found[10:50, 10:30].ravel()), set(found[10:50, 50:70].ravel())
    assert len(left & right) < min(len(left), len(right))


@pytest.mark.parametrize("k", range(8))
@pytest.mark.parametrize("detector", ["pb", "mpb"])
def test_a_step_is_found_with_its_orientation(k, detector):
    found = boundary_map(step_image(angle=np.pi * k / 8), detector)
    thinned = found.thinned()[20:29, 28:37]
    at = np.unravel_index(thinned.argmax(), thinned.shape)
    assert found.angle[20:29, 28:37][at] == pytest.approx(np.pi * k / 8)
    assert thinned[at] > 0.25


def test_grey_and_equal_channels_give_one_map():
    grey = np.random.default_rng(0).random((30, 40))
    coloured = np.repeat(grey[:, :, None], 3, axis=2)
    assert_allclose(boundary_map(grey, "pb").strength, boundary_map(coloured, "pb").strength, atol=2e-3)


def test_a_flat_image_has_no_likely_boundary():
    for detector in ("pb", "mpb", "gpb"):
        assert boundary_map(np.full((20, 30), 0.5), detector).strength.max() < 0.1


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (2, 3), (5, 4)])
def test_tiny_images_have_maps_of_their_size(shape):
    for detector in ("pb", "mpb", "gpb"):
        assert boundary_map(np.ones(shape), detector).shape == shape


def test_an_unknown_detector_is_refused():
    with pytest.raises(ValueError, match="detector must be one of pb, mpb, gpb, sketch-tokens, network, got 'hed'"):
        boundary_map(np.ones((5, 5)), "hed")


def test_strengths_outside_0_to_1_are_refused():
    with pytest.raises(ValueError, match=r"strengths must lie in \[0, 1\], got 0 to 2"):
        OrientedMap(np.stack([np.zeros((3, 3)), np.full((3, 3), 2.0)]))


def test_a_map_with_angles_keeps_its_strength_and_angle():
    found = OrientedMap.from_map(np.full((4, 5), 0.5), np.full((4, 5), np.pi / 4))
    assert_allclose(found.strength, 0.5)
    assert_allclose(found.angle, np.pi / 4, atol=1e-6)


def test_affinities_are_symmetric_and_fall_across_a_contour():
    thinned = np.zeros((9, 11), np.float32)
    thinned[:, 5] = 0.5
    weights = contour_affinities(thinned).toarray()
    assert_array_equal(weights, weights.T)
    across, along = weights[4 * 11 + 3, 4 * 11 + 6], weights[4 * 11 + 6, 4 * 11 + 9]
    assert_allclose([across, along], [np.exp(-5), 1], rtol=1e-6)


def test_the_first_eigenvector_tells_the_sides_of_a_contour():
    thinned = np.zeros((12, 20), np.float32)
    thinned[:, 9] = 0.7
    values, vectors = contour_eigenvectors(thinned, 3)
    left, right = vectors[0][:, :9], vectors[0][:, 9:]
    assert values[0] > 0
    assert np.abs(left.mean() - right.mean()) > 5 * max(left.std(), right.std())


def test_eigenvectors_of_large_images_are_solved_for_at_a_smaller_size(monkeypatch):
    monkeypatch.setattr(boundary_maps, "MAX_NODES", 300)
    local = np.full((8, 50, 61), -4, np.float32)
    local[4, :, 30] = 3
    found = boundary_maps.spectral_of(local)
    assert found.shape == (8, 50, 61)
    assert found[4, 25, 26:34].max() > 1 + found[4, 25, 5:20].max()  # logarithms


def test_maps_are_filled_in_between_the_pixels_that_are_known():
    rows = filled_in(np.array([[[0.0], [3.0]]], np.float32), 3, (5, 2))
    assert_allclose(rows[0, :, 0], [0, 1, 2, 3, 3], atol=1e-6)
    assert_array_equal(rows[0, :, 0], rows[0, :, 1])


def test_gpb_gives_the_same_bits_again():
    image = np.random.default_rng(0).random((30, 40))
    assert_array_equal(boundary_map(image, "gpb").strengths, boundary_map(image, "gpb").strengths)


@pytest.mark.parametrize("name", ["pb", "mpb", "gpb", "ucm"])
def test_edges_of_a_recipe_point_along_the_step_with_the_brighter_side_on_the_right(name):
    edges = RECIPES[name].edges(step_image())
    column = edges.fx[20:28, 32]
    at = np.abs(column).argmax()
    # The upper side is brighter: on the right of a force that points to the left, y down.
    assert column[at] < 0
    assert abs(edges.fy[20 + at, 32]) < 0.5 * abs(column[at])
