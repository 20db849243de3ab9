"""Training and predicting from the command line: good input and bad, killed runs, full disks, damaged models."""

import errno
import json
import shlex

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from typer.testing import CliRunner

from drawn_classes import draw_classes, draw_image, use_small_blocks
from imtorque import recognition
from imtorque.cli import app
from imtorque.files import write_image
from imtorque.recognition import Recogniser, cache, cache_folder, train_recogniser, training
from imtorque.recognition.bag_of_words import learn_words
from imtorque.recognition.cache import ArrayCache, room_on_disk
from imtorque.recognition.presets import BLOCKS


@pytest.fixture(autouse=True)
def _small(tmp_path, monkeypatch):
    use_small_blocks(monkeypatch)
    monkeypatch.setenv("IMTORQUE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def photos(tmp_path):
    return draw_classes(tmp_path / "photos")


def run(line, status=0):
    result = CliRunner().invoke(app, shlex.split(line))
    assert result.exit_code == status, result.output
    return result


def kept():
    return sorted(cache_folder().rglob("*.npy"))


def test_a_model_recognises_images_it_has_not_seen():
    run("train-classifier photos --out photos.model --jobs 1")
    write_image("new.png", draw_image("bar", seed=50))
    told = json.loads(run("classify new.png sample:hopper --model photos.model --json").stdout)
    assert told["images"][0]["class"] == "bar"
    best = told["images"][0]["best"]
    assert best[0]["class"] == "bar"
    assert len(best) == 3
    assert told["images"][0]["margin"] == pytest.approx(best[0]["score"] - best[1]["score"])
    table = run("classify new.png --model photos.model").stdout
    assert table.splitlines()[0].split()[:3] == ["image", "class", "margin"]
    assert table.splitlines()[1].split()[:2] == ["new.png", "bar"]


def test_training_tells_what_it_learned_from():
    told = json.loads(run("train-classifier photos --out a/photos.model --jobs 1 --most 4 --json").stdout)
    assert told["classes"] == {"bar": 4, "disc": 4, "ring": 4}
    assert told["method"] == "sift+torque"
    assert Recogniser.load("a/photos.model").counts == (4, 4, 4)


def test_a_model_is_the_same_after_it_was_saved():
    run("train-classifier photos --out photos.model --jobs 1 --method torque")
    model = Recogniser.load("photos.model")
    model.save("again.model")
    image = draw_image("ring", seed=9)
    assert_array_equal(Recogniser.load("again.model").recognise(image).scores, model.recognise(image).scores)


def test_training_decodes_each_image_once_to_learn_words_and_once_to_encode(monkeypatch):
    decoded = []
    real = training.decode_image
    monkeypatch.setattr(training, "decode_image", lambda data, name: decoded.append(name) or real(data, name=name))
    run("train-classifier photos --out photos.model --jobs 1 --method sift+torque")
    assert len(decoded) == 2 * 18
    assert len(set(decoded)) == 18


def test_what_was_done_before_is_not_done_again(monkeypatch):
    run("train-classifier photos --out photos.model --jobs 1 --method sift")
    before = {path: path.stat().st_mtime_ns for path in kept()}
    first = Recogniser.load("photos.model")

    def never(*_):
        raise AssertionError("described again")

    monkeypatch.setattr(training, "describe", never)
    run("train-classifier photos --out photos.model --jobs 1 --method sift")
    assert {path: path.stat().st_mtime_ns for path in kept()} == before
    assert_array_equal(Recogniser.load("photos.model").weights, first.weights)


def test_a_killed_run_goes_on_where_it_was(monkeypatch):
    told = []
    real = training.describe

    def killed(block, image):
        told.append(image)
        if len(told) > 7:
            raise KeyboardInterrupt
        return real(block, image)

    monkeypatch.setattr(training, "describe", killed)
    CliRunner().invoke(app, shlex.split("train-classifier photos --out photos.model --jobs 1 --method sift"))
    assert len(kept()) == 7
    monkeypatch.setattr(training, "describe", lambda *given: told.append(0) or real(*given))
    told.clear()
    run("train-classifier photos --out photos.model --jobs 1 --method sift")
    assert len(told) == (18 - 7) + 18  # the samples that were missing, and all codes


def test_an_image_that_changed_is_done_anew(photos):
    run("train-classifier photos --out photos.model --jobs 1 --method sift")
    before = len(kept())
    write_image(photos / "disc" / "0.png", draw_image("disc", seed=77))
    run("train-classifier photos --out photos.model --jobs 1 --method sift")
    assert len(kept()) == before + 1 + 1 + 18  # its sample, other words, and codes in them


def test_a_damaged_file_in_the_cache_is_computed_anew():
    run("train-classifier photos --out photos.model --jobs 1 --method sift")
    weights = Recogniser.load("photos.model").weights
    for path in kept():
        path.write_bytes(path.read_bytes()[:50])
    run("train-classifier photos --out photos.model --jobs 1 --method sift")
    assert_array_equal(Recogniser.load("photos.model").weights, weights)


def test_a_full_disk_costs_the_cache_and_not_the_model(monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cache, "write_array", full)
    monkeypatch.setattr(ArrayCache, "full", False)
    told = run("train-classifier photos --out photos.model --jobs 1 --method sift").stderr
    assert told.count("the disk is full; no more features are kept") == 1
    assert kept() == []
    assert Recogniser.load("photos.model").classes == ("bar", "disc", "ring")


def test_other_errors_of_the_disk_are_told(tmp_path, monkeypatch):
    def broken(*_):
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(cache, "write_array", broken)
    with pytest.raises(OSError, match="Permission denied"):
        ArrayCache(tmp_path / "c").store("abc", np.zeros(2))
    with pytest.raises(OSError, match="Permission denied"), room_on_disk(tmp_path):
        broken()


def test_where_the_disk_is_full_the_error_says_what_to_do(tmp_path):
    with pytest.raises(OSError, match=r"the disk is full; make room.*it goes on where it was"), room_on_disk(tmp_path):
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda folder: (folder / "empty").mkdir(), "empty: every class must have images, got none"),
        (lambda folder: (folder / "disc" / "broken.png").write_bytes(b"no"), "broken.png: must be an image"),
        (
            lambda folder: write_image(folder / "disc" / "tiny.png", np.zeros((9, 9), np.uint8)),
            "tiny.png: image must be at least 16 x 16",
        ),
    ],
)
def test_bad_images_and_folders_are_named(photos, prepare, message):
    prepare(photos)
    told = run("train-classifier photos --out photos.model --jobs 1", status=1).stderr
    assert message in told
    assert told.count("\n") == 1
    assert not (photos.parent / "photos.model").exists()


