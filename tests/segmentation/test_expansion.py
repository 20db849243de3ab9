"""Expansion moves on grids: equal to their definition and to trying every labelling."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

import naive
from grid_problems import exactly, grids, wide
from imtorque import alpha_expansion, grid_max_flow


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


@pytest.mark.parametrize("never", [1e15, 1e16, 1e100, 1e300, np.inf])
def test_a_link_never_to_be_cut_hides_no_small_ones(never):
    unary = np.array([[[0.0, 0, 0, np.inf]], [[np.inf, 0, 0, 0]]])
    labels, energy = alpha_expansion(unary, [[1, never, 2]], np.zeros((0, 4)))  # starts at a cost of 2
    assert energy == 1
    assert labels.tolist() == [[0, 1, 1, 1]]


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


def test_labels_that_cost_the_same_everywhere_are_one_label():
    # That no path across the whole grid is taken for it is timed: benchmarks/max_flow.py, expansion of constant costs.
    labels, energy = alpha_expansion(np.ones((3, 70, 70)), np.ones((70, 69)), np.ones((69, 70)))
    assert not labels.any()
    assert energy == 4900


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
