"""Torque without polarity: the closure of patches."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import naive
from imtorque import (
    Edges,
    contribution_map,
    detect_edges,
    find_extrema,
    torque_coherence,
    torque_map,
    torque_spectrum,
    torque_volume,
    value_and_scale_maps,
)
from imtorque.synthetic import curves, disc, paint
from strategies import (
    alphas,
    assert_same_on_every_path,
    edge_fields,
    exact_fields,
    odd_sizes,
    patches,
    rectangle_lists,
    rounded,
    size_lists,
    uneven_fields,
)


def closure_map(edges, size, **options):
    return torque_map(edges, size, polarity="free", **options)


def closure_at(edges, y, x, size):
    """The definition at one point, in whole numbers of any length."""
    fx, fy = ([round(float(f)) for f in np.rint(c * np.float32(edges.steps)).ravel()] for c in (edges.fx, edges.fy))
    rows, columns = np.indices(edges.shape).reshape(2, -1).tolist()
    total, reach = 0, size // 2
    for v, u, force_x, force_y in zip(rows, columns, fx, fy, strict=True):
        dx, dy = u - x, v - y
        if abs(dx) <= reach and abs(dy) <= reach:
            total += (dx * force_y - dy * force_x) ** 2 - (dx * force_x + dy * force_y) ** 2
    return float(Fraction(total) / Fraction(edges.steps) ** 2) / (2 * np.pi * (size / 2) ** 3)


@given(edge_fields() | uneven_fields(), size_lists, patches, alphas)
def test_closure_is_the_definition_on_the_rounded_forces(edges, sizes, patch, alpha):
    ref = naive.closure_volume(*rounded(edges), sizes, patch, alpha)
    comp = torque_volume(edges, sizes, patch=patch, alpha=alpha, polarity="free").tau
    assert_allclose(comp, ref, rtol=3e-7, atol=1e-11 * (np.abs(ref).max() + 1e-30))


@pytest.mark.parametrize("share", [0, 0.02, 0.1, 1])
@pytest.mark.parametrize("shape", [(9, 30), (30, 9)])
def test_closure_of_disks_is_the_definition_whether_forces_are_few_or_many(share, shape):
    rng = np.random.default_rng(3)
    field = rng.integers(-9, 10, (2, *shape)) * (rng.random(shape) < share)
    edges, sizes = Edges(*field.astype(np.float32)), [1, 3, 15, 31, 101]
    ref = naive.closure_volume(*field, sizes[1:], "disk")
    comp = torque_volume(edges, sizes, patch="disk", polarity="free").tau
    assert_allclose(comp[1:], ref, rtol=3e-7, atol=1e-12)
    assert not comp[0].any()


def test_few_forces_among_many_disks_have_the_closure_of_the_spectrum():
    edges, sizes = detect_edges(disc((61, 97), (30, 48), 20)), np.arange(3, 81, 2)
    tau = torque_volume(edges, sizes, patch="disk", polarity="free").tau
    for point in [(0, 0), (30, 48), (17, 90), (60, 96)]:
        ref = torque_spectrum(edges, point, sizes, patch="disk", polarity="free")
        assert_array_equal(tau[:, point[0], point[1]], ref)


@given(exact_fields(), rectangle_lists, alphas)
def test_closure_of_rectangles_is_the_definition(edges, sizes, alpha):
    ref = naive.closure_volume(edges.fx, edges.fy, sizes, alpha=alpha)
    assert_allclose(torque_volume(edges, sizes, alpha=alpha, polarity="free").tau, ref, rtol=3e-7, atol=1e-12)


@given(exact_fields(), rectangle_lists, st.sampled_from([None, 3]))
def test_maps_extrema_and_spectrum_of_rectangles_are_those_of_the_volume_to_the_bit(edges, sizes, count):
    volume = torque_volume(edges, sizes, polarity="free")
    for comp, ref in zip(
        value_and_scale_maps(edges, sizes, polarity="free"), value_and_scale_maps(volume), strict=True
    ):
        assert_array_equal(comp, ref)
    comp, ref = find_extrema(edges, sizes, count=count, polarity="free"), find_extrema(volume, count=count)
    assert_array_equal([comp.y, comp.x, comp.value], [ref.y, ref.x, ref.value])
    y, x = edges.shape[0] // 2, edges.shape[1] // 2
    assert_array_equal(torque_spectrum(edges, (y, x), sizes, polarity="free"), volume.tau[:, y, x])


@given(edge_fields() | uneven_fields(), odd_sizes, odd_sizes)
def test_a_rectangle_of_equal_sides_is_the_square(edges, size, other):
    pairs = sorted([(size, size), (other, 2 * other + 1)], key=lambda p: p[0] * p[1])
    tau = torque_volume(edges, pairs, polarity="free").tau[pairs.index((size, size))]
    assert_array_equal(tau, closure_map(edges, size))


@given(edge_fields() | uneven_fields(), size_lists, patches, st.sampled_from([None, 3]), st.sampled_from([None, 1, -1]))
def test_maps_extrema_and_spectrum_are_those_of_the_volume_to_the_bit(edges, sizes, patch, count, sign):
    options = {"patch": patch, "polarity": "free"}
    volume = torque_volume(edges, sizes, **options)
    for comp, ref in zip(value_and_scale_maps(edges, sizes, **options), value_and_scale_maps(volume), strict=True):
        assert_array_equal(comp, ref)
    comp, ref = (
        find_extrema(edges, sizes, count=count, sign=sign, **options),
        find_extrema(volume, count=count, sign=sign),
    )
    assert_array_equal([comp.y, comp.x, comp.size, comp.value], [ref.y, ref.x, ref.size, ref.value])
    y, x = edges.shape[0] // 2, edges.shape[1] // 2
    assert_array_equal(torque_spectrum(edges, (y, x), sizes, **options), volume.tau[:, y, x])


@given(edge_fields() | uneven_fields(), odd_sizes)
def test_coherence_without_polarity_is_the_definition(edges, size):
    ref = naive.closure_coherence(*rounded(edges), size)
    assert_allclose(torque_coherence(edges, size, polarity="free"), ref, rtol=1e-6, atol=1e-9)


@given(edge_fields() | uneven_fields(), odd_sizes, patches, st.integers(0, 2**32 - 1))
def test_turning_any_edge_around_changes_nothing(edges, size, patch, seed):
    sign = np.random.default_rng(seed).choice([-1.0, 1.0], edges.shape)
    other = Edges(sign * edges.fx, sign * edges.fy)
    assert_array_equal(closure_map(other, size, patch=patch), closure_map(edges, size, patch=patch))


@given(edge_fields() | uneven_fields(), odd_sizes, patches)
def test_a_star_is_a_negative_circle(edges, size, patch):
    circle = closure_map(edges, size, patch=patch)
    assert_array_equal(closure_map(edges, size, patch=patch, pattern="star"), -circle)
    assert_array_equal(closure_map(edges, size, patch=patch, pattern=np.pi), circle)


@given(edge_fields(), odd_sizes)
def test_quarter_turns_and_mirrors_of_the_field_move_the_map(edges, size):
    closure = closure_map(edges, size)
    turned = Edges(np.rot90(edges.fy), -np.rot90(edges.fx))
    assert_array_equal(closure_map(turned, size), np.rot90(closure))
    mirrored = Edges(-edges.fx[:, ::-1], edges.fy[:, ::-1])
    assert_array_equal(closure_map(mirrored, size), closure[:, ::-1])


@given(edge_fields(), odd_sizes)
def test_forces_count_by_their_squares(edges, size):
    twice = Edges(2 * edges.fx, 2 * edges.fy)
    assert_array_equal(closure_map(twice, size), 4 * closure_map(edges, size))


@given(edge_fields(), odd_sizes)
def test_closure_is_at_most_the_squared_forces_by_their_squared_levers(edges, size):
    y, x = edges.shape[0] // 2, edges.shape[1] // 2
    v, u = np.indices(edges.shape)
    fx, fy = rounded(edges)
    inside = (np.abs(v - y) <= size // 2) & (np.abs(u - x) <= size // 2)
    most = (((v - y) ** 2 + (u - x) ** 2) * (fx**2 + fy**2))[inside].sum() / (2 * np.pi * (size / 2) ** 3)
    assert abs(closure_map(edges, size)[y, x]) <= most * (1 + 1e-6)


@pytest.mark.parametrize("radius", [10, 20, 40])
@pytest.mark.parametrize("patch", ["square", "disk"])
def test_a_circle_of_unit_forces_has_a_closure_of_one(radius, patch):
    angle = np.arange(0, 2 * np.pi, 1 / radius / 8)
    y, x = (np.rint(50 + radius * f(angle)).astype(int) for f in (np.sin, np.cos))
    count = np.zeros((101, 101))
    np.add.at(count, (y, x), 1 / 8)  # the length of the circle in each pixel
    v, u = np.indices((101, 101)) - 50
    length = np.sqrt(count) / np.maximum(np.hypot(v, u), 1)
    edges = Edges(-v * length, u * length)
    # A patch that just holds the outermost pixels, and of which the circle's radius is half the size.
    size = 2 * radius + 1
    closure = (
        closure_map(edges, size)[50, 50] if patch == "square" else closure_map(edges, size + 2, patch="disk")[50, 50]
    )
    half = (size / 2) if patch == "square" else radius + 1
    assert_allclose(closure * (half / radius) ** 3, 1, atol=0.05)


@pytest.mark.parametrize("axes", [(20, 20), (30, 15), (14, 35)])
def test_an_ellipse_of_unit_forces_has_a_closure_near_one_in_its_rectangle_and_no_radial_part(axes):
    angle = np.arange(0, 2 * np.pi, 1 / 400)
    y, x = axes[0] * np.sin(angle), axes[1] * np.cos(angle)
    step = np.stack([np.gradient(y), np.gradient(x)])
    length = np.hypot(*step)
    fx, fy = np.zeros((2, 101, 101))
    place = np.rint(50 + y).astype(int), np.rint(50 + x).astype(int)
    count = np.zeros((101, 101))
    np.add.at(fx, place, step[1])
    np.add.at(fy, place, step[0])
    np.add.at(count, place, length)
    scale = np.sqrt(count) / np.maximum(np.hypot(fx, fy), 1e-9)
    rectangle = (2 * axes[0] + 1, 2 * axes[1] + 1)
    closure = closure_map(Edges(fx * scale, fy * scale), rectangle)[50, 50]
    assert 0.9 < closure * (np.sqrt(np.prod(rectangle)) / 2 / np.sqrt(np.prod(axes))) ** 3 < 1.03


def test_edges_of_random_directions_have_no_closure_on_average():
    rng = np.random.default_rng(0)
    angle, edge = rng.uniform(0, 2 * np.pi, (300, 300)), rng.random((300, 300)) < 0.3
    closure = closure_map(Edges(np.cos(angle) * edge, np.sin(angle) * edge), 31)[20:-20, 20:-20]
    assert abs(closure.mean()) < 0.01
    assert closure.std() < 0.1


@pytest.mark.parametrize("drawn", ["circle", "star", "spiral", "saddle", "saddle-diagonal"])
def test_a_pattern_of_alternating_contrast_is_seen_only_without_polarity(drawn):
    edges = detect_edges(curves((121, 121), drawn, two_sided=True), low=0.1, high=0.1)
    free = {p: float(closure_map(edges, 101, pattern=p)[60, 60]) for p in ("circle", "star", "spiral", "saddle")}
    own = "saddle" if drawn.startswith("saddle") else drawn
    sign = -1 if drawn == "saddle-diagonal" else 1
    assert max(free, key=lambda p: sign * free[p]) == own
    assert abs(free[own]) > 0.3
    if drawn != "circle":  # rings of both signs do not quite cancel: the outer are longer
        assert abs(float(torque_map(edges, 101, pattern=drawn)[60, 60])) < 0.2 * abs(free[own])


def test_a_disc_over_grounds_of_both_sides_is_found_without_polarity_only():
    ground = np.where(np.indices((101, 101))[1] < 50, 0.1, 0.9)
    edges = detect_edges(paint(ground, disc((101, 101), (50, 50), 25), 0.5))
    assert abs(torque_map(edges, 51)[50, 50]) < 0.05
    found = find_extrema(edges, range(11, 81, 2), polarity="free", sign=1, count=1)
    assert np.hypot(found.y[0] - 50, found.x[0] - 50) < 3
    assert 45 <= found.size[0] <= 57


def test_closure_does_not_depend_on_threads_or_instruction_set():
    rng = np.random.default_rng(0)
    edges = Edges(*(rng.normal(size=(2, 120, 1100)) * (rng.random((120, 1100)) < 0.1)))
    sizes = [3, 9, 45, 151]

    def everything():
        found = find_extrema(edges, sizes, polarity="free", count=40)
        disks = torque_volume(edges, sizes[:3], patch="disk", polarity="free").tau
        return *value_and_scale_maps(edges, sizes, polarity="free"), disks, found.y, found.x, found.value

    assert_same_on_every_path(everything)


@pytest.mark.parametrize("size", [5, 41, 401])  # sums of at most 51, 63 and 127 bits
def test_long_sums_are_exact(size):
    rng = np.random.default_rng(5)
    edges = Edges(*rng.normal(size=(2, 60, 70)))  # dense: in steps of 2^-19
    closure = closure_map(edges, size)
    for y, x in [(0, 0), (30, 35), (59, 69), (12, 3)]:
        assert_allclose(closure[y, x], closure_at(edges, y, x, size), rtol=3e-7)


def test_closure_refuses_what_a_float32_does_not_hold():
    edges = Edges(1e25 * np.eye(9), np.zeros((9, 9)))
    with pytest.raises(
        ValueError, match=r"must keep the closure of these sizes below 3e\+38, got alpha 2.0 and forces"
    ):
        closure_map(edges, 5)
    with pytest.raises(ValueError, match='polarity must be "signed" or "free", got \'both\''):
        torque_map(edges, 5, polarity="both")


@given(exact_fields(), size_lists, patches)
def test_contributions_add_up_to_the_closure_of_the_patches(edges, sizes, patch):
    options = {"patch": patch, "polarity": "free"}
    extrema = find_extrema(edges, sizes, **options)
    radius = np.maximum((extrema.size - (patch == "disk")) / 2, 0.5)
    total = np.sum(2 * np.pi * radius**3 * np.abs(extrema.value))
    for votes in ("supporting", "absolute"):
        contribution = contribution_map(edges, extrema, votes=votes, **options)
        if votes == "supporting":
            assert_allclose(contribution.sum(), total, rtol=1e-5, atol=1e-6)
        else:
            assert contribution.sum() >= total * (1 - 1e-5)
        assert_array_equal(contribution[~edges.mask], 0)
