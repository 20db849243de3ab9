"""The attention experiment, on a tiny drawn data set of the same layout as the real ones."""

import csv
import json
import shlex

import numpy as np
import pytest
from numpy.testing import assert_allclose
from PIL import Image
from typer.testing import CliRunner

from imtorque import synthetic
from imtorque.cli import app
from imtorque.core.resizing import shrink_image
from imtorque.saliency.maps import unit_range
from imtorque_reproduce.attention import blend as attention_blend
from imtorque_reproduce.attention import factorial
from imtorque_reproduce.attention import tuning as attention_tuning
from imtorque_reproduce.attention.experiment import COMPARED, METRICS, data_folder
from imtorque_reproduce.attention.rows import Tuned, all_maps, inside_prior
from imtorque_reproduce.factorial import read_frozen

SHAPE = (60, 80)


def draw(folder, count=3, seed=0):
    """Images of one disc each, which people look at."""
    rng = np.random.default_rng(seed)
    (folder / "images").mkdir(parents=True)
    with (
        open(folder / "images.csv", "w", newline="") as images,
        open(folder / "fixations.csv", "w", newline="") as eyes,
    ):
        sizes, places = csv.writer(images), csv.writer(eyes)
        sizes.writerow(["image", "width", "height"])
        places.writerow(["image", "subject", "order", "x", "y", "duration_ms"])
        for k in range(count):
            y, x = rng.uniform(15, 45), rng.uniform(15, 65)
            pixels = synthetic.paint(synthetic.texture(SHAPE, seed=k), synthetic.disc(SHAPE, (y, x), 8), 0.1)
            Image.fromarray(np.round(255 * pixels).astype(np.uint8)).save(folder / "images" / f"{k}.png")
            sizes.writerow([f"{k}.png", SHAPE[1], SHAPE[0]])
            for order in range(6):
                places.writerow([f"{k}.png", 1, order + 1, *np.round(rng.normal((x, y), 3), 2).clip(0, 59), 200])
    return folder


def run(line, status=0):
    result = CliRunner().invoke(app, shlex.split(line))
    assert result.exit_code == status, result.output
    return result


@pytest.fixture
def data(tmp_path):
    return draw(tmp_path / "drawn")


def test_the_experiment_writes_results_a_table_and_images(data, tmp_path):
    out = tmp_path / "out"
    run(f"reproduce attention --data {data} --out {out} --jobs 1")
    results = json.loads((out / "results.json").read_text())
    assert (results["experiment"], results["data"], results["images"]) == ("attention", "drawn", 3)
    methods = [row["method"] for row in results["rows"]]
    expected = {"itti", "gbvs", "torque-paper", "torque", "gbvs+torque-paper", "gbvs+torque", "control:centre"}
    assert expected <= set(methods)
    assert {name for pair in COMPARED for name in pair} <= set(methods)
    for row in results["rows"]:
        assert all(np.isfinite(row[metric]) for metric in ("f", "f_per_image", *METRICS))
    assert all(d["low"] <= d["value"] <= d["high"] for d in results["differences"])
    ablation = results["readings"]
    assert ablation[0]["f"] == next(row["f"] for row in results["rows"] if row["method"] == "torque-paper")
    assert ablation[0]["with_gbvs"] == next(row["f"] for row in results["rows"] if row["method"] == "gbvs+torque-paper")
    assert {step["kind"] for step in ablation} == {"stated", "open"}
    assert not any(method.startswith("reading") for method in methods)
    written = ["examples.png", "precision-recall.png", "results.json", "table.md"]
    assert sorted(path.name for path in out.iterdir()) == written
    assert "| gbvs+torque |" in (out / "table.md").read_text()


@pytest.mark.slow
def test_mit1003_as_published_is_reduced_and_scored(tmp_path):
    rng = np.random.default_rng(0)
    for folder in ("ALLSTIMULI", "ALLFIXATIONMAPS"):
        (tmp_path / "mit" / folder).mkdir(parents=True)
    for k in range(3):
        pixels = synthetic.paint(synthetic.texture((180, 240), seed=k), synthetic.disc((180, 240), (90, 60), 20), 0.1)
        Image.fromarray(np.round(255 * pixels).astype(np.uint8)).save(tmp_path / "mit" / "ALLSTIMULI" / f"i{k}.jpeg")
        marks = np.zeros((180, 240), np.uint8)
        marks[rng.integers(80, 100, 9), rng.integers(50, 70, 9)] = 255
        Image.fromarray(marks).save(tmp_path / "mit" / "ALLFIXATIONMAPS" / f"i{k}_fixPts.jpg", quality=95)
    run(f"reproduce attention --data {tmp_path / 'mit'} --out {tmp_path / 'out'} --jobs 1")
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert results["images"] == 3
    assert {row["method"]: row["f"] for row in results["rows"]}["torque"] > 0.3


