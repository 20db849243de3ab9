"""The ablation of readings of recognition."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from imtorque.recognition.bag_of_words import parameters
from imtorque.recognition.presets import BLOCKS, SIGNED_BLOCKS, paper_block
from imtorque_reproduce.recognition import factorial
from imtorque_reproduce.recognition.ablation import STEPS, ablation_rows, blocks_of, methods_of
from imtorque_reproduce.report import Request


def test_the_first_step_is_the_row_of_the_table():
    first = [parameters(block) for block in blocks_of(STEPS[0]).values()]
    assert first == [parameters(BLOCKS[name]()) for name in ("paper-maxima", "paper-minima")]


def test_every_block_of_a_method_is_there_and_no_two_are_alike():
    blocks = {name: block for step in STEPS for name, block in blocks_of(step).items()}
    assert all(set(weights) <= {*blocks, "sift"} for step in STEPS for weights in methods_of(step).values())
    assert len({str(parameters(block)) for block in blocks.values()}) == len(blocks) == 2 * len(STEPS)


def test_sift_has_twice_the_weight_of_torque():
    alone, both = methods_of(STEPS[1]).values()
    assert_allclose(sum(weight**2 for weight in alone.values()), 1)
    assert_allclose(both["sift"] ** 2, 4 * sum(weight**2 for name, weight in both.items() if name != "sift"))


def test_rows_are_means_at_15_training_images_and_gains_over_sift():
    order = ["sift", *(name for step in STEPS for name in methods_of(step))]
    accuracies = np.random.default_rng(0).random((len(order), 3, 2, 5))
    rows = ablation_rows(STEPS, order, [5, 15, 30], accuracies)
    assert [row["choice"] for row in rows] == [step.choice for step in STEPS]
    assert_allclose(rows[2]["accuracy"], accuracies[5, 1].mean())
    assert_allclose(rows[2]["gain"], accuracies[6, 1].mean() - accuracies[0, 1].mean())
    assert {row["train"] for row in rows} == {15}


def test_the_codebooks_of_all_steps_can_be_made_smaller():
    for step in STEPS:
        assert [block["encode"].codebook.words for block in blocks_of(step, words=8).values()] == [8, 8]


def test_the_row_of_the_table_is_the_frozen_reading():
    frozen = json.loads(factorial.CHOSEN.read_text())["reading"]
    for name, sign in SIGNED_BLOCKS.items():
        assert parameters(paper_block(sign, **frozen)) == parameters(BLOCKS[f"paper-{name}"]())


def test_images_that_choose_are_none_of_those_reported():
    classes = {str(k): [Path(f"{k}-{i}") for i in range(40 + 5 * k)] for k in range(12)}
    chosen = factorial.choosing_images(classes)
    assert list(chosen) == ["2", "6", "10"]  # every fourth of those with 50 images
    assert all(paths == classes[name][30:50] for name, paths in chosen.items())
    with pytest.raises(ValueError, match="at least 2 classes must have 50 images, got 0"):
        factorial.choosing_images({"a": classes["0"], "b": classes["1"]})


def test_the_best_reading_is_written_with_its_levels(tmp_path):
    rows = [{"choice": step.choice, "accuracy": k / 10} for k, step in enumerate(factorial.combinations())]
    (text,) = factorial.frozen_file(rows, Request("recognition", tmp_path), "drawn").values()
    assert json.loads(text)["reading"] == {"aspects": [1.0, 0.5, 2.0], "neighbourhood": "box", "signs": True}
