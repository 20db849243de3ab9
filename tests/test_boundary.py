import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import naive
from imtorque import Extrema, contribution_map, detect_edges, find_extrema
from imtorque.synthetic import scene
from strategies import edge_fields, exact_fields, patches, rectangle_lists

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
    comp = contribution_map(edges, extrema, sign=sign, weight=weight, patch=patch)
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
    assert_array_equal(contribution_map(edges, extrema, sign="separate"), np.maximum(*parts))


def test_the_edges_of_an_object_support_its_extremum():
    edges = detect_edges(scene("disc"))
    strongest = find_extrema(edges, sizes=range(3, 92, 2), count=1)
    votes = contribution_map(edges, strongest)
    assert not votes[~edges.mask].any()
    assert np.all(votes >= 0)  # every edge pixel of a disc turns the same way about its centre
    total = 2 * int(strongest.size[0]) ** 2 * abs(float(strongest.value[0]))
    assert votes.sum() == pytest.approx(total, rel=1e-3)


def test_no_extrema_no_contribution():
    edges = detect_edges(scene("disc"))
    assert not contribution_map(edges, find_extrema(edges, sizes=[3], count=0)).any()
