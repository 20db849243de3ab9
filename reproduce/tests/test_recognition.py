"""The recognition experiment, on drawn classes."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from typer.testing import CliRunner

from drawn_classes import draw_classes, use_small_blocks
from imtorque.cli import app
from imtorque.files import write_image
from imtorque.recognition.presets import METHODS
from imtorque_reproduce.recognition import experiment as recognition
from imtorque_reproduce.recognition import stages as recognition_stages
from imtorque_reproduce.recognition.plan import class_folders, make_plan

LINE = "reproduce recognition --data data --train 2,4 --splits 2 --jobs 1 --out out"


@pytest.fixture(autouse=True)
def _small(tmp_path, monkeypatch):
    use_small_blocks(monkeypatch)
    monkeypatch.setenv("IMTORQUE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def data(tmp_path):
    return draw_classes(tmp_path / "data" / "101_ObjectCategories", kinds=("bar", "disc"))


def run(line, status=0):
    result = CliRunner().invoke(app, shlex.split(line))
    assert result.exit_code == status, result.output
    return result


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of an experiment that ran from beginning to end."""
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        use_small_blocks(patch)
        patch.setenv("IMTORQUE_CACHE", str(folder / "cache"))
        patch.chdir(folder)
        draw_classes(folder / "data" / "101_ObjectCategories", kinds=("bar", "disc"))
        run(LINE)
    return folder


def plan_of(classes, train=(2, 4), splits=3):
    return make_plan(classes, train=train, splits=splits, seed=0, blocks={}, cache=Path("cache"), content="")


def paths(count):
    return [Path(str(k)) for k in range(count)]


