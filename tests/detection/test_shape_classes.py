"""Torque tuned to shapes: the definition, what it finds among other shapes and in clutter, what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import naive_shapes
from imtorque import Edges, ShapeTorque, _native, default_sizes, detect_edges, find_extrema
from imtorque.detection.shape_classes import shape_edges
from imtorque.detection.shape_classes.examples import contour_mask
from imtorque.detection.shape_classes.patches import cell_borders, channels
from imtorque.synthetic import disc, paint, silhouette, silhouette_scene, square, triangle
from imtorque.synthetic.silhouettes import OUTLINES

SHAPE = (120, 160)


@settings(max_examples=30)
@given(st.integers(0, 999), st.integers(1, 3), st.integers(1, 3))
def test_the_response_is_the_definition(seed, rows, columns):
    rng = np.random.default_rng(seed)
    first, second = rng.integers(-50, 50, (2, 7, 9)).astype(np.int32)
    down, across = (np.sort(rng.integers(-6, 7, n + 1)).astype(np.int32) for n in (rows, columns))
    weights = rng.normal(size=(2, rows, columns)).astype(np.float32)
    found = _native.shape_response(first, second, down, across, weights, 3.0)
    expected = [
        [naive_shapes.response(first, second, down, across, weights, 3.0, y, x) for x in range(9)] for y in range(7)
    ]
    assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def overlap(a, b):
    sides = np.maximum(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0)
    return sides.prod() / ((a[2:] - a[:2]).prod() + (b[2:] - b[:2]).prod() - sides.prod())


def learned(kind, **options):
    rng = np.random.default_rng(7)
    return ShapeTorque.fit([40 * silhouette(kind, rng) for _ in range(12)], **options)


@pytest.mark.parametrize("kind", list(OUTLINES))
def test_a_drawn_class_is_found_among_others_and_in_clutter(kind):
    tuned = learned(kind)
    scenes = [silhouette_scene(seed, kind, shape=(160, 220)) for seed in (11, 12, 13)]
    best = [overlap(tuned.detect(scene.image, count=5).as_array()[0], scene.boxes[0]) for scene in scenes]
    assert np.sum(np.array(best) >= 0.5) >= 2


@pytest.mark.parametrize("height", [24, 40, 64, 90])
def test_the_response_is_largest_where_the_shape_lies_at_its_size(height):
    tuned = ShapeTorque.fit([triangle((100, 100), (50, 50), 40) > 0.5])
    image = paint(np.ones(SHAPE), triangle(SHAPE, (60 + height / 12, 80), height / 1.5), 0.2)
    found = tuned.detect(image, count=1)
    assert abs((found.y0[0] + found.y1[0]) / 2 - 60) <= 0.12 * height
    assert abs((found.x0[0] + found.x1[0]) / 2 - 80) <= 0.12 * height
    assert 0.8 * height <= found.y1[0] - found.y0[0] <= 1.25 * height


def test_a_triangle_is_told_from_a_disc_and_a_square():
    tuned = ShapeTorque.fit([triangle((100, 100), (50, 50), 40) > 0.5])
    edges = {
        draw.__name__: detect_edges(paint(np.ones(SHAPE), draw(SHAPE, (60, 80), size), 0.2))
        for draw, size in ((triangle, 30), (disc, 24), (square, 44))
    }
    best = {name: max(tuned.response(e, h).max() for h in (35, 40, 45, 50)) for name, e in edges.items()}
    assert best["triangle"] > 0.7
    assert best["triangle"] > 1.3 * max(best["disc"], best["square"])


@pytest.mark.parametrize("polarity", ["free", "signed"])
def test_polarity_counts_where_it_is_asked_for(polarity):
    tuned = ShapeTorque.fit([triangle((100, 100), (50, 50), 40) > 0.5], polarity=polarity)
    bright = paint(np.zeros(SHAPE), triangle(SHAPE, (60, 80), 30), 0.8)
    one, two = (tuned.response(detect_edges(image), 45).max() for image in (bright, 1 - bright))
    if polarity == "free":
        assert_allclose(one, two, rtol=0.02)
    else:
        assert one > 3 * two


def test_contours_and_masks_of_one_shape_are_one_class():
    contour = np.array([(10.0, 20), (60, 50), (70, 12)])
    one, two = ShapeTorque.fit([contour]), ShapeTorque.fit([contour_mask(contour)])
    assert_array_equal(one.weights, two.weights)
    assert one.aspect == two.aspect


def test_examples_in_images_and_background_are_learned_from():
    scenes = [silhouette_scene(seed, "fish") for seed in range(6)]
    masks = []
    for scene in scenes:
        mask = np.zeros(scene.image.shape, bool)
        y0, x0, y1, x1 = scene.boxes[0]
        mask[y0:y1, x0:x1] = True
        masks.append(mask)
    background = [silhouette_scene(seed, "house").image for seed in range(20, 24)]
    tuned = ShapeTorque.fit(masks, images=[scene.image for scene in scenes], background=background)
    found = tuned.detect(scenes[0].image, count=3).as_array()
    assert max(overlap(box, scenes[0].boxes[0]) for box in found) >= 0.5


def test_torque_proposes_and_the_tuned_operator_decides():
    tuned = learned("fish")
    scene = silhouette_scene(12, "fish")
    edges = shape_edges(scene.image)
    sizes = default_sizes(edges.shape, smallest=21)
    both = tuned.detect(edges, proposals=find_extrema(edges, sizes, count=300), count=5)
    alone = tuned.detect(edges, count=5)
    assert overlap(both.as_array()[0], scene.boxes[0]) >= 0.5
    assert both.score[0] <= alone.score[0]
    assert len(tuned.detect(edges, proposals=find_extrema(edges, count=0))) == 0


def test_a_class_is_written_and_read_again():
    tuned = learned("arrow", cells=6)
    again = ShapeTorque.from_json(tuned.to_json())
    assert_allclose(again.weights, tuned.weights, rtol=1e-5)
    assert (again.aspect, again.polarity) == (tuned.aspect, tuned.polarity)


def test_channels_do_not_know_the_sign_of_a_force():
    rng = np.random.default_rng(0)
    edges = Edges(*rng.normal(size=(2, 6, 7)))
    turned = Edges(-edges.fx, -edges.fy)
    assert_array_equal(channels(edges, "free"), channels(turned, "free"))
    assert_array_equal(channels(edges, "signed"), -np.array(channels(turned, "signed")))


def test_cells_tile_the_patch():
    down, across = cell_borders(50, 0.5, 12)
    assert (np.diff(down) > 0).all()
    assert down[-1] - down[0] == pytest.approx(65, abs=1)
    assert across[-1] - across[0] == pytest.approx(130, abs=1)


MASK = square((30, 30), (15, 15), 12) > 0.5


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: ShapeTorque.fit([]), "at least one mask"),
        (lambda: ShapeTorque.fit([np.zeros((5, 5), bool)]), "some True"),
        (lambda: ShapeTorque.fit([np.zeros((5, 5, 3))]), "bool masks"),
        (lambda: ShapeTorque.fit([MASK], polarity="dark"), "got 'dark'"),
        (lambda: ShapeTorque.fit([MASK], cells=0), "from 1 to 64, got 0"),
        (lambda: ShapeTorque.fit([MASK], images=[np.zeros((9, 9))]), "masks' size"),
        (lambda: ShapeTorque.fit([MASK], images=[np.zeros((30, 30))]), "must have edges"),
        (lambda: ShapeTorque.fit([MASK]).response(Edges(*np.zeros((2, 9, 9))), 2), "from 4 to 100000"),
        (lambda: ShapeTorque.fit([MASK]).detect(np.zeros((30, 30)), heights=[]), "heights must not be empty"),
    ],
)
def test_refuses_what_cannot_be_meant(call, text):
    with pytest.raises(ValueError, match=text):
        call()
