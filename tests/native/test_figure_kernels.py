import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import ndimage

import naive
from imtorque import _native
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


@given(hnp.arrays(bool, hnp.array_shapes(min_dims=2, max_dims=2, max_side=12)), st.integers(0, 1000))
def test_a_flood_reaches_the_parts_that_hold_a_seed(mask, seed):
    seeds = np.random.default_rng(seed).random(mask.shape) < 0.1
    parts, _ = ndimage.label(mask)
    expected = np.isin(parts, parts[seeds & mask]) & mask
    found = _native.flood(mask.view(np.uint8), seeds.view(np.uint8))
    assert_array_equal(found, expected)
