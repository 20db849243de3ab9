import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

import naive
from imtorque.evaluation import (
    auc_borji,
    auc_judd,
    auc_shuffled,
    cc,
    centre_prior,
    fixated_region,
    fixation_density,
    fixation_scores,
    information_gain,
    kl_divergence,
    nss,
    sim,
    summarise_fixations,
)

maps = arrays(float, (4, 5), elements=st.integers(0, 6))
places = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=6)


def values_at(saliency, fixations):
    return [saliency[y, x] for y, x in set(fixations)]


@given(maps, places)
def test_borji_is_the_probability_to_beat_a_random_pixel(saliency, fixations):
    y, x = zip(*fixations, strict=True)
    expected = naive.probability_above(values_at(saliency, fixations), saliency.ravel())
    assert_allclose(auc_borji(saliency, y, x), expected)


@given(maps, places, places)
def test_shuffled_is_the_probability_to_beat_the_other_fixations(saliency, fixations, others):
    (y, x), (other_y, other_x) = zip(*fixations, strict=True), zip(*others, strict=True)
    expected = naive.probability_above(values_at(saliency, fixations), [saliency[p] for p in others])
    assert_allclose(auc_shuffled(saliency, y, x, other_y=other_y, other_x=other_x), expected)


@given(maps, places)
def test_areas_do_not_change_with_a_rising_function_of_the_map(saliency, fixations):
    y, x = zip(*fixations, strict=True)
    for auc in (auc_judd, auc_borji):
        assert_allclose(auc(np.exp(saliency), y, x), auc(saliency, y, x))


def test_a_constant_map_scores_chance():
    flat, y, x = np.ones((6, 7)), [1, 2, 5], [3, 3, 6]
    assert auc_judd(flat, y, x) == auc_borji(flat, y, x) == 0.5
    assert auc_shuffled(flat, y, x, other_y=[0, 1], other_x=[0, 0]) == 0.5
    assert nss(flat, y, x) == cc(flat, fixation_density(y, x, (6, 7), sigma=1)) == 0
    assert_allclose(information_gain(flat, y, x, baseline=flat), 0)


def test_judd_without_ties_is_the_curve_of_the_published_code():
    rng = np.random.default_rng(0)
    saliency = rng.permutation(600).reshape(20, 30) / 600
    fixated = rng.choice(600, 25, replace=False)
    values = np.sort(saliency.ravel()[fixated])[::-1]
    above = [(saliency >= t).sum() for t in values]
    hits = np.arange(1, 26) / 25
    alarms = (np.array(above) - np.arange(1, 26)) / (600 - 25)
    expected = np.trapezoid(np.r_[0, hits, 1], np.r_[0, alarms, 1])
    assert_allclose(auc_judd(saliency, fixated // 30, fixated % 30), expected)


def test_judd_by_hand():
    saliency = np.array([[4.0, 3.0], [2.0, 1.0]])
    # Thresholds 4 and 2: (0, 1/2), (1/2, 1).
    assert_allclose(auc_judd(saliency, [0, 1], [0, 0]), 0.5 * (0.5 + 1) / 2 + 0.5)


def test_a_pixel_looked_at_twice_counts_once():
    saliency = np.arange(12.0).reshape(3, 4)
    once, twice = ([2, 0], [3, 0]), ([2, 0, 2, 2], [3, 0, 3, 3])
    for metric in (auc_judd, auc_borji, nss):
        assert metric(saliency, *twice) == metric(saliency, *once)


def test_nss_by_hand():
    saliency = np.array([[1.0, 3.0], [1.0, 3.0]])
    assert_allclose(nss(saliency, [0, 1, 1], [1, 1, 0]), 1 / 3)


def test_density_metrics_of_equal_maps():
    density = fixation_density([3.2, 8.0], [4.0, 9.7], (12, 15), sigma=2)
    assert_allclose(density.sum(), 1)
    assert_allclose([cc(3 * density, density), sim(3 * density, density)], 1)
    assert_allclose(kl_divergence(3 * density, density), 0, atol=1e-12)


def test_density_metrics_by_hand():
    saliency, density = [[1, 3]], [[3, 1]]
    assert_allclose(cc(saliency, density), -1)
    assert_allclose(sim(saliency, density), 0.5)
    assert_allclose(kl_divergence(saliency, density), 0.75 * np.log(3) - 0.25 * np.log(3))
    assert_allclose(information_gain(saliency, [0], [1], baseline=density), np.log2(3))


def test_the_density_peaks_at_a_single_fixation():
    density = fixation_density([4], [7], (11, 13), sigma=1.5)
    assert np.unravel_index(density.argmax(), density.shape) == (4, 7)
    assert_allclose(density[4, 8] / density[4, 7], np.exp(-0.5 / 1.5**2))


def test_the_centre_prior_is_symmetric_and_peaks_in_the_middle():
    prior = centre_prior((30, 41))
    assert_allclose(prior, prior[::-1, ::-1])
    assert prior.max() == 1
    assert prior[15, 20] == prior.max()


def test_region_of_one_fixation_is_the_disc_at_half_height():
    region = fixated_region([50], [60], (101, 121), sigma=10)
    radius = 10 * np.sqrt(2 * np.log(2))  # scaling to [0, 1] moves it by less than a pixel here
    assert_allclose(np.sqrt(region.sum() / np.pi), radius, atol=0.1)


def test_both_aggregations_of_f_by_hand():
    region = np.array([[True, False, False, False]])
    good = fixation_scores([[1.0, 0.0, 0.0, 0.0]], region)
    bad = fixation_scores([[0.0, 1.0, 0.0, 0.0]], region)
    assert good.f.max() == 1
    assert_allclose(bad.f.max(), 0.4)  # everything predicted: P = 1/4, R = 1
    summary = summarise_fixations([good, bad])
    assert_allclose(summary.f_per_image, 0.7)
    assert_allclose(summary.f, 0.5)  # above 0, mean P = mean R = 1/2; at 0, P = 1/4 and R = 1 give 0.4
    assert_array_equal(good.thresholds, np.arange(101) / 100)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nss(np.full((2, 2), np.nan), [0], [0]), "saliency must be finite"),
        (lambda: nss(np.ones((2, 2)), [], []), "not empty"),
        (lambda: nss(np.ones((2, 2)), [0], [2.6]), r"image of 2 x 2, got y = 0, x = 2.6 \(and 0 more\)"),
        (lambda: nss(np.ones((2, 2)), [0, 1], [0]), r"of one length .* got shapes \(2,\), \(1,\)"),
        (lambda: cc(np.ones((2, 2)), np.ones((2, 3))), r"one shape, got \(2, 2\) and \(2, 3\)"),
        (lambda: sim(-np.ones((2, 2)), np.ones((2, 2))), "saliency must be at least 0"),
        (lambda: auc_judd(np.ones((1, 1)), [0], [0]), "some pixel must be without a fixation"),
        (lambda: fixation_density([0], [0], (2, 2), sigma=0), "sigma must be above 0, got 0"),
        (lambda: fixation_scores(np.ones((2, 2)), np.ones((2, 2))), "region must be bool"),
        (lambda: summarise_fixations([]), "at least one image"),
    ],
)
def test_refusals_say_what_must_hold(call, message):
    with pytest.raises(ValueError, match=message):
        call()
