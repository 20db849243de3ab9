import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.ndimage import binary_dilation, gaussian_filter

import naive
from imtorque import Edges, _native, detect_edges, edges_from_map, gradient_edges, torque_map
from imtorque.edges.canny import automatic_thresholds
from imtorque.images import grey_image
from imtorque.synthetic import disc, paint, scene


@given(st.integers(0, 10_000), st.sampled_from([0.7, 1.0, 2**0.5, 2.5]), st.floats(0, 0.05), st.floats(0, 0.1))
def test_canny_is_the_definition(seed, sigma, low, extra):
    image = np.random.default_rng(seed).random((14, 17)).astype(np.float32)
    mask, gx, gy, margin = naive.canny(image.astype(float), sigma, low, low + extra)
    assume(margin > 1e-4)  # else float32 may decide otherwise
    edges = detect_edges(image, sigma=sigma, low=low, high=low + extra)
    assert_array_equal(edges.mask, mask)
    length = np.hypot(gx, gy)[mask]
    assert_allclose(edges.fx[mask], gy[mask] / length, atol=1e-4)
    assert_allclose(edges.fy[mask], -gx[mask] / length, atol=1e-4)


@pytest.mark.parametrize(
    "name", ["camera", "astronaut", "coins", "coffee", "chelsea", "page", "text", "moon", "rocket", "brick", "grass"]
)
def test_canny_agrees_with_scikit_image(name):
    data, feature = pytest.importorskip("skimage.data"), pytest.importorskip("skimage.feature")
    image = getattr(data, name)()
    low, high = 0.012, 0.03
    ours = detect_edges(image, sigma=2, low=low, high=high).mask
    # scikit-image's Sobel gradient is 8 times a unit one.
    grey = grey_image(image).astype(float)
    theirs = feature.canny(grey, sigma=2, low_threshold=8 * low, high_threshold=8 * high)
    near = np.ones((3, 3), bool)
    precision = np.mean(binary_dilation(theirs, near)[ours])
    recall = np.mean(binary_dilation(ours, near)[theirs])
    assert 2 * precision * recall / (precision + recall) >= 0.95


def test_canny_does_not_depend_on_threads_or_instruction_set():
    image = gaussian_filter(np.random.default_rng(0).random((150, 170)), 1)
    ref = detect_edges(image)
    _native.set_num_threads(5)
    again = detect_edges(image)
    _native.allow_avx2(False)
    try:
        baseline = detect_edges(image)
    finally:
        _native.allow_avx2(True)
    for edges in (again, baseline):
        assert_array_equal(edges.fx, ref.fx)
        assert_array_equal(edges.fy, ref.fy)


def test_the_force_has_the_brighter_side_on_its_right():
    image = np.zeros((9, 9))
    image[:, 5:] = 1  # bright on the right: with y down the force points up
    edges = detect_edges(image)
    assert np.all(edges.fy[edges.mask] < -0.99)
    assert_allclose(edges.fx[edges.mask], 0, atol=1e-6)


def test_an_edge_is_one_pixel_wide_and_lies_on_the_bright_side():
    image = np.zeros((20, 20))
    image[5:15, 5:15] = 1
    mask = detect_edges(image).mask
    assert_array_equal(np.flatnonzero(mask[10]), [5, 14])
    assert_array_equal(np.flatnonzero(mask[:, 10]), [5, 14])


def test_unit_forces_have_length_one_and_strength_forces_follow_the_gradient():
    image = scene("shapes")
    unit, strong = detect_edges(image), detect_edges(image, force="strength", strength_scale=0.1)
    assert_array_equal(unit.mask, strong.mask)
    assert_allclose(unit.strength[unit.mask], 1, atol=1e-6)
    assert_allclose(strong.fx[strong.mask] / strong.strength[strong.mask], unit.fx[unit.mask], atol=1e-5)
    twice = detect_edges(image, force="strength", strength_scale=0.2)
    assert_allclose(strong.strength, 2 * twice.strength, rtol=1e-5)
    assert np.quantile((own := detect_edges(image, force="strength")).strength[own.mask], 0.99) == pytest.approx(1)


def test_strength_of_an_image_without_edges_is_empty():
    assert not detect_edges(np.zeros((8, 8)), force="strength").mask.any()


