"""The figure-ground experiments on tiny drawn data: form, rows, what they refuse; and the pasted objects."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from data_folder import data_folder
from figure_data import SHAPE, check_form, disc, run, write_data
from imtorque import datasets
from imtorque.segmentation.fixated_boxes import centred_box, fixated_box
from imtorque_reproduce.factorial import read_frozen
from imtorque_reproduce.figure_ground import click, factorial
from imtorque_reproduce.figure_ground import controls as figure_controls
from imtorque_reproduce.figure_ground import weights as figure_weights
from imtorque_reproduce.figure_ground.cases import Scene, caltech_cases, centroid_pixel, read_scene
from imtorque_reproduce.objects import rows as proposal_rows

ROWS = {
    *("canny-binary", "canny-binary+torque", "canny-binary+torque-paper"),
    *("canny-magnitude", "canny-magnitude+torque", "grabcut+torque-box"),
    *("control:ellipse", "control:grabcut-centred-box", "control:canny-magnitude+fixed-size"),
}


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Two outlined categories of two images, two horses, two photographs of each split; all small."""
    monkeypatch.setattr("imtorque.datasets.pasted.PASTED_SIDE", 150)
    return write_data(tmp_path)


@pytest.mark.slow
def test_figure_ground_chooses_on_one_set_and_reports_on_the_other(data):
    run("reproduce", "figure-ground", "--data", data, "--out", data / "out", "--jobs", 1)
    found, methods = check_form(data / "out", "figure-ground", "iou")
    assert ROWS | {"control:chan-vese", "canny-magnitude+torque-size"} <= set(methods)
    assert {"pb", "pb+torque", "pb-published", "pb+torque-paper"} <= set(methods)
    assert found["images"] == 6
    assert methods["canny-magnitude"]["iou"] > 0.7
    assert {"iou_caltech", "iou_horses"} <= set(methods["canny-binary"])
    for chosen in found["settings"]["chosen"].values():
        assert chosen["canny-binary"][1] == chosen["canny-binary+torque"][1]  # the same eta and k
        assert chosen["canny-magnitude"][1] == chosen["canny-magnitude+torque"][1]
    assert {step["kind"] for step in found["readings"]} == {"stated", "open", "changed"}
    assert found["readings"][0]["iou"] == methods["canny-binary+torque-paper"]["iou"]
    assert {"gain_caltech", "gain_horses"} <= set(found["readings"][0])
    for name in ("examples-caltech.png", "examples-horses.png"):
        assert (data / "out" / name).stat().st_size > 0


def test_figure_ground_of_folders_leaves_unknown_pixels_out(data):
    folder = data / "figure_ground" / "weizmann_horses"
    mask = np.where(disc(18), 255, 0).astype(np.uint8)
    mask[:, 30:40] = 128
    Image.fromarray(mask).save(folder / "masks" / "0.png")
    folders = ("--images", folder / "images", "--masks", folder / "masks")
    run("reproduce", "figure-ground", *folders, "--out", data / "out", "--jobs", 1)
    found, methods = check_form(data / "out", "figure-ground", "iou")
    assert set(methods) >= ROWS
    assert found["command"].endswith("--images DIR --masks DIR --jobs 1")
    scene = read_scene(datasets.mask_folder(folder)[0])
    assert not scene.known[:, 30:40].any()
    assert scene.iou(scene.figure) == 1


def test_one_set_alone_takes_the_settings_chosen_before(data):
    arguments = ("reproduce", "figure-ground", "--data", data, "--split", "horses", "--limit", 1, "--jobs", 1)
    run(*arguments, "--out", data / "out")
    found, methods = check_form(data / "out", "figure-ground", "iou")
    assert found["images"] == 1
    assert "iou_horses" not in methods["canny-binary"]


@pytest.mark.slow
def test_readings_are_chosen_on_outlines_and_scored_on_horses(data):
    arguments = ("reproduce", "figure-ground-readings", "--data", data, "--jobs", 1)
    run(*arguments, "--split", "train", "--limit", 1, "--out", data / "train")
    found, methods = check_form(data / "train", "figure-ground-readings", "iou")
    combinations = [name for base in factorial.CUES for name in factorial.readings_of(base)]
    assert len(methods) == 2 * (len(factorial.CUES) + len(combinations))
    frozen = read_frozen(data / "train" / "frozen.json")
    for base, name in found["settings"]["chosen"].items():
        reading, _, cost = name.rpartition(", ")
        assert frozen[base] == factorial.readings_of(base)[reading]
        assert json.loads((data / "train" / "frozen.json").read_text())["costs"][base] == cost
    run(*arguments, "--out", data / "horses")
    found, methods = check_form(data / "horses", "figure-ground-readings", "iou")
    frozen = read_frozen(factorial.CHOSEN)
    assert set(methods) == set(frozen) | {f"{base}+torque-frozen" for base in frozen}
    assert found["images"] == 2