def test_the_same_command_finds_the_same(data, tmp_path):
    for name in ("first", "second"):
        run(f"reproduce attention --data {data} --out {tmp_path / name} --jobs 1 --limit 2")
    first, second = (json.loads((tmp_path / name / "results.json").read_text()) for name in ("first", "second"))
    assert first == second


@pytest.mark.slow
def test_settings_are_chosen_on_the_other_set(data, tmp_path, monkeypatch):
    draw(tmp_path / "other", seed=5)
    monkeypatch.setattr(attention_tuning, "GRID", [Tuned(2.0, 50, 0.3), Tuned(2.0, 200, 0.5)])
    run(f"reproduce attention --data {data} --out {tmp_path / 'out'} --jobs 1 --set tune=other")
    settings = json.loads((tmp_path / "out" / "results.json").read_text())["settings"]
    tried = settings["tuning"]["f_of_blend"]
    best = max(tried, key=lambda row: row["f"])
    assert settings["tuning"]["on"] == "other"
    assert settings["torque"] == {key: best[key] for key in ("alpha", "count", "share")}


def test_a_reading_of_torque_saliency_is_chosen_on_scenes_and_frozen(tmp_path):
    draw(tmp_path / "eyetracking" / "sun_scenes", count=2)
    run(f"reproduce attention-readings --data {tmp_path} --out {tmp_path / 'out'} --jobs 1")
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    f = {row["method"]: row["f"] for row in results["rows"]}
    assert len(f) == np.prod([len(factor) for factor in factorial.FACTORS])
    chosen = results["settings"]["chosen"]
    assert f[chosen] == max(f.values())
    readings = factorial.combinations(factorial.START, "saliency", factorial.FACTORS)
    assert read_frozen(tmp_path / "out" / "frozen.json") == {"saliency": readings[chosen]}


def test_a_folder_of_data_sets_is_taken_too(tmp_path):
    draw(tmp_path / "eyetracking" / "osie")
    assert data_folder(tmp_path, None).name == "osie"
    assert data_folder(tmp_path / "eyetracking", "osie").name == "osie"


def test_all_maps_lie_between_0_and_1():
    maps = all_maps(np.round(255 * synthetic.scene("shapes", SHAPE)).astype(np.uint8), Tuned())
    for name, values in maps.items():
        assert values.shape == SHAPE, name
        assert (values.min(), values.max()) == (0, 1), name


def test_the_inside_prior_is_highest_in_the_middle():
    prior = inside_prior((61, 81))
    assert prior[30, 40] > 0.999
    assert prior[0, 0] < 1e-9


def test_a_constant_image_is_scored_as_one_without_a_preference(data, tmp_path):
    Image.new("L", SHAPE[::-1], 128).save(data / "images" / "0.png")
    run(f"reproduce attention --data {data} --out {tmp_path / 'out'} --jobs 1")
    rows = json.loads((tmp_path / "out" / "results.json").read_text())["rows"]
    assert all(np.isfinite(row["information_gain"]) for row in rows)


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


BAD = {
    "no data set": (lambda data: (data / "images.csv").unlink(), "--data must hold images.csv"),
    "names that do not match": (lambda data: edit(data / "fixations.csv", "1.png", "one.png"), "must name an image of"),
    "an image that is not there": (lambda data: (data / "images" / "2.png").unlink(), "got no 2.png"),
    "no fixations on an image": (
        lambda data: (data / "fixations.csv").write_text("image,x,y\n0.png,5,5\n1.png,5,5\n"),
        "must hold fixations of every image, got none of 2",
    ),
    "a fixation outside": (
        lambda data: edit(data / "images.csv", "0.png,80", "0.png,20"),
        "must lie on the image, got",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_data_is_refused_in_one_line(case, data, tmp_path):
    damage, message = BAD[case]
    damage(data)
    result = run(f"reproduce attention --data {data} --out {tmp_path / 'out'} --jobs 1", status=1)
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--set tune=drawn", "tune must name another set than the one reported on, got drawn"),
        ("--set turn=drawn", "must be given settings it has (tune), got turn"),
        ("--split osie", "--split must be left out"),
    ],
)
def test_bad_options_are_refused_in_one_line(options, message, data, tmp_path):
    result = run(f"reproduce attention --data {data} --out {tmp_path / 'out'} --jobs 1 {options}", status=1)
    assert message in result.stderr


