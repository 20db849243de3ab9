import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from imtorque.evaluation import (
    BoundaryScores,
    boundary_scores,
    contours_from_ucm,
    regions_from_ucm,
    segmentation_boundary,
    segmentation_boundary_scores,
    summarise_boundaries,
)


def square(side=40):
    """The outline of a square without its corners, which thinning would take."""
    image = np.zeros((60, 80), dtype=bool)
    image[11 : 10 + side - 1, [20, 20 + side - 1]] = True
    image[[10, 10 + side - 1], 21 : 20 + side - 1] = True
    return image


def scores(matched_truth, total_truth, matched_prediction, total_prediction):
    n = len(matched_truth)
    counts = (np.array(c) for c in (matched_truth, [total_truth] * n, matched_prediction, total_prediction))
    return BoundaryScores(np.arange(1, n + 1) / (n + 1), *counts)


def test_the_truth_itself_scores_one():
    result = boundary_scores(square(), [square()], thresholds=3)
    assert_array_equal(result.f, 1)


def test_recall_sums_over_annotators_and_precision_takes_any_of_them():
    left, right = square(), np.zeros_like(square())
    left[:, 50:] = False
    right[5, 10:30] = True
    result = boundary_scores(left, [left, right], thresholds=[0.5])
    assert_array_equal(result.precision, 1)
    assert_allclose(result.recall, left.sum() / (left.sum() + right.sum()))


def test_a_pixel_can_be_matched_only_once():
    thick = np.zeros((100, 100), dtype=bool)
    thick[50:52, 20:80] = True
    line = np.zeros_like(thick)
    line[50, 20:80] = True
    result = boundary_scores(thick, [line], thresholds=[0.5], thinning=False)
    assert result.matched_prediction == 60
    assert_allclose(result.precision, 0.5)


def test_a_value_equal_to_the_threshold_counts():
    prediction = np.where(square(), np.uint8(85), np.uint8(0))
    result = boundary_scores(prediction, [square()], thresholds=[85 / 255, np.nextafter(85 / 255, 1)])
    assert_array_equal(result.matched_truth, [square().sum(), 0])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_integers_are_scaled_by_their_range(dtype):
    prediction = square() * dtype(np.iinfo(dtype).max)
    assert_array_equal(boundary_scores(prediction, [square()], thresholds=4).f, 1)


@given(arrays(np.uint8, (12, 12)), arrays(bool, (12, 12)))
def test_counts_at_a_threshold_do_not_depend_on_the_other_thresholds(prediction, truth):
    together = boundary_scores(prediction, [truth], thresholds=[0.2, 0.5, 0.8], max_distance=0.15)
    alone = boundary_scores(prediction, [truth], thresholds=[0.5], max_distance=0.15)
    assert together.matched_truth[1] == alone.matched_truth[0]
    assert together.matched_prediction[1] == alone.matched_prediction[0]


def test_an_empty_prediction_has_no_precision_and_no_recall():
    result = boundary_scores(np.zeros((60, 80)), [square()], thresholds=2)
    assert_array_equal([result.precision, result.recall, result.f], 0)
    summary = summarise_boundaries([result])
    assert (summary.ods.f, summary.ap, summary.r50) == (0, 0, 0)


def test_summary_of_a_hand_computed_curve():
    one = scores([9, 5], 10, [9, 5], [18, 5])  # P = .5, 1; R = .9, .5
    summary = summarise_boundaries([one])
    # Between the two, P = .5 + .5 d and R = .9 - .4 d, and F is largest near d = 0.43.
    d = np.linspace(0, 1, 100)
    p, r = 0.5 + 0.5 * d, 0.9 - 0.4 * d
    assert_allclose(summary.ods.f, (2 * p * r / (p + r)).max())
    assert_allclose(summary.ois.f, 2 / 3)  # no interpolation: 2/3 at the second threshold, 9/14 at the first
    assert_allclose(summary.ap, np.interp(np.arange(50, 91) / 100, [0.5, 0.9], [1, 0.5]).sum() / 100)
    assert_allclose(summary.r50, 0.9)


