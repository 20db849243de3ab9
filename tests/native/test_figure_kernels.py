import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import ndimage

import naive
from imtorque import _native
from imtorque.segmentation.graph_cut import no_flow
from strategies import shapes


def planes(draw, elements):
    shape = draw(shapes)
    return [draw(hnp.arrays(np.float32, shape, elements=part, fill=st.just(0.0))) for part in elements]


@st.composite
def directed_edges(draw):
    component = st.floats(-1, 1, width=32).filter(lambda value: value == 0 or abs(value) > 1e-3)
    strength, dx, dy = planes(draw, (st.floats(0, 1, width=32), component, component))
    y, x = (draw(st.integers(0, side - 1)) for side in strength.shape)
    return strength, dx, dy, (y, x), draw(st.integers(1, 30))


@given(directed_edges())
def test_polar_edges_are_their_definition(edges):
    strength, dx, dy, (y, x), columns = edges
    found = _native.polar_edges(strength, dx, dy, y, x, 5 / 255, columns)
    assert found.shape == (360, columns)
    assert_allclose(found, naive.polar_edges(strength, dx, dy, (y, x), 5 / 255, columns), atol=1e-9)


def test_a_circle_of_edges_is_a_straight_line_in_polar_coordinates():
    y, x = np.mgrid[-60:61, -60:61]
    ring = (np.abs(np.hypot(y, x) - 50) < 0.5).astype(np.float32)
    dx, dy = (-y).astype(np.float32), x.astype(np.float32)
    polar = _native.polar_edges(ring, dx, dy, 60, 60, 0.1, 86)
    assert np.all(np.abs(polar.argmax(axis=1) - 50) <= 1)
    assert polar[:, 50].min() > 0.5 * polar.max()  # no gaps, and everywhere about as strong


@st.composite
def seeded_costs(draw):
    shape = draw(st.tuples(st.integers(1, 7), st.integers(1, 7)))
    cost = draw(hnp.arrays(np.float64, shape, elements=st.integers(1, 9).map(float)))
    return cost, draw(hnp.arrays(np.int32, shape, elements=st.integers(0, 3)))


@given(seeded_costs())
def test_every_pixel_belongs_to_a_seed_that_none_is_cheaper_to_reach_than(problem):
    cost, seeds = problem
    labels = _native.nearest_seeds(cost, seeds)
    if not seeds.any():
        assert not labels.any()
        return
    distances = naive.seed_distances(cost, seeds)
    best = np.min(list(distances.values()), axis=0)
    for at in np.ndindex(cost.shape):
        assert distances[int(labels[at])][at] <= best[at] + 1e-9
    assert_array_equal(labels[seeds != 0], seeds[seeds != 0])


def test_planes_of_other_shapes_are_refused():
    plane, other = np.zeros((3, 4), np.float32), np.zeros((4, 3), np.float32)
    with pytest.raises(ValueError, match="differ"):
        _native.polar_edges(plane, other, plane, 0, 0, 0.1, 5)
    with pytest.raises(ValueError, match="columns"):
        _native.polar_edges(plane, plane, plane, 0, 0, 0.1, 0)
    with pytest.raises(ValueError, match="differ"):
        _native.nearest_seeds(np.ones((3, 4)), np.zeros((4, 3), np.int32))


@st.composite
def boxes_in_planes(draw):
    height, width = draw(shapes)
    planes = draw(hnp.arrays(np.float64, (draw(st.integers(1, 3)), height, width), elements=st.floats(-1, 1, width=32)))
    rows, columns = (
        st.tuples(st.integers(0, side - 1), st.integers(1, side)).map(sorted).filter(lambda pair: pair[0] < pair[1])
        for side in (height, width)
    )
    pairs = draw(st.lists(st.tuples(rows, columns), min_size=1, max_size=6))
    return planes, np.array([[y[0], x[0], y[1], x[1]] for y, x in pairs], np.int64)


@given(boxes_in_planes(), st.sampled_from([(0.75, 1.15), (0.5, 1.5)]))
def test_scores_of_boxes_are_their_definition(problem, strip):
    planes, boxes = problem
    torque, sides = _native.box_scores(planes, boxes, *strip)
    for box, found, contrasts in zip(boxes, torque, sides, strict=True):
        expected = naive.box_scores(planes, box, *strip)
        assert_allclose(found, expected[0], atol=1e-9)
        assert_allclose(contrasts, expected[1], atol=1e-9)


