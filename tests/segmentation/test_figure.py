"""The object under a click."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from scipy import ndimage

from imtorque import edge_cue, segment_figure
from imtorque.segmentation.cues import CUES
from imtorque.segmentation.figure import _without_holes
from imtorque.segmentation.polar import columns_for, cut_polar, from_polar, link_costs, outside_image, polar_edge_map

RNG = np.random.default_rng(0)


def scene(shape=(90, 120), box=(30, 40, 60, 80), noise=0.02):
    """A bright rectangle on dark ground, with some noise."""
    image = np.zeros(shape)
    image[box[0] : box[2], box[1] : box[3]] = 1
    return image + noise * np.random.default_rng(1).random(shape)


def overlap(mask, truth):
    return (mask & truth).sum() / (mask | truth).sum()


TRUTH = scene(noise=0) > 0.5


@pytest.mark.parametrize("cue", CUES)
@pytest.mark.parametrize("fixation", [(45, 60), (35, 45), (55, 75)])
def test_a_lone_object_is_cut_out_from_any_point_on_it_with_every_cue(cue, fixation):
    assert overlap(segment_figure(scene(), fixation, edge_map=cue), TRUTH) > 0.8


@pytest.mark.parametrize("settings", [{"method": "cartesian"}, {"size": 40}, {"size": "torque"}, {"eta": 5, "k": 20}])
def test_other_forms_cut_it_out_too(settings):
    assert overlap(segment_figure(scene(), (45, 60), **settings), TRUTH) > 0.8


def test_the_expected_size_decides_between_nested_contours():
    y, x = np.mgrid[-80:81, -80:81]
    radius = np.hypot(y, x)
    image = (radius < 60) * 0.5 + (radius < 15) * 0.5
    for size, true in ((30, 15), (120, 60)):
        assert overlap(segment_figure(image, (80, 80), size=size), radius < true) > 0.85


def test_colour_alpha_and_integers_give_the_same_figure():
    grey = np.round(scene() * 200).astype(np.uint8)
    colour = np.repeat(grey[:, :, None], 3, axis=2)
    alpha = np.concatenate([colour, np.full((*grey.shape, 1), 255, np.uint8)], axis=2)
    expected = segment_figure(grey, (45, 60))
    for image in (colour, alpha, grey / 255, grey.astype(np.uint16) * 257):
        assert_array_equal(segment_figure(image, (45, 60)), expected)
    assert overlap(segment_figure(scene() * 1e6, (45, 60)), TRUTH) > 0.8


@given(st.data())
def test_the_figure_always_holds_the_fixations(data):
    shape = data.draw(st.tuples(st.integers(1, 25), st.integers(1, 25)))
    image = np.random.default_rng(data.draw(st.integers(0, 99))).random(shape)
    if data.draw(st.booleans()):
        image = image.round()
    point = st.tuples(st.integers(0, shape[0] - 1), st.integers(0, shape[1] - 1))
    add, remove = data.draw(st.lists(point, max_size=2)), data.draw(st.lists(point, max_size=2))
    fixation = data.draw(point)
    remove = [p for p in remove if p not in {fixation, *add}]
    size = data.draw(st.sampled_from([None, 10, "torque"]))
    method = "polar" if size else data.draw(st.sampled_from(["best", "polar", "cartesian"]))
    mask = segment_figure(image, fixation, add=add, remove=remove, size=size, method=method)
    assert mask.shape == shape
    assert mask.dtype == bool
    assert all(mask[at] for at in (fixation, *add))
    assert not any(mask[at] for at in remove)


@pytest.mark.parametrize("method", ["best", "polar", "cartesian"])
@pytest.mark.parametrize("fixation", [(0, 0), (0, 119), (89, 0), (89, 119), (0, 60), (45, 0)])
def test_corners_and_borders_are_fine_places_to_fixate(method, fixation):
    assert segment_figure(scene(), fixation, method=method)[fixation]


def test_an_object_at_the_border_is_cut_off_there():
    image = scene(box=(0, 40, 30, 80))
    assert overlap(segment_figure(image, (8, 60)), scene(box=(0, 40, 30, 80), noise=0) > 0.5) > 0.75


@pytest.mark.parametrize("shape", [(1, 1), (1, 30), (30, 1), (2, 2), (40, 50)])
@pytest.mark.parametrize("method", ["best", "polar", "cartesian"])
def test_without_edges_the_figure_still_holds_the_fixation(shape, method):
    mask = segment_figure(np.zeros(shape), (shape[0] // 2, shape[1] // 2), method=method)
    assert mask.shape == shape
    assert mask[shape[0] // 2, shape[1] // 2]


def test_an_image_without_edges_is_one_figure():
    assert segment_figure(np.zeros((40, 50)), (20, 25)).mean() > 0.6


def test_a_second_click_adds_a_second_object():
    one, two = scene((90, 160), (30, 20, 60, 60)), scene((90, 160), (30, 100, 60, 140))
    image, both = np.maximum(one, two), (one > 0.5) | (two > 0.5)
    assert overlap(segment_figure(image, (45, 40)), one > 0.5) > 0.8
    assert overlap(segment_figure(image, (45, 40), add=[(45, 120)]), both) > 0.8


def test_a_removed_point_takes_its_side_of_an_edge_away():
    image = scene((90, 160), (30, 40, 60, 120))
    image[30:60, 80:120] -= 0.4  # two halves, one darker
    both = image > 0.3
    whole = segment_figure(image, (45, 60), add=[(45, 100)])
    assert overlap(whole, both) > 0.8
    left = segment_figure(image, (45, 60), edge_map=edge_cue(image), remove=[(45, 100)])
    assert not left[45, 100]
    assert overlap(left, both & (np.arange(160) < 80)) > 0.75


def test_large_images_are_cut_at_a_smaller_size():
    image = np.kron(scene(), np.ones((9, 9)))
    truth = np.kron(TRUTH, np.ones((9, 9), bool))
    mask = segment_figure(image, (405, 540), add=[(300, 400)], remove=[(300, 401), (50, 50)])
    assert mask.shape == (810, 1080)
    assert mask[405, 540]
    assert mask[300, 400]
    assert not mask[300, 401]
    assert not mask[50, 50]
    assert overlap(mask, truth) > 0.8
    assert overlap(segment_figure(image, (405, 540), size=360), truth) > 0.8


def test_any_edge_map_is_a_cue():
    drawn = np.zeros((90, 120))
    drawn[20:71, [30, 90]] = drawn[[20, 70], 30:91] = 1
    mask = segment_figure(np.zeros((90, 120)), (45, 60), edge_map=drawn)
    truth = np.zeros((90, 120), bool)
    truth[20:71, 30:91] = True
    assert overlap(mask, truth) > 0.85


def test_the_polar_cut_costs_no_more_than_any_circle():
    strength, image = edge_cue(scene()), scene()
    gy, gx = np.gradient(image)
    polar = polar_edge_map(strength, (gy.astype(np.float32), -gx.astype(np.float32)), (45, 60))
    outside = outside_image(image.shape, (45, 60))
    assert polar.shape == outside.shape == (360, columns_for(image.shape, (45, 60)))
    figure = cut_polar(polar, outside, 20, 50)
    costs = (
        link_costs((polar[:, 1:] + polar[:, :-1]) / 2, 20, 50),
        link_costs((polar + np.roll(polar, -1, 0)) / 2, 20, 50),
    )
    cut = (costs[0] * (figure[:, 1:] != figure[:, :-1])).sum() + (costs[1] * (figure != np.roll(figure, -1, 0))).sum()
    assert cut <= costs[0][:, :40].sum(axis=0).min() + 1e-9
    assert figure[:, 0].all()
    assert not figure[outside].any()
    assert from_polar(figure, image.shape, (45, 60))[45, 60]


def test_cues_lie_between_zero_and_one_and_on_edges_only():
    image = RNG.random((40, 50))
    for cue in CUES:
        found = edge_cue(image, cue)
        assert found.shape == (40, 50)
        assert 0 <= found.min() <= found.max() <= 1
        assert not found[0].any()
        assert not edge_cue(np.zeros((9, 9)), cue).any()


@pytest.mark.parametrize("fixation", [(-1, 5), (5, 120), (90, 5), (np.nan, 5), (np.inf, 5), (1e9, 1e9)])
def test_a_fixation_outside_of_the_image_is_refused(fixation):
    with pytest.raises(ValueError, match=r"fixation must lie in the image of 90 x 120, got"):
        segment_figure(scene(), fixation)


@pytest.mark.parametrize("fixation", [5, None, (1,), (1, 2, 3), "12", ("a", "b")])
def test_a_fixation_that_is_no_point_is_refused(fixation):
    with pytest.raises((TypeError, ValueError), match=r"fixation must be two numbers \(y, x\)|must lie"):
        segment_figure(scene(), fixation)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"edge_map": np.zeros((4, 4))}, r"edge_map must have the image's shape \(90, 120\), got \(4, 4\)"),
        ({"edge_map": np.full((90, 120), 2.0)}, r"edge_map must lie in \[0, 1\]"),
        ({"edge_map": np.full((90, 120), np.nan)}, r"edge_map must lie in \[0, 1\]"),
        ({"edge_map": "sobel"}, "cue must be one of canny, magnitude"),
        ({"method": "spherical"}, 'method must be "best", "polar" or "cartesian"'),
        ({"size": 0}, "size must be positive"),
        ({"size": "big"}, "size must be a number of pixels"),
        ({"size": 5, "method": "cartesian"}, "size must be left out"),
        ({"eta": 0}, "eta must be positive"),
        ({"k": np.inf}, "k must be positive"),
        ({"remove": [(200, 3)]}, "remove must lie in the image"),
        ({"add": [(-1, 3)]}, "fixation must lie in the image"),
        ({"add": [(3, 4)], "remove": [(3, 4)]}, "added or removed, not both"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        segment_figure(scene(), (45, 60), **settings)


def test_an_edge_map_of_words_is_refused():
    with pytest.raises(TypeError, match="edge_map must be real numbers"):
        segment_figure(scene(), (45, 60), edge_map=np.full((90, 120), "x"))


@given(hnp.arrays(bool, st.tuples(st.integers(1, 12), st.integers(1, 12))))
def test_holes_are_what_no_way_of_four_neighbours_leaves(figure):
    assert_array_equal(_without_holes(figure), ndimage.binary_fill_holes(figure))
