"""Pages, channels and reduction on the command line."""

import json
from pathlib import Path

import numpy as np
import pytest
import tifffile
from numpy.testing import assert_array_equal
from typer.testing import CliRunner

import imtorque
from imtorque import cli, datasets
from imtorque.cli.options import Opening
from imtorque.core.resizing import shrink_image
from imtorque.files import read_image, write_image


@pytest.fixture
def stack(tmp_path, monkeypatch):
    """Return three pages of two channels, of which the last channel of page 1 holds the shapes."""
    monkeypatch.chdir(tmp_path)
    pages = np.zeros((3, 2, 120, 160), np.uint16)
    pages[1, 1, 20:60, 30:70] = 40_000
    pages[1, 1, 80:100, 110:130] = 30_000
    tifffile.imwrite("stack.tif", pages, imagej=True, metadata={"axes": "ZCYX"})
    return pages


def run(line, status=0):
    result = CliRunner().invoke(cli.app, line.split())
    assert result.exit_code == status, result.output
    return result


@pytest.mark.parametrize(
    "verb",
    [
        *("maps --sizes 5,21", "count", "edges", "edges --strengthen", "saliency"),
        *("segment", "segment --objects 1", "segment --at 20,25"),
    ],
)
def test_every_verb_works_on_a_page_and_a_channel_reduced(stack, verb):
    result = json.loads(run(f"{verb} stack.tif --page 1 --channel 1 --reduce 2 --json").stdout)
    assert (result["images"][0]["result"]["height"], result["images"][0]["result"]["width"]) == (
        (120, 160) if verb == "count" else (60, 80)  # whose results are in the file's own pixels
    )
    kept = result["parameters"].get("opening") or result["parameters"]["edges"]["opening"]
    assert kept == {"page": 1, "channel": 1, "reduce": 2}
    assert shrink_image(stack[1, 1], 2).shape == (60, 80)


def test_objects_are_those_of_the_reduced_page_in_the_files_own_pixels(stack):
    run("count stack.tif --page 1 --channel 1 --reduce 2")
    found = imtorque.find_blobs(shrink_image(stack[1, 1], 2))
    record = json.loads(Path("imtorque-out/stack.tif.count.json").read_text())
    assert [row["y"] for row in record["result"]["objects"]] == pytest.approx((2 * found.y + 0.5).tolist(), rel=1e-5)
    assert record["parameters"]["opening"]["reduce"] == 2


def test_a_stack_without_a_page_is_a_line_that_says_how_to_name_one(stack):
    assert len(stack) == 3
    told = run("count stack.tif", status=1).stderr
    assert "stack.tif: must hold one image, got a TIFF of 3 pages; page=0, 1, ... reads one of them" in told


def test_a_mask_is_reduced_with_its_image(stack):
    mask = np.zeros((120, 160), np.uint8)
    mask[:, :80] = 255
    write_image("mask.png", mask)
    line = "count stack.tif --page 1 --channel 1 --reduce 2 --mask mask.png --json"
    blobs = json.loads(run(line).stdout)["images"][0]["result"]["objects"]
    assert blobs
    assert all(found["x"] < 80 for found in blobs)
    assert stack[1, 1].any()


def test_an_image_is_not_reduced_to_nothing(stack, tmp_path):
    with pytest.raises(
        ValueError, match=r"stack\.tif: --reduce must be at most the shorter side of 120 x 160, got 121"
    ):
        Opening(1, 1, 121).read(tmp_path / "stack.tif")
    assert_array_equal(Opening(1, 1).read(tmp_path / "stack.tif"), stack[1, 1])


def test_an_image_as_it_is_stays_as_it_is(tmp_path):
    path = write_image(tmp_path / "a.png", datasets.sample("hopper"))
    assert_array_equal(Opening().read(path), read_image(path))
