import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import naive
from imtorque import (
    Edges,
    Extrema,
    contribution_map,
    dense_contribution,
    detect_edges,
    find_extrema,
    set_num_threads,
    torque_coherence,
    torque_map,
)
from imtorque.synthetic import scene
from strategies import directed_fields, edge_fields, exact_fields, odd_sizes, patches, rectangle_lists, size_lists

votes = st.lists(
    st.tuples(st.integers(-3, 16), st.integers(-3, 16), st.integers(0, 12), st.sampled_from([-2.0, -0.5, 0.5, 3.0])),
    max_size=12,
)


def as_extrema(rows):
    y, x, half, value = np.array(rows or np.empty((0, 4))).T
    return Extrema(y.astype(int), x.astype(int), 2 * half.astype(int) + 1, value)


@given(edge_fields(), votes, patches, st.sampled_from(["one", "area", "torque"]), st.booleans())
def test_contributions_are_the_definition(edges, rows, patch, weight, absolute):
    extrema = as_extrema(rows)
    weights = {
        "one": np.ones(len(extrema)),
        "area": [1 / (2 * naive.area(patch, max(s, 2))) if s > 1 else 0 for s in extrema.size],
        "torque": np.abs(extrema.value),
    }[weight]
    signs = np.ones(len(extrema)) if absolute else np.sign(extrema.value)
    boxes = list(zip(extrema.y, extrema.x, extrema.size, strict=True))
    ref = naive.contribution_map(edges.fx, edges.fy, boxes, weights * signs, patch, absolute)
    sign = "absolute" if absolute else "supporting"
    comp = contribution_map(edges, extrema, votes=sign, weight=weight, patch=patch)
    assert_allclose(comp, ref, rtol=1e-6, atol=1e-9 * (1 + np.abs(ref).max()))


@given(exact_fields(), rectangle_lists)
def test_contributions_to_rectangles_are_the_definition(edges, sizes):
    extrema = find_extrema(edges, sizes=sizes)
    boxes = [(y, x, tuple(size)) for y, x, size in zip(extrema.y, extrema.x, extrema.size, strict=True)]
    ref = naive.contribution_map(edges.fx, edges.fy, boxes, np.sign(extrema.value))
    assert_allclose(contribution_map(edges, extrema), ref, atol=1e-8)


@given(edge_fields(), votes)
def test_separate_takes_the_larger_of_maxima_and_minima(edges, rows):
    extrema = as_extrema(rows)
    parts = [contribution_map(edges, extrema[extrema.value * s > 0]) for s in (1, -1)]
    assert_array_equal(contribution_map(edges, extrema, votes="separate"), np.maximum(*parts))


def test_the_edges_of_an_object_support_its_extremum():
    edges = detect_edges(scene("disc"))
    strongest = find_extrema(edges, sizes=range(3, 92, 2), count=1)
    votes = contribution_map(edges, strongest)
    assert not votes[~edges.mask].any()
    assert np.all(votes >= 0)  # every edge pixel of a disc turns the same way about its centre
    total = 2 * int(strongest.size[0]) ** 2 * abs(float(strongest.value[0]))
    assert votes.sum() == pytest.approx(total, rel=1e-3)


@given(exact_fields(), odd_sizes)
def test_the_literal_sum_of_eq_21_over_all_patches_is_zero(edges, size):
    half = size // 2  # patches that begin outside the image hold its pixels too
    y, x = (a.ravel() - half for a in np.indices([n + 2 * half for n in edges.shape]))
    every = Extrema(y, x, np.full(len(y), size), np.ones(len(y)))
    assert_allclose(contribution_map(edges, every), np.zeros(edges.shape), atol=1e-12 * size**3)


def test_no_extrema_no_contribution():
    edges = detect_edges(scene("disc"))
    assert not contribution_map(edges, find_extrema(edges, sizes=[3], count=0)).any()


@given(exact_fields() | directed_fields(), odd_sizes)
def test_coherence_is_the_definition(edges, size):
    assert_allclose(torque_coherence(edges, size), naive.torque_coherence(edges.fx, edges.fy, size), atol=2e-5)


@given(exact_fields() | directed_fields(), size_lists.map(lambda sizes: sizes[:2]))
def test_the_dense_contribution_is_the_definition(edges, sizes):
    ref = naive.dense_contribution(edges.fx, edges.fy, sizes)
    assert_allclose(dense_contribution(edges, sizes), ref, atol=2e-5 * len(sizes))


@given(edge_fields(), odd_sizes)
def test_the_dense_contribution_is_the_adjoint_of_the_coherence(edges, size):
    votes = (edges.strength.astype(float) * dense_contribution(edges, [size])).sum()
    coherence, torque = torque_coherence(edges, size).astype(float), torque_map(edges, size).astype(float)
    scale = 1 + edges.strength.sum(dtype=float)
    assert_allclose(votes, (2 * coherence * torque).sum() / size, atol=1e-3 * scale)


@given(edge_fields(), odd_sizes)
def test_coherence_stays_within_the_longest_lever(edges, size):
    assert np.abs(torque_coherence(edges, size)).max() <= np.sqrt(0.5) / 0.38 * (1 + 1e-3) + 0.15


def test_coherence_and_dense_contribution_do_not_depend_on_the_number_of_threads():
    edges = detect_edges(scene("shapes", (200, 150)), force="strength")
    results = []
    for threads in (1, 3):
        set_num_threads(threads)
        results.append((torque_coherence(edges, 31), dense_contribution(edges)))
    set_num_threads(1)
    assert_array_equal(results[0][0], results[1][0])
    assert_array_equal(results[0][1], results[1][1])


def test_coherence_does_not_grow_with_the_number_of_edges():
    one = detect_edges(scene("disc"))
    twice = Edges(2 * one.fx, 2 * one.fy)
    peak = tuple(find_extrema(one, sizes=[91], count=1).y), tuple(find_extrema(one, sizes=[91], count=1).x)
    assert_allclose(torque_coherence(twice, 91)[peak], torque_coherence(one, 91)[peak], rtol=0.05)


def test_an_outline_has_more_support_than_texture():
    edges = detect_edges(scene("texture"), low=0.004, high=0.004, force="strength")
    support = dense_contribution(edges)
    y, x = np.indices(edges.shape)
    distance = np.hypot(y - 80, x - 120)
    outline, strokes = (np.abs(distance - 40) < 3) & edges.mask, (distance > 55) & edges.mask
    assert support[outline].mean() > 1.2 * support[strokes].mean()


def test_nothing_comes_of_no_edges():
    empty = Edges(np.zeros((9, 7)), np.zeros((9, 7)))
    assert not torque_coherence(empty, 5).any()
    assert not dense_contribution(empty).any()


def test_sizes_of_the_dense_contribution_are_those_of_squares():
    edges = detect_edges(scene("disc"))
    with pytest.raises(ValueError, match="sizes must be sides of squares"):
        dense_contribution(edges, [(3, 5)])
    with pytest.raises(ValueError, match="sizes must be odd"):
        torque_coherence(edges, 4)
