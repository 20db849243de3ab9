"""Objects without a click."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from imtorque import propose_objects, segment_objects
from imtorque.core.boxes import Boxes
from imtorque.datasets import sample


def overlap(box, other):
    rows, columns = (max(0, min(box[k + 2], other[k + 2]) - max(box[k], other[k])) for k in (0, 1))
    areas = [(b[2] - b[0]) * (b[3] - b[1]) for b in (box, other)]
    return rows * columns / (sum(areas) - rows * columns)


def objects(*boxes, shape=(120, 160), noise=0.02):
    image = np.full(shape, 0.2)
    for k, (y0, x0, y1, x1) in enumerate(boxes):
        image[y0:y1, x0:x1] = 0.8 + 0.1 * k
    return image + noise * np.random.default_rng(0).random(shape)


TWO = ((20, 15, 50, 60), (70, 90, 105, 140))


@pytest.mark.parametrize("score", ["both", "side", "torque"])
def test_the_best_boxes_are_the_objects(score):
    boxes = propose_objects(objects(*TWO), 10, score=score)
    for true in TWO:
        assert max(overlap(box, true) for box in boxes.as_array().tolist()) > 0.6


def test_a_lone_edge_has_torque_but_no_weakest_side():
    image = objects(TWO[0])
    image[:, 100:] = 1
    assert overlap(propose_objects(image, 1, score="side").as_array()[0].tolist(), TWO[0]) > 0.6


def test_colour_tells_what_grey_does_not():
    image = np.full((100, 120, 3), 0.5)
    image[30:60, 40:80] = (0.7, 0.4455, 0.0)  # about as light as its ground
    best = propose_objects(image, 1).as_array()[0].tolist()
    assert overlap(best, (30, 40, 60, 80)) > 0.6


def test_boxes_lie_in_the_image_are_sorted_and_do_not_overlap_too_much():
    boxes = propose_objects(sample("hopper"), 60, iou=0.4)
    height, width = sample("hopper").shape[:2]
    assert len(boxes) == 60
    assert boxes.y0.min() >= 0
    assert boxes.x0.min() >= 0
    assert boxes.y1.max() <= height
    assert boxes.x1.max() <= width
    assert np.all(np.diff(boxes.score) <= 0)
    listed = boxes.as_array().tolist()
    assert max(overlap(a, b) for i, a in enumerate(listed) for b in listed[:i]) <= 0.4


def test_smaller_boxes_find_smaller_objects():
    small = (40, 40, 48, 48)
    for smallest, found in ((0.14, False), (0.05, True)):
        boxes = propose_objects(objects(small), 10, smallest=smallest).as_array().tolist()
        assert (max(overlap(box, small) for box in boxes) > 0.5) == found


def test_boxes_can_be_selected_and_written(tmp_path):
    boxes = Boxes(*np.arange(12).reshape(4, 3), np.array([0.5, 0.25, 0.125]))
    assert len(boxes[:2]) == 2
    assert_array_equal(boxes[boxes.score < 0.3].x0, [4, 5])
    text = boxes.to_csv(tmp_path / "boxes.csv")
    assert text.splitlines()[:2] == ["y0,x0,y1,x1,score", "0,3,6,9,0.5"]
    assert (tmp_path / "boxes.csv").read_text() == text


@pytest.mark.parametrize("shape", [(1, 1), (3, 50), (4, 4), (6, 6), (40, 2)])
def test_tiny_images_have_at_least_themselves_as_a_box(shape):
    boxes = propose_objects(np.random.default_rng(0).random(shape), 5)
    assert len(boxes) >= 1
    assert segment_objects(np.random.default_rng(0).random(shape), 2).shape[1:] == shape


def test_objects_come_as_masks_that_do_not_overlap():
    masks = segment_objects(objects(*TWO), 2)
    assert masks.shape == (2, 120, 160)
    assert masks.dtype == bool
    assert masks.sum(axis=0).max() == 1
    for y0, x0, y1, x1 in TWO:
        truth = np.zeros((120, 160), bool)
        truth[y0:y1, x0:x1] = True
        assert max((mask & truth).sum() / (mask | truth).sum() for mask in masks) > 0.7


@pytest.mark.slow
def test_more_objects_asked_for_begin_with_the_same_ones():
    image = sample("hopper")
    assert_array_equal(segment_objects(image, 3)[:2], segment_objects(image, 2))


@pytest.mark.parametrize("image", [np.zeros((30, 40)), np.zeros((1, 1)), np.full((20, 20, 3), 9, np.uint8)])
def test_an_image_without_edges_has_no_objects(image):
    assert segment_objects(image, 3).shape == (0, *image.shape[:2])


def test_none_asked_for_is_none():
    assert len(propose_objects(objects(*TWO), 0)) == 0
    assert len(segment_objects(objects(*TWO), 0)) == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"count": -1}, "count must not be negative"),
        ({"score": "edges"}, "score must be one of both, side, torque"),
        ({"iou": 1.5}, r"iou must lie in \[0, 1\]"),
        ({"iou": np.nan}, r"iou must lie in \[0, 1\]"),
        ({"smallest": 0}, r"smallest must lie in \[0.001, 1\]"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        propose_objects(objects(*TWO), **settings)


def test_wrong_images_are_refused():
    for function in (propose_objects, segment_objects):
        with pytest.raises(ValueError, match="image must be grey"):
            function(np.zeros((2, 2, 2, 2)), 3)
        with pytest.raises(ValueError, match="finite"):
            function(np.full((9, 9), np.nan), 3)
    with pytest.raises(ValueError, match="count must not be negative"):
        segment_objects(objects(*TWO), -1)