@pytest.mark.slow
def test_click_sets_one_rule_beside_the_best_box_of_each_set(data):
    run("reproduce", "click", "--data", data, "--limit", 1, "--out", data / "out", "--jobs", 1)
    found, methods = check_form(data / "out", "click", "iou")
    assert {"figure", "control:no-torque", "figure@anywhere", "control:grabcut-best-box"} <= set(methods)
    assert found["settings"]["images"] == {"caltech": 1, "horses": 1, "small": 1}
    best, boxes = methods["control:grabcut-best-box"], [row for name, row in methods.items() if name in click.BOXES]
    for name in ("iou_caltech", "iou_horses", "iou_small"):
        assert best[name] == max(row[name] for row in boxes)
        assert (data / "out" / f"examples-{name.removeprefix('iou_')}.png").stat().st_size > 0


def test_the_mean_of_sets_counts_every_set_alike():
    scores = {"many": np.full(6, 0.2), "few": np.full(2, 0.8)}
    means = click.of_sets(scores).mean(axis=0, keepdims=True)
    assert click.mean_of_sets(means) == pytest.approx([0.5])


def test_weights_are_learned_and_written(data, monkeypatch):
    for name, count in (("TRAINING_PER_CATEGORY", 1), ("TRAINING_SMALL", 1), ("DRAWN_SHAPES", 2)):
        monkeypatch.setattr(figure_weights, name, count)
    figure_weights.main(data, data / "weights.json")
    stored = json.loads((data / "weights.json").read_text())
    assert "torque" in stored["models"]["torque"]["features"]
    assert "torque" not in stored["models"]["no-torque"]["features"]
    assert stored["provenance"]["command"].startswith("python -m imtorque_reproduce.figure_ground.weights")


def test_examples_to_learn_from_are_none_that_are_reported_on():
    data_folder("bsds500")
    root = data_folder("caltech101").parent
    reported = {image.image_path for image in caltech_cases(root)}
    reported |= {scene.source.image_path for scene in datasets.small_objects(root, "test", count=144)}
    for source, _ in figure_weights.training_examples(root):
        if source is not None:
            assert getattr(source, "source", source).image_path not in reported


@pytest.mark.parametrize("seed", range(5))
def test_drawn_shapes_lie_in_the_image_and_are_clicked_at(seed):
    scene = figure_weights.drawn_scene(seed)
    assert scene.figure[scene.fixation]
    assert 0.005 < scene.figure.mean() < 0.6


@pytest.mark.slow
def test_proposals_reports_recall_of_torque_controls_and_a_peer(data):
    run("reproduce", "proposals", "--data", data, "--limit", 2, "--out", data / "out", "--jobs", 1)
    _, methods = check_form(data / "out", "proposals", "recall_50")
    controls = {f"control:{name}" for name in ("random", "grid", "gradient-density", "blob-log", "centred-box")}
    ours = {"torque", "torque-side", "torque+side", "torque+side+busyness"}
    assert ours | controls | {"edge-boxes"} <= set(methods)
    for row in methods.values():
        recalls = [row[f"recall_{n}"] for n in (10, 50, 200, 1000)]
        if row["method"] != "control:grid":
            assert recalls == sorted(recalls)
    assert methods["torque+side+busyness"]["caltech_recall_50"] == 1


def test_pasted_objects_are_the_same_every_time_and_differ_between_parts(data):
    dev, test = (datasets.small_objects(data, part, count=4) for part in ("dev", "test"))
    first, again = dev[0].read(), datasets.small_objects(data, "dev", count=1)[0].read()
    assert_array_equal(first.image, again.image)
    assert_array_equal(first.mask, again.mask)
    assert first.fixation == again.fixation
    assert not {p.source.image_path for p in dev} & {p.source.image_path for p in test}
    assert not {p.background.name for p in dev} & {p.background.name for p in test}
    assert {p.category for p in dev} == {"cup", "hat"}
    other = datasets.small_objects(data, "dev", count=1, seed=1)[0].read()
    assert (first.image != other.image).any()


