"""Graph cuts on grids: equal to their definitions, to SciPy's maximum flow and to trying every labelling."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_flow

import naive
from imtorque import alpha_expansion, grid_max_flow


@st.composite
def grids(draw, most=6, values=None):
    """Capacities of a random grid: four or eight neighbours, plain or closed along one axis."""
    height, width = draw(st.integers(1, most)), draw(st.integers(1, most))
    wrap, diagonal = draw(st.sampled_from([None, 0, 1])), draw(st.booleans())
    across, along = height - (wrap != 0), width - (wrap != 1)
    values = st.integers(0, 9) if values is None else values

    def plane(shape):
        return draw(hnp.arrays(np.float64, shape, elements=values, fill=st.nothing()))

    links = {"right": plane((height, along)), "down": plane((across, width)), "wrap": wrap}
    if diagonal:
        links |= {"down_right": plane((across, along)), "down_left": plane((across, along))}
    return plane((height, width)), plane((height, width)), links


@given(grids())
def test_cuts_are_those_of_the_definition(grid):
    source, sink, links = grid
    mask, flow = grid_max_flow(source, sink, **links)
    expected, expected_flow = naive.minimum_cut(source, sink, naive.grid_links(source.shape, **links))
    assert flow == expected_flow
    assert_array_equal(mask, expected)  # the smallest source side is unique


@given(grids(values=st.floats(0, 1e6)))
def test_the_flow_is_what_the_cut_costs(grid):
    source, sink, links = grid
    mask, flow = grid_max_flow(source, sink, **links)
    listed = naive.grid_links(source.shape, **links)
    step = 2.0**-49 * max((capacity for _, _, capacity in listed), default=0)
    cost = naive.cut_cost(mask, source, sink, listed)
    assert_allclose(flow, cost, rtol=1e-9, atol=step * (len(listed) + source.size))


@given(grids(most=3, values=st.floats(0, 10)))
def test_no_labelling_of_nine_pixels_is_cheaper(grid):
    source, sink, links = grid
    _, flow = grid_max_flow(source, sink, **links)
    listed = naive.grid_links(source.shape, **links)
    masks = (np.reshape(bits, source.shape) for bits in itertools.product([False, True], repeat=source.size))
    assert_allclose(flow, min(naive.cut_cost(mask, source, sink, listed) for mask in masks), rtol=1e-9, atol=1e-12)


def scipy_flow(source, sink, links):
    """The same problem for scipy.sparse.csgraph."""
    count = source.size
    number = np.arange(count).reshape(source.shape)
    arcs = [(count, i, c) for i, c in enumerate(source.ravel())] + [
        (i, count + 1, c) for i, c in enumerate(sink.ravel())
    ]
    for p, q, capacity in naive.grid_links(source.shape, **links):
        arcs += [(number[p], number[q], capacity), (number[q], number[p], capacity)]
    heads, tails, capacities = (np.array(column) for column in zip(*arcs, strict=True))
    graph = coo_array((capacities.astype(np.int32), (heads, tails)), shape=(count + 2, count + 2)).tocsr()
    return maximum_flow(graph, count, count + 1).flow_value


@pytest.mark.parametrize("wrap", [None, 0, 1])
@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("sparse", [False, True], ids=["all terminals", "few terminals"])
def test_flows_are_those_of_scipy(wrap, diagonal, sparse):
    rng = np.random.default_rng([wrap is None, wrap == 1, diagonal, sparse])
    for height, width in [(40, 50), (1, 300), (2, 90), (64, 3)]:
        across, along = height - (wrap != 0), width - (wrap != 1)
        links = {
            "right": rng.integers(0, 30, (height, along)),
            "down": rng.integers(0, 30, (across, width)),
            "wrap": wrap,
        }
        if diagonal:
            links |= {name: rng.integers(0, 20, (across, along)) for name in ("down_right", "down_left")}
        source, sink = rng.integers(0, 100, (2, height, width))
        if sparse:  # long paths, deep trees
            source[:, 1:], sink[:, :-1] = 0, 0
        mask, flow = grid_max_flow(source, sink, **links)
        assert flow == scipy_flow(source, sink, links)
        assert flow == naive.cut_cost(mask, source, sink, naive.grid_links(source.shape, **links))


def test_infinite_terminals_hold_their_pixels():
    source, sink = np.zeros((5, 6)), np.zeros((5, 6))
    source[2, 2], sink[:, 5], sink[0, 0] = np.inf, np.inf, np.inf
    mask, flow = grid_max_flow(source, sink, np.full((5, 5), 3.0), np.full((4, 6), 2.0))
    assert mask[2, 2]
    assert mask.sum() == 1
    assert flow == 10


def test_a_pixel_without_links_goes_to_the_stronger_terminal():
    mask, flow = grid_max_flow([[0.3, 1e-9, 2]], [[0.2, 0, 5]], np.zeros((1, 2)), np.zeros((0, 3)))
    assert mask.tolist() == [[True, True, False]]
    assert flow == pytest.approx(2.2)
    assert grid_max_flow([[1]], [[2]], np.zeros((1, 0)), np.zeros((0, 1)))[1] == 1
    ring = grid_max_flow([[1]], [[2]], np.zeros((1, 0)), [[7]], wrap=0)  # a pixel is no neighbour of its own
    assert (ring[0].item(), ring[1]) == (False, 1)


def test_a_huge_link_is_never_cut_and_costs_no_precision():
    mask, flow = grid_max_flow([[0.1, 0, 0]], [[0, 0, 0.3]], [[1e300, 0.2]], np.zeros((0, 3)))
    assert mask.tolist() == [[False, False, False]]
    assert flow == pytest.approx(0.1, rel=1e-12)


@pytest.mark.parametrize("never", [1e15, 1e16, 1e100, 1e300, np.inf])
def test_a_link_never_to_be_cut_hides_no_small_ones(never):
    mask, flow = grid_max_flow([[np.inf, 0, 0, 0]], [[0, 0, 0, np.inf]], [[2, never, 1]], np.zeros((0, 4)))
    assert flow == 1
    assert mask.tolist() == [[True, True, True, False]]
    unary = np.array([[[0.0, 0, 0, np.inf]], [[np.inf, 0, 0, 0]]])
    labels, energy = alpha_expansion(unary, [[2, never, 1]], np.zeros((0, 4)))
    assert energy == 1
    assert labels.tolist() == [[0, 0, 0, 1]]


def test_infinite_links_from_source_to_sink_are_refused():
    source, sink, right, down = np.zeros((2, 3)), np.zeros((2, 3)), np.ones((2, 2)), np.ones((1, 3))
    source[0, 0], sink[1, 2], right[0], down[0, 2] = np.inf, np.inf, np.inf, np.inf
    with pytest.raises(ValueError, match="links must not all be infinite on a way"):
        grid_max_flow(source, sink, right, down)
    right[0, 1] = 5
    assert grid_max_flow(source, sink, right, down)[1] == 6


wide = st.one_of(
    st.sampled_from([0.0, 1.0, 2.0, np.inf]),
    st.builds(lambda digits, exponent: digits * 10.0**exponent, st.floats(1, 9.9), st.integers(-300, 298)),
)


def exactly(source, sink, listed):
    """The same capacities as whole numbers."""
    planes = [[[naive.in_units(value) for value in row] for row in plane] for plane in (source, sink)]
    return (*planes, [(p, q, naive.in_units(capacity)) for p, q, capacity in listed])


@given(grids(most=4, values=wide))
def test_cuts_of_any_range_are_within_a_part_in_1e12_of_the_least(grid):
    source, sink, links = grid
    sink[np.isinf(source)] = 0
    problem = exactly(source, sink, naive.grid_links(source.shape, **links))
    best = naive.minimum_cut(*problem)[1]
    if best >= naive.NEVER:
        with pytest.raises(ValueError, match="links must not all be infinite"):
            grid_max_flow(source, sink, **links)
        return
    mask, flow = grid_max_flow(source, sink, **links)
    cost = naive.cut_cost(mask, *problem)
    assert best <= cost
    assert (cost - best) * 10**12 <= best
    assert abs(naive.in_units(flow) - cost) * 10**15 <= 2 * cost


def test_capacities_of_any_size_and_dtype():
    rng = np.random.default_rng(1)
    planes = [rng.integers(0, 50, shape) for shape in [(9, 11), (9, 11), (9, 10), (8, 11)]]
    mask, flow = grid_max_flow(*planes)
    for dtype in (np.uint8, np.int32, np.float32):
        again, same = grid_max_flow(*(plane.astype(dtype) for plane in planes))
        assert same == flow
        assert_array_equal(again, mask)
    for scale in (2.0**-900, 2.0**-40, 2.0**60, 2.0**900):
        again, scaled = grid_max_flow(*(plane * scale for plane in planes))
        assert scaled == flow * scale
        assert_array_equal(again, mask)


def test_a_flow_through_small_residuals_ends():
    """Links over ten orders of magnitude, as exp(-20 m) gives them, and a seed on either side."""
    rng = np.random.default_rng(2)
    shape = (90, 80)
    source, sink = np.zeros(shape), np.zeros(shape)
    source[:, 0], sink[:, -1] = np.inf, np.inf
    right, down = np.exp(-20 * rng.random((90, 79))), np.exp(-20 * rng.random(shape))
    mask, flow = grid_max_flow(source, sink, right, down, wrap=0)
    listed = naive.grid_links(shape, right, down, wrap=0)
    assert mask[:, 0].all()
    assert not mask[:, -1].any()
    finite = naive.cut_cost(mask, np.where(source > 0, 1e9, 0), np.where(sink > 0, 1e9, 0), listed)
    assert flow == pytest.approx(finite, rel=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"source": np.zeros((3, 4, 1))}, "source must have two dimensions"),
        ({"source": np.zeros((0, 4))}, "at least one pixel, got the shape"),
        ({"sink": np.zeros((4, 3))}, r"sink must have the shape \(3, 4\), got \(4, 3\)"),
        ({"right": np.zeros((3, 4))}, r"right must have the shape \(3, 3\)"),
        ({"down": np.zeros((3, 4))}, r"down must have the shape \(2, 4\)"),
        ({"down_left": np.zeros((3, 3))}, r"down_left must have the shape \(2, 3\)"),
        ({"wrap": 0}, r"down must have the shape \(3, 4\)"),
        ({"wrap": 2}, "wrap must be None, 0"),
        ({"source": np.full((3, 4), -1)}, "source must not be negative or NaN, got -1"),
        ({"sink": np.full((3, 4), np.nan)}, "sink must not be negative or NaN, got NaN"),
        ({"right": np.full((3, 3), 1.1e300)}, r"right must be at most 1e\+300, or infinite, got 1.1e\+300"),
        ({"sink": np.full((3, 4), 1e301)}, r"sink must be at most 1e\+300, or infinite, got 1e\+301"),
        ({"source": np.full((3, 4), np.inf), "sink": np.full((3, 4), np.inf)}, "both be infinite at a pixel"),
    ],
)
def test_impossible_capacities_are_refused(change, message):
    grid = {"source": np.zeros((3, 4)), "sink": np.zeros((3, 4)), "right": np.zeros((3, 3)), "down": np.zeros((2, 4))}
    with pytest.raises(ValueError, match=message):
        grid_max_flow(**(grid | change))


def test_capacities_must_be_numbers():
    with pytest.raises(TypeError, match="sink must hold real numbers, got complex128"):
        grid_max_flow([[0.0]], [[1j]], np.zeros((1, 0)), np.zeros((0, 1)))


@st.composite
def labelling_problems(draw, most=3, labels=4):
    source, _, links = draw(grids(most))
    count = draw(st.integers(1, labels))
    unary = draw(hnp.arrays(np.float64, (count, *source.shape), elements=st.integers(-9, 9), fill=st.nothing()))
    places = draw(hnp.arrays(np.float64, (count, 2), elements=st.integers(0, 4), fill=st.nothing()))
    metric = abs(places[:, None] - places).sum(-1) if draw(st.booleans()) else None
    return unary, links, metric


def potts(count):
    return 1 - np.eye(count)


@given(labelling_problems())
def test_expansions_are_those_of_the_definition(problem):
    unary, links, metric = problem
    listed = naive.grid_links(unary.shape[1:], **links)
    distances = potts(len(unary)) if metric is None else metric
    labels, energy = alpha_expansion(unary, **links, metric=metric)
    assert energy == naive.labelling_energy(labels, unary, listed, distances)
    assert_array_equal(labels, naive.alpha_expansion(unary, listed, distances))


@given(labelling_problems(most=2, labels=3))
def test_energy_is_within_the_bound_of_the_best_of_all_labellings(problem):
    unary, links, metric = problem
    unary = unary - unary.min(0)  # the bound holds for costs that are not negative
    listed = naive.grid_links(unary.shape[1:], **links)
    distances = potts(len(unary)) if metric is None else metric
    _, energy = alpha_expansion(unary, **links, metric=metric)
    every = itertools.product(range(len(unary)), repeat=unary[0].size)
    best = min(naive.labelling_energy(np.reshape(f, unary.shape[1:]), unary, listed, distances) for f in every)
    apart = distances[~np.eye(len(unary), dtype=bool)]
    factor = 2 * apart.max() / apart.min() if apart.size and apart.min() > 0 else 1 if not apart.any() else np.inf
    assert best <= energy
    assert factor == np.inf or energy <= factor * best


@st.composite
def wide_labelling_problems(draw):
    source, _, links = draw(grids(3, values=wide))
    count = draw(st.integers(1, 3))
    unary = draw(hnp.arrays(np.float64, (count, *source.shape), elements=wide, fill=st.nothing()))
    unary[draw(st.integers(0, count - 1))] = 1.0  # at least one label is allowed everywhere
    places = draw(hnp.arrays(np.int64, count, elements=st.integers(0, 4), fill=st.nothing()))
    metric = abs(places[:, None] - places) if draw(st.booleans()) else potts(count).astype(int)
    return unary, links, metric


@given(wide_labelling_problems())
def test_no_expansion_gains_a_part_in_1e12_whatever_the_range(problem):
    unary, links, metric = problem
    listed = naive.grid_links(unary.shape[1:], **links)
    labels, energy = alpha_expansion(unary, **links, metric=metric)
    costs = [exactly(plane, [], [])[0] for plane in unary]
    weights = exactly([], [], listed)[2]
    distances = metric.tolist()
    reached = naive.labelling_energy(labels, costs, weights, distances)
    assert reached < naive.NEVER  # no infinite link is cut
    assert abs(naive.in_units(energy) - reached) * 10**14 <= reached
    for alpha in range(len(unary)):
        better = naive.expansion_move(labels, alpha, costs, weights, distances)
        gain = reached - naive.labelling_energy(better, costs, weights, distances)
        assert gain * 10**12 <= 2 * reached


@given(wide_labelling_problems(), st.integers(0, 2))
def test_energy_is_never_above_that_of_the_start_whatever_the_range(problem, label):
    unary, links, metric = problem
    start = np.full(unary.shape[1:], label % len(unary))
    unary[label % len(unary)] = 1e5
    labels, _ = alpha_expansion(unary, **links, metric=metric, start=start, cycles=1)
    costs = [exactly(plane, [], [])[0] for plane in unary]
    weights = exactly([], [], naive.grid_links(unary.shape[1:], **links))[2]
    before, after = (naive.labelling_energy(f, costs, weights, metric.tolist()) for f in (start, labels))
    assert (after - before) * 10**14 <= before


def test_infinite_links_keep_both_ends_in_one_label():
    rng = np.random.default_rng(6)
    unary, right, down = rng.random((4, 20, 30)), rng.random((20, 29)), rng.random((19, 30))
    right[rng.random(right.shape) < 0.3] = np.inf
    down[rng.random(down.shape) < 0.3] = np.inf
    labels, energy = alpha_expansion(unary, right, down)
    assert np.isfinite(energy)
    assert len(np.unique(labels)) > 1
    assert np.all((labels[:, 1:] == labels[:, :-1]) | np.isfinite(right))
    assert np.all((labels[1:] == labels[:-1]) | np.isfinite(down))


def test_infinite_links_may_join_labels_at_no_distance():
    metric = [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    unary = np.array([[[0.0, 9, 9]], [[9.0, 0, 9]], [[9.0, 9, 0]]])
    labels, energy = alpha_expansion(unary, [[np.inf, 2]], np.zeros((0, 3)), metric=metric)
    assert labels.tolist() == [[0, 1, 2]]
    assert energy == 2


def test_infinite_links_that_no_label_allows_are_refused():
    unary = np.array([[[0.0, np.inf]], [[np.inf, 0.0]]])
    with pytest.raises(ValueError, match="unary must allow one label at all pixels that infinite links join"):
        alpha_expansion(unary, [[np.inf]], np.zeros((0, 2)))
    with pytest.raises(ValueError, match=r"start must not part pixels .* got the labels 0 and 1"):
        alpha_expansion(unary, [[np.inf]], np.zeros((0, 2)), start=[[0, 1]])


def test_labels_that_cost_the_same_everywhere_take_no_time():
    start = time.process_time()
    labels, energy = alpha_expansion(np.ones((3, 700, 700)), np.ones((700, 699)), np.ones((699, 700)))
    assert time.process_time() - start < 3  # hundreds of paths across the whole grid take 14 s
    assert not labels.any()
    assert energy == 490_000


def noisy_stripes(shape=(40, 60), count=5, noise=1.0):
    truth = np.broadcast_to(np.arange(shape[1]) * count // shape[1], shape)
    costs = abs(truth - np.arange(count)[:, None, None]) + noise * np.random.default_rng(3).random((count, *shape))
    return truth, costs


def test_energy_never_rises_from_cycle_to_cycle():
    _, unary = noisy_stripes(noise=4)
    links = {"right": np.ones((40, 59)), "down": np.ones((39, 60)), "down_right": np.full((39, 59), 0.7)}
    labels, energies = unary.argmin(0), []
    for _ in range(4):
        labels, energy = alpha_expansion(unary, **links, start=labels, cycles=1)
        energies.append(energy)
    assert energies == sorted(energies, reverse=True)
    at_once, energy = alpha_expansion(unary, **links)
    assert energy == energies[-1]
    assert_array_equal(at_once, labels)
    assert_array_equal(alpha_expansion(unary, **links, start=at_once)[0], at_once)


def test_two_labels_are_one_minimum_cut():
    rng = np.random.default_rng(4)
    unary, right, down = rng.integers(0, 40, (2, 20, 30)), rng.integers(0, 30, (20, 29)), rng.integers(0, 30, (19, 30))
    mask, flow = grid_max_flow(unary[0], unary[1], right, down)
    labels, energy = alpha_expansion(unary, right, down)
    assert energy == flow
    assert naive.cut_cost(labels == 1, *unary, naive.grid_links((20, 30), right, down)) == flow
    assert np.all(mask <= (labels == 1))


def test_noise_goes_and_borders_stay():
    truth, unary = noisy_stripes(noise=2)
    labels, _ = alpha_expansion(unary, np.full((40, 59), 1.5), np.full((39, 60), 1.5))
    assert (unary.argmin(0) != truth).mean() > 0.05
    assert (labels != truth).mean() < 0.01


def test_a_ring_of_columns_is_a_ring_of_rows_turned():
    rng = np.random.default_rng(5)
    unary, right, down = rng.integers(0, 9, (3, 7, 8)), rng.integers(0, 9, (7, 8)), rng.integers(0, 9, (6, 8))
    labels, energy = alpha_expansion(unary, right, down, wrap=1)
    turned, same = alpha_expansion(unary.transpose(0, 2, 1), down.T, right.T, wrap=0)
    assert energy == same
    assert_array_equal(labels, turned.T)


def test_a_forbidden_label_is_not_taken():
    unary = np.zeros((3, 6, 6))
    unary[0, :, :3] = np.inf
    unary[1:, :, 3:] = np.inf
    labels, energy = alpha_expansion(unary, np.ones((6, 5)), np.ones((5, 6)))
    assert np.all(labels[:, :3] == 1)
    assert np.all(labels[:, 3:] == 0)
    assert energy == 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"unary": np.zeros((2, 3))}, r"unary must have the shape \(labels, H, W\)"),
        ({"unary": np.full((2, 3, 4), np.nan)}, "unary must be a number"),
        ({"unary": np.full((2, 3, 4), np.inf)}, "finite for one label at least"),
        ({"unary": np.full((2, 3, 4), -1e301)}, r"unary must be at most 1e\+300, or infinite, got 1e\+301"),
        ({"right": np.full((3, 3), 1e200), "metric": [[0, 1e101], [1e101, 0]]}, "links times metric must be at most"),
        ({"right": np.zeros((3, 4))}, r"right must have the shape \(3, 3\)"),
        ({"metric": np.zeros((3, 3))}, r"metric must have the shape \(2, 2\)"),
        ({"metric": [[0, -1], [-1, 0]]}, "none negative"),
        ({"metric": [[0, 1], [1, 2]]}, "0 from a label to itself"),
        ({"metric": [[0, 1], [2, 0]]}, "metric must be symmetric, got 1.0 and 2.0 between 0 and 1"),
        ({"unary": np.zeros((3, 3, 4)), "metric": [[0, 1, 5], [1, 0, 1], [5, 1, 0]]}, "no distance longer than a way"),
        ({"start": np.full((3, 4), 2)}, "start must hold labels from 0 to 1, got 2 to 2"),
        ({"start": np.zeros((4, 3), int)}, "start must have the shape"),
        ({"cycles": 0}, "cycles must be at least 1, got 0"),
    ],
)
def test_impossible_labellings_are_refused(change, message):
    problem = {"unary": np.zeros((2, 3, 4)), "right": np.zeros((3, 3)), "down": np.zeros((2, 4))}
    with pytest.raises(ValueError, match=message):
        alpha_expansion(**(problem | change))


def test_labels_must_be_whole_numbers():
    with pytest.raises(TypeError, match="start must hold whole numbers, got float64"):
        alpha_expansion(np.zeros((2, 1, 1)), np.zeros((1, 0)), np.zeros((0, 1)), start=[[0.5]])
    with pytest.raises(TypeError, match="unary must hold real numbers"):
        alpha_expansion(np.zeros((2, 1, 1), complex), np.zeros((1, 0)), np.zeros((0, 1)))