def test_bad_images_can_be_passed_over(photos):
    (photos / "disc" / "broken.png").write_bytes(b"no")
    write_image(photos / "bar" / "tiny.png", np.zeros((9, 9), np.uint8))
    told = run("train-classifier photos --out photos.model --jobs 1 --method sift --skip-bad")
    assert "passed over: " in told.stderr
    assert Recogniser.load("photos.model").counts == (6, 6, 6)


def test_a_single_class_is_refused(tmp_path):
    draw_classes(tmp_path / "one", kinds=("disc",))
    assert "at least 2 classes, got 1" in run("train-classifier one --out m --jobs 1", status=1).stderr
    assert "must be a folder" in run("train-classifier nowhere --out m --jobs 1", status=1).stderr
    with pytest.raises(ValueError, match="at least 2 classes to tell apart, got 1: a"):
        train_recogniser({"a": [tmp_path / "one" / "disc" / "0.png"]}, folder=tmp_path)
    with pytest.raises(ValueError, match="class b must have at least one image"):
        train_recogniser({"a": [tmp_path / "x.png"], "b": []}, folder=tmp_path)


def test_training_from_python_names_the_image_that_is_too_small(photos, tmp_path):
    tiny = write_image(tmp_path / "tiny.png", np.zeros((9, 9), np.uint8))
    classes = {"disc": sorted((photos / "disc").iterdir()), "bar": [tiny]}
    with pytest.raises(ValueError, match=r"tiny\.png: image must be at least 16 x 16 pixels"):
        train_recogniser(classes, method="sift", folder=tmp_path / "kept")


def test_the_cache_lies_where_the_environment_says(tmp_path, monkeypatch):
    assert cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("IMTORQUE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "imtorque"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / ".cache" / "imtorque"


def test_an_unknown_method_is_refused():
    line = "train-classifier photos --out m --method surf -j 1"
    assert "method must be one of sift, torque" in run(line, status=1).stderr


def test_flat_images_alone_teach_nothing(tmp_path):
    for name in ("a", "b"):
        (tmp_path / "flat" / name).mkdir(parents=True)
        write_image(tmp_path / "flat" / name / "0.png", np.full((40, 40), 90, np.uint8))
    run("train-classifier flat --out m --jobs 1 --method sift")
    assert_allclose(Recogniser.load("m").recognise(np.zeros((40, 40))).scores, 0, atol=0.02)
    with pytest.raises(ValueError, match="at least 5 patches that are not flat, got 3"):
        learn_words(BLOCKS["sift"](), [np.ones((3, 128), np.float32)])


def test_damaged_models_are_refused(photos):
    run("train-classifier photos --out photos.model --jobs 1 --method sift")
    write_image("new.png", draw_image("bar", seed=50))
    whole = (photos.parent / "photos.model").read_bytes()

    def told(content):
        (photos.parent / "photos.model").write_bytes(content)
        message = run("classify new.png --model photos.model", status=1).stderr
        assert message.count("\n") == 1
        return message

    assert "must be a model that `imtorque train-classifier` wrote" in told(whole[:-100])
    assert "must be a model that `imtorque train-classifier` wrote" in told(b"")
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 255
    assert "must be" in told(bytes(flipped))
    assert "no such file" in run("classify new.png --model none.model", status=1).stderr


def test_predicting_goes_on_after_a_bad_image_and_says_so(photos):
    run("train-classifier photos --out photos.model --jobs 1 --method sift")
    write_image("new.png", draw_image("bar", seed=50))
    (photos.parent / "broken.png").write_bytes(b"no")
    result = run("classify broken.png new.png --model photos.model --json", status=1)
    told = json.loads(result.stdout)["images"]
    assert "broken.png: must be an image" in told[0]["error"]
    assert told[1]["class"] == "bar"


def test_the_old_name_of_the_linear_svm_warns():
    with pytest.warns(DeprecationWarning, match="is now imtorque.recognition.LinearSVM"):
        assert recognition.LinearMachines is recognition.LinearSVM