def test_the_experiment_writes_results_a_table_and_images(finished):
    results = json.loads((finished / "out" / "results.json").read_text())
    assert (results["experiment"], results["data"], results["images"]) == ("recognition", "101_ObjectCategories", 12)
    rows = results["rows"]
    assert {(row["method"], row["train"]) for row in rows} == {(m, n) for m in METHODS for n in (2, 4)}
    assert all(0 <= row["accuracy"] <= 1 for row in rows)
    assert {d["metric"] for d in results["differences"]} == {"accuracy"}
    assert {"sift+torque", "sift"} == {results["differences"][6][k] for k in "ab"}
    for d in results["differences"]:
        assert d["low"] - 1e-9 <= d["value"] <= d["high"] + 1e-9
    for name in ("accuracy", "confusion", "per-class", "descriptor"):
        assert (finished / "out" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert (finished / "out" / "per-class.csv").read_text().count("\n") == 1 + len(METHODS) * 2 * 2
    assert list((finished / "cache").iterdir()) == []  # nothing is left once the experiment has ended


@pytest.mark.slow
def test_a_stopped_run_goes_on_where_it_was_and_ends_alike(finished, tmp_path, monkeypatch):
    expected = json.loads((finished / "out" / "results.json").read_text())["rows"]
    real, seen = recognition_stages.describe, []

    def stopped(block, image):
        seen.append(1)
        if len(seen) > 40:
            raise KeyboardInterrupt
        return real(block, image)

    monkeypatch.setattr(recognition_stages, "describe", stopped)
    CliRunner().invoke(app, shlex.split(LINE))
    left = {path.name for path in (tmp_path / "cache").rglob("*.npy")}
    assert left
    assert not any(name.endswith(".part") for name in left)
    monkeypatch.setattr(recognition_stages, "describe", lambda *given: seen.append(1) or real(*given))
    seen.clear()
    run(LINE)
    assert json.loads((tmp_path / "out" / "results.json").read_text())["rows"] == expected
    assert len(seen) <= len(recognition.BLOCKS) * (2 * 4 + 12) - 30  # images described for words, and for codes


def test_training_sets_are_nested_and_leave_a_test_image():
    plan = plan_of({"a": paths(9), "b": paths(3)})
    for split in range(3):
        small, large = (set(plan.training(split, n)) for n in (2, 4))
        assert small < large
        assert len(large & set(plan.members(1))) == 2  # all but one of three
    assert plan.small_classes(4) == ["b"]
    assert plan.small_classes(2) == []


def test_splits_differ_and_their_seeds_make_them_the_same_again():
    first, again = (plan_of({"a": paths(20), "b": paths(20)}) for _ in range(2))
    assert_array_equal(first.training(0, 4), again.training(0, 4))
    assert set(first.training(0, 4)) != set(first.training(1, 4))


def test_accuracy_is_the_mean_over_classes_of_the_share_recognised():
    plan = plan_of({"a": paths(3), "b": paths(5)}, train=(1,), splits=1)
    predicted = np.full((1, 1, 8), -1, np.int16)
    predicted[0, 0, [1, 2]] = [0, 1]
    predicted[0, 0, 4:] = [1, 1, 1, 0]
    accuracies = recognition.class_accuracies(plan, [predicted])
    assert_array_equal(accuracies[0, 0, 0], [0.5, 0.75])


@pytest.mark.slow
def test_small_classes_are_named_in_the_notes(data, tmp_path):
    for k in (3, 4, 5):
        (data / "disc" / f"{k}.png").unlink()
    run(LINE)
    notes = json.loads((tmp_path / "out" / "results.json").read_text())["notes"]
    assert any(note.startswith("4 training images: one fewer than they have for disc") for note in notes)


def test_a_folder_of_classes_will_do_and_categories_limits_them(data, tmp_path):
    draw_classes(data, kinds=("ring",))
    assert list(class_folders(data, None)[1]) == ["bar", "disc", "ring"]
    assert list(class_folders(tmp_path / "data", 2)[1]) == ["bar", "disc"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--train 0,5", "train must be a whole number of at least 1, got '0'"),
        ("--train 5,5", "train must name different sizes"),
        ("--set seed=x", "seed must be a whole number"),
        ("--set colour=no", "recognition must be given settings it has"),
    ],
)
def test_settings_without_sense_are_refused(options, message):
    assert message in run(f"{LINE} {options}", status=1).stderr


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda folder: (folder / "empty").mkdir(), "every class must have images, got none in empty"),
        (lambda folder: (folder / "bar" / "broken.png").write_bytes(b"no"), "broken.png: must be an image"),
        (
            lambda folder: write_image(folder / "bar" / "tiny.png", np.zeros((9, 9), np.uint8)),
            "tiny.png: image must be at least 16 x 16",
        ),
        (
            lambda folder: [path.unlink() for path in list((folder / "bar").iterdir())[1:]],
            "class bar must have at least 2 images",
        ),
        (
            lambda folder: [path.unlink() for path in (folder / "bar").iterdir()] and (folder / "bar").rmdir(),
            "at least 2 classes, got 1",
        ),
    ],
)
def test_bad_data_is_named(data, prepare, message):
    prepare(data)
    assert message in run(LINE, status=1).stderr


def test_rows_and_steps_of_the_ablation_can_be_chosen():
    run(f"{LINE} --set methods=sift,torque-paper --set readings=1")
    results = json.loads(Path("out/results.json").read_text())
    assert {row["method"] for row in results["rows"]} == {"sift", "torque-paper"}
    assert {(d["a"], d["b"]) for d in results["differences"]} == {("torque-paper", "sift")}
    (step,) = results["readings"]
    assert step["kind"] == "changed"
    assert set(results["settings"]["methods"]) == {"sift", "torque-paper"}
    assert "fine" not in results["settings"]["blocks"]


def test_methods_must_be_known_and_hold_sift():
    result = run(f"{LINE} --set methods=torque-paper", status=1)
    assert "methods must be sift and some of sift, torque, " in result.output
    result = run(f"{LINE} --set readings=yes", status=1)
    assert "readings must be a whole number of at least 0, got 'yes'" in result.output
