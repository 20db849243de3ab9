"""The ladder of readings of recognition."""

import numpy as np
from numpy.testing import assert_allclose

from imtorque.recognition.bag_of_words import parameters
from imtorque.recognition.presets import BLOCKS
from imtorque_reproduce.recognition.readings import STEPS, ladder_blocks, ladder_methods, ladder_rows


def test_the_first_step_is_the_row_of_the_table():
    first = [parameters(block) for block in STEPS[0].blocks().values()]
    assert first == [parameters(BLOCKS[name]()) for name in ("paper-maxima", "paper-minima")]


def test_every_block_of_a_method_is_there_and_no_two_are_alike():
    blocks = ladder_blocks(STEPS)
    assert all(set(weights) <= {*blocks, "sift"} for weights in ladder_methods(STEPS).values())
    assert len({str(parameters(block)) for block in blocks.values()}) == len(blocks) == 2 * len(STEPS)


def test_sift_has_twice_the_weight_of_torque():
    alone, both = STEPS[1].methods().values()
    assert_allclose(sum(weight**2 for weight in alone.values()), 1)
    assert_allclose(both["sift"] ** 2, 4 * sum(weight**2 for name, weight in both.items() if name != "sift"))


def test_rows_are_means_at_15_training_images_and_gains_over_sift():
    order = ["sift", *ladder_methods(STEPS)]
    accuracies = np.random.default_rng(0).random((len(order), 3, 2, 5))
    rows = ladder_rows(STEPS, order, [5, 15, 30], accuracies)
    assert [row["choice"] for row in rows] == [step.choice for step in STEPS]
    assert_allclose(rows[2]["accuracy"], accuracies[5, 1].mean())
    assert_allclose(rows[2]["gain"], accuracies[6, 1].mean() - accuracies[0, 1].mean())
    assert {row["train"] for row in rows} == {15}
