"""Circles, stars, spirals and saddles: the moments of patches, and the torque of turned fields."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import imtorque
import naive
from imtorque import (
    Edges,
    _native,
    contribution_map,
    dense_contribution,
    detect_edges,
    find_extrema,
    gradient_edges,
    patch_moments,
    pattern_edges,
    torque_coherence,
    torque_map,
    torque_spectrum,
    torque_volume,
    value_and_scale_maps,
)
from imtorque.core.patterns import PATTERNS
from imtorque.synthetic import curves
from strategies import (
    edge_fields,
    exact_fields,
    largest_force,
    named_patterns,
    odd_sizes,
    patches,
    patterns,
    rectangles,
    rounded,
    size_lists,
    uneven_fields,
)


@given(edge_fields() | uneven_fields(), odd_sizes, patches)
def test_moments_are_the_definition_on_the_rounded_forces(edges, size, patch):
    ref = naive.patch_moments(*rounded(edges), size, patch)
    comp = patch_moments(edges, size, patch=patch)
    assert_allclose(np.array(comp), ref, rtol=3e-7, atol=1e-12 * (largest_force(edges) + 1))


@given(exact_fields(), rectangles)
def test_moments_of_rectangles_are_the_definition(edges, size):
    assert_allclose(np.array(patch_moments(edges, size)), naive.patch_moments(edges.fx, edges.fy, size), rtol=3e-7)


@given(edge_fields() | uneven_fields(), odd_sizes, st.sampled_from(["circle", "star", "saddle", "saddle-diagonal"]))
def test_a_pattern_is_its_sum_of_moments_on_the_rounded_forces(edges, size, pattern):
    ref = naive.pattern_map(*rounded(edges), size, pattern)
    assert_allclose(torque_map(edges, size, pattern=pattern), ref, rtol=3e-7, atol=1e-12 * (largest_force(edges) + 1))


@given(edge_fields(), odd_sizes, patches, patterns)
def test_a_pattern_is_its_sum_of_moments_to_two_ten_thousandths_of_the_largest_force(edges, size, patch, pattern):
    ref = naive.pattern_map(edges.fx, edges.fy, size, pattern, patch)
    comp = torque_map(edges, size, patch=patch, pattern=pattern)
    assert_allclose(comp, ref, rtol=0, atol=2e-4 * largest_force(edges) + 1e-30)


@given(edge_fields(), odd_sizes, patterns)
def test_the_response_of_moments_is_the_torque_of_the_pattern(edges, size, pattern):
    response = patch_moments(edges, size).response(pattern) / (2 * size**2)
    comp = torque_map(edges, size, pattern=pattern)
    assert_allclose(comp, response, rtol=0, atol=3e-4 * largest_force(edges) + 1e-30)


@given(exact_fields(), size_lists, patches, patterns, st.sampled_from([None, 4]))
def test_every_function_takes_the_pattern_as_the_field_it_makes(edges, sizes, patch, pattern, count):
    field = pattern_edges(edges, pattern)
    ref, comp = (torque_volume(field, sizes, patch=patch), torque_volume(edges, sizes, patch=patch, pattern=pattern))
    assert_array_equal(comp.tau, ref.tau)
    value, scale = value_and_scale_maps(edges, sizes, patch=patch, pattern=pattern)
    assert_array_equal(value, value_and_scale_maps(ref)[0])
    assert_array_equal(scale, value_and_scale_maps(ref)[1])
    assert_array_equal(torque_spectrum(edges, (0, 0), sizes, patch=patch, pattern=pattern), ref.tau[:, 0, 0])
    found = find_extrema(edges, sizes, patch=patch, pattern=pattern, count=count)
    assert_array_equal(found.value, find_extrema(ref, count=count).value)
    for votes in ("supporting", "separate", "absolute"):
        assert_array_equal(
            contribution_map(edges, found, votes=votes, patch=patch, pattern=pattern),
            contribution_map(field, found, votes=votes, patch=patch),
        )
    assert_array_equal(torque_coherence(edges, sizes[0], pattern=pattern), torque_coherence(field, sizes[0]))
    assert_array_equal(dense_contribution(edges, sizes, pattern=pattern), dense_contribution(field, sizes))


@given(edge_fields() | uneven_fields(), odd_sizes)
def test_the_circle_is_the_torque_to_the_bit(edges, size):
    for pattern in ("circle", 0, 2 * np.pi, -4 * np.pi):
        assert_array_equal(torque_map(edges, size, pattern=pattern), torque_map(edges, size))


@given(edge_fields() | uneven_fields(), odd_sizes)
def test_names_are_angles(edges, size):
    for name, angle in (("star", np.pi / 2), ("star", -1.5 * np.pi), ("spiral", np.pi / 4)):
        assert_array_equal(torque_map(edges, size, pattern=name), torque_map(edges, size, pattern=angle))
    assert_array_equal(torque_map(edges, size, pattern=np.pi), -torque_map(edges, size))


@given(edge_fields(), odd_sizes, named_patterns)
def test_a_quarter_turn_of_the_field_turns_the_map_and_reverses_saddles(edges, size, pattern):
    turned = Edges(np.rot90(edges.fy), -np.rot90(edges.fx))
    sign = -1 if pattern.startswith("saddle") else 1
    # A spiral's turned forces are rounded, ties to even, whichever component they are.
    comp, ref = torque_map(turned, size, pattern=pattern), sign * np.rot90(torque_map(edges, size, pattern=pattern))
    assert_array_equal(comp, ref)


@given(edge_fields(), odd_sizes)
def test_mirroring_a_bare_field_reverses_circles_and_diagonal_saddles_and_keeps_the_others(edges, size):
    mirrored = Edges(-edges.fx[:, ::-1], edges.fy[:, ::-1])
    signs = {"circle": -1, "star": 1, "saddle": 1, "saddle-diagonal": -1}
    for pattern, sign in signs.items():
        ref = sign * torque_map(edges, size, pattern=pattern)[:, ::-1]
        assert_array_equal(torque_map(mirrored, size, pattern=pattern), ref)
    assert_array_equal(torque_map(mirrored, size, pattern=0.5), -torque_map(edges, size, pattern=-0.5)[:, ::-1])


@given(edge_fields(), odd_sizes, patterns)
def test_reversing_all_forces_reverses_every_pattern(edges, size, pattern):
    comp = torque_map(Edges(-edges.fx, -edges.fy), size, pattern=pattern)
    assert_array_equal(comp, -torque_map(edges, size, pattern=pattern))


@pytest.mark.parametrize("pattern", [*PATTERNS, 0.3])
def test_a_pattern_does_not_depend_on_where_it_lies(pattern):
    rng = np.random.default_rng(3)
    small = Edges(*(rng.normal(size=(2, 25, 31)) * (rng.random((25, 31)) < 0.3)))
    fx, fy = np.zeros((2, 160, 620))
    fx[60:85, 470:501], fy[60:85, 470:501] = small.fx, small.fy
    whole = Edges(fx, fy, steps=small.steps)
    for function in (lambda e: torque_map(e, 21, pattern=pattern), lambda e: patch_moments(e, 21).response(pattern)):
        assert_array_equal(function(whole)[60:85, 470:501], function(small))


@pytest.mark.parametrize("drawn", [*PATTERNS, -np.pi / 4])
def test_a_drawn_pattern_has_the_largest_response_of_its_own_kind(drawn):
    edges = detect_edges(curves((121, 121), drawn), low=0.1, high=0.1)
    responses = {p: float(torque_map(edges, 101, pattern=p)[60, 60]) for p in (*PATTERNS, -np.pi / 4)}
    assert max(responses, key=responses.get) == drawn
    assert responses[drawn] > 0.15
    assert max(abs(r) for p, r in responses.items() if p != drawn) < 0.8 * responses[drawn]


def test_the_corner_of_a_checkerboard_is_a_saddle_bright_where_both_offsets_have_one_sign():
    y, x = np.indices((41, 41)) - 20.0
    edges = detect_edges(np.where(x * y > 0, 0.9, 0.1))
    assert torque_map(edges, 21, pattern="saddle")[20, 20] > 0.2
    assert torque_map(detect_edges(np.where(x * y > 0, 0.1, 0.9)), 21, pattern="saddle")[20, 20] < -0.2
    upright = detect_edges(np.where(np.abs(y) > np.abs(x), 0.9, 0.1))
    assert torque_map(upright, 21, pattern="saddle-diagonal")[20, 20] > 0.2


def test_the_gradient_of_what_a_patch_holds_entirely_has_no_moment_but_torque():
    image = np.zeros((45, 47))
    image[12:30, 15:31] = np.random.default_rng(0).integers(0, 256, (18, 16)) / 256
    edges = gradient_edges(image)
    assert_allclose(torque_map(edges, 41)[22, 23] * 41**2, image.sum(), rtol=1e-6)
    for pattern in ("star", "saddle", "saddle-diagonal"):
        assert torque_map(edges, 41, pattern=pattern)[22, 23] == 0


def test_flow_away_from_a_point_is_a_star_and_has_no_torque_there():
    y, x = np.indices((61, 61)).astype(float)
    length = np.hypot(y - 25, x - 40)
    edges = Edges((x - 40) / (length + 1), (y - 25) / (length + 1))
    star = torque_map(edges, 13, pattern="star")
    assert np.unravel_index(star.argmax(), star.shape) == (25, 40)
    assert torque_map(edges, 13)[25, 40] == 0


def test_moments_do_not_depend_on_threads_or_instruction_set():
    rng = np.random.default_rng(0)
    edges = Edges(*(rng.normal(size=(2, 200, 1100)) * (rng.random((200, 1100)) < 0.1)))
    imtorque.set_num_threads(1)
    ref = {size: np.array(patch_moments(edges, size)) for size in (9, 151)}
    imtorque.set_num_threads(7)
    for size, maps in ref.items():
        assert_array_equal(np.array(patch_moments(edges, size)), maps)
    _native.allow_avx2(False)
    try:
        for size, maps in ref.items():
            assert_array_equal(np.array(patch_moments(edges, size)), maps)
    finally:
        _native.allow_avx2(True)


def test_parts_of_an_image_told_its_steps_agree_with_it_in_every_pattern():
    rng = np.random.default_rng(1)
    whole = Edges(*(rng.normal(size=(2, 90, 100)) ** 3))
    part = Edges(whole.fx[20:70, 30:90], whole.fy[20:70, 30:90], steps=whole.steps)
    for pattern in (*PATTERNS, 0.6):
        comp = torque_map(part, 15, pattern=pattern)[7:-7, 7:-7]
        assert_array_equal(comp, torque_map(whole, 15, pattern=pattern)[27:63, 37:83])


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("sprial", "pattern must be one of circle, star, spiral, saddle, saddle-diagonal or an angle in radians, got"),
        (np.nan, "pattern must be a name or an angle in radians, got nan"),
        (True, "pattern must be a name or an angle in radians, got bool"),
        (None, "pattern must be a name or an angle in radians, got NoneType"),
    ],
)
def test_an_unknown_pattern_is_refused(pattern, message):
    with pytest.raises((TypeError, ValueError), match=message):
        torque_map(Edges(np.eye(5), np.eye(5)), 3, pattern=pattern)


def test_what_is_no_field_of_edges_is_refused():
    for call in (
        lambda plane: pattern_edges(plane, "star"),
        lambda plane: value_and_scale_maps(plane, [3]),
        lambda plane: value_and_scale_maps(plane, [3], pattern="star", polarity="free"),
        lambda plane: torque_coherence(plane, 3, polarity="free"),
    ):
        with pytest.raises(TypeError, match="edges must be Edges, as detect_edges returns them, got ndarray"):
            call(np.eye(5))


def test_moments_refuse_what_torque_refuses():
    edges = Edges(np.eye(5), np.eye(5))
    with pytest.raises(ValueError, match="odd"):
        patch_moments(edges, 4)
    with pytest.raises(ValueError, match="a disk has one size"):
        patch_moments(edges, (3, 5), patch="disk")
    with pytest.raises(TypeError, match="edges must be Edges"):
        patch_moments(np.eye(5), 3)
