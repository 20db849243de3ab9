"""The experiment on patterns: scenes are what they say, methods find what they should, losses are shown too."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from imtorque.synthetic import disc, paint
from imtorque_reproduce.objects.rows import best_by, overlaps
from imtorque_reproduce.patterns import experiment as patterns
from imtorque_reproduce.patterns.rows import (
    COUNTERS,
    METHODS,
    box_response,
    drawn_boxes,
    edge_density,
    extrema_of_sizes,
)
from imtorque_reproduce.patterns.scenes import KINDS, SHAPE, draw_scene
from imtorque_reproduce.report import Request, write_report


def test_a_scene_is_the_same_every_time():
    assert_array_equal(draw_scene("lines", 3).image, draw_scene("lines", 3).image)


@pytest.mark.parametrize("kind", KINDS)
def test_the_boxes_of_a_scene_hold_what_was_drawn(kind):
    scene = draw_scene(kind, 3)
    assert scene.image.shape == SHAPE
    assert 0 <= scene.image.min() < scene.image.max() <= 1
    assert 3 <= len(scene.boxes) <= 8
    assert np.all(scene.boxes[:, :2] >= 0)
    assert np.all(scene.boxes[:, 2:] <= SHAPE)
    assert overlaps(scene.boxes, scene.boxes).sum() == len(scene.boxes)  # none touches another


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_a_bright_disc_in_its_square(method):
    image = paint(np.full((90, 90), 0.3), disc((90, 90), (45, 40), 16), 0.9)
    found = drawn_boxes(method, image)[:1]
    assert patterns.near_enough(found, np.array([[29, 24, 62, 57]]))[0, 0]


def test_closure_finds_a_disc_on_two_grounds_and_torque_does_not():
    ground = np.where(np.indices((90, 90))[1] < 40, 0.1, 0.9)
    image, true = paint(ground, disc((90, 90), (45, 40), 16), 0.5), np.array([[29, 24, 62, 57]])
    assert patterns.drawn_scores(drawn_boxes("closure", image), true)[0] == 1
    assert patterns.drawn_scores(drawn_boxes("torque", image), true)[0] == 0


def test_the_truth_scores_one_and_nothing_scores_none():
    boxes = draw_scene("lines", 0).boxes
    assert patterns.drawn_scores(boxes, boxes) == [1, 1, 1]
    assert patterns.drawn_scores(boxes[:0], boxes) == [0, 0, 0]


@pytest.mark.parametrize("response", ["signed", "free", "density"])
def test_the_box_of_a_disc_comes_first_among_its_neighbours(response):
    image = paint(np.full((80, 100), 0.3), disc((80, 100), (40, 50), 14), 0.9)
    candidates = np.array([[26, 36, 55, 65], [0, 0, 29, 29], [36, 36, 65, 65], [26, 20, 55, 49]])
    found = edge_density(image, candidates) if response == "density" else box_response(image, candidates, response)
    assert_array_equal(best_by(found, candidates, 1), candidates[:1])


@pytest.mark.parametrize("method", COUNTERS)
def test_counters_have_sixteen_settings_and_one_that_counts_discs(method):
    settings = COUNTERS[method]
    assert len(settings) == len(set(settings)) == 16
    image = np.full((100, 120), 0.2)
    for centre in ((25, 30), (30, 85), (70, 40), (75, 95)):
        image = paint(image, disc((100, 120), centre, 12), 0.8)
    counts = [extrema_of_sizes(image, (20, 28), setting) for setting in settings]
    assert any(len(found.centres) == 4 for found in counts)
    best = next(found for found in counts if len(found.centres) == 4)
    assert_allclose(np.sort(best.centres[:, 1]), [30, 40, 85, 95], atol=2)


def test_the_drawn_part_writes_a_row_for_every_method_and_kind(tmp_path, monkeypatch):
    pytest.importorskip("cv2")
    for module in ("experiment", "plots"):
        monkeypatch.setattr(f"imtorque_reproduce.patterns.{module}.KINDS", {"lines": KINDS["lines"]})
    request = Request("patterns", tmp_path, split="drawn", limit=1)
    write_report(patterns.run(request), request, tmp_path / "out")
    content = json.loads((tmp_path / "out" / "results.json").read_text())
    assert [row["method"] for row in content["rows"]] == [f"{method}@lines" for method in patterns.DRAWN]
    assert (tmp_path / "out" / "drawn.png").stat().st_size > 5_000
    with pytest.raises(ValueError, match="--split must be one of drawn, objects, counting, got test"):
        patterns.run(Request("patterns", tmp_path, split="test"))
