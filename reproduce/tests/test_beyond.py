"""Experiments on rendered scenes: the form of their results, and that they need no data."""

import json

import numpy as np
import pytest

from figure_data import run
from imtorque import OwnershipModel, detect_edges
from imtorque.synthetic import disc, paint
from imtorque_reproduce.nuclei import experiment as nuclei
from imtorque_reproduce.ownership import experiment as ownership
from imtorque_reproduce.ownership.controls import bent_towards, towards_centre
from imtorque_reproduce.shapes import experiment as shapes
from imtorque_reproduce.shapes.controls import chamfer_boxes, exemplars, hough_boxes


def test_hidden_objects_needs_no_data_and_reports_every_row(tmp_path):
    run("reproduce", "hidden-objects", "--limit", 1, "--jobs", 1, "--out", tmp_path)
    content = json.loads((tmp_path / "results.json").read_text())
    found = {row["method"]: row["found"] for row in content["rows"]}
    assert found["depth@depth"] >= 0.95 > 0.4 > found["photograph@depth"]
    assert found["flow@motion"] >= 0.95 > 0.4 > found["photograph@motion"]
    assert content["images"] == 2


def test_nuclei_needs_no_data_and_reports_every_row(tmp_path, monkeypatch):
    monkeypatch.setitem(nuclei.SETS, "plain", {"count": 6, "shape": (24, 40, 40)})
    monkeypatch.setattr(nuclei, "GRIDS", {method: grid[2:4] for method, grid in nuclei.GRIDS.items()})
    run("reproduce", "nuclei", "--limit", 1, "--jobs", 1, "--out", tmp_path)
    rows = {row["method"]: row for row in json.loads((tmp_path / "results.json").read_text())["rows"]}
    assert set(rows) == set(nuclei.GRIDS)
    assert rows["torque"]["f_plain"] > 0.7


def test_owners_are_scored_by_every_rule():
    case = ownership.Case(3)
    model = OwnershipModel.fit(*([part] for part in case.read()))
    found = ownership.score(case, {"one": model})
    assert {"control:darker-side", "control:towards-centre", "bent:5", "model:one", "first:one"} <= set(found)
    assert found["model:one"] > 0.8


def test_a_convex_contour_bends_towards_its_inside():
    edges = detect_edges(paint(np.zeros((60, 80)), disc((60, 80), (30, 40), 20), 1.0))
    assert np.mean(bent_towards(edges, 9) > 0) > 0.95  # the disc is the brighter side
    assert np.mean(towards_centre(edges) > 0) > 0.95


@pytest.mark.parametrize("find", [chamfer_boxes, hough_boxes])
def test_peers_find_a_clean_shape(find):
    pytest.importorskip("cv2")
    mask = np.zeros((120, 160), bool)
    mask[30:70, 50:110] = True
    mask[30:45, 50:70] = False
    found = find(detect_edges(np.where(mask, 1.0, 0.0)), exemplars([mask]), 5)
    assert shapes.overlap(found[0, :4], np.array([30.0, 50, 70, 110])) > 0.6


def test_shapes_are_scored_by_every_method(monkeypatch):
    pytest.importorskip("cv2")
    monkeypatch.setattr("imtorque_reproduce.shapes.controls.EXEMPLARS", 1)
    monkeypatch.setattr("imtorque_reproduce.shapes.controls.SMALLEST_HEIGHT", 80)
    hits = shapes.score(shapes.Case(2, "fish"), shapes.learn_drawn("fish"))
    assert {f"{method}/first" for method in shapes.METHODS} <= set(hits)