@given(boxes_in_planes(), st.sampled_from([0.0, 0.3, 0.7, 1.0]), st.integers(0, 6))
def test_distinct_boxes_are_their_definition(problem, overlap, most):
    boxes = problem[1]
    assert_array_equal(_native.distinct_boxes(boxes, overlap, most), naive.distinct_boxes(boxes, overlap, most))


@pytest.mark.parametrize("box", [[0, 0, 4, 4], [-1, 0, 2, 2], [1, 1, 1, 2], [0, 2, 2, 1], [0, 0, 2, 5]])
def test_boxes_outside_of_the_image_are_refused(box):
    with pytest.raises(ValueError, match="boxes must lie in the image"):
        _native.box_scores(np.zeros((1, 3, 4)), np.array([box], np.int64), 0.75, 1.15)


@given(hnp.arrays(bool, hnp.array_shapes(min_dims=2, max_dims=2, max_side=12)))
def test_holes_are_what_no_way_from_the_border_leads_to(mask):
    assert_array_equal(_native.fill_holes(mask.view(np.uint8)), ndimage.binary_fill_holes(mask))


@st.composite
def worded_windows(draw):
    """Words of a small image and their links, where a window begins in it, and three masks of the window's shape."""
    height, width = draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    top, left = draw(st.integers(0, height - 1)), draw(st.integers(0, width - 1))
    own = draw(st.integers(1, height - top)), draw(st.integers(1, width - left))
    words = draw(hnp.arrays(np.int64, (height, width), elements=st.integers(0, 4)))
    links = [
        draw(hnp.arrays(np.float64, shape, elements=st.integers(0, 9).map(float)))
        for shape in ((height, width - 1), (height - 1, width))
    ]
    masks = [draw(hnp.arrays(np.uint8, own, elements=st.integers(0, 1))) for _ in range(3)]
    return words, links, (top, left), masks


@given(worded_windows())
def test_words_of_a_figure_are_counted_by_their_definition(problem):
    words, _, corner, masks = problem
    assert_array_equal(_native.count_words(words, *corner, *masks, 6), naive.count_words(words, *corner, *masks, 6))


@given(
    worded_windows(),
    hnp.arrays(np.float64, 5, elements=st.integers(-9, 9).map(float)),
    st.sampled_from([0.5, 1.0, 3.0]),
)
def test_cuts_by_words_are_their_definition(problem, log_odds, cost):
    words, links, corner, (on, off, _) = problem
    expected = naive.cut_words(words, *links, *corner, log_odds, cost, on, off)
    flow = no_flow(*links)
    for own in (-log_odds, log_odds, log_odds):  # each begins with what flowed in the cut before
        found = _native.cut_words(words, *links, *corner, own, cost, on, off, flow)
    assert_array_equal(found, expected)
    whole = np.ones(words.shape, np.uint8)
    _native.cut_words(words, *links, 0, 0, log_odds, 2 * cost, 0 * whole, whole, flow)  # another window
    assert_array_equal(_native.cut_words(words, *links, *corner, log_odds, cost, on, off, flow), expected)


def test_windows_that_do_not_fit_are_refused():
    words, right, down, mask = np.ones((3, 4), np.int64), np.ones((3, 3)), np.ones((2, 4)), np.ones((2, 2), np.uint8)
    flow = no_flow(right, down)
    for corner in ((-1, 0), (2, 0), (0, 3), (2**40, 0), (0, -(2**40))):
        with pytest.raises(ValueError, match="window"):
            _native.count_words(words, *corner, mask, mask, mask, 2)
        with pytest.raises(ValueError, match="window"):
            _native.cut_words(words, right, down, *corner, np.zeros(2), 1.0, mask, mask, flow)
    with pytest.raises(ValueError, match="window"):
        _native.count_words(words, 0, 0, mask[:0], mask[:0], mask[:0], 2)
    with pytest.raises(ValueError, match="differ"):
        _native.count_words(words, 0, 0, mask, mask, np.ones((2, 1), np.uint8), 2)
    for count in (0, 1):
        with pytest.raises(ValueError, match="table"):
            _native.count_words(words, 0, 0, mask, mask, mask, count)
    with pytest.raises(ValueError, match="table"):
        _native.cut_words(-words, right, down, 0, 0, np.zeros(2), 1.0, mask, mask, flow)
    with pytest.raises(ValueError, match="links"):
        _native.cut_words(words, down, right, 0, 0, np.zeros(2), 1.0, mask, mask, flow)
    with pytest.raises(ValueError, match="flow"):
        _native.cut_words(words, right, down, 0, 0, np.zeros(2), 1.0, mask, mask, np.zeros(4, np.int64))
    with pytest.raises(ValueError, match="empty"):
        _native.fill_holes(mask[:0])
