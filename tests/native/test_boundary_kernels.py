import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.testing import assert_array_equal
from scipy.optimize import linear_sum_assignment

import naive
from imtorque import _native
from imtorque.evaluation import match_boundaries, thin_boundary
from imtorque.evaluation.matching import match_maps

images = arrays(bool, array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=12))
RADIUS = 2.30005  # no distance between pixels, and no whole cost, is near it


def cost(prediction, truth, partner, radius):
    """The cost of a matching in hundredths of a pixel, as match_boundaries defines it."""
    y, x = np.nonzero(partner >= 0)
    other_y, other_x = np.unravel_index(partner[y, x], truth.shape)
    distances = np.hypot(y - other_y, x - other_x)
    assert (distances <= radius).all()
    unmatched = prediction.sum() + truth.sum() - len(y)
    return int(np.rint(100 * distances).sum() + np.ceil(100 * 100 * radius) * unmatched)


def match(prediction, truth, radius, matching="min_cost"):
    return match_boundaries(prediction, truth, max_distance=radius / np.hypot(*truth.shape), matching=matching)


@st.composite
def problems(draw, side=5, pixels=6):
    def boundary():
        flat = np.zeros(side * side, dtype=bool)
        flat[draw(st.lists(st.integers(0, side * side - 1), max_size=pixels))] = True
        return flat.reshape(side, side)

    return boundary(), boundary()


@given(images)
def test_thinning_agrees_with_the_definition(image):
    assert_array_equal(thin_boundary(image), naive.thin(image))


@given(problems())
def test_min_cost_agrees_with_trying_every_matching(problem):
    prediction, truth = problem
    partner = match(prediction, truth, RADIUS)
    assert cost(prediction, truth, partner, RADIUS) == naive.match_cost(prediction, truth, RADIUS)


@given(problems(side=8, pixels=20))
def test_cardinality_agrees_with_augmenting_one_path_at_a_time(problem):
    prediction, truth = problem
    partner = match(prediction, truth, RADIUS, "cardinality")
    assert (partner >= 0).sum() == naive.match_count(prediction, truth, RADIUS)


@pytest.mark.parametrize("seed", range(6))
def test_min_cost_equals_the_exact_assignment_of_scipy(seed):
    rng = np.random.default_rng(seed)
    prediction, truth = rng.random((2, 40, 50)) < 0.1
    radius = 1.00005 + seed
    a, b = np.argwhere(prediction), np.argwhere(truth)
    distance = np.hypot(*(a[:, None] - b[None]).transpose(2, 0, 1))
    outlier = np.ceil(100 * 100 * radius)
    # SciPy pairs all of the smaller side; a pair too far apart costs what leaving it unmade costs.
    costs = np.where(distance <= radius, np.rint(100 * distance), outlier)
    exact = costs[linear_sum_assignment(costs)].sum() + outlier * max(costs.shape)
    assert cost(prediction, truth, match(prediction, truth, radius), radius) == exact


@pytest.mark.parametrize("matching", ["min_cost", "cardinality"])
@given(st.data())
def test_a_matching_is_one_to_one_and_within_the_radius(matching, data):
    prediction, truth = data.draw(problems(side=8, pixels=25))
    partner = match(prediction, truth, RADIUS, matching)
    assert (partner[~prediction] == -1).all()
    partners = partner[partner >= 0]
    assert len(np.unique(partners)) == len(partners)
    assert truth.ravel()[partners].all()


@pytest.mark.parametrize("matching", ["min_cost", "cardinality"])
@given(st.lists(arrays(np.uint8, (7, 7), elements=st.integers(0, 1)), min_size=1, max_size=5), st.data())
def test_a_map_is_matched_the_same_whatever_maps_come_before_it(matching, maps, data):
    truths = data.draw(arrays(np.uint8, (2, 7, 7), elements=st.integers(0, 1)))
    together, starts = match_maps(maps, truths, max_distance=0.25, matching=matching)
    for k, boundary in enumerate(maps):
        alone, _ = match_maps([boundary], truths, max_distance=0.25, matching=matching)
        assert_array_equal(together[:, starts[k] : starts[k + 1]], alone)


def test_threads_do_not_change_the_matching():
    rng = np.random.default_rng(0)
    maps, truths = (rng.random((3, 60, 60)) < 0.2).astype(np.uint8), (rng.random((5, 60, 60)) < 0.2).astype(np.uint8)
    threads = _native.num_threads()
    try:
        _native.set_num_threads(1)
        one, _ = match_maps(maps, truths, max_distance=0.05, matching="min_cost")
        _native.set_num_threads(4)
        four, _ = match_maps(maps, truths, max_distance=0.05, matching="min_cost")
    finally:
        _native.set_num_threads(threads)
    assert_array_equal(one, four)