def test_images_too_large_or_too_small_are_refused(data, tmp_path):
    Image.new("L", (80, 20)).save(data / "images" / "1.png")
    result = run(f"reproduce attention --data {data} --out {tmp_path / 'out'} --jobs 1", status=1)
    assert "1.png: image must have sides of at least" in result.stderr
    edit(data / "images.csv", "1.png,80,60", "1.png,800,600")
    result = run(f"reproduce attention --data {data} --out {tmp_path / 'out'} --jobs 1", status=1)
    assert "shorter side of 150 pixels or less" in result.stderr


@pytest.mark.slow
def test_the_learned_blend_is_reported_with_each_part_removed(tmp_path):
    draw(tmp_path / "eyetracking" / "osie", count=3, seed=1)
    draw(tmp_path / "eyetracking" / "sun_scenes", count=3, seed=2)
    run(f"reproduce attention-blend --data {tmp_path} --out {tmp_path / 'out'} --jobs 1")
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    rows = {row["method"]: row["f"] for row in results["rows"]}
    assert {"blend", "gbvs+torque", *(f"blend-without-{part}" for part in attention_blend.BLENDED)} <= set(rows)
    assert ("blend", "blend-without-torque") in [(d["a"], d["b"]) for d in results["differences"]]
    learned = results["settings"]["coefficients"]
    assert len(learned["blend"]) == 1 + 11 + 36  # eleven maps of eight parts, and the products of pairs of parts
    assert len(learned["blend-without-torque"]) == 1 + 9 + 28
    averaged = attention_blend.AVERAGED
    assert {"mean", "mean-edges-for-torque", *(f"mean-without-{part}" for part in averaged)} <= set(rows)
    assert all(0 <= row["f_unseen"] <= 1 for row in results["rows"])  # two of the three images


def test_a_blend_is_not_learned_on_the_set_it_is_reported_on(tmp_path):
    draw(tmp_path / "eyetracking" / "osie")
    result = run(f"reproduce attention-blend --data {tmp_path} --set learn=osie --out {tmp_path / 'out'}", status=1)
    assert "learn must name another set than the one reported on, got osie" in result.output


def test_a_part_left_out_leaves_its_products_out():
    parts = {name: [np.full((2, 2), 0.5)] for name in attention_blend.BLENDED}
    assert attention_blend.features(parts).shape == (8 + 36, 2, 2)
    assert len(attention_blend.features({name: parts[name] for name in ("edges", "gbvs")})) == 2 + 3


def test_the_object_map_is_highest_on_the_object():
    pixels = synthetic.paint(np.full((60, 80), 0.3), synthetic.disc((60, 80), (30, 25), 12), 0.9)
    found = attention_blend.object_map(np.round(255 * pixels).astype(np.uint8))
    disc = synthetic.disc((60, 80), (30, 25), 12).astype(bool)
    assert found.shape == (60, 80)
    assert found[disc].mean() > 3 * found[~disc].mean()


def test_the_mean_weighs_its_maps_alike_and_leaves_one_out():
    ramp, spot = np.linspace(0, 1, 12).reshape(3, 4), np.eye(3, 4)
    parts = {name: [ramp] for name in attention_blend.BLENDED} | {"torque": [spot], "edges": [1 - ramp]}
    found = attention_blend.mean_maps(parts)
    assert_allclose(found["mean"], unit_range(5 * ramp + spot))
    assert_allclose(found["mean-without-torque"], ramp)
    assert_allclose(found["mean-edges-for-torque"], unit_range(5 * ramp + 1 - ramp))


def test_the_face_map_is_highest_on_the_face():
    from skimage.data import astronaut

    photo = shrink_image(astronaut(), 4)
    y, x = np.unravel_index(attention_blend.face_map(photo).argmax(), photo.shape[:2])
    assert 18 <= y <= 45
    assert 45 <= x <= 70
    assert not attention_blend.face_map(np.full((40, 50, 3), 99, np.uint8)).any()
