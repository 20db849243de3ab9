"""The verb edges with a boundary detector: its files, and that evaluation takes them."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from berkeley_files import write_truth
from imtorque.cli import app
from imtorque.evaluation import contours_from_ucm
from imtorque.files import read_image, write_image


@pytest.fixture
def images(tmp_path, monkeypatch):
    """Two drawn images of a disc, and the ground truth beside them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "images").mkdir()
    y, x = np.indices((48, 60))
    for k, radius in enumerate((10, 14)):
        inside = np.hypot(y - 24, x - 30) < radius
        write_image(f"images/{k}.png", np.where(inside, 220, 40).astype(np.uint8))
        write_truth(tmp_path / "truth" / f"{k}.mat", [inside + 1])
    return "images/0.png images/1.png"


def run(line, status=0):
    result = CliRunner().invoke(app, shlex.split(line))
    assert result.exit_code == status, result.output
    return result


@pytest.mark.parametrize("detector", ["pb", "mpb", "gpb"])
def test_a_detector_writes_what_evaluation_takes(images, detector):
    run(f"edges {images} --detector {detector} --out found --jobs 1")
    assert np.load("found/0.png.edges.npy").shape == (2, 48, 60)
    scores = json.loads(
        run("evaluate boundaries --predictions found --truth truth --max-distance 0.03 --jobs 1 --json").output
    )
    assert scores["ods"]["f"] > 0.8


def test_closed_contours_are_scored_as_boundaries_and_as_regions(images):
    run(f"edges {images} --detector ucm --out found --jobs 1")
    np.testing.assert_array_equal(
        np.load("found/1.png.edges.boundaries.npy"), contours_from_ucm(np.load("found/1.png.edges.ucm.npy"))
    )
    boundaries = json.loads(
        run("evaluate boundaries --predictions found --truth truth --max-distance 0.03 --jobs 1 --json").output
    )
    regions = json.loads(run("evaluate regions --predictions found --truth truth --jobs 1 --json").output)
    assert boundaries["ods"]["f"] > 0.8
    assert regions["covering"]["ods"] > 0.9


def test_a_detector_is_strengthened_by_torque(images):
    run(f"edges {images} --detector pb --strengthen --out found --jobs 1")
    before, after = read_image("found/0.png.edges.png"), read_image("found/0.png.edges.strengthened.png")
    assert before.shape == after.shape
    assert after.max() > 0


def test_settings_of_canny_are_refused_with_a_detector(images):
    output = run(f"edges {images} --detector pb --sigma 2", status=2).output
    assert "Canny's" in output


@pytest.mark.parametrize("detector", ["canny", "pb", "ucm"])
def test_objects_are_found_on_the_edges_of_a_detector(images, detector):
    found = json.loads(run(f"count {images} --detector {detector} --sizes 9-41 --out found --jobs 1 --json").output)
    for image, radius in zip(found["images"], (10, 14), strict=True):
        best = image["result"]["objects"][0]
        assert (best["y"], best["x"]) == (pytest.approx(24, abs=2), pytest.approx(30, abs=2))
        assert best["area"] == pytest.approx(np.pi * radius**2, rel=0.3)


def test_a_figure_is_cut_along_the_boundaries_of_a_detector(images):
    run(f"segment {images} --at 24,30 --detector mpb --out found --jobs 1")
    for k, radius in enumerate((10, 14)):
        mask = read_image(f"found/{k}.png.segment.mask.png") > 0
        assert mask.sum() == pytest.approx(np.pi * radius**2, rel=0.3)


def test_regions_lie_between_the_closed_contours_of_a_detector(images):
    run(f"segment {images} --method ucm --detector mpb --count 2 --out found --jobs 1")
    labels = np.load("found/1.png.segment.npy")
    assert labels[24, 30] != labels[2, 2]
    assert np.count_nonzero(labels == labels[24, 30]) == pytest.approx(np.pi * 14**2, rel=0.3)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("segment {} --detector pb", "must come with --at or --method ucm"),
        ("segment {} --method ucm --detector canny", "do not close"),
        ("segment {} --at 3,3 --detector pb --cue canny", "must be left out with --cue"),
        ("count {} --detector pb --depth", "jumps"),
        ("count {} --detector hed", "sketch-tokens"),
    ],
)
def test_a_detector_is_refused_where_it_does_not_fit(images, line, told):
    words = run(line.format(images), status=2).output.replace("│", " ").split()
    assert told in " ".join(words)


TINY = "--set tokens=4 --set trees=3 --set of_token=100 --set background=400 --set from_drawing=300 --set features=800"


@pytest.fixture
def berkeley(images, tmp_path, monkeypatch):
    """The same images and truth as Berkeley's training images; an empty folder of caches."""
    monkeypatch.setenv("IMTORQUE_CACHE", str(tmp_path / "cache"))
    for kind, folder in (("images", "images"), ("groundTruth", "truth")):
        (tmp_path / "bsds500" / kind).mkdir(parents=True)
        (tmp_path / "bsds500" / kind / "train").symlink_to(tmp_path / folder)
    return images


def test_sketch_tokens_are_trained_once_and_then_detect(berkeley):
    first = json.loads(run(f"data train sketch-tokens --data . {TINY} --json").stdout)
    again = json.loads(run(f"data train sketch-tokens --data bsds500 {TINY} --json").stdout)
    assert (first["fresh"], again["fresh"], first["images"]) == (True, False, 2)
    run(f"edges {berkeley} --detector sketch-tokens --out found --jobs 1")
    scores = json.loads(
        run("evaluate boundaries --predictions found --truth truth --max-distance 0.03 --jobs 1 --json").output
    )
    assert scores["ods"]["f"] > 0.8


@pytest.mark.usefixtures("berkeley")
def test_other_settings_are_trained_anew():
    run(f"data train sketch-tokens --data . {TINY}")
    assert json.loads(run(f"data train sketch-tokens --data . {TINY} --set seed=1 --json").stdout)["fresh"]


def test_sketch_tokens_without_a_forest_say_what_to_run(berkeley):
    output = run(f"edges {berkeley} --detector sketch-tokens --out found --jobs 1", status=1).output
    assert "must be trained first, by imtorque data train sketch-tokens --data BSDS" in output


@pytest.mark.usefixtures("berkeley")
@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("data train hed --data .", "NAME must be one of sketch-tokens, network, got hed"),
        ("data train sketch-tokens --data . --set leaves=3", "--set must be a number for one of tokens, trees"),
        ("data train sketch-tokens --data . --set trees=few", "got trees=few"),
        ("data train sketch-tokens --data . --set trees=0", "trees must be at least 1, got 0"),
        ("data train sketch-tokens --data nowhere", "must hold images/ and groundTruth/"),
    ],
)
def test_training_refuses_what_it_does_not_know(line, told):
    assert told in " ".join(run(line, status=1).output.split())


@pytest.mark.usefixtures("images")
def test_regions_between_closed_contours():
    run("segment images/1.png --method ucm --count 2 --out found")
    labels = np.load(Path("found/1.png.segment.npy"))
    assert labels.max() == 1
    assert labels[24, 30] != labels[0, 0]
