"""Experiments on tiny drawn data of the real sets' layout: the form of their results, and what they refuse."""

import json

import numpy as np
import pytest
from scipy.io import savemat

import imtorque_reproduce
from figure_data import run, write_image
from imtorque.evaluation import Difference
from imtorque.synthetic import scene, texture
from imtorque_reproduce import Experiment, report
from imtorque_reproduce.boundary import factorial
from imtorque_reproduce.factorial import read_frozen
from random_network import random_network

SHAPE = (48, 64)
KEYS = [
    *("experiment", "command", "version", "commit", "data", "data_sha256", "split", "images", "settings"),
    *("rows", "differences", "readings", "notes"),
]


QUICK = ("--jobs", 1, "--set", "samples=20")


def disc_labels():
    y, x = np.indices(SHAPE)
    return (np.hypot(y - SHAPE[0] / 2, x - SHAPE[1] / 2) < 12).astype(np.uint16) + 1


def write_berkeley(root, splits, ucm=True):
    labels = disc_labels()
    drawn = (np.diff(labels, axis=0, prepend=1) != 0) | (np.diff(labels, axis=1, prepend=1) != 0)
    people = np.empty((1, 1), dtype=object)
    people[0, 0] = {"Segmentation": labels, "Boundaries": drawn.astype(np.uint8)}
    for split in splits:
        for k in range(2):
            image = np.where(labels == 2, 0.2, texture(SHAPE, density=0.02, seed=k))
            write_image(root / "images" / split / f"{k}.png", image)
            (root / "groundTruth" / split).mkdir(parents=True, exist_ok=True)
            savemat(root / "groundTruth" / split / f"{k}.mat", {"groundTruth": people})
            double = np.zeros((2 * SHAPE[0] + 1, 2 * SHAPE[1] + 1))
            double[2::2, 2::2] = drawn * 0.8 + 0.1 * (np.indices(SHAPE)[1] == 5)
            if ucm:
                write_image(root / "ucm" / split / f"{k}.png", double)


def write_cars(root):
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    contour = np.stack([12 + 12 * np.cos(angle), 12 + 12 * np.sin(angle)])
    for k in (1, 2):
        write_image(root / "101_ObjectCategories" / "car_side" / f"image_000{k}.png", scene("disc", SHAPE))
        folder = root / "Annotations" / "car_side"
        folder.mkdir(parents=True, exist_ok=True)
        savemat(folder / f"annotation_000{k}.mat", {"box_coord": [[13, 37, 21, 45]], "obj_contour": contour})


def check_form(folder, experiment, metric="f"):
    found = json.loads((folder / "results.json").read_text())
    assert list(found) == KEYS
    assert found["experiment"] == experiment
    assert str(folder) not in json.dumps(found)
    assert len(found["data_sha256"]) == 64
    for row in found["rows"]:
        assert 0 <= row[metric] <= 1
    methods = [row["method"] for row in found["rows"]]
    assert len(set(methods)) == len(methods)
    for d in found["differences"]:
        assert {d["a"], d["b"]} <= set(methods)
        assert d["low"] <= d["high"]
    table = (folder / "table.md").read_text()
    assert all(f"| {method} |" in table for method in methods)
    return found, methods


def test_boundary_reports_bases_torque_and_controls(tmp_path, monkeypatch):
    monkeypatch.setenv("IMTORQUE_CACHE", str(tmp_path / "cache"))
    write_berkeley(tmp_path / "bsds500", ["train", "new"])
    run("reproduce", "boundary", "--data", tmp_path, "--split", "new", "--out", tmp_path / "out", *QUICK)
    found, methods = check_form(tmp_path / "out", "boundary")
    assert (found["split"], found["images"], found["settings"]["learned_from"]) == ("new", 2, 2)
    for base in ("canny-sqrt2", "canny-2"):
        expected = {base, f"{base}+torque", f"{base}+torque-paper", f"{base}+torque-unlearned"}
        assert expected | {f"control:{base}+gradient+density"} <= set(methods)
    assert {f"control:canny-sqrt2+{name}" for name in ("density", "gradient", "position")} <= set(methods)
    multi = {"canny-multi", "canny-multi+torque", "control:canny-multi+gradient+density"}
    assert multi <= set(methods)
    pairs = [(d["a"], d["b"]) for d in found["differences"]]
    assert ("canny-multi+torque", "canny-multi") in pairs
    assert ("control:canny-multi+gradient+density+torque", "control:canny-multi+gradient+density") in pairs
    # The same rule with torque of 6 sizes in 3 images and without; second powers of 3 numbers, and of 6.
    learned = found["settings"]["coefficients"]
    assert len(learned["canny-multi"]) == 1 + 3 + 6
    assert len(learned["canny-multi+torque"]) == 1 + 3 + 18 + 21
    for base in ("pb", "gpb", "gpb-ucm"):
        assert {base, f"{base}+torque"} <= set(methods)
        assert (f"{base}+torque", base) in pairs
    assert "torque" in methods
    assert not any(method.startswith("sketch-tokens") for method in methods)
    assert "sketch-tokens: not trained on this computer" in " ".join(found["notes"])
    matchings = {row["method"]: row["matching"] for row in found["rows"]}
    assert matchings["canny-2+torque"] == "min_cost"
    assert matchings["canny-2+torque-paper"] == "cardinality"
    assert (tmp_path / "out" / "precision_recall.png").stat().st_size > 0


