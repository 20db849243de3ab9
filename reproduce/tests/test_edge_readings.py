"""Readings of the paper's strengthened edges, on a drawn disc."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from imtorque import contribution_map, detect_edges, edge_cue, find_extrema, paper
from imtorque.synthetic import scene
from imtorque_reproduce.boundary import factorial
from imtorque_reproduce.boundary.ablation import BINARY, Reader, ablation_of
from imtorque_reproduce.car_side import experiment as cars
from imtorque_reproduce.factorial import read_frozen
from imtorque_reproduce.figure_ground.ablation import reading_cue

PLAIN = replace(paper.CARS, high=None, sizes=41)


@pytest.fixture(scope="module")
def reader():
    return Reader(scene("disc", (48, 64)))


def test_a_binary_base_is_one_on_every_edge(reader):
    assert_array_equal(reader.base(PLAIN), detect_edges(reader.image).mask.astype(float))


def test_the_contribution_is_that_of_the_strongest_extrema_over_its_maximum(reader):
    edges = detect_edges(reader.image)
    votes = np.maximum(contribution_map(edges, find_extrema(edges, sizes=range(3, 42, 2), count=50)), 0)
    assert_allclose(reader.contribution(replace(PLAIN, count=50)), votes / votes.max())


def test_eq_21_as_printed_knows_no_signs_of_extrema(reader):
    edges = detect_edges(reader.image)
    found = find_extrema(edges, sizes=range(3, 42, 2), count=50)
    signed = [contribution_map(edges, found[found.value * sign > 0]) for sign in (1, -1)]
    votes = np.abs(signed[0] - signed[1])
    printed = reader.contribution(replace(PLAIN, count=50, votes="printed"))
    assert_allclose(printed, votes / votes.max(), atol=1e-12)


def test_eq_22_has_the_papers_coefficients(reader):
    edge = reader.base(PLAIN) > 0
    d_tau = reader.contribution(PLAIN)[edge]
    expected = 1 / (1 + np.exp(-(-2.54 + 1.86 + 2.69 * d_tau)))
    assert_allclose(reader.strengthened(replace(PLAIN, share=None))[edge], expected)


def test_every_step_of_an_ablation_makes_one_choice_otherwise():
    nearest, *others = ablation_of(PLAIN, (0.05, 0.08))
    assert nearest.reading == PLAIN
    for step in others:
        fields = [name for name in vars(PLAIN) if getattr(step.reading, name) != getattr(PLAIN, name)]
        assert len(fields) == 1


def test_an_image_without_edges_stays_without_edges():
    assert not Reader(np.zeros((20, 20))).strengthened(PLAIN).any()


def test_the_library_has_the_readings_of_the_tables():
    image = scene("overlap")
    assert_array_equal(
        paper.strengthened_edges(image), Reader(image).strengthened(read_frozen(factorial.CHOSEN)[BINARY])
    )
    assert_array_equal(paper.strengthened_edges(image, paper.CARS), Reader(image).strengthened(cars.NEAREST))
    assert_allclose(edge_cue(image, "torque-paper"), reading_cue(image, (80, 120), "nearest"), atol=1e-6)


def test_extrema_of_each_sign_are_chosen_from_all_as_they_are_found():
    reading = replace(paper.AUTHORS, count=7, sizes=41)
    reader = Reader(scene("overlap"))
    ref = paper.extrema(reader.edges(reading), reading)
    assert len(ref) == 14
    for name in ("y", "x", "size", "value"):
        assert_array_equal(getattr(reader.extrema(reading), name), getattr(ref, name))
