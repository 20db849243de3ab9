"""The counting experiment: controls find discs, scores are paired, changed images stay images."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

from imtorque.datasets.counting import CountingImage, CountingSet
from imtorque.detection import find_blobs
from imtorque.synthetic import disc, paint
from imtorque_reproduce.counting.controls import CONTROLS, detect
from imtorque_reproduce.counting.curves import (
    CHANGES,
    CLICKS,
    CURVES,
    IMAGE_COUNTS,
    ROBUST,
    changed,
    curve_rows,
    robustness_rows,
    transfer_rows,
)
from imtorque_reproduce.counting.methods import learn, learn_pixels
from imtorque_reproduce.counting.pixel_controls import DETECT, pixel_features
from imtorque_reproduce.counting.plots import curve_images, gallery
from imtorque_reproduce.counting.scores import (
    Detections,
    discs,
    f1_difference,
    goal,
    paint_discs,
    score_image,
    summary,
)
from imtorque_reproduce.report import Request, write_report

SHAPE = (150, 180)
CENTRES = np.array([[30, 30], [35, 90], [30, 150], [80, 40], [85, 100], [110, 150]], float)
RADIUS = 12
BOXES = np.concatenate([CENTRES - RADIUS, CENTRES + RADIUS + 1], axis=1)


def drawn(centres=CENTRES, seed=0):
    image = np.full(SHAPE, 0.2)
    for centre in centres:
        image = paint(image, disc(SHAPE, tuple(centre), RADIUS), 0.8)
    noisy = image + np.random.default_rng(seed).normal(0, 0.01, SHAPE)
    return (255 * noisy.clip(0, 1)).astype(np.uint8)


def truth(tmp_path):
    return CountingImage("a.png", tmp_path / "a.png", None, BOXES, CENTRES, np.zeros((0, 4)))


@pytest.mark.parametrize("name", CONTROLS)
def test_every_control_finds_bright_discs_with_one_of_its_sixteen_settings(name, tmp_path):
    pytest.importorskip("skimage")
    pytest.importorskip("cv2")
    settings = CONTROLS[name][1]
    assert len(settings) == len(set(settings)) == 16
    image = drawn()
    scores = [score_image(detect(name, image, (20, 30), s), truth(tmp_path)).centre.f1 for s in settings]
    assert max(scores) > 0.9


def test_the_truth_as_found_scores_one(tmp_path):
    found = discs(*CENTRES.T, np.full(len(CENTRES), 2 * RADIUS + 1))
    assert_array_equal(found.boxes, BOXES)
    row = summary([score_image(found, truth(tmp_path))])
    assert (row["f1"], row["f1_iou"], row["mae"], row["bias"], row["count"]) == (1, 1, 0, 0, 6)
    assert goal([score_image(found, truth(tmp_path))]) == 1


def test_errors_of_the_count_are_told_as_shares_of_it_too(tmp_path):
    more = np.concatenate([CENTRES, [[140.0, 10.0], [5.0, 5.0], [140.0, 60.0]]])
    found = [discs(*centres.T, np.full(len(centres), 2 * RADIUS + 1)) for centres in (CENTRES[:5], more)]
    row = summary([score_image(part, truth(tmp_path)) for part in found])
    assert_allclose([row["mae_share"], row["bias_share"]], [2 / 6, 1 / 6])


def test_discs_are_painted_in_their_boxes():
    labels = paint_discs(discs(*CENTRES.T, np.full(len(CENTRES), 2 * RADIUS + 1)), SHAPE)
    for number, (y0, x0, y1, x1) in enumerate(BOXES.astype(int), start=1):
        rows, columns = np.nonzero(labels == number)
        assert (rows.min(), columns.min(), rows.max() + 1, columns.max() + 1) == (y0, x0, y1, x1)
        assert_allclose(len(rows), np.pi * (RADIUS + 0.5) ** 2, rtol=0.05)


def test_a_difference_of_a_method_to_itself_is_nothing(tmp_path):
    found = Detections(CENTRES[:4], BOXES[:4])
    scores = [score_image(found, truth(tmp_path)) for _ in range(3)]
    interval = f1_difference(scores, scores, "f1_iou")
    assert (interval.value, interval.low, interval.high) == (0, 0, 0)


@pytest.mark.parametrize("change", CHANGES)
def test_changed_images_are_images_of_the_same_shape(change):
    for image in (drawn(), np.stack([drawn()] * 3, axis=2)):
        after = changed(image, change)
        assert after.shape == image.shape
        assert after.dtype == np.uint8
        assert (after != image).any()


def test_changed_images_are_scored_beside_the_same_images_as_they_are(tmp_path):
    Image.fromarray(drawn()).save(tmp_path / "a.png")
    image = truth(tmp_path)
    method = ("torque-sizes", (18.0, 34.0), ())
    missing = score_image(Detections(CENTRES[:3], BOXES[:3]), image)
    rows = robustness_rows(
        CountingSet("discs", [image], [image]),
        dict.fromkeys(ROBUST, method),
        [image],
        {name: [missing] for name in ROBUST},
    )
    scores = {row["method"]: row["f1"] for row in rows}
    assert len(scores) == len(ROBUST) * (1 + len(CHANGES))
    assert scores["torque-sizes:plain@discs"] == missing.centre.f1
    assert min(scores[f"torque-sizes:{change}@discs"] for change in ("ramp", "dim", "blur")) == 1


def test_what_was_learned_is_counted_on_sets_of_the_same_kind_alone(tmp_path):
    Image.fromarray(drawn()).save(tmp_path / "a.png")
    image = truth(tmp_path)
    sets = [CountingSet(name, [image], [image]) for name in ("discs-a", "discs-b", "squares", "discs-c")]
    sets[3].test.clear()
    rows = transfer_rows(sets[0], learn([image]), sets)
    assert [row["method"] for row in rows] == ["learned:from-discs-a@discs-b"]
    assert (rows[0]["f1"], rows[0]["warned"]) == (1, 0)


def test_nothing_is_learned_for_curves_that_no_image_is_left_for(tmp_path):
    image = truth(tmp_path)
    assert curve_rows(CountingSet("discs", [image], []), {}, [], CLICKS) == []


def test_curves_are_drawn_for_every_set_also_where_eight_images_are_missing():
    names = [f"{method}:{change}" for method in ROBUST for change in ("plain", *CHANGES)]
    names += [f"{method}:{n}-images" for method in CURVES for n in IMAGE_COUNTS[:-1]]
    names += [f"learned:{n}-clicks" for n in CLICKS]
    rows = [{"method": f"{name}@{part}", "f1": 0.5} for part in ("a", "b") for name in names]
    drawn = curve_images(rows)
    assert sorted(drawn) == ["learning.png", "robustness.png"]
    assert all(Image.open(io.BytesIO(png)).size[0] > 300 for png in drawn.values())


@pytest.mark.parametrize("name", DETECT)
@pytest.mark.parametrize("count", [1, 2])
def test_pixel_controls_learn_bright_discs_from_an_image_or_two(name, count, tmp_path):
    pytest.importorskip("skimage")
    pytest.importorskip("sklearn")
    for number in range(3):
        Image.fromarray(drawn(seed=number)).save(tmp_path / f"{number}.png")
    images = [replace(truth(tmp_path), image_path=tmp_path / f"{number}.png") for number in range(3)]
    control = learn_pixels(name, images[:count])
    assert score_image(control(images[2].image()), images[2]).centre.f1 > 0.9


@pytest.mark.parametrize("factor", [1, 2])
def test_features_of_pixels_are_of_the_reduced_image_and_do_not_see_contrast(factor):
    image = drawn()
    features = pixel_features(image, factor)
    assert features.shape[:2] == (SHAPE[0] // factor, SHAPE[1] // factor)
    assert_allclose(pixel_features(image // 2, factor), features, atol=0.05)
    assert pixel_features(np.stack([image] * 3, axis=2), factor).shape == features.shape


def test_points_are_matched_within_the_radius(tmp_path):
    image = replace(truth(tmp_path), boxes=np.zeros((0, 4)))
    found = Detections(CENTRES + np.array([0, 5]), BOXES)
    assert score_image(found, image, radius=5.5).centre.f1 == 1
    assert score_image(found, image, radius=4.5).centre.f1 == 0


def test_the_gallery_shows_an_image_of_each_set(tmp_path):
    Image.fromarray(drawn()).save(tmp_path / "a.png")
    found = find_blobs(drawn())
    assert len(found) == len(CENTRES)
    png = gallery({"a": (truth(tmp_path), found), "b": (truth(tmp_path), found)})
    assert Image.open(io.BytesIO(png)).size[0] > 300
    assert Image.open(io.BytesIO(gallery({}))).size[0] > 100


@pytest.mark.slow
def test_the_experiment_writes_rows_of_all_methods(tmp_path, monkeypatch):
    pytest.importorskip("skimage")
    pytest.importorskip("cv2")
    pytest.importorskip("sklearn")
    from imtorque.detection import training
    from imtorque_reproduce.counting import experiment as counting
    from imtorque_reproduce.counting import methods as counting_methods

    monkeypatch.setattr(training, "CV_TREES", 8)  # discs are easy, and all settings have their test above
    few = {name: (control, settings[4:6]) for name, (control, settings) in CONTROLS.items()}
    monkeypatch.setattr(counting_methods, "CONTROLS", few)
    folder = tmp_path / "data" / "discs"
    (folder / "images").mkdir(parents=True)
    lines = ["image,y0,x0,y1,x1,kind"]
    for i in range(9):  # eight to learn from, one to judge by
        shifted = CENTRES[:5] + np.random.default_rng(i).integers(-4, 5, (5, 2))
        Image.fromarray(drawn(shifted, i)[:110]).save(folder / "images" / f"{i}.png")
        lines += [f"{i}.png,{y - 12},{x - 12},{y + 13},{x + 13},disc" for y, x in shifted.astype(int)]
    (folder / "objects.csv").write_text("\n".join(lines))
    request = Request("counting", tmp_path / "data", options={"curves": "no"})
    content = write_report(counting.run(request), request, tmp_path / "out")
    rows = {row["method"]: row for row in json.loads((tmp_path / "out" / "results.json").read_text())["rows"]}
    assert rows["learned@discs"]["f1"] > 0.9
    assert len(rows) == 18
    assert rows["oracle:recall@discs"]["recall"] == 1
    assert rows["oracle:perfect-ranking@discs"]["f1"] >= rows["oracle:as-is@discs"]["f1"]
    assert (tmp_path / "out" / "worst.png").stat().st_size > 0
    assert any(d["a"] == "learned@discs" and d["metric"] == "f1_iou" for d in content["differences"])
