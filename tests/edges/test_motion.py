import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from imtorque import detect_edges, edges_from_motion, find_extrema, optical_flow, suppress_overlaps, torque_map
from imtorque.edges.motion import ground_motion
from imtorque.synthetic import motion_scene


def affine(terms, shape=(60, 80)):
    rows, columns = np.indices(shape)
    return np.stack([t[0] + t[1] * columns + t[2] * rows for t in terms], axis=-1)


def moving_square(own=(3.0, 0.0), ground=((1.0, 0.01, 0.005), (-1.0, 0.0, 0.02))):
    flow = affine(ground)
    flow[20:41, 30:51] += own
    return flow


@given(st.lists(st.floats(-2, 2), min_size=2, max_size=2), st.lists(st.floats(-0.05, 0.05), min_size=4, max_size=4))
def test_affine_motion_has_no_edges(shift, turn):
    terms = ((shift[0], *turn[:2]), (shift[1], *turn[2:]))
    assert not edges_from_motion(affine(terms)).mask.any()


def test_the_grounds_motion_is_found_beside_things_that_move():
    ground = affine(((1.0, 0.01, 0.005), (-1.0, 0.0, 0.02)))
    assert_allclose(ground_motion(moving_square()), ground, atol=0.02)


@pytest.mark.parametrize("turns", range(8))
def test_what_moves_by_itself_is_inside_whichever_way_it_goes(turns):
    angle = turns * np.pi / 4
    flow = moving_square((3 * np.cos(angle), 3 * np.sin(angle)))
    assert torque_map(edges_from_motion(flow), 27)[30, 40] > 0.5


def test_edges_run_along_the_rim():
    rows, columns = np.nonzero(edges_from_motion(moving_square()).mask)
    away = np.maximum(np.abs(rows - 30), np.abs(columns - 40))
    assert ((away >= 8) & (away <= 11)).all()
    assert 60 <= len(rows) <= 90


def test_with_a_still_camera_what_stands_is_the_ground():
    flow = np.zeros((60, 80, 2))
    flow[..., 0] = 3.0
    flow[20:41, 30:51] = 0  # most of the image moves, one square stands
    assert torque_map(edges_from_motion(flow), 27)[30, 40] > 0.5
    assert torque_map(edges_from_motion(flow, ground="still"), 27)[30, 40] < -0.5


def test_a_jump_below_the_least_is_no_edge():
    assert edges_from_motion(moving_square((0.6, 0))).mask.any()
    assert not edges_from_motion(moving_square((0.4, 0))).mask.any()


def test_strength_is_the_jump():
    strength = edges_from_motion(moving_square(), force="strength").strength
    assert_allclose(np.median(strength[strength > 0]), 3.0, rtol=0.1)


def share_found(scene, edges, sign):
    """Of the discs, those among as many of the first extrema as there are discs."""
    found = suppress_overlaps(find_extrema(edges, sign=sign))[: len(scene.y)]
    near = np.hypot(found.y[:, None] - scene.y, found.x[:, None] - scene.x) < 0.35 * scene.size
    fits = (found.size[:, None] > 0.6 * scene.size) & (found.size[:, None] < 1.7 * scene.size)
    return (near & fits).any(axis=0).mean()


@pytest.mark.slow
def test_motion_finds_what_paint_hides():
    pytest.importorskip("cv2")
    scenes = [motion_scene(seed) for seed in range(4)]
    flows = [optical_flow(s.first, s.second) for s in scenes]
    measured = [share_found(s, edges_from_motion(flow), 1) for s, flow in zip(scenes, flows, strict=True)]
    assert np.mean(measured) >= 0.95
    assert np.mean([share_found(s, edges_from_motion(s.flow), 1) for s in scenes]) >= 0.95
    assert np.mean([share_found(s, detect_edges(s.first), None) for s in scenes]) <= 0.3


def test_flow_is_measured_across_and_down():
    pytest.importorskip("cv2")
    scene = motion_scene(0, shape=(120, 160), count=2)
    colour = np.stack([scene.first] * 3, axis=-1)
    for first in (scene.first, colour):
        error = np.hypot(*np.moveaxis(optical_flow(first, scene.second) - scene.flow, -1, 0))
        assert np.median(error) < 0.1


def test_without_opencv_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(ModuleNotFoundError, match=r"imtorque\[opencv\]"):
        optical_flow(np.zeros((20, 20)), np.zeros((20, 20)))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: edges_from_motion(np.zeros((3, 4))), ValueError, r"shape \(H, W, 2\)"),
        (lambda: edges_from_motion(np.zeros((3, 4, 2), complex)), TypeError, "real numbers"),
        (lambda: edges_from_motion(np.full((3, 4, 2), np.nan)), ValueError, "flow must be finite"),
        (lambda: edges_from_motion(np.zeros((3, 4, 2)), ground="sky"), ValueError, "got 'sky'"),
        (lambda: edges_from_motion(np.zeros((3, 4, 2)), jump=-1), ValueError, "jump must be positive, got -1"),
        (lambda: optical_flow(np.zeros((20, 20)), np.zeros((20, 21))), ValueError, "one size"),
        (lambda: optical_flow(np.zeros((8, 20)), np.zeros((8, 20))), ValueError, "at least 16 x 16"),
    ],
)
def test_refuses_what_cannot_be_meant(call, error, text):
    pytest.importorskip("cv2")
    with pytest.raises(error, match=text):
        call()
