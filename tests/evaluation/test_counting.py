"""Scores of found objects: one to one, whatever the order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from imtorque.evaluation.counting import (
    CountingScores,
    box_iou,
    box_scores,
    centre_scores,
    label_iou,
    mask_average_precision,
    mean_count_error,
    pooled_f1,
)

BOXES = np.array([[0, 0, 10, 10], [20, 20, 30, 34]], float)
CENTRES = (BOXES[:, :2] + BOXES[:, 2:] - 1) / 2


def test_the_truth_itself_scores_one():
    labels = np.zeros((40, 40), np.int32)
    labels[:10, :10], labels[20:30, 20:34] = 1, 2
    assert centre_scores(CENTRES, CENTRES, boxes=BOXES).f1 == 1
    assert centre_scores(CENTRES, CENTRES, labels=labels).f1 == 1
    assert centre_scores(CENTRES, CENTRES, radius=0.5).f1 == 1
    assert box_scores(BOXES, BOXES).f1 == 1
    assert mask_average_precision(labels, labels) == 1


def test_two_centres_in_one_object_count_once():
    assert centre_scores([[4, 4], [6, 6]], CENTRES, boxes=BOXES) == CountingScores(1, 2, 2)


def test_matching_is_the_largest_there_is():
    # the first centre lies in both boxes, the second in the first alone
    boxes = [[0, 0, 10, 10], [0, 5, 10, 20]]
    points = [[4.5, 4.5], [4.5, 12]]
    assert centre_scores([[5, 7], [5, 2]], points, boxes=boxes).matched == 2


def test_a_centre_just_beyond_a_box_is_outside():
    assert centre_scores([[10, 5]], CENTRES, boxes=BOXES).matched == 0
    assert centre_scores([[9.4, 5]], CENTRES, boxes=BOXES).matched == 1


def test_what_lies_on_something_ignored_is_neither_right_nor_wrong():
    scores = centre_scores([[4, 4], [50, 50]], CENTRES, boxes=BOXES, ignored=[[45, 45, 55, 55]])
    assert scores == CountingScores(1, 1, 2)
    assert box_scores([[48, 48, 52, 52]], BOXES, ignored=[[45, 45, 55, 55]]) == CountingScores(0, 0, 2)


def test_a_box_that_matches_counts_though_it_lies_on_something_ignored():
    assert box_scores(BOXES, BOXES, ignored=[[0, 0, 10, 10]]) == CountingScores(2, 2, 2)


def test_overlap_of_boxes_is_intersection_over_union():
    assert_allclose(box_iou([[0, 0, 10, 10]], [[0, 5, 10, 15], [20, 20, 21, 21]]), [[50 / 150, 0]])


def test_overlap_of_labels_is_intersection_over_union():
    a, b = np.zeros((4, 4), int), np.zeros((4, 4), int)
    a[:2], b[1:3] = 7, 3
    assert_allclose(label_iou(a, b), [[4 / 12]])


def test_nothing_found_where_nothing_is_scores_one():
    assert CountingScores(0, 0, 0).f1 == 1
    assert mask_average_precision(np.zeros((3, 3), int), np.zeros((3, 3), int)) == 1
    assert mask_average_precision(np.ones((3, 3), int), np.zeros((3, 3), int)) == 0


def test_pooled_f1_counts_objects_and_the_count_error_images():
    scores = [CountingScores(1, 1, 1), CountingScores(0, 3, 5)]
    assert pooled_f1(scores) == 2 * 1 / (4 + 6)
    assert mean_count_error(scores) == 1


@given(st.integers(0, 1000))
def test_the_order_of_what_was_found_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    corners = rng.integers(0, 30, (2, 8, 2))
    found, marked = (np.concatenate([c, c + rng.integers(3, 15, c.shape)], axis=1) for c in corners)
    assert box_scores(found, marked) == box_scores(found[::-1], marked)


def test_tables_of_the_wrong_shape_are_refused():
    with pytest.raises(ValueError, match=r"shape \(n, 4\)"):
        box_scores([[1, 2]], BOXES)
    with pytest.raises(ValueError, match="boxes, labels or radius"):
        centre_scores(CENTRES, CENTRES)