def test_each_image_has_its_own_best_threshold_in_ois():
    first, second = scores([10, 1], 10, [10, 1], [10, 10]), scores([1, 10], 10, [1, 10], [10, 10])
    summary = summarise_boundaries([first, second])
    assert_allclose([summary.ois.precision, summary.ois.recall, summary.ois.f], 1)
    assert_allclose(summary.ois.threshold, 0.5)
    assert summary.ods.f < 0.6
    assert [image.f for image in summary.images] == [1, 1]


def test_segmentation_boundary_lies_above_and_left_of_the_step():
    labels = np.ones((4, 4), dtype=int)
    labels[2:, 2:] = 2
    expected = np.zeros((4, 4), dtype=bool)
    expected[1, 1:] = expected[1:, 1] = True
    assert_array_equal(segmentation_boundary(labels), expected)


def test_a_contour_map_and_its_segmentation_have_the_same_boundary():
    ucm = np.zeros((13, 13))
    ucm[6, :] = 0.5  # between rows 2 and 3 of the image
    assert_array_equal(contours_from_ucm(ucm) > 0, segmentation_boundary(regions_from_ucm(ucm, 0.4)))
    assert len(np.unique(regions_from_ucm(ucm, 0.6))) == 1


def test_segmentations_are_scored_one_by_one():
    labels = np.ones((50, 50), dtype=int)
    labels[20:, :] = 2
    truth = segmentation_boundary(labels)
    result = segmentation_boundary_scores([labels, np.ones_like(labels)], [truth])
    assert_array_equal(result.thresholds, [1, 2])
    assert_array_equal(result.f, [1, 0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prediction": np.full((60, 80), np.nan)}, "prediction must hold values from 0 to 1"),
        ({"prediction": np.full((60, 80), 3.0)}, "got values from 3.0 to 3.0"),
        ({"prediction": np.zeros((60, 80, 3))}, r"got \(60, 80, 3\)"),
        ({"prediction": np.zeros((50, 80))}, r"truth must have the prediction's shape \(50, 80\), got \(60, 80\)"),
        ({"truths": []}, "at least one boundary map, got none"),
        ({"thresholds": 0}, "thresholds must be at least 1, got 0"),
        ({"thresholds": [0.5, 0.4]}, "rising finite values"),
        ({"matching": "greedy"}, "matching must be 'min_cost' or 'cardinality', got 'greedy'"),
        ({"max_distance": 0.0}, "max_distance times the image diagonal must be above 0"),
        ({"max_distance": 9.0}, "at most 200 pixels"),
    ],
)
def test_refusals_say_what_must_hold(change, message):
    arguments = {"prediction": square().astype(float), "truths": [square()]} | change
    prediction, truths = arguments.pop("prediction"), arguments.pop("truths")
    with pytest.raises(ValueError, match=message):
        boundary_scores(prediction, truths, **arguments)


def test_refuses_labels_given_as_strengths():
    with pytest.raises(TypeError, match="prediction must be bool, uint8, uint16 or float, got int64"):
        boundary_scores(np.zeros((60, 80), dtype=np.int64), [square()])


def test_refuses_to_summarise_different_thresholds():
    with pytest.raises(ValueError, match="must share their thresholds"):
        summarise_boundaries([scores([1], 1, [1], [1]), scores([1, 1], 1, [1, 1], [1, 1])])
    with pytest.raises(ValueError, match="at least one image"):
        summarise_boundaries([])


@given(st.integers(1, 200))
def test_n_thresholds_divide_the_unit_interval(n):
    result = boundary_scores(np.zeros((3, 3)), [np.zeros((3, 3), dtype=bool)], thresholds=n, max_distance=0.5)
    assert_allclose(result.thresholds, np.arange(1, n + 1) / (n + 1))
