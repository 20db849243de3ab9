"""Minimum cuts on grids: equal to their definition, to SciPy's maximum flow and to trying every labelling."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_flow

import naive
from grid_problems import exactly, grids, wide
from imtorque import grid_max_flow
from imtorque.segmentation.graph_cut import cut_grid_from, no_flow


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


flow_steps = st.one_of(st.integers(-(2**63), 2**63 - 1), st.sampled_from([0, -(2**60), 2**60]))


@given(grids(), st.booleans(), st.data())
def test_the_cut_is_the_same_whatever_flow_it_starts_with(grid, ring, data):
    source, sink, links = grid
    right, down = links["right"][:, : source.shape[1] - 1], links["down"][: source.shape[0] - (not ring)]
    if ring and len(down) < len(source):
        down = np.concatenate([down, source[:1]])
    plain = {"right": right, "down": down, "wrap": 0 if ring else None}
    expected, _ = naive.minimum_cut(source, sink, naive.grid_links(source.shape, **plain))
    flow = no_flow(right, down if len(source) > 1 else down[:0])
    cut_grid_from(sink, source, right, down, flow, wrap_rows=ring)  # quite another problem
    steps = data.draw(hnp.arrays(np.int64, len(flow) - 1, elements=flow_steps))
    shift = data.draw(st.integers(-70, 70)) + int(flow[0])
    for start in (np.zeros_like(flow), flow, [flow[0] + 1, *flow[1:]], [shift, *steps]):
        begun = np.array(start, np.int64)
        for _ in range(2):
            assert_array_equal(cut_grid_from(source, sink, right, down, begun, wrap_rows=ring), expected)


@given(grids(most=5, values=wide), st.data())
def test_capacities_of_any_range_are_cut_the_same_from_any_flow(grid, data):
    source, sink, links = grid
    sink = np.where(np.isinf(source), 0.0, sink)
    right, down = np.minimum(links["right"][:, : source.shape[1] - 1], 1e300), links["down"][: len(source) - 1]
    down = np.minimum(down, 1e300)
    flow = no_flow(right, down)
    mask = cut_grid_from(source, sink, right, down, flow)
    steps = data.draw(hnp.arrays(np.int64, len(flow) - 1, elements=flow_steps))
    for start in (flow, [flow[0], *steps]):
        assert_array_equal(cut_grid_from(source, sink, right, down, np.array(start, np.int64)), mask)


@pytest.mark.parametrize("start", [[0], [0, 1, 1, 1, 1, 1], [2**40, 1, 1, 1, 1], [-(2**63), 1, 1, 1, 1]])
def test_flows_of_other_grids_are_refused(start):
    square = np.ones((2, 2))
    with pytest.raises(ValueError, match="flow does not belong"):
        cut_grid_from(square, square, square[:, :1], square[:1], np.array(start, np.int64))


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


def test_infinite_links_from_source_to_sink_are_refused():
    source, sink, right, down = np.zeros((2, 3)), np.zeros((2, 3)), np.ones((2, 2)), np.ones((1, 3))
    source[0, 0], sink[1, 2], right[0], down[0, 2] = np.inf, np.inf, np.inf, np.inf
    with pytest.raises(ValueError, match="links must not all be infinite on a way"):
        grid_max_flow(source, sink, right, down)
    right[0, 1] = 5
    assert grid_max_flow(source, sink, right, down)[1] == 6


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
