"""The experiment on properties: scenes are what they say, operators find a plain disc, ranks are scored as told."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from imtorque.synthetic import disc, paint
from imtorque_reproduce.patterns.experiment import near_enough
from imtorque_reproduce.properties import experiment as properties
from imtorque_reproduce.properties.rows import METHODS, Found, found_by
from imtorque_reproduce.properties.scenes import CONTRAST, SCENE_SIDE, SWEEPS, draw
from imtorque_reproduce.report import Request, write_report


@pytest.mark.parametrize("sweep", SWEEPS)
def test_levels_of_a_scene_differ_in_their_property_alone(sweep):
    scenes = [draw(sweep, level, 3) for level in SWEEPS[sweep][1]]
    for scene in scenes:
        assert scene.image.shape == (SCENE_SIDE, SCENE_SIDE)
        assert_array_equal(scene.box, scenes[0].box)
    assert_array_equal(draw(sweep, SWEEPS[sweep][1][1], 3).image, scenes[1].image)
    assert all(np.abs(scene.image - scenes[0].image).max() > 0.1 for scene in scenes[1:])


@pytest.mark.parametrize(("sweep", "level"), [("spikes", 0.8), ("aspect", 6.0)])
def test_spikes_and_length_leave_the_area(sweep, level):
    areas = [np.abs(draw(sweep, one, 3).image - 0.5).sum() / CONTRAST for one in (SWEEPS[sweep][1][0], level)]
    assert_allclose(areas[1], areas[0], rtol=0.05)


def test_half_of_a_turned_contour_is_brighter_than_the_object():
    scene = draw("turned", 0.5, 3)
    y, x = (scene.box[0, :2] + scene.box[0, 2:] - 1) / 2
    radius = (scene.box[0, 2] - scene.box[0, 0] - 1) / 2
    v, u = np.indices(scene.image.shape)
    ring = np.abs(np.hypot(v - y, u - x) - radius - 2) < 1
    assert_allclose((scene.image[ring] > 0.5).mean(), 0.5, atol=0.1)


@pytest.mark.parametrize("method", [m for m in METHODS if m != "control:random"])
def test_every_operator_finds_a_plain_disc_first(method):
    pytest.importorskip("cv2")
    image = paint(np.full((90, 90), 0.3), disc((90, 90), (45, 40), 16), 0.9)
    found = found_by(method, image, properties.SIZES)
    assert near_enough(found.boxes, np.array([[29, 24, 62, 57]]))[0, 0]
    assert np.all(np.diff(found.strength) <= 0)


def test_an_object_counts_once_and_the_truth_has_an_average_precision_of_one():
    true = np.array([[10, 10, 30, 30], [50, 50, 80, 80]])
    n = properties.RANKS
    scores = properties.ranked(Found(true[[0, 0, 1]], np.array([3.0, 2.0, 1.0])), true)
    assert_allclose(scores[0], (1 + 2 / 3) / 2)
    assert_allclose(scores[1:4], [1, 1 / 2, 2 / 3])
    assert_allclose(scores[1 + n : 4 + n], [0.5, 0.5, 1])
    assert properties.ranked(Found(true, np.array([2.0, 1.0])), true)[0] == 1
    assert not any(properties.ranked(Found(np.zeros((0, 4), int), np.zeros(0)), true))


def test_the_drawn_part_is_written_in_the_one_form(tmp_path, monkeypatch):
    pytest.importorskip("cv2")
    for module in ("experiment", "plots"):
        monkeypatch.setattr(f"imtorque_reproduce.properties.{module}.SWEEPS", {"blur": ("pixels", (0.0, 2.0))})
    monkeypatch.setattr(properties, "KINDS", ["lines"])
    request = Request("properties", tmp_path, split="drawn", limit=1)
    write_report(properties.run(request), request, tmp_path / "out")
    content = json.loads((tmp_path / "out" / "results.json").read_text())
    assert [row["method"] for row in content["rows"]] == [
        *(f"{method}@blur={level}" for level in (0, 2) for method in METHODS),
        *(f"{method}@drawn" for method in METHODS),
    ]
    assert (tmp_path / "out" / "properties.png").stat().st_size > 5_000
