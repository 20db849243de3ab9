"""The verb segment with a click, and the images of figures."""

import csv
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from imtorque.cli import app
from imtorque.files import read_image, write_image
from imtorque.render.figures import figure_overlay, figure_rows, label_mask, outline_colours


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def square():
    pixels = np.full((60, 80), 30, np.uint8)
    pixels[20:40, 30:60] = 220
    return write_image("square.png", pixels)


def run(line, status=0):
    result = CliRunner().invoke(app, shlex.split(line))
    assert result.exit_code == status, result.output
    return result


def test_a_click_writes_mask_overlay_table_and_record(square):
    lines = run("segment square.png --at 30,45").stdout
    assert re.match(r"square\.png: \d+ pixels, rows \d+ to \d+, columns \d+ to \d+", lines)
    mask = read_image("imtorque-out/square.png.segment.mask.png")
    assert set(np.unique(mask)) == {0, 255}
    truth = read_image(square) > 100
    assert ((mask > 0) & truth).sum() / ((mask > 0) | truth).sum() > 0.8
    overlay = read_image("imtorque-out/square.png.segment.png")
    assert overlay.shape[1] >= 640
    with open("imtorque-out/square.png.segment.csv", newline="") as file:
        (row,) = csv.DictReader(file)
    assert int(row["area"]) == (mask > 0).sum()
    assert abs(float(row["centroid_y"]) - 29.5) < 2
    record = json.loads(Path("imtorque-out/square.png.segment.json").read_text())
    assert record["result"]["area"] == int(row["area"])
    assert "(as before)" in run("segment square.png --at 30,45").stdout
    assert "(as before)" not in run("segment square.png --at 31,45").stdout


@pytest.mark.usefixtures("square")
def test_clicks_add_and_remove():
    found = json.loads(run("segment square.png --at 30,45 --add 5,5 --remove 30,58 --json").stdout)
    assert found["parameters"]["at"] == [[30, 45], [5, 5]]
    mask = read_image("imtorque-out/square.png.segment.mask.png") > 0
    assert mask[30, 45]
    assert mask[5, 5]
    assert not mask[30, 58]


@pytest.mark.usefixtures("square")
def test_a_box_and_a_cue_can_be_given():
    run("segment square.png --at 30,45 --box 0,0,60,50")
    assert not read_image("imtorque-out/square.png.segment.mask.png")[:, 50:].any()
    found = json.loads(run("segment square.png --at 30,45 --cue canny --json").stdout)
    assert found["parameters"]["cue"] == "canny"


@pytest.mark.parametrize(
    ("line", "status", "message"),
    [
        ("segment square.png --box 1,2,30,40", 2, "Invalid value for --box: must come with --at"),
        ("segment square.png --remove 3,4 --objects 2", 2, "Invalid value for --remove: must come with --at"),
        ("segment square.png --at 3,4 --count 2", 2, "Invalid value for --count: must be left out with --at"),
        ("segment square.png --at 3,4 --smoothness 2", 2, "--smoothness: must be left out with --at"),
        ("segment square.png --at 3,4 --objects 2", 2, "--objects: must be left out with --at"),
        ("segment square.png --at 30", 2, "must be like 120,200"),
        ("segment square.png --at a,b", 2, "must be like 120,200"),
        ("segment square.png --at 1,2,3", 2, "must be like 120,200"),
        ("segment square.png --at 3,4 --cue sobel", 2, "is not one of"),
        ("segment square.png --at 3,4 --box 1,2,3", 2, "must be like 10,20,110,220"),
        ("segment square.png --at 3,4 --box 9,9,20,20", 1, "box must hold all fixations"),
        ("segment square.png --at 3,4 --size 0", 2, "greater than or equal to 1"),
        ("segment square.png --at 60,5", 1, "square.png: fixation must lie in the image of 60 x 80"),
        ("segment square.png --at nan,5", 1, "square.png: fixation must lie in the image of 60 x 80"),
        ("segment square.png --at 5,5 --remove 5,5", 1, "added or removed, not both"),
        ("segment missing.png --at 5,5", 1, "missing.png"),
    ],
)
@pytest.mark.usefixtures("square")
def test_wrong_clicks_are_named(line, status, message):
    errors = " ".join(run(line, status).stderr.replace("│", " ").split())
    assert message in errors
    assert not list(Path().glob("imtorque-out/*.mask.png"))


def test_unusual_images_are_cut(square):
    grey = read_image(square)
    Image.new("L", (1, 1)).save("pixel.png")
    write_image("deep.tiff", grey.astype(np.uint16) * 257)
    Image.fromarray(grey).convert("RGBA").save("alpha.png")
    Image.new("RGB", (30, 20), "red").save("red.png")
    run("segment pixel.png deep.tiff alpha.png red.png --at 0,0 --jobs 1")


def test_the_example_in_the_help_works_as_typed():
    shown = " ".join(run("segment --help").stdout.replace("│", " ").split())
    example = re.search(r"imtorque (segment sample:hopper --at \d+,\d+)", shown)
    run(example[1])


def test_figures_in_numbers_labels_and_colours():
    one, two = np.zeros((2, 8, 9), bool)
    one[2:4, 3:6] = two[3:6, 5:8] = True
    assert figure_rows([one]) == [
        {"number": 1, "area": 6, "y0": 2, "x0": 3, "y1": 4, "x1": 6, "centroid_y": 2.5, "centroid_x": 4.0}
    ]
    labels = label_mask([one, two], (8, 9))
    assert (labels[3, 5], labels[5, 5], labels[0, 0]) == (1, 2, 0)
    assert len(set(outline_colours(12))) == 12
    plain = figure_overlay(np.full((8, 9), 200, np.uint8), [one], [(3, 4)], [(7, 8)])
    assert plain.dtype == np.uint8
    assert plain.shape[2] == 3
    assert (plain[0, 0] < 120).all()  # the ground is darkened
