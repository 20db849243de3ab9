"""Which side owns the edge: the classic cues, each a scene with a known answer; the definition; invariances."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import naive_ownership
from imtorque import Edges, OwnershipModel, border_ownership, find_extrema
from imtorque.boundaries.ownership import CONTOUR_SIGMA, _EdgePixels, fit_weights, ownership_edges, true_sides
from imtorque.io.weights import read_weights
from imtorque.synthetic import disc, overlap_scene, paint, square, texture

SHAPE = (150, 200)
ROWS, COLUMNS = np.indices(SHAPE)


def right(image, order, rounds=2):
    """Share of the edge pixels on the drawn boundaries that go to the right side."""
    edges = ownership_edges(image)
    truth, known = true_sides(edges, order)
    assert np.count_nonzero(known) > 30
    return np.mean(np.sign(border_ownership(edges, model="drawings", rounds=rounds)[edges.mask][known]) == truth[known])


def between(order):
    """The order with all but the edges between the two shapes left out."""
    return np.where(order == 0, -1, order)


@pytest.mark.parametrize("grey", [0.1, 0.9])
def test_what_is_enclosed_is_figure(grey):
    inside = disc(SHAPE, (75, 100), 30)
    assert right(paint(np.full(SHAPE, 0.5), inside, grey), (inside > 0.5).astype(int)) >= 0.95


@pytest.mark.parametrize("grey", [0.1, 0.9])
def test_the_smaller_of_two_regions_is_figure(grey):
    bar = (COLUMNS > 90) & (COLUMNS < 112)
    assert right(np.where(bar, grey, 0.5), bar.astype(int)) >= 0.95


@pytest.mark.parametrize("grey", [0.1, 0.9])
def test_the_convex_side_is_figure(grey):
    bulging = 90 + 26 * np.abs(np.sin(ROWS * np.pi / 50)) > COLUMNS
    assert right(np.where(bulging, grey, 0.5), bulging.astype(int)) >= 0.95


@pytest.mark.parametrize("greys", [(0.5, 0.2, 0.85), (0.5, 0.8, 0.15), (0.5, 0.5, 0.8)])
def test_at_t_junctions_the_shape_in_front_is_figure(greys):
    back, front = square(SHAPE, (75, 80), 60), square(SHAPE, (85, 115), 60)
    image = paint(paint(np.full(SHAPE, greys[0]), back, greys[1]), front, greys[2])
    order = np.where(front > 0.5, 2, np.where(back > 0.5, 1, 0))
    assert right(image, order) >= 0.9
    assert right(image, between(order)) >= 0.9


@pytest.mark.parametrize("draw", [square, disc])
def test_contrast_may_change_sign_along_the_outline_in_front(draw):
    """The front one is darker than the ground and brighter than the one behind: rounds settle it."""
    size = 60 if draw is square else 32
    back, front = draw(SHAPE, (75, 80), size), draw(SHAPE, (80, 116), size)
    image = paint(paint(np.full(SHAPE, 0.9), back, 0.2), front, 0.5)
    order = np.where(front > 0.5, 2, np.where(back > 0.5, 1, 0))
    assert right(image, between(order), rounds=8) >= 0.9


@pytest.mark.parametrize("radius", [15, 25, 35])
def test_the_edge_of_a_hole_belongs_to_the_ring(radius):
    outer, hole = disc(SHAPE, (75, 100), 50), disc(SHAPE, (75, 100), radius)
    image = paint(paint(np.full(SHAPE, 0.8), outer, 0.2), hole, 0.8)
    order = ((outer > 0.5) & (hole < 0.5)).astype(int)
    away = np.hypot(ROWS - 75, COLUMNS - 100)
    assert right(image, np.where(away < (radius + 50) / 2, order, -1)) >= 0.95


def test_most_edges_of_drawn_overlaps_go_to_the_shape_in_front():
    scenes = [overlap_scene(seed) for seed in range(5000, 5008)]
    assert np.mean([right(scene.image, scene.order) for scene in scenes]) >= 0.8


@pytest.mark.parametrize("model", ["photographs", "drawings"])
def test_the_negative_has_the_same_owners(model):
    image = overlap_scene(3).image
    edges, negative = ownership_edges(image), ownership_edges(1 - image)
    both = edges.mask & negative.mask
    one, two = border_ownership(edges, model=model)[both], border_ownership(negative, model=model)[both]
    assert np.mean(both) > 0.8 * np.mean(edges.mask)
    assert np.mean(np.sign(one) == -np.sign(two)) > 0.95


def test_turned_forces_have_positive_torque_around_figures_of_any_grey():
    image = np.full(SHAPE, 0.5)
    for x, grey in ((50, 0.1), (150, 0.9)):
        image = paint(image, disc(SHAPE, (75, x), 25), grey)
    edges = ownership_edges(image)
    side = border_ownership(edges, model="drawings").astype(np.float32)
    found = find_extrema(Edges(side * edges.fx, side * edges.fy), count=2)
    assert (found.value > 0).all()
    assert sorted(found.x) == pytest.approx([50, 150], abs=3)


def test_an_image_without_edges_has_no_owners():
    assert not border_ownership(np.full((30, 40), 0.5)).any()


@settings(max_examples=20)
@given(st.integers(0, 99), st.sampled_from([0.0, 1.3, 2.5, 40.0]), st.sampled_from([1, -1]))
def test_points_beside_edges_are_sampled_as_defined(seed, distance, dark):
    rng = np.random.default_rng(seed)
    fx, fy, plane = np.where(rng.random((3, 9, 11)) < 0.2, rng.normal(size=(3, 9, 11)), 0).astype(np.float32)
    places = _EdgePixels.of(Edges(fx, fy))
    found = places.sample(plane, distance) + dark * places.sample(plane, -distance)
    assert_allclose(found, naive_ownership.beside(plane, fx, fy, distance, dark), atol=1e-5)


@settings(max_examples=20)
@given(st.integers(0, 99))
def test_neighbours_settle_as_defined(seed):
    rng = np.random.default_rng(seed)
    fx, fy = np.where(rng.random((2, 12, 15)) < 0.2, rng.normal(size=(2, 12, 15)), 0).astype(np.float32)
    places = _EdgePixels.of(Edges(fx, fy))
    side = rng.uniform(-1, 1, len(places.y))
    assert_allclose(
        places.smoothed_along_contours(side),
        naive_ownership.smoothed_along_contours(fx, fy, side, CONTOUR_SIGMA),
        atol=1e-6,
    )


@pytest.mark.slow
def test_weights_are_learned_from_orders():
    scenes = [overlap_scene(seed, shape=(90, 120)) for seed in range(6)]
    model = OwnershipModel.fit([scene.image for scene in scenes], [scene.order for scene in scenes])
    assert (model.first.shape, model.second.shape) == ((36,), (73,))
    edges = ownership_edges(scenes[0].image)
    truth, known = true_sides(edges, scenes[0].order)
    answer = border_ownership(edges, model=model)[edges.mask]
    assert np.mean(np.sign(answer[known]) == truth[known]) > 0.85


def test_learning_finds_the_plane_that_tells_owners():
    rng = np.random.default_rng(0)
    seen = rng.normal(size=(500, 3))
    weights = fit_weights([(seen, np.sign(seen @ [2.0, -1.0, 0.0]))])
    assert_allclose(weights / weights[0], [1, -0.5, 0], atol=0.1)


def test_the_weights_are_those_that_the_experiment_wrote():
    root = Path(__file__).resolve().parents[2]
    written = json.loads((root / "docs" / "results" / "ownership" / "weights.json").read_text())
    assert written["models"] == read_weights("ownership")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: border_ownership(texture((30, 40)), rounds=0), "rounds must be at least 1, got 0"),
        (lambda: border_ownership(texture((30, 40)), model="paintings"), "got 'paintings'"),
        (lambda: OwnershipModel.fit([np.ones((30, 40))], [np.zeros((30, 40), int)]), "must have edges"),
        (lambda: OwnershipModel.fit([texture((30, 40))], [np.zeros((3, 4), int)]), "order must be integers of shape"),
    ],
)
def test_refuses_what_cannot_be_meant(call, text):
    with pytest.raises(ValueError, match=text):
        call()
