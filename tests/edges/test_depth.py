import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

import naive_jumps
from imtorque import detect_edges, edges_from_depth, find_blobs, find_extrema, suppress_overlaps, torque_map
from imtorque.edges.jumps import Window, filled, jumps
from imtorque.synthetic import depth_scene

planes = hnp.arrays(
    np.float64, st.tuples(st.integers(9, 12), st.integers(9, 12)), elements=st.integers(-8, 8).map(lambda v: v / 4)
)


@given(planes, st.sampled_from([0, 1]), st.sampled_from([(1, 3), (2, 2), (3, 5)]))
def test_jumps_are_the_definition(plane, axis, window):
    assert_allclose(jumps(plane, axis, Window(*window))[0], naive_jumps.jumps(plane, axis, *window), atol=1e-9)


@given(planes, st.integers(0, 99), st.sampled_from([0, 1]), st.sampled_from([0.0, 0.1, 2.0]))
def test_holes_are_filled_as_defined(plane, seed, axis, together):
    known = np.random.default_rng(seed).random(plane.shape) < 0.6
    lines, holes = (np.moveaxis(a, axis, -1) for a in (plane, known))
    pairs = holes[:, 1:] & holes[:, :-1]
    slope = np.median(np.abs(np.diff(lines))[pairs]) if pairs.any() else 0.0
    expected = [naive_jumps.filled_line(v, k, together, slope) for v, k in zip(lines, holes, strict=True)]
    assert_allclose(np.moveaxis(filled(plane, known, axis, together), axis, -1), expected, atol=1e-12)


def wall(shape=(60, 80), slope=(0.004, 0.008)):
    """Depth of a slanted wall: its inverse is linear."""
    rows, columns = np.indices(shape)
    return 1 / (0.5 - slope[0] * rows / 4 - slope[1] * columns / 4)


@pytest.mark.parametrize("slope", [(0, 0), (0.004, 0.012), (0.016, -0.02)])
def test_a_plane_has_no_edges_however_steep(slope):
    assert not edges_from_depth(wall(slope=slope)).mask.any()


def test_a_crease_is_no_edge():
    columns = np.abs(np.arange(80) - 40)
    assert not edges_from_depth(1 / np.tile(0.3 + 0.005 * columns, (60, 1))).mask.any()


def stands_out(valid=None, hole=None, **options):
    depth = wall()
    depth[20:41, 30:51] *= 0.7
    if hole is not None:
        depth[hole] = 0
    return edges_from_depth(depth, valid=valid, **options)


def test_what_is_nearer_has_positive_torque_and_an_opening_negative():
    assert torque_map(stands_out(), 25)[30, 40] > 0.5
    depth = wall()
    depth[20:41, 30:51] *= 1.5
    assert torque_map(edges_from_depth(depth), 25)[30, 40] < -0.5


def test_edges_run_along_the_rim():
    rows, columns = np.nonzero(stands_out().mask)
    away = np.maximum(np.abs(rows - 30), np.abs(columns - 40))
    assert ((away >= 10) & (away <= 11)).all()
    assert 70 <= len(rows) <= 90  # one pixel wide


@pytest.mark.parametrize(
    "hole",
    [
        np.s_[20:41, 24:30],  # the shadow beside the rim
        np.s_[28:32, 38:43],  # in the object
        np.s_[3:10, 5:20],  # in the wall
        np.s_[:, :12],  # at the border
        np.s_[10:14],  # whole rows
    ],
    ids=["shadow", "object", "wall", "border", "rows"],
)
def test_holes_move_no_edge(hole):
    rows, columns = np.nonzero(stands_out(hole=hole).mask)
    away = np.maximum(np.abs(rows - 30), np.abs(columns - 40))
    assert ((away >= 10) & (away <= 11)).all()
    assert len(rows) >= 70


def test_nan_and_masked_pixels_are_holes_like_zeros():
    depth = wall()
    depth[20:41, 30:51] *= 0.7
    holes = np.random.default_rng(0).random(depth.shape) < 0.1
    zero, nan = np.where(holes, 0, depth), np.where(holes, np.nan, depth)
    expected = edges_from_depth(zero).fx
    assert_array_equal(edges_from_depth(nan).fx, expected)
    assert_array_equal(edges_from_depth(depth, valid=~holes).fx, expected)


