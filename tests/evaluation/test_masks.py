import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.testing import assert_allclose

from imtorque.evaluation import mask_scores


def box(top, bottom, left, right):
    mask = np.zeros((60, 80), dtype=bool)
    mask[top:bottom, left:right] = True
    return mask


@given(arrays(bool, array_shapes(min_dims=2, max_dims=2, max_side=9)))
def test_a_mask_agrees_with_itself(mask):
    scores = mask_scores(mask, mask, max_distance=0.1)
    assert (scores.iou, scores.boundary_f) == (1, 1)


def test_overlap_of_two_boxes_by_hand():
    scores = mask_scores(box(10, 30, 10, 30), box(10, 30, 20, 40))
    assert_allclose(scores.iou, 200 / 600)


def test_a_shift_within_the_tolerance_keeps_the_outline():
    near = mask_scores(box(11, 31, 10, 40), box(10, 30, 10, 40), max_distance=0.02)
    far = mask_scores(box(20, 50, 45, 75), box(10, 30, 10, 40), max_distance=0.02)
    assert near.boundary_f == 1
    assert (far.iou, far.boundary_f) == (0, 0)


def test_unknown_pixels_are_left_out():
    truth = np.where(box(10, 30, 10, 40), 255, 0).astype(np.uint8)
    truth[:, 35:45] = 128
    assert mask_scores(box(10, 30, 10, 45), truth).iou == 1
    assert mask_scores(box(10, 30, 10, 35), truth).iou == 1
    outside = mask_scores(box(10, 30, 10, 50), truth)
    assert_allclose(outside.iou, (20 * 25) / (20 * 25 + 20 * 5))


def test_the_edge_of_the_unknown_is_no_outline():
    truth = np.where(box(0, 60, 0, 40), 255, 0).astype(np.uint8)
    truth[:, 38:42] = 77
    scores = mask_scores(box(0, 60, 0, 40), truth)
    assert (scores.boundary_precision, scores.boundary_recall) == (1, 1)


def test_refusals_say_what_must_hold():
    truth = box(10, 30, 10, 40)
    with pytest.raises(ValueError, match=r"prediction must have the truth's shape \(60, 80\), got \(59, 80\)"):
        mask_scores(truth[1:], truth)
    with pytest.raises(ValueError, match=r"0 for ground, 255 for figure .* got uint8 with values from 0 to 1"):
        mask_scores(truth, truth.astype(np.uint8))
    with pytest.raises(ValueError, match="prediction must be bool, or integers 0 and one other value, got float64"):
        mask_scores(truth * 0.5, truth)
    with pytest.raises(ValueError, match="3 values"):
        mask_scores(truth + 2 * box(0, 5, 0, 5), truth)