def test_the_factorial_takes_every_combination_of_the_open_choices():
    readings = factorial.readings_of("canny-graded")
    levels = [len(factor) for factor in factorial.FACTORS]
    assert len(set(readings.values())) == len(readings) == np.prod(levels)
    assert not any(reading.binary for reading in readings.values())


@pytest.mark.slow
def test_readings_are_chosen_on_training_images_and_frozen(tmp_path):
    write_berkeley(tmp_path / "bsds500", ["train", "val"], ucm=False)
    out = tmp_path / "out"
    run("reproduce", "boundary-readings", "--data", tmp_path, "--split", "train", "--out", out, *QUICK)
    found, methods = check_form(out, "boundary-readings")
    assert len(methods) == 2 + sum(len(factorial.readings_of(base)) for base in factorial.BASES)
    strengths = {row["method"]: row["f"] for row in found["rows"]}
    for base, name in found["settings"]["chosen"].items():
        assert strengths[name] == max(f for method, f in strengths.items() if method.startswith(f"{base}+"))
    chosen = found["settings"]["chosen"]
    assert read_frozen(out / "frozen.json") == {
        base: factorial.readings_of(base)[name] for base, name in chosen.items()
    }


@pytest.mark.slow
def test_frozen_readings_are_scored_beside_their_bases(tmp_path):
    write_berkeley(tmp_path / "bsds500", ["train", "val"], ucm=False)
    run("reproduce", "boundary-readings", "--data", tmp_path, "--out", tmp_path / "out", *QUICK)
    found, methods = check_form(tmp_path / "out", "boundary-readings")
    frozen = read_frozen(factorial.CHOSEN)
    assert set(methods) == set(frozen) | {f"{base}+torque-frozen" for base in frozen} | {factorial.LEARNED}
    assert len(found["settings"]["learned"]) == 3
    assert {row["matching"] for row in found["rows"]} == {"min_cost"}
    assert ("canny-binary+torque-frozen", "canny-binary") in {(d["a"], d["b"]) for d in found["differences"]}


@pytest.mark.slow
def test_detectors_are_learned_and_scored(tmp_path, monkeypatch):
    monkeypatch.setenv("IMTORQUE_CACHE", str(tmp_path / "cache"))
    write_berkeley(tmp_path / "bsds500", ["train", "val"])
    settings = ("--set", "learn=2", "--set", "matching=cardinality")
    run("reproduce", "detectors", "--data", tmp_path, "--out", tmp_path / "out", "--jobs", 1, *settings)
    found, methods = check_form(tmp_path / "out", "detectors")
    assert methods == ["pb", "mpb", "gpb", "mpb-ucm", "gpb-ucm", "reference:gpb-ucm"]
    assert len(found["settings"]["numbers"]["mpb"]) == 13
    assert set(found["settings"]["torque"]) <= {"pb", "mpb", "gpb", "ucm"}
    assert all(row["covering"] > 0.5 for row in found["rows"] if row["method"].endswith("ucm"))


@pytest.mark.slow
def test_detectors_have_a_row_for_sketch_tokens_once_these_are_trained(tmp_path, monkeypatch):
    monkeypatch.setenv("IMTORQUE_CACHE", str(tmp_path / "cache"))
    write_berkeley(tmp_path / "bsds500", ["train", "val"])
    tiny = {"tokens": 4, "trees": 2, "of_token": 50, "background": 200, "from_drawing": 100, "features": 200}
    settings = [part for name, value in tiny.items() for part in ("--set", f"{name}={value}")]
    run("data", "train", "sketch-tokens", "--data", tmp_path, *settings)
    quick = ("--set", "matching=cardinality", "--limit", 1)
    run("reproduce", "detectors", "--data", tmp_path, "--out", tmp_path / "out", "--jobs", 1, *quick)
    found, methods = check_form(tmp_path / "out", "detectors")
    assert {"sketch-tokens", "sketch-tokens-ucm"} <= set(methods)
    assert found["settings"]["sketch-tokens"]["settings"]["trees"] == 2
    run("reproduce", "boundary", "--data", tmp_path, "--out", tmp_path / "second", "--jobs", 1, *quick)
    _, methods = check_form(tmp_path / "second", "boundary")
    assert {"sketch-tokens", "sketch-tokens+torque-unlearned"} <= set(methods)