def test_a_map_without_any_value_has_no_edges():
    assert not edges_from_depth(np.zeros((20, 30))).mask.any()


@given(st.floats(1e-3, 1e4))
def test_the_unit_of_depth_does_not_matter(unit):
    depth = wall((30, 40))
    depth[10:20, 12:25] *= 0.7
    assert_allclose(edges_from_depth(depth * unit).fx, edges_from_depth(depth).fx, atol=1e-6)


def test_millimetres_in_16_bits_are_depth():
    depth = np.rint(1000 * wall()).astype(np.uint16)
    depth[20:41, 30:51] = (depth[20:41, 30:51] * 0.7).astype(np.uint16)
    assert find_extrema(edges_from_depth(depth), count=1).y[0] == 30


def test_disparity_and_inverse_depth_agree():
    depth = wall()
    depth[20:41, 30:51] *= 0.7
    assert_allclose(edges_from_depth(3 / depth, kind="disparity").fx, edges_from_depth(depth).fx, atol=1e-6)


def test_heights_count_in_their_own_unit():
    heights = np.add.outer(0.3 * np.arange(60), 0.2 * np.arange(80))
    heights[20:41, 30:51] += 5
    assert torque_map(edges_from_depth(heights, kind="height", jump=4), 25)[30, 40] > 0.5
    assert not edges_from_depth(heights, kind="height", jump=6).mask.any()


def test_a_jump_below_the_least_is_no_edge():
    assert stands_out(jump=0.25).mask.any()
    assert not stands_out(jump=0.35).mask.any()


def test_strength_is_the_share_of_the_farther_distance():
    strength = stands_out(force="strength").strength
    assert_allclose(np.median(strength[strength > 0]), 0.3, atol=0.02)


def test_noise_alone_makes_no_edges():
    noise = np.random.default_rng(0).normal(0, 0.02, (120, 160))
    assert np.mean(edges_from_depth(1 / (0.5 + noise)).mask) < 0.003


def share_found(scene, edges, sign):
    """Of the objects, those among as many of the first extrema as there are objects."""
    found = suppress_overlaps(find_extrema(edges, sign=sign))[: len(scene.y)]
    near = np.hypot(found.y[:, None] - scene.y, found.x[:, None] - scene.x) < 0.35 * scene.size
    fits = (found.size[:, None] > 0.6 * scene.size) & (found.size[:, None] < 1.7 * scene.size)
    return (near & fits).any(axis=0).mean()


def test_depth_finds_what_paint_hides():
    scenes = [depth_scene(seed) for seed in range(4)]
    assert np.mean([share_found(s, edges_from_depth(s.depth), 1) for s in scenes]) >= 0.95
    assert np.mean([share_found(s, detect_edges(s.image), None) for s in scenes]) <= 0.4


def test_blobs_of_depth_edges_are_the_things():
    scene = depth_scene(1)
    blobs = find_blobs(edges_from_depth(scene.depth))
    assert len(blobs) == len(scene.y)
    assert sorted(scene.labels[blobs.y.round().astype(int), blobs.x.round().astype(int)]) == list(range(1, 8))


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"depth": np.zeros((3, 4, 3))}, ValueError, r"shape \(H, W\)"),
        ({"depth": np.zeros((0, 4))}, ValueError, "not be empty"),
        ({"depth": np.zeros((3, 4), complex)}, TypeError, "real numbers"),
        ({"jump": 0.0}, ValueError, "jump must be positive, got 0.0"),
        ({"kind": "far"}, ValueError, "got 'far'"),
        ({"force": "weak"}, ValueError, "got 'weak'"),
        ({"valid": np.ones((2, 2), bool)}, ValueError, r"valid must be booleans of shape \(60, 80\)"),
    ],
)
def test_refuses_what_cannot_be_meant(arguments, error, text):
    with pytest.raises(error, match=text):
        edges_from_depth(**{"depth": wall(), **arguments})
