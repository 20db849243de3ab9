"""The paper's mathematics, exact wherever an exact discrete form exists."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from imtorque import (
    Edges,
    contribution_map,
    detect_edges,
    find_extrema,
    gradient_edges,
    gradient_torque,
    torque_map,
    torque_volume,
    value_and_scale_maps,
)
from imtorque.synthetic import disc, paint, square
from strategies import as_edges, closed_walks, edge_fields, enclosed_area, exact_fields, odd_sizes, size_lists


def test_a_dark_disc_on_bright_ground_is_negative():
    image = paint(np.ones((41, 41)), disc((41, 41), (20, 20), 10), 0.0)
    assert torque_map(detect_edges(image), 21)[20, 20] < -0.5


@given(closed_walks().filter(len), st.data())
def test_torque_of_a_closed_contour_is_its_area_over_the_patch_area(walk, data):
    edges = as_edges(walk)
    size = 4 * len(walk) + 1  # the patch sees the whole contour from any pixel
    y, x = (data.draw(st.integers(0, n - 1)) for n in edges.shape)
    torque = float(torque_map(edges, size)[y, x])
    assert_allclose(torque * size**2, enclosed_area(walk), rtol=1e-6)


@given(closed_walks().filter(len), st.data())
def test_torque_of_an_open_contour_is_the_area_it_sweeps(walk, data):
    part = walk[: data.draw(st.integers(1, len(walk)))]
    edges = as_edges(part)
    centre = edges.shape[0] // 2  # where the walk starts
    y, x = (data.draw(st.integers(0, n - 1)) for n in edges.shape)
    size = 4 * len(walk) + 1
    steps = {"E": (0, 1), "W": (0, -1), "S": (1, 0), "N": (-1, 0)}
    area, v, u = 0.0, centre - y, centre - x  # relative to p; the polygon closes through p, which adds nothing
    for step in part:
        dy, dx = steps[step]
        area += (u * dy - v * dx) / 2
        v, u = v + dy, u + dx
    assert_allclose(float(torque_map(edges, size)[y, x]) * size**2, area, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("radius", [5, 10, 15])
def test_torque_of_a_bright_shape_is_its_pixel_count(radius):
    y, x = np.indices((63, 63)) - 31
    image = (y**2 + x**2 <= radius**2).astype(float)
    torque = torque_map(gradient_edges(image), 45)[31, 31]
    assert_allclose(float(torque) * 45**2, image.sum(), rtol=1e-6)


def test_gradient_torque_is_mean_inside_minus_mean_on_the_four_sides():
    image = np.random.default_rng(0).random((21, 23))
    h, y, x = 4, 10, 11
    inside = image[y - h : y + h + 1, x - h : x + h + 1].mean()
    rows = image[[y - h - 1, y + h + 1], x - h : x + h + 1]
    columns = image[y - h : y + h + 1, [x - h - 1, x + h + 1]]
    sides = np.concatenate([rows.ravel(), columns.ravel()]).mean()
    assert_allclose(gradient_torque(image, [2 * h + 1]).tau[0, y, x], inside - sides, atol=1e-6)


@given(edge_fields(), odd_sizes)
def test_reversing_all_forces_reverses_the_torque(edges, size):
    assert_array_equal(torque_map(Edges(-edges.fx, -edges.fy), size), -torque_map(edges, size))


@given(edge_fields(), odd_sizes)
def test_a_quarter_turn_of_the_field_turns_the_map(edges, size):
    turned = Edges(np.rot90(edges.fy), -np.rot90(edges.fx))
    assert_array_equal(torque_map(turned, size), np.rot90(torque_map(edges, size)))


@given(edge_fields(), odd_sizes)
def test_mirroring_a_bare_field_flips_the_sign(edges, size):
    mirrored = Edges(-edges.fx[:, ::-1], edges.fy[:, ::-1])
    assert_array_equal(torque_map(mirrored, size), -torque_map(edges, size)[:, ::-1])


def blobs_image(seed=0):
    """A smooth random image."""
    from scipy.ndimage import gaussian_filter

    return gaussian_filter(np.random.default_rng(seed).random((60, 75)), 2)


def value_map(image):
    return value_and_scale_maps(detect_edges(image), range(3, 40, 2))[0]


@pytest.mark.parametrize("seed", range(5))
def test_inverting_an_image_negates_the_torque(seed):
    image = blobs_image(seed)
    assert_allclose(value_map(1 - image), -value_map(image), atol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_adding_a_constant_or_scaling_changes_nothing(seed):
    image = blobs_image(seed)
    assert_allclose(value_map(image + 5), value_map(image), atol=1e-4)
    assert_allclose(value_map(1e6 * image), value_map(image), atol=1e-4)


@pytest.mark.parametrize("turn", [np.rot90, np.fliplr, np.flipud, np.transpose])
@pytest.mark.parametrize("seed", range(3))
def test_turning_or_mirroring_an_image_keeps_the_sign_and_moves_the_map(turn, seed):
    image = blobs_image(seed)
    assert_allclose(value_map(turn(image)), turn(value_map(image)), atol=1e-4)


@pytest.mark.parametrize("turn", [np.rot90, np.fliplr, np.flipud, np.transpose])
def test_drawn_shapes_turn_and_mirror_with_their_map_although_their_edges_are_ties(turn):
    image = np.zeros((50, 57))
    image[12:30, 9:31] = 1
    image[35:44, 40:52] = 0.5
    assert_allclose(value_map(turn(image)), turn(value_map(image)), atol=1e-6)


@given(exact_fields(), size_lists)
def test_contributions_add_up_to_the_torque_of_the_patches(edges, sizes):
    extrema = find_extrema(edges, sizes=sizes)
    total = contribution_map(edges, extrema).sum()
    assert_allclose(total, np.sum(2 * extrema.size.astype(float) ** 2 * np.abs(extrema.value)), rtol=1e-5, atol=1e-9)
    shares = contribution_map(edges, extrema, weight="area").sum()
    assert_allclose(shares, np.sum(np.abs(extrema.value)), rtol=1e-5, atol=1e-9)


@given(exact_fields(), size_lists)
def test_a_smaller_alpha_never_selects_a_smaller_patch(edges, sizes):
    scales = [np.abs(value_and_scale_maps(edges, sizes, alpha=alpha)[1]) for alpha in (2.0, 1.5, 1.0)]
    for larger_alpha, smaller_alpha in itertools.pairwise(scales):
        assert np.all(smaller_alpha >= larger_alpha)


@given(edge_fields(), size_lists, odd_sizes)
def test_the_value_map_bounds_every_size_and_sits_at_its_scale(edges, sizes, extra):
    volume = torque_volume(edges, sizes)
    value, scale = value_and_scale_maps(volume)
    assert np.all(np.abs(value) >= np.abs(volume.tau))
    assert_array_equal(np.sign(scale), np.sign(value))
    for k, size in enumerate(sizes):
        chosen = np.abs(scale) == size
        assert_array_equal(volume.tau[k][chosen], value[chosen])
    more = value_and_scale_maps(edges, sorted({*sizes, extra}))[0]
    assert np.all(np.abs(more) >= np.abs(value))


@pytest.mark.parametrize(("shape", "low", "high"), [("disc", 0.63, 0.69), ("square", 0.9, 1.0)])
def test_what_fills_its_patch_has_the_torque_that_the_docs_say(shape, low, high):
    for side in (21, 61, 121):
        y, x = np.ogrid[:241, :241]
        r = side // 2
        away = (
            (y - 120) ** 2 + (x - 120) ** 2 <= r * r if shape == "disc" else np.maximum(abs(y - 120), abs(x - 120)) <= r
        )
        edges = detect_edges(away.astype(float))
        found = {size: torque_map(edges, size)[120, 120] for size in range(side - 10, side + 12, 2)}
        assert max(found, key=found.get) == side
        assert low <= found[side] <= high


@pytest.mark.parametrize(("shape", "short"), [("disc", 0.070), ("diamond", 0.058)])
def test_unit_forces_of_slanted_contours_fall_short_as_the_docs_say(shape, short):
    size, area, at = 121, 0.079, (70, 70)
    side = size * math.sqrt(area)
    turned = square((141, 141), at, side, angle=math.pi / 4)
    drawn = turned if shape == "diamond" else disc((141, 141), at, side / math.sqrt(math.pi))
    assert torque_map(gradient_edges(drawn), size)[at] == pytest.approx(area, abs=5e-4)
    assert torque_map(detect_edges(drawn), size)[at] == pytest.approx(short, abs=1e-3)
    assert torque_map(detect_edges(drawn, length_correction=True), size)[at] == pytest.approx(area, abs=2e-3)