def test_strength_scale_is_in_parts_of_the_value_range():
    image = scene("disc")
    small = detect_edges(image, force="strength", strength_scale=0.1)
    large = detect_edges(4095 * image, force="strength", strength_scale=0.1)
    assert_allclose(large.strength, small.strength, rtol=1e-4)
    given = detect_edges(1000 * image, force="strength", strength_scale=0.1, value_range=(0, 1000))
    assert_allclose(given.strength, small.strength, rtol=1e-4)


@pytest.mark.parametrize("name", ["low", "high"])
def test_a_threshold_that_no_pixel_reaches_is_refused_with_its_unit(name):
    with pytest.raises(ValueError, match=rf"{name} must be .* parts of the value range 0 to 255 per pixel, got 50"):
        detect_edges((200 * scene("disc")).astype(np.uint8), **{name: 50})


def test_eight_directions_are_multiples_of_45_degrees():
    edges = detect_edges(scene("disc"), directions=8)
    angle = np.arctan2(edges.fy[edges.mask], edges.fx[edges.mask]) / (np.pi / 4)
    assert_allclose(angle, np.round(angle), atol=1e-6)
    assert len(np.unique(np.round(angle) % 8)) == 8
    assert_allclose(edges.strength[edges.mask], 1, atol=1e-6)
    plain = detect_edges(scene("disc"))
    turn = edges.fx * plain.fx + edges.fy * plain.fy
    assert np.all(turn[edges.mask] >= np.cos(np.pi / 8) - 1e-6)


def test_length_correction_makes_the_torque_of_a_disc_its_area():
    image = paint(np.zeros((61, 61)), disc((61, 61), (30, 30), 20), 1.0)
    plain = torque_map(detect_edges(image), 43, patch="disk")[30, 30]
    whole = torque_map(detect_edges(image, length_correction=True), 43, patch="disk")[30, 30]
    area = 20**2 / 21**2
    assert plain < 0.9 * area
    assert whole == pytest.approx(area, rel=0.02)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float16, np.float32, np.float64])
def test_every_dtype_gives_the_same_edges(dtype):
    levels = np.round(scene("shapes") * 5) / 5
    image = (
        (levels * np.iinfo(dtype).max).round().astype(dtype) if np.dtype(dtype).kind == "u" else levels.astype(dtype)
    )
    assert_array_equal(detect_edges(image, low=0.01, high=0.02).mask, detect_edges(levels, low=0.01, high=0.02).mask)


def test_bool_images_count_as_black_and_white():
    image = scene("disc") > 0.5
    assert_array_equal(detect_edges(image).mask, detect_edges(image.astype(float)).mask)


def test_colour_is_taken_by_luminance_and_alpha_lies_over_white():
    rng = np.random.default_rng(0)
    colour = rng.integers(0, 256, (12, 14, 3), dtype=np.uint8)
    grey = colour @ [0.2125, 0.7154, 0.0721] / 255
    assert_allclose(grey_image(colour), grey, atol=1e-6)
    clear = np.dstack([colour, np.full((12, 14), 0, np.uint8)])
    assert_allclose(grey_image(clear), 1)
    solid = np.dstack([colour, np.full((12, 14), 255, np.uint8)])
    assert_allclose(grey_image(solid), grey, atol=1e-6)
    assert_allclose(grey_image(colour[:, :, :1]), colour[:, :, 0] / 255, atol=1e-6)


def test_quantile_thresholds_do_not_depend_on_the_range():
    image = gaussian_filter(np.random.default_rng(0).random((80, 90)), 1)
    ref = detect_edges(image, low=0.6, high=0.9, use_quantiles=True)
    assert_array_equal(detect_edges(1e5 * image - 3, low=0.6, high=0.9, use_quantiles=True).mask, ref.mask)
    magnitude = np.hypot(*_native.smoothed_gradient(grey_image(image), 2**0.5))
    assert magnitude[ref.mask].min() >= np.quantile(magnitude, 0.6)


def test_default_thresholds_follow_the_histogram_rule():
    image = gaussian_filter(np.random.default_rng(0).random((80, 90)), 1)
    magnitude = np.hypot(*_native.smoothed_gradient(grey_image(image), 2**0.5))
    counts = np.histogram(magnitude, bins=64, range=(0, magnitude.max()))[0]
    high = (np.flatnonzero(np.cumsum(counts) > 0.7 * magnitude.size)[0] + 1) / 64 * magnitude.max()
    assert_array_equal(detect_edges(image, low=0.4 * high, high=high).mask, detect_edges(image).mask)