def test_the_network_is_scored_with_its_closed_contours(tmp_path, monkeypatch):
    monkeypatch.setenv("IMTORQUE_CACHE", str(tmp_path / "cache"))
    write_berkeley(tmp_path / "bsds500", ["val"], ucm=False)
    arguments = ("reproduce", "network", "--data", tmp_path, "--out", tmp_path / "out", "--jobs", 1, "--limit", 1)
    assert "network must be trained first" in run(*arguments, status=1).output
    (tmp_path / "cache").mkdir()
    random_network(0).save(tmp_path / "cache" / "network.npz")
    run(*arguments, "--set", "matching=cardinality")
    found, methods = check_form(tmp_path / "out", "network")
    assert methods == ["network", "network-ucm"]
    assert 0 < found["rows"][1]["covering"] <= 1
    assert found["settings"]["network"]["settings"]["context"] == "torque"


def test_figures_are_cut_out_by_the_edges_of_the_network_and_others(tmp_path, monkeypatch):
    monkeypatch.setenv("IMTORQUE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    random_network(0).save(tmp_path / "cache" / "network.npz")
    for kind in ("images", "masks"):
        write_image(tmp_path / "figure_ground" / "weizmann_horses" / kind / "horse.png", disc_labels() - 1)
    run("reproduce", "network-figures", "--data", tmp_path, "--out", tmp_path / "out", "--jobs", 1)
    found, methods = check_form(tmp_path / "out", "network-figures", "iou")
    assert methods == ["figure", "canny", "pb", "gpb", "network"]
    assert found["rows"][1]["iou"] > 0.8


def test_detectors_learn_from_a_number_of_images(tmp_path):
    write_berkeley(tmp_path / "bsds500", ["val"])
    result = run("reproduce", "detectors", "--data", tmp_path, "--set", "learn=many", status=1)
    assert "learn must be a whole number of at least 0, got 'many'" in result.output


@pytest.mark.slow
def test_boundary_without_contours_and_without_train_says_so(tmp_path):
    write_berkeley(tmp_path, ["val"], ucm=False)
    out = tmp_path / "out"
    run("reproduce", "boundary", "--data", tmp_path, "--matching", "cardinality", "--out", out, *QUICK)
    found, methods = check_form(out, "boundary")
    assert not any(method.startswith("gpb-ucm") for method in methods)
    assert {row["matching"] for row in found["rows"]} == {"cardinality"}
    assert "those rows are left out" in " ".join(found["notes"])
    assert "coefficients learned from Berkeley's 200 training images" in " ".join(found["notes"])


@pytest.mark.slow
def test_car_side_reports_the_centre_control_and_the_papers_grid(tmp_path):
    write_cars(tmp_path / "caltech101")
    run("reproduce", "car-side", "--data", tmp_path, "--out", tmp_path / "out", *QUICK)
    found, methods = check_form(tmp_path / "out", "car-side")
    assert {"canny-sqrt2", "canny-sqrt2+torque", "canny-sqrt2+torque-paper", "control:canny-sqrt2+centre"} <= set(
        methods
    )
    assert {"canny-binary", "canny-binary+torque-paper", "control:canny-binary+magnitude"} <= set(methods)
    assert not any(method.startswith(("grid", "reading")) for method in methods)
    for base in ("pb", "gpb"):
        assert {base, f"{base}+torque", f"{base}+torque-paper", f"control:{base}+centre+torque"} <= set(methods)
        assert (tmp_path / "out" / f"precision_recall-{base}.png").stat().st_size > 0
    grids = found["settings"]["grid"]
    assert {base: len(grid) for base, grid in grids.items()} == {"canny-binary": 10, "pb": 10, "gpb": 10}
    paper = next(row for row in grids["pb"] if (row["alpha"], row["extrema"]) == (0.5, 5000))
    assert paper["f"] == next(row["f"] for row in found["rows"] if row["method"] == "pb+torque-paper")


@pytest.mark.slow
def test_the_ablation_of_readings_marks_each_choice_and_has_its_gain(tmp_path):
    write_cars(tmp_path / "caltech101")
    run("reproduce", "car-side", "--data", tmp_path, "--out", tmp_path / "out", *QUICK)
    found, _ = check_form(tmp_path / "out", "car-side")
    ablation = found["readings"]
    assert ablation[0]["kind"] == "stated"
    assert {step["kind"] for step in ablation} == {"stated", "open", "changed"}
    nearest = next(row for row in found["rows"] if row["method"] == "canny-binary+torque-paper")
    assert ablation[0]["f"] == nearest["f"]
    for step in ablation:
        assert step["low"] <= step["gain"] <= step["high"]
    assert "| all extrema | changed |" in (tmp_path / "out" / "table.md").read_text()


def test_truth_of_another_size_is_named(tmp_path):
    write_berkeley(tmp_path, ["train", "val"], ucm=False)
    write_image(tmp_path / "images" / "val" / "1.png", np.ones((20, 20)) * np.linspace(0, 1, 20))
    result = run("reproduce", "boundary", "--data", tmp_path, "--out", tmp_path / "out", "--jobs", 1, status=1)
    assert "1.png" in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "NAME must be one of attention, attention-blend, attention-readings, boundary"),
        (["boundary"], "must hold bsds500/images and bsds500/groundTruth"),
        (["boundary", "--matching", "best"], "matching must be one of"),
        (["boundary", "--set", "speed=2"], "boundary must be given settings it has (matching, samples), got speed"),
        (["boundary", "--set", "speed"], "--set must be like name=value, got speed"),
        (["car-side"], "must hold 101_ObjectCategories/"),
    ],
)
def test_bad_requests_get_one_line(tmp_path, arguments, message):
    result = run("reproduce", *arguments, "--data", tmp_path, "--out", tmp_path / "out", status=1)
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    (tmp_path / "needy.py").write_text("import package_that_is_nowhere")
    needy = Experiment("needy", "needs what is not there")
    monkeypatch.setattr("imtorque_reproduce.command.EXPERIMENTS", {"needy": needy})
    monkeypatch.setattr("imtorque_reproduce.__path__", [*imtorque_reproduce.__path__, str(tmp_path)])
    result = run("reproduce", "needy", "--data", tmp_path, status=1)
    assert "needs package_that_is_nowhere: pip install package_that_is_nowhere" in result.stderr


