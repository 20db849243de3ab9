import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

import naive
from imtorque.evaluation import (
    covering,
    rand_index,
    region_scores,
    regions_from_ucm,
    summarise_regions,
    ucm_region_scores,
    variation_of_information,
)

labellings = arrays(np.int64, (4, 5), elements=st.integers(-2, 4))


@given(labellings, labellings)
def test_covering_and_rand_index_agree_with_their_definitions(segmentation, truth):
    assert_allclose(covering(segmentation, truth), naive.covering(segmentation, truth))
    assert_allclose(rand_index(segmentation, truth), naive.rand_index(segmentation, truth))


@given(labellings)
def test_a_segmentation_agrees_with_itself(labels):
    assert_allclose([covering(labels, labels), rand_index(labels, labels)], 1)
    assert_allclose(variation_of_information(labels, labels), 0, atol=1e-12)


@given(labellings, labellings, labellings)
def test_variation_of_information_is_a_metric(a, b, c):
    assert_allclose(variation_of_information(a, b), variation_of_information(b, a), atol=1e-9)
    through = variation_of_information(a, b) + variation_of_information(b, c)
    assert variation_of_information(a, c) <= through + 1e-9


@given(labellings, labellings)
def test_the_names_of_labels_do_not_matter(segmentation, truth):
    assert_allclose(covering(segmentation * 10**12, truth), covering(segmentation, truth))
    renamed = variation_of_information(7 - segmentation, truth)
    assert_allclose(renamed, variation_of_information(segmentation, truth), atol=1e-12)


def test_halves_against_quarters_by_hand():
    halves = np.repeat([[1, 1, 2, 2]], 4, axis=0)
    quarters = halves + 2 * (np.arange(4) // 2)[:, None]
    assert_allclose(covering(halves, quarters), 0.5)
    assert_allclose(covering(quarters, halves), 0.5)
    assert_allclose(variation_of_information(halves, quarters), 1)
    assert_allclose(rand_index(halves, quarters), 1 - 2 * 4 * 4 / 120)  # the pairs that only the halves join


def test_the_best_covering_takes_each_region_from_its_own_segmentation():
    truth = np.repeat([[1, 1, 2, 2]], 4, axis=0)
    left, right = truth.copy(), truth.copy()
    left[:2, 2:] = 3
    right[:2, :2] = 3
    scores = region_scores([left, right], [truth])
    assert_allclose(scores.covered / scores.area, [0.75, 0.75])
    assert scores.best_covered == scores.area


def test_summary_weighs_coverings_by_area_and_the_rest_by_image():
    small, large = np.array([[1, 2]]), np.ones((10, 10), dtype=int)
    scores = [region_scores([np.array([[1, 1]])], [small]), region_scores([large], [large])]
    summary = summarise_regions(scores)
    assert_allclose(summary.covering_ods, (1 + 100) / 102)
    assert_allclose(summary.pri_ods, 0.5)
    assert_allclose(summary.voi_ods, 0.5)


def test_contours_up_to_the_threshold_are_crossed():
    ucm = np.zeros((9, 9))
    ucm[4, :], ucm[:, 4] = 0.3, 0.6
    halves = np.repeat([[1, 1, 2, 2]], 4, axis=0)
    scores = ucm_region_scores(ucm, [halves], thresholds=[0.1, 0.3, 0.6])
    assert_allclose(scores.covered / scores.area, [0.5, 1, 0.5])


def test_refusals_say_what_must_hold():
    labels = np.ones((4, 4), dtype=int)
    with pytest.raises(ValueError, match=r"truth must have the segmentation's shape \(4, 4\), got \(3, 4\)"):
        covering(labels, labels[:3])
    with pytest.raises(TypeError, match="segmentation must hold integer labels, got float64"):
        covering(labels * 0.5, labels)
    with pytest.raises(ValueError, match="at least one segmentation, got none"):
        region_scores([labels], [])
    with pytest.raises(ValueError, match="at least one label map, got none"):
        region_scores([], [labels])
    with pytest.raises(ValueError, match=r"\(2 height \+ 1, 2 width \+ 1\)"):
        ucm_region_scores(np.zeros((8, 9)), [labels])
    with pytest.raises(ValueError, match="must share their thresholds"):
        summarise_regions([region_scores([labels], [labels]), region_scores([labels] * 2, [labels])])


@settings(max_examples=60, deadline=None)
@given(height=st.integers(1, 6), width=st.integers(1, 7), seed=st.integers(0, 10_000), on_pixels=st.booleans())
def test_regions_of_all_thresholds_are_those_of_each(height, width, seed, on_pixels):
    rng = np.random.default_rng(seed)
    ucm = np.round(rng.random((2 * height + 1, 2 * width + 1)) * rng.integers(0, 2, (2 * height + 1, 2 * width + 1)), 1)
    if not on_pixels:
        ucm[1::2, 1::2] = 0
    truths = [rng.integers(0, 3, (height, width)) for _ in range(2)]
    levels = [0.1, 0.3, 0.35, 0.8]
    found = ucm_region_scores(ucm, truths, thresholds=levels)
    each = region_scores([regions_from_ucm(ucm, level) for level in levels], truths, thresholds=levels)
    for name in ("thresholds", "covered", "best_covered", "area", "rand_index", "variation_of_information"):
        assert_allclose(getattr(found, name), getattr(each, name), atol=1e-12)
