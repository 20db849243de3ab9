"""Saliency against its definitions, on scenes whose answer is known, and by what must hold for any image."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

import imtorque as it
import naive
from imtorque import saliency, synthetic
from imtorque.core.resizing import resize
from imtorque.images import CheckedImage, lab, rgb_image
from imtorque.saliency.boolean_maps import surrounded, whitened
from imtorque.saliency.gbvs import gbvs_master_map, stationary_mass
from imtorque.saliency.itti import itti_master_map, raise_lone_peaks
from imtorque.saliency.maps import unit_range
from imtorque.saliency.signature import reconstruction

METHODS = {
    "gbvs": it.gbvs_saliency,
    "itti": it.itti_saliency,
    "torque": it.torque_saliency,
    "torque-paper": lambda image: it.torque_saliency(image, form="paper"),
    "edge-density": saliency.edge_density_saliency,
    "boolean": saliency.boolean_saliency,
    "signature": saliency.signature_saliency,
}
MASTERS = {
    "gbvs": lambda rgb: gbvs_master_map(as_image(rgb)),
    "itti": lambda rgb: itti_master_map(as_image(rgb), (2, 3), (2,)),
}


def as_image(rgb):
    return CheckedImage(np.moveaxis(rgb, 0, 2), (0, 1))


small_maps = hnp.arrays(np.float64, st.tuples(st.integers(1, 9), st.integers(1, 9)), elements=st.floats(0, 1, width=16))


def noise(height, width, seed=0):
    return np.random.default_rng(seed).random((height, width, 3))


def discs(odd, colours, shape=(160, 208)):
    """Discs on grey ground, one of them in the second colour."""
    image = np.full((*shape, 3), 0.5)
    for k, (row, column) in enumerate((r, c) for r in range(3) for c in range(4)):
        cover = synthetic.disc(shape, place(row, column), 9)[:, :, None]
        image = image * (1 - cover) + np.array(colours[k == odd]) * cover
    return image


def bars(odd, shape=(160, 208)):
    """White bars on black ground, one of them across the others."""
    image = np.zeros(shape)
    for k, (row, column) in enumerate((r, c) for r in range(3) for c in range(4)):
        y, x = place(row, column)
        tall, wide = (3, 11) if k == odd else (11, 3)
        image[y - tall : y + tall + 1, x - wide : x + wide + 1] = 1
    return image


def place(row, column):
    return 35 + 45 * row, 36 + 45 * column


def most_salient(image, method):
    return np.unravel_index(METHODS[method](image).argmax(), image.shape[:2])


# Against the definition


@pytest.mark.slow
def test_gbvs_agrees_with_its_definition():
    image = noise(24, 40)
    assert_allclose(it.gbvs_saliency(image), naive.gbvs(np.moveaxis(image, 2, 0)), atol=1e-6)


def test_itti_agrees_with_its_definition():
    image = noise(48, 72)
    assert_allclose(it.itti_saliency(image), naive.itti(np.moveaxis(image, 2, 0)), atol=1e-6)


@given(hnp.arrays(bool, st.tuples(st.integers(1, 12), st.integers(1, 12))))
def test_what_is_surrounded_agrees_with_its_definition(mask):
    assert_array_equal(surrounded(mask), naive.surrounded(mask))


@pytest.mark.slow
def test_boolean_maps_agree_with_their_definition():
    image = np.stack([np.kron(plane, np.ones((5, 5))) for plane in np.moveaxis(noise(4, 5), 2, 0)], axis=2)
    planes = whitened(lab(np.moveaxis(image, 2, 0)))
    sigma = 20 * 20 / 150
    assert_allclose(saliency.boolean_saliency(image, value_range=(0, 1)), naive.boolean_map(planes, sigma), atol=1e-9)


@given(st.integers(0, 999))
def test_whitened_planes_are_independent_and_those_that_say_nothing_are_left_out(seed):
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(3, 3))
    assume(np.linalg.cond(weights) < 50)  # else one of the three says next to nothing, and is left out
    mixed = np.tensordot(weights, rng.normal(size=(3, 20, 20)), 1)
    found = whitened(mixed).reshape(3, -1)
    assert_allclose(np.corrcoef(found), np.eye(3), atol=1e-6)
    assert len(whitened(np.stack([mixed[0], np.zeros((20, 20))]))) == 1
    assert len(whitened(np.full((3, 20, 20), 0.7))) == 0


@given(hnp.arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 8)), elements=st.integers(-9, 9)))
def test_the_signatures_agree_with_their_definition(plane):
    assert_allclose(reconstruction(plane / 9), naive.signature(plane / 9), atol=1e-9)


@settings(max_examples=20)
@given(st.integers(3, 8), st.integers(3, 8), st.integers(0, 999))
def test_the_walks_mass_is_where_its_steps_lead(height, width, seed):
    activity = np.random.default_rng(seed).random((height, width))
    assert_allclose(stationary_mass(activity), naive.walk(activity), atol=1e-9)


@given(small_maps)
def test_the_walks_mass_sums_to_1(activity):
    mass = stationary_mass(activity)
    assert mass.min() >= 0
    assert_allclose(mass.sum(), 1)


@given(small_maps, st.integers(1, 20), st.integers(1, 20))
def test_resizing_agrees_with_its_definition(values, height, width):
    assert_allclose(resize(values, (height, width)), naive.resized(values, (height, width)), atol=1e-12)


@given(small_maps)
def test_lone_peaks_agree_with_their_definition(values):
    assert_allclose(raise_lone_peaks(values), naive.lone_peaks(values), atol=1e-9)


def test_torque_saliency_in_the_papers_form_is_gaussians_around_the_strongest_extrema():
    image = synthetic.scene("shapes", (60, 90))
    edges = it.detect_edges(image, sigma=2)
    extrema = it.find_extrema(edges, sizes=range(3, 34, 2), count=40)
    expected = naive.torque_saliency(extrema.y, extrema.x, np.abs(extrema.value), edges.shape, 25 * 60 / 150)
    assert_allclose(it.torque_saliency(image, form="paper", count=40), expected, atol=1e-6)


def test_extrema_count_by_what_weight_says():
    image = synthetic.scene("shapes", (60, 90))
    extrema = it.find_extrema(it.detect_edges(image, sigma=2), sizes=range(3, 34, 2), count=30)
    coherence = [
        it.torque_coherence(it.detect_edges(image, sigma=2), int(s))[y, x]
        for y, x, s in zip(extrema.y, extrema.x, extrema.size, strict=True)
    ]
    strength = np.abs(extrema.value)
    for weight, factor in (("one", 1 / strength), ("size", extrema.size), ("coherence", np.abs(coherence))):
        found = it.torque_saliency(image, form="paper", count=30, weight=weight)
        assert_allclose(found, naive.torque_saliency(extrema.y, extrema.x, strength * factor, (60, 90), 10), atol=0.01)


def test_patches_that_leave_the_image_can_be_left_out():
    image = synthetic.scene("shapes", (60, 90))
    extrema = it.find_extrema(it.detect_edges(image, sigma=2), sizes=range(3, 34, 2))
    reach = extrema.size // 2
    fits = (extrema.y >= reach) & (extrema.x >= reach) & (extrema.y + reach < 60) & (extrema.x + reach < 90)
    chosen = extrema[fits][:50]
    expected = naive.torque_saliency(chosen.y, chosen.x, np.abs(chosen.value), (60, 90), 10)
    assert not fits[:50].all()
    assert_allclose(it.torque_saliency(image, form="paper", count=50, inside=True), expected, atol=1e-6)


# Scenes with known answers


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("centre", [(40, 50), (70, 120)])
def test_a_lone_bright_spot_is_the_most_salient_place(method, centre):
    y, x = most_salient(synthetic.disc((110, 160), centre, 6), method)
    assert math.dist((y, x), centre) < 12


@pytest.mark.parametrize("method", ["gbvs", "itti"])
@pytest.mark.parametrize("odd", [5, 6])
def test_a_disc_of_another_colour_pops_out(method, odd):
    image = discs(odd, ([0.3, 0.6, 0.3], [0.9, 0.2, 0.2]))
    assert math.dist(most_salient(image, method), place(*divmod(odd, 4))) < 16


@pytest.mark.parametrize("method", ["itti", "gbvs"])
@pytest.mark.parametrize("odd", [5, 6])
def test_a_bar_across_the_others_pops_out(method, odd):
    found = METHODS[method](bars(odd))
    items = [found[y - 14 : y + 15, x - 14 : x + 15].mean() for y, x in (place(*divmod(k, 4)) for k in (5, 6))]
    assert items[odd - 5] > 1.1 * items[6 - odd]


# What holds for any image


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", [(64, 48), (150, 200), (97, 131), (211, 45)])
def test_maps_are_finite_within_0_and_1_and_of_the_images_size(method, shape):
    found = METHODS[method](noise(*shape))
    assert found.shape == shape
    assert found.min() == 0
    assert found.max() == 1


@pytest.mark.parametrize("master", MASTERS)
def test_flat_images_stay_flat_before_borders_are_attenuated(master):
    found = MASTERS[master](np.full((3, 48, 64), 0.3))
    assert_allclose(found, found[0, 0], rtol=1e-9)


@pytest.mark.parametrize("master", MASTERS)
def test_mirrors_and_quarter_turns_commute_with_the_master_map(master):
    rgb = np.moveaxis(noise(64, 80), 2, 0)
    upright = MASTERS[master](rgb)
    assert_allclose(MASTERS[master](rgb[:, :, ::-1]), upright[:, ::-1], rtol=1e-6)
    assert_allclose(MASTERS[master](rgb[:, ::-1]), upright[::-1], rtol=1e-6)
    assert_allclose(MASTERS[master](np.rot90(rgb, axes=(1, 2))), np.rot90(upright), rtol=1e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("value", [0, 0.3, 1])
def test_nothing_is_salient_in_a_constant_image(method, value):
    assert_array_equal(METHODS[method](np.full((64, 96, 3), value, dtype=float)), 0)


@pytest.mark.parametrize("method", METHODS)
def test_grey_is_colour_of_equal_channels(method):
    grey = (255 * noise(64, 96)[:, :, 0]).astype(np.uint8)
    assert_allclose(METHODS[method](grey), METHODS[method](np.stack([grey] * 3, axis=2)), atol=2e-3)


@pytest.mark.parametrize("method", METHODS)
def test_bytes_words_and_floats_of_one_image_are_one_image(method):
    bytes_ = (255 * noise(64, 96)).astype(np.uint8)
    expected = METHODS[method](bytes_)
    assert_allclose(METHODS[method](bytes_.astype(np.uint16) * 257), expected, atol=1e-5)
    assert_allclose(METHODS[method](bytes_ / 255), expected, atol=1e-5)


def test_transparent_places_are_white():
    image = np.zeros((2, 2, 4), np.uint8)
    image[0, 0] = (255, 0, 0, 255)
    assert_array_equal(rgb_image(image)[:, 0, 0], [1, 0, 0])
    assert_array_equal(rgb_image(image)[:, 1, 1], [1, 1, 1])


def test_lab_of_white_black_and_red():
    planes = lab(np.array([[[1.0, 0, 1]], [[1, 0, 0]], [[1, 0, 0]]]))
    assert_allclose(planes[:, 0, 0], [1, 0, 0], atol=1e-6)
    assert_allclose(planes[:, 0, 1], 0, atol=1e-12)
    assert_allclose(planes[:, 0, 2], [0.5324, 0.8009, 0.6720], atol=1e-3)


def test_a_large_image_is_as_salient_as_the_same_shrunk():
    image = synthetic.scene("shapes", (150, 225))
    large = image.repeat(4, axis=0).repeat(4, axis=1)
    assert_allclose(it.torque_saliency(large)[2::4, 2::4], it.torque_saliency(image), atol=0.1)


def test_strips_are_taken_too():
    assert it.torque_saliency(noise(24, 1500)[:, :, 0]).shape == (24, 1500)
    assert it.gbvs_saliency(noise(24, 400)).shape == (24, 400)


# Blends, baselines and paths


def test_a_blend_is_the_weighted_sum_of_maps_scaled_to_0_and_1():
    a, b = noise(5, 6)[:, :, 0], 7 + 3 * noise(5, 6, 1)[:, :, 0]
    expected = 0.7 * naive.to_unit(a) + 0.3 * naive.to_unit(b)
    assert_allclose(it.blend_saliency([a, b], [0.7, 0.3]), naive.to_unit(expected))
    assert_allclose(it.blend_saliency([a, b], [7, 3]), naive.to_unit(expected))
    assert_allclose(it.blend_saliency([a, b], [1, 0]), naive.to_unit(a))


def test_the_centre_is_the_middle_of_the_image():
    centre = saliency.centre_saliency(np.zeros((31, 41)))
    assert np.unravel_index(centre.argmax(), centre.shape) == (15, 20)


def test_a_path_goes_to_the_peaks_in_order_and_does_not_return():
    peaks = [((20, 20), 1.0), ((20, 80), 0.9), ((60, 50), 0.8)]
    total = sum(height * synthetic.disc((80, 100), centre, 3) for centre, height in peaks)
    y, x = it.scan_path(total, 3, sigma=8)
    for k, (centre, _) in enumerate(peaks):
        assert math.dist((y[k], x[k]), centre) <= 3


@given(small_maps, st.integers(0, 12))
def test_a_path_visits_no_place_twice(values, count):
    y, x = it.scan_path(values, count)
    assert len(y) == len(x) <= count
    assert len(set(zip(y.tolist(), x.tolist(), strict=True))) == len(y)


def test_equally_salient_places_are_visited_from_the_middle():
    values = np.zeros((9, 9))
    values[0, 0] = values[4, 5] = values[8, 8] = 1
    assert [place.tolist() for place in it.scan_path(values, 1)] == [[4], [5]]


@given(small_maps)
def test_the_range_of_a_map_is_0_to_1_or_nothing(values):
    scaled = unit_range(values)
    assert (scaled.min(), scaled.max()) in ((0, 1), (0, 0))


BAD = {
    "too small for GBVS": (lambda: it.gbvs_saliency(noise(21, 300)), "at least 22 pixels for GBVS, got 21 x 300"),
    "too small for Itti": (lambda: it.itti_saliency(noise(300, 39)), "at least 40 pixels for Itti's map, got 300 x 39"),
    "no centres": (lambda: it.itti_saliency(noise(90, 90), centres=()), "centres and deltas must be levels"),
    "form": (lambda: it.torque_saliency(noise(9, 9), form="good"), "form must be .* got 'good'"),
    "weight": (lambda: it.torque_saliency(noise(9, 9), weight="all"), "weight must be one of .* got 'all'"),
    "count": (lambda: it.torque_saliency(noise(9, 9), count=0), "count must be at least 1, got 0"),
    "sigma": (lambda: it.torque_saliency(noise(9, 9), sigma=0), "sigma must be positive, got 0"),
    "NaN image": (lambda: it.gbvs_saliency(np.full((99, 99), np.nan)), "image must be finite"),
    "two channels": (lambda: it.itti_saliency(np.zeros((99, 99, 2))), "grey .* or colour"),
    "spread": (lambda: saliency.centre_saliency(noise(9, 9), spread=0), "spread must be positive, got 0"),
    "edge sigma": (lambda: saliency.edge_density_saliency(noise(9, 9), sigma=-1), "sigma must be positive, got -1"),
    "no maps": (lambda: it.blend_saliency([], []), "at least one map, got 0 maps"),
    "weights": (lambda: it.blend_saliency([np.eye(3)], [0.7, 0.3]), "one for each .* got 1 maps"),
    "negative weight": (lambda: it.blend_saliency([np.eye(3)] * 2, [1, -1]), "not negative and not all 0"),
    "zero weights": (lambda: it.blend_saliency([np.eye(3)] * 2, [0, 0]), "not all 0, got"),
    "shapes": (lambda: it.blend_saliency([np.eye(3), np.eye(4)], [1, 1]), r"one shape, got \(3, 3\), \(4, 4\)"),
    "NaN map": (lambda: it.blend_saliency([np.full((2, 2), np.nan)], [1]), r"maps\[0\] must be finite"),
    "path of a line": (lambda: it.scan_path([1, 2, 3], 1), r"shape \(H, W\)"),
    "path length": (lambda: it.scan_path(np.eye(3), -1), "count must not be negative, got -1"),
    "path sigma": (lambda: it.scan_path(np.eye(3), 1, sigma=0), "sigma must be positive, got 0"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused(case):
    call, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        call()


def test_tiny_images_have_torque_saliency():
    for shape in ((1, 1), (2, 3), (9, 9)):
        assert np.isfinite(it.torque_saliency(noise(*shape))).all()
