"""Files of models: every one that was ever written is read, and what is none is refused."""

import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from drawn_classes import draw_image, use_small_blocks
from imtorque.recognition import Recogniser, model
from imtorque.recognition.bag_of_words import block_of, parameters
from imtorque.recognition.model import method_parameters
from imtorque.recognition.presets import BLOCKS

MODELS = Path(__file__).parent / "models"  # written by write.py there
KEPT = sorted(path.stem for path in MODELS.glob("*.model"))


@pytest.fixture
def copy(tmp_path):
    return Path(shutil.copy(MODELS / "format-1.model", tmp_path / "a.model"))


def change(path, header=None, arrays=None, sign=True):
    """Write a model anew with other entries; None takes one away."""
    with np.load(path) as stored:
        content = {name: stored[name] for name in stored.files}
    told = json.loads(content.pop("header").tobytes()) | (header or {})
    content = {name: array for name, array in (content | (arrays or {})).items() if array is not None}
    if sign:
        told["sha256"] = model._checksum(content)
    told = {key: value for key, value in told.items() if value is not None}
    with open(path, "wb") as file:
        np.savez(file, header=np.frombuffer(json.dumps(told).encode(), np.uint8), **content)


@pytest.mark.parametrize("name", KEPT)
def test_a_model_of_any_time_says_what_it_said_when_it_was_written(name):
    recogniser = Recogniser.load(MODELS / f"{name}.model")
    for said in json.loads((MODELS / f"{name}.json").read_text()):
        found = recogniser.recognise(draw_image(said["kind"], said["seed"]))
        assert found.classes == tuple(said["classes"])
        assert_allclose(found.scores, said["scores"], rtol=0, atol=1e-6)  # sums of matrices differ by processor


def test_a_model_of_every_format_is_kept():
    assert {f"format-{k}" for k in range(1, model.MODEL_FORMAT + 1)} <= set(KEPT)


def test_a_model_that_another_version_wrote_is_read(copy, monkeypatch):
    monkeypatch.setattr(model, "version", lambda _: "9.9")
    assert Recogniser.load(copy).classes == ("bar", "disc", "ring")


def test_a_model_of_a_newer_format_is_refused_in_one_line_that_names_both(copy):
    change(copy, header={"format": 7, "version": "0.9.1"})
    with pytest.raises(
        ValueError, match=r"a\.model: must be a model of format 1 or below, got format 7, written by imtorque 0\.9\.1"
    ) as told:
        Recogniser.load(copy)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("number", [0, "1", None])
def test_a_model_without_a_format_number_is_refused(copy, number):
    change(copy, header={"format": number})
    with pytest.raises(ValueError, match=f"must be a model with a format number from 1 on, got {number!r}"):
        Recogniser.load(copy)


def test_a_model_stays_as_it_is_when_its_method_changes(copy, monkeypatch):
    before = Recogniser.load(copy).recognise(draw_image("ring", 9)).scores
    use_small_blocks(monkeypatch)
    assert parameters(BLOCKS["sift"]())["codebook"] != Recogniser.load(copy).parameters["sift"]["codebook"]
    assert_array_equal(Recogniser.load(copy).recognise(draw_image("ring", 9)).scores, before)
    monkeypatch.setattr(model, "METHODS", {})
    assert_array_equal(Recogniser.load(copy).recognise(draw_image("ring", 9)).scores, before)


def test_a_model_that_was_read_and_written_is_the_same_file(copy, tmp_path):
    again = Recogniser.load(copy).save(tmp_path / "new" / "b.model")
    with np.load(copy) as first, np.load(again) as second:
        assert first.files == second.files
        for name in set(first.files) - {"header"}:
            assert_array_equal(first[name], second[name])
    assert Recogniser.load(again).parameters == Recogniser.load(copy).parameters
    assert [path.name for path in again.parent.iterdir()] == ["b.model"]


def test_a_model_whose_arrays_were_changed_is_refused(copy):
    change(copy, arrays={"intercepts": np.zeros(3, np.float32)}, sign=False)
    with pytest.raises(ValueError, match="got one that is damaged"):
        Recogniser.load(copy)


@pytest.mark.parametrize(
    ("header", "arrays", "message"),
    [
        ({"classes": None}, None, "'classes'"),
        ({"classes": ["a", "b"]}, None, "classes must be names, at least one, each with its count, got 3 counts"),
        ({"classes": ["a", "b"], "counts": [1, 1]}, None, r"intercepts must have shapes \(2, 1008\) and \(2,\)"),
        ({"parameters": {"sift": {}}}, None, "words must be those of sift, got"),
        ({"parameters": 5}, None, "not iterable"),
        (None, {"weights": None}, "no array weights"),
        (None, {"words sift": None}, "words must be those of sift, fine, unsigned, colour, got fine"),
        (None, {"words sift": np.zeros(3, np.float32)}, r"words sift of shape \(3,\)"),
    ],
)
def test_a_model_that_lacks_what_its_format_has_is_refused(copy, header, arrays, message):
    change(copy, header, arrays)
    with pytest.raises(ValueError, match=f"must (hold what|be) a model .*, got: .*{message}") as told:
        Recogniser.load(copy)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("header", [b"[1, 2]", b"5", b"{", b""])
def test_a_header_that_is_none_is_refused(copy, header):
    with open(copy, "wb") as file:
        np.savez(file, header=np.frombuffer(header, np.uint8))
    with pytest.raises(ValueError, match="must be a model that `imtorque train-classifier` wrote"):
        Recogniser.load(copy)


def test_a_model_file_holds_no_pickles():
    with zipfile.ZipFile(MODELS / "format-1.model") as archive:
        for name in archive.namelist():
            assert archive.read(name).startswith(b"\x93NUMPY")
            assert b"'descr': '|O'" not in archive.read(name)[:200]


def test_pickles_in_a_model_are_not_run(copy):
    with open(copy, "wb") as file:
        np.savez(file, header=np.array([{"format": 1}], dtype=object))
    with pytest.raises(ValueError, match="must be a model that `imtorque train-classifier` wrote"):
        Recogniser.load(copy)


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_can_be_made_from_its_parameters(name):
    plain = json.loads(json.dumps(parameters(BLOCKS[name]())))
    assert parameters(block_of(plain)) == plain
    assert [step for step, _ in block_of(plain).steps] == [step for step, _ in BLOCKS[name]().steps]


def test_the_parameters_of_an_unknown_method_are_refused():
    with pytest.raises(ValueError, match=r"method must be one of sift, torque, .*, got 'surf'"):
        method_parameters("surf")