def test_the_checksum_sees_names_and_contents_but_not_the_folder(tmp_path):
    sums = []
    for folder, text in (("a", "one"), ("b", "one"), ("c", "two")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "file").write_text(text)
        sums.append(report.checksum([tmp_path / folder / "file"], tmp_path / folder))
    assert sums[0] == sums[1] != sums[2]


def test_a_report_is_written_whole_with_its_images(tmp_path):
    request = report.Request("mine", tmp_path, split="part", options={"speed": "2"}, commit="abc")
    rows = [{"method": "a", "f": 0.5}, {"method": "b", "f": 0.25, "images": 3}]
    gain = report.difference("a", "b", "f", Difference(0.25, 0.1, 0.4))
    answer = report.Report("set", "0" * 64, "part", 3, {"k": 1}, rows, [gain], [], ["a note"], {"p.png": b"png"})
    found = report.write_report(answer, request, tmp_path / "out")
    assert found == json.loads((tmp_path / "out" / "results.json").read_text())
    assert found["command"] == "imtorque reproduce mine --split part --set speed=2 --jobs 1"
    assert found["differences"] == [{"a": "a", "b": "b", "metric": "f", "value": 0.25, "low": 0.1, "high": 0.4}]
    table = (tmp_path / "out" / "table.md").read_text()
    assert "| b | 0.2500 | 3 |" in table
    assert "+0.2500" in table
    assert (tmp_path / "out" / "p.png").read_bytes() == b"png"