@given(st.integers(0, 10_000), st.sampled_from([0.7, 2**0.5, 2.5]), st.sampled_from([np.uint8, np.uint16, np.float64]))
def test_the_automatic_thresholds_are_those_that_give_the_same_edges(seed, sigma, dtype):
    image = (np.random.default_rng(seed).random((23, 31)) * (1 if dtype is np.float64 else 250)).astype(dtype)
    low, high = automatic_thresholds(image, sigma)
    given_them, by_itself = detect_edges(image, sigma=sigma, low=low, high=high), detect_edges(image, sigma=sigma)
    assert_allclose(low, 0.4 * high)
    assert_array_equal(given_them.fx, by_itself.fx)
    assert_array_equal(given_them.fy, by_itself.fy)


def test_an_image_without_gradients_has_thresholds_of_zero():
    assert automatic_thresholds(np.full((9, 9), 7, np.uint8)) == (0, 0)


def test_gradient_edges_are_the_turned_gradient():
    image = np.random.default_rng(0).random((9, 11))
    edges = gradient_edges(image)
    gy, gx = np.gradient(image)
    assert_allclose(edges.fx, gy, atol=1e-6)
    assert_allclose(edges.fy, -gx, atol=1e-6)


class TestEdgesFromMap:
    def test_a_canny_map_with_its_image_gives_the_canny_forces(self):
        image = scene("shapes")
        edges = detect_edges(image)
        again = edges_from_map(edges.mask.astype(float), image=image)
        kept = again.mask
        assert kept.sum() > 0.9 * edges.mask.sum()
        assert not np.any(kept & ~edges.mask)
        assert_allclose(again.fx[kept], edges.fx[kept], atol=1e-4)
        assert_allclose(again.fy[kept], edges.fy[kept], atol=1e-4)

    def test_a_thick_map_is_thinned(self):
        image = paint(np.zeros((50, 50)), disc((50, 50), (25, 25), 12), 1.0)
        strength = np.hypot(*_native.smoothed_gradient(grey_image(image), 2.0))
        edges = edges_from_map(strength / strength.max(), image=image)
        assert np.count_nonzero(strength / strength.max() > 0.1) > 3 * edges.mask.sum()
        assert torque_map(edges, 27)[25, 25] > 0.5

    def test_given_orientation_is_the_direction_of_the_force(self):
        strength = np.zeros((9, 9))
        strength[4, 1:8] = 1
        edges = edges_from_map(strength, orientation=np.full((9, 9), np.pi))
        assert np.all(edges.fx[4, 2:7] == -1)
        assert_allclose(edges.fy[4, 2:7], 0, atol=1e-6)

    def test_the_image_turns_an_undirected_orientation_to_its_bright_side(self):
        image = np.zeros((9, 9))
        image[5:] = 1  # bright below: the force points right... with bright on its right
        strength = np.zeros((9, 9))
        strength[4, 1:8] = 1
        for angle in (0, np.pi):
            edges = edges_from_map(strength, image=image, orientation=np.full((9, 9), angle))
            assert np.all(edges.fx[4, 2:7] > 0.99)

    def test_depth_edges_make_nearer_objects_positive(self):
        depth = np.full((50, 50), 5.0)
        near = disc((50, 50), (25, 25), 12) > 0.5
        nearness = np.where(near, 3.0, 0.0)
        edges = edges_from_map(detect_edges(depth - nearness).mask.astype(float), image=nearness)
        assert torque_map(edges, 27)[25, 25] > 0.5

    def test_strength_forces_carry_the_map(self):
        image = scene("disc")
        strength = 0.5 * detect_edges(image).mask
        edges = edges_from_map(strength, image=image, force="strength")
        assert_allclose(edges.strength[edges.mask], 0.5, atol=1e-5)

    def test_nothing_is_an_edge_below_the_threshold(self):
        image = scene("disc")
        assert not edges_from_map(0.05 * detect_edges(image).mask, image=image).mask.any()


def test_edges_keep_a_read_only_view():
    fx = np.zeros((3, 4), np.float32)
    edges = Edges(fx, fx.copy())
    fx[0, 0] = 1  # the caller's array stays the caller's
    with pytest.raises(ValueError, match="read-only"):
        edges.fx[0, 0] = 2