def test_pasted_objects_are_small_and_hold_their_fixation(data):
    for pasted in datasets.small_objects(data, "test", count=8):
        made = pasted.read()
        y0, x0, y1, x1 = made.box
        share = (y1 - y0) * (x1 - x0) / made.mask.size
        assert 0.015 < share < 0.17
        assert made.mask[made.fixation]
        assert min(y0, x0, made.mask.shape[0] - y1, made.mask.shape[1] - x1) >= 5
        assert made.image[made.mask].mean() > 180  # the bright disc


def test_pasted_objects_need_outlines_and_photographs(data, tmp_path):
    with pytest.raises(ValueError, match="part must be one of dev, test, got 'train'"):
        datasets.small_objects(data, "train")
    (data / "bsds500").rename(data / "elsewhere")
    with pytest.raises(ValueError, match="must hold one of the folders bsds500"):
        datasets.small_objects(data)
    with pytest.raises(ValueError, match="101_ObjectCategories"):
        datasets.small_objects(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["figure-ground", "--split", "cats"], "--split must be one of caltech, horses, got cats"),
        (["figure-ground", "--images", "."], "--images and --masks must be given together"),
        (["figure-ground", "--set", "x=1"], "must be given settings it has (images, masks), got x"),
        (["click", "--split", "dev"], "--split must be left out, got dev"),
        (["proposals", "--split", "dev"], "--split must be one of small, caltech, got dev"),
    ],
)
def test_wrong_requests_are_one_line_errors(data, arguments, message):
    result = run("reproduce", *arguments, "--data", data, "--out", data / "out", status=1)
    assert message in result.stderr
    assert not (data / "out").exists()


def test_without_any_data_one_line_says_so(tmp_path, monkeypatch):
    monkeypatch.delenv("IMTORQUE_DATA", raising=False)
    result = run("reproduce", "figure-ground", "--out", tmp_path / "out", status=1)
    assert "--data must name a folder of data sets" in result.stderr


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (np.zeros((20, 20), np.uint8), "must have its image's size"),
        (np.zeros(SHAPE, np.uint8), "must have some figure"),
        (np.full(SHAPE, 7, np.uint8), "truth must be bool, or uint8 with 0 for ground, 255 for figure"),
    ],
)
def test_wrong_masks_are_refused(data, mask, message):
    folder = data / "figure_ground" / "weizmann_horses"
    Image.fromarray(mask).save(folder / "masks" / "0.png")
    folders = ("--images", folder / "images", "--masks", folder / "masks")
    result = run("reproduce", "figure-ground", *folders, "--out", data / "out", "--jobs", 1, status=1)
    assert message in result.stderr


def test_the_fixation_of_a_ring_lies_on_it():
    ring = disc(20) & ~disc(10)
    assert ring[centroid_pixel(ring)]


def test_a_scene_scores_known_pixels_only():
    known = np.ones(SHAPE, bool)
    known[:, :40] = False
    scene = Scene(np.zeros(SHAPE), disc(), known, (28, 42))
    assert scene.iou(disc() | ~known) == 1
    assert scene.iou(np.zeros(SHAPE, bool)) == 0


def test_controls_are_what_they_say():
    assert 0.27 < figure_controls.ellipse((100, 100)).mean() < 0.29
    assert centred_box((100, 200), 0.8) == pytest.approx((10, 20, 90, 180))
    assert fixated_box((100, 100), (50, 60), 0.4) == pytest.approx((30, 40, 70, 80))
    image = np.where(disc(), 220, 40).astype(np.uint8)
    box = figure_controls.torque_box(image, (28, 42), "both")
    cut = figure_controls.grab_cut(image, box, (28, 42))
    assert (cut & disc()).sum() / (cut | disc()).sum() > 0.9
    everywhere = figure_controls.grab_cut(image, (0, 0, *SHAPE), (28, 42))
    assert everywhere[28, 42]
    assert figure_controls.chan_vese_cut(image / 255, (28, 42))[28, 42]


def test_boxes_count_as_hits_from_half_overlap_on():
    boxes = np.array([[0, 0, 4, 4], [0, 0, 10, 5], [0, 0, 10, 9]])
    assert proposal_rows.hits(boxes[:1], (0, 0, 10, 10)) == [0, 0, 0, 0]
    assert proposal_rows.hits(boxes[:2], (0, 0, 10, 10)) == [1, 1, 1, 1]
    drawn = proposal_rows.random_boxes((90, 120), np.random.default_rng(0))
    assert len(drawn) == 1000
    assert drawn[:, 2].max() <= 90
    assert drawn[:, 3].max() <= 120
    assert 100 < len(proposal_rows.grid((90, 120), 200)) < 300
