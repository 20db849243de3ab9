"""The verb segment, and the images of regions."""

import csv
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image
from typer.testing import CliRunner

from imtorque.cli import app
from imtorque.files import read_image, write_image
from imtorque.render.regions import mean_colour_image, mean_colours, outline_image, region_rows


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def stripes():
    pixels = np.zeros((60, 90, 3), np.uint8)
    pixels[:, :30], pixels[:, 30:60], pixels[:, 60:] = (200, 30, 30), (30, 200, 30), (30, 30, 200)
    return write_image("stripes.png", pixels)


def run(line, status=0):
    result = CliRunner().invoke(app, shlex.split(line))
    assert result.exit_code == status, result.output
    return result


def names(folder="imtorque-out"):
    return sorted(path.name for path in Path(folder).iterdir())


def test_segment_writes_outlines_colours_labels_an_array_and_a_table(stripes):
    assert "stripes.png: 3 regions, the largest 33% of the image" in run("segment stripes.png").stdout
    ends = (".colours.png", ".csv", ".json", ".labels.tiff", ".npy", ".png")
    assert names() == [f"stripes.png.segment{end}" for end in ends]
    labels = np.load("imtorque-out/stripes.png.segment.npy")
    assert_array_equal(labels, np.broadcast_to(np.arange(90) // 30, (60, 90)))
    assert_array_equal(np.asarray(Image.open("imtorque-out/stripes.png.segment.labels.tiff")), labels + 1)
    assert_array_equal(read_image("imtorque-out/stripes.png.segment.colours.png"), read_image(stripes))
    with open("imtorque-out/stripes.png.segment.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["area"] for row in rows] == ["1800"] * 3
    assert [rows[1][name] for name in ("y0", "x0", "y1", "x1")] == ["0", "30", "60", "60"]
    assert [rows[1][name] for name in ("centroid_y", "centroid_x", "green")] == ["29.5", "44.5", "200.0"]
    assert "(as before)" in run("segment stripes.png").stdout
    assert "(as before)" not in run("segment stripes.png --count 2").stdout


@pytest.mark.usefixtures("stripes")
def test_segment_takes_a_number_of_regions_and_prints_json():
    found = json.loads(run("segment stripes.png --count 2 --json").stdout)
    assert found["parameters"]["count"] == 2
    assert found["images"][0]["result"]["count"] == 2


@pytest.mark.usefixtures("stripes")
def test_segment_cuts_objects_out_instead():
    found = json.loads(run("segment stripes.png --objects 1 --json").stdout)
    assert "objects" in found["images"][0]["result"]


@pytest.mark.usefixtures("stripes")
def test_segment_refuses_what_cannot_be_together():
    assert "must be left out with --count" in run("segment stripes.png --count 2 --threshold 1", status=2).output
    assert "must be left out with --objects" in run("segment stripes.png --count 2 --objects 1", status=2).output
    assert run("segment stripes.png --count 0", status=2)
    assert "no such file" in run("segment nowhere.png", status=1).output.lower()


def test_unusual_images_are_segmented():
    grey = np.tile(np.arange(40, dtype=np.uint8) * 6, (30, 1))
    Image.new("L", (1, 1)).save("pixel.png")
    write_image("deep.tiff", grey.astype(np.uint16) * 257)
    Image.fromarray(grey).convert("RGBA").save("alpha.png")
    found = json.loads(run("segment pixel.png deep.tiff alpha.png --jobs 1 --json").stdout)
    assert [image["status"] for image in found["images"]] == ["done"] * 3


@pytest.mark.slow
def test_the_example_in_the_help_works_as_typed():
    (example,) = re.findall(r"imtorque (segment sample:\S+ --count[^\n│]*)", run("segment --help").stdout)
    assert "8 regions" in run(example.strip()).stdout


def test_outlines_lie_between_regions_only():
    labels = np.zeros((400, 640), int)
    labels[:, 320:] = 1
    drawn = outline_image(np.full((400, 640), 0.5), labels)
    changed = (drawn != drawn[0, 0]).any(axis=2)
    assert changed[:, 316:325].any(axis=1).all()
    assert not changed[:, :310].any()
    assert not changed[:, 330:].any()
    assert outline_image(np.zeros((20, 30)), np.zeros((20, 30), int)).shape == (320, 480, 3)  # enlarged


def test_rows_and_colours_of_regions():
    image = np.zeros((4, 6, 3), np.uint8)
    image[:, 4:] = (10, 20, 30)
    image[0, 4] = (30, 40, 50)
    labels = (np.arange(6) >= 4).astype(int) + np.zeros((4, 1), int)
    assert mean_colours(image, labels)[1].tolist() == [12.5, 22.5, 32.5]
    assert mean_colour_image(image, labels)[3, 5].tolist() == [12, 22, 32]
    second = region_rows(image, labels)[1]
    assert (second["number"], second["area"], second["x0"], second["y1"]) == (2, 8, 4, 4)