@pytest.mark.slow
def test_the_regions_experiment_has_its_baselines_controls_and_choices(tmp_path):
    pytest.importorskip("skimage")
    write_berkeley(tmp_path / "bsds500", ["train", "val"])
    run("reproduce", "regions", "--data", tmp_path, "--out", tmp_path / "out", *QUICK, "--set", "every=1")
    found, _ = check_form(tmp_path / "out", "regions", "covering")
    rows = {row["method"]: row for row in found["rows"]}
    assert set(rows) >= {"torque", "torque-paper", "ncut", "felzenszwalb", "control:grid", "control:grid+gradient"}
    assert {"torque+grid", "reference:gpb-ucm"} <= set(rows)
    for row in rows.values():
        assert 0 < row["covering"] <= row["covering_ods"] <= row["covering_ois"] <= row["covering_best"] <= 1
    assert rows["torque"]["covering"] > 0.8  # a dark disc on texture
    assert rows["ncut"]["paper"] == 0.390
    pairs = {(d["a"], d["b"]) for d in found["differences"] if d["metric"] == "covering"}
    assert {("torque", "ncut"), ("torque", "control:grid"), ("torque-paper", "control:grid-paper")} <= pairs
    assert rows["reference:gpb-ucm"]["covering"] > 0.5
    ablation = found["readings"]
    assert ablation[0]["covering"] == rows["torque-paper"]["covering"]
    assert [step["kind"] for step in ablation] == ["stated"] + ["open"] * 7
    assert found["settings"]["tuned_on"] == "2 images of train"
    assert (tmp_path / "out" / "examples.png").stat().st_size > 0


def test_readings_of_regions_are_chosen_on_training_images(tmp_path):
    write_berkeley(tmp_path / "bsds500", ["train"])
    run("reproduce", "regions-readings", "--data", tmp_path, "--out", tmp_path / "out", "--jobs", 1)
    found = json.loads((tmp_path / "out" / "results.json").read_text())
    assert len(found["rows"]) == 6 * 6  # readings, models
    best = max(found["rows"], key=lambda row: row["covering"])
    assert found["settings"]["chosen"] == {name: best[name] for name in ("reading", "models")}
    assert json.loads((tmp_path / "out" / "frozen.json").read_text())["models"] == best["models"]


def test_weights_of_merging_are_found_by_a_search_that_repeats(tmp_path):
    from imtorque.datasets import bsds500
    from imtorque_reproduce.regions.weights import FIRST_COEFFICIENTS, make_case, score, search

    write_berkeley(tmp_path / "bsds500", ["train"], ucm=False)
    cases = [make_case(record) for record in bsds500(tmp_path / "bsds500", "train")]
    weights, covering, _ = search(cases, 3)
    assert covering >= score(np.array(FIRST_COEFFICIENTS), cases)[0]
    assert search(cases, 3)[0].tolist() == weights.tolist()


def test_rows_of_the_regions_experiment_can_be_chosen(tmp_path):
    write_berkeley(tmp_path / "bsds500", ["train", "val"])
    quick = ("--out", tmp_path / "out", *QUICK, "--set", "every=1")
    run("reproduce", "regions", "--data", tmp_path, *quick, "--set", "methods=control:grid,torque")
    found, methods = check_form(tmp_path / "out", "regions", "covering")
    assert methods == ["torque", "control:grid"]
    assert found["readings"] == []
    assert {(d["a"], d["b"]) for d in found["differences"]} == {("torque", "control:grid")}
    result = run("reproduce", "regions", "--data", tmp_path, *quick, "--set", "methods=grid", status=1)
    assert "methods must be torque and some of torque, " in result.output


def test_normalised_cuts_separate_two_flat_regions():
    from imtorque_reproduce.regions.controls import NormalisedCut, divide

    lab = np.zeros((3, 20, 24))
    lab[0, :, 10:] = 0.8
    labels = divide(NormalisedCut(0.1).vectors(lab, 3), 2).reshape(20, 24)
    assert len(np.unique(labels[:, :10])) == len(np.unique(labels[:, 10:])) == 1
    assert labels[0, 0] != labels[0, -1]


def test_strong_bases_learn_on_halves_and_report_both_forms(tmp_path):
    write_berkeley(tmp_path / "bsds500", ["train", "val"], ucm=False)
    run("reproduce", "strong-bases", "--data", tmp_path, "--out", tmp_path / "out", *QUICK, "--set", "learn=2")
    found, methods = check_form(tmp_path / "out", "strong-bases")
    assert {"gpb", "gpb+torque", "control:gpb+density", "gpb-ucm", "gpb-ucm+torque"} <= set(methods)
    closed = [row for row in found["rows"] if "ucm" in row["method"]]
    assert all(0 < row["covering"] <= 1 for row in closed)
    halves = found["settings"]["train_halves"]
    assert [row["method"] for row in halves["rows"]] == methods
    assert {row["metric"] for row in halves["differences"]} == {"f", "covering"}


def test_strong_bases_need_two_images_to_learn_from(tmp_path):
    write_berkeley(tmp_path / "bsds500", ["train", "val"], ucm=False)
    result = run("reproduce", "strong-bases", "--data", tmp_path, "--set", "learn=1", status=1)
    assert "learn must be a whole number of at least 2, got '1'" in result.output
