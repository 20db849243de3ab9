"""The experiment that scales constants: they change for a while, wherever they were imported to."""

import csv

import numpy as np
import pytest
from PIL import Image

from imtorque.detection import blobs, find_blobs
from imtorque_reproduce.constants import experiment, figure
from imtorque_reproduce.constants.scaling import changed, constants_of, scaled
from imtorque_reproduce.report import Request

COLUMNS = ("image", "y0", "x0", "y1", "x1")
DISCS = [(30, 30), (35, 90), (80, 40), (85, 100), (60, 140)]


def drawn():
    y, x = np.indices((120, 170))
    inside = np.any([np.hypot(y - cy, x - cx) < 12 for cy, cx in DISCS], axis=0)
    return np.where(inside, 200, 50).astype(np.uint8)


def test_numbers_are_scaled_and_counts_rounded():
    assert scaled((0.5, 10, "a"), 1.25) == (0.625, 12, "a")
    assert scaled(True, 1.25) is True
    assert scaled("a", 1.25) == "a"


def test_a_constant_changes_wherever_it_was_imported_and_comes_back():
    before = blobs.MIN_CLOSURE
    with changed(("imtorque.detection.contour_proposals", "MIN_CLOSURE"), 4.0):
        now, found = blobs.MIN_CLOSURE, find_blobs(drawn(), sizes=(15, 40))
    assert (now, len(found)) == (4 * before, 0)
    after = blobs.MIN_CLOSURE
    assert (after, len(find_blobs(drawn(), sizes=(15, 40)))) == (before, len(DISCS))


def test_constants_are_listed_once_in_the_module_that_has_them():
    found = constants_of(experiment.PACKAGE, experiment.MODULES, experiment.FIXED)
    assert len({name for _, name in found}) == len(found) > 40
    assert {("imtorque.detection.outlines", "SLOPE"), ("imtorque.detection.ring_torque", "HOLE")} <= set(found)
    assert "ANGLES" not in {name for _, name in found}


def test_every_constant_is_scored_smaller_and_larger(tmp_path):
    (tmp_path / "discs" / "images").mkdir(parents=True)
    Image.fromarray(drawn()).save(tmp_path / "discs" / "images" / "a.png")
    with (tmp_path / "discs" / "objects.csv").open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *(("a.png", y - 12, x - 12, y + 13, x + 13) for y, x in DISCS)])
    report = experiment.run(Request("constants", tmp_path, options={"modules": "selection"}))
    rows = {row["method"]: row["f1"] for row in report.rows}
    assert rows["as-it-is"] == 1
    assert {"selection.NESTED_RATIO*0.8", "selection.NESTED_RATIO*1.25"} < set(rows)
    assert len(rows) == 1 + 2 * len(constants_of(experiment.PACKAGE, ["selection"], experiment.FIXED))
    assert len(report.differences) == len(rows) - 1


def test_unknown_modules_are_refused(tmp_path):
    with pytest.raises(ValueError, match="modules must be some of noise, "):
        experiment.run(Request("constants", tmp_path, options={"modules": "noise,sizes"}))


def test_figures_are_cut_with_every_constant_smaller_and_larger(tmp_path, monkeypatch):
    monkeypatch.setattr(figure, "training_examples", lambda _: [(None, 0), (None, 1)])
    monkeypatch.setattr(figure, "MODULES", ("colour_cut",))
    report = figure.run(Request("constants-figure", tmp_path))
    rows = {row["method"]: row["iou"] for row in report.rows}
    assert rows["as-it-is"] > 0.8
    assert {"colour_cut.LINK_COST*0.8", "colour_cut.LINK_COST*1.25"} < set(rows)
