"""The ablation of readings of recognition."""

import numpy as np
from numpy.testing import assert_allclose

from imtorque.recognition.bag_of_words import parameters
from imtorque.recognition.presets import BLOCKS
from imtorque_reproduce.recognition.ablation import STEPS, ablation_rows, blocks_of, methods_of


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
