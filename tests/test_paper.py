"""The paper's own strengthened edges."""

from importlib import import_module

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.ndimage import gaussian_filter

import naive
from imtorque import (
    contribution_map,
    detect_edges,
    edge_cue,
    find_extrema,
    paper,
    strengthen_edges,
    torque_volume,
    value_and_scale_maps,
)
from imtorque.paper import normalised_contribution, strengthened_edges
from imtorque.synthetic import scene

DISC = scene("disc", (48, 64))
SIZES = range(3, 182, 2)


def votes_of(count=None):
    edges = detect_edges(DISC, high=0.05)
    rule = {"neighbourhood": "cross", "end_scales": False, "inside": True}
    found = find_extrema(edges, sizes=range(3, 62, 2), count=count, **rule)
    votes = np.maximum(contribution_map(edges, found, weight="area"), 0)
    return edges.mask.astype(float), votes / votes.max()


def test_it_is_eq_22_of_binary_edges_with_the_papers_coefficients():
    base, votes = votes_of()
    assert_allclose(strengthened_edges(DISC), strengthen_edges(base, votes, coefficients="paper"))


def test_a_share_makes_it_eq_23():
    base, votes = votes_of(count=20)
    assert_allclose(strengthened_edges(DISC, count=20, share=0.3), np.where(base > 0, 0.7 * base + 0.3 * votes, 0))


def test_without_edges_it_is_zero():
    assert not strengthened_edges(np.ones((20, 30))).any()


def test_a_quantile_of_the_contribution_may_be_one():
    edges = detect_edges(DISC)
    extrema = find_extrema(edges, sizes=SIZES, count=20)
    largest = normalised_contribution(edges, extrema)
    half = normalised_contribution(edges, extrema, full=0.5)
    assert_allclose(half, np.minimum(largest / np.quantile(largest[largest > 0], 0.5), 1))


def test_extrema_without_edges_contribute_nothing():
    edges = detect_edges(np.ones((20, 30)))
    assert_array_equal(normalised_contribution(edges, find_extrema(edges, sizes=[3])), np.zeros((20, 30)))


def test_the_command_line_writes_it(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from imtorque.cli import app
    from imtorque.files import write_image

    monkeypatch.chdir(tmp_path)
    pixels = np.round(DISC * 255).astype(np.uint8)
    write_image("disc.png", pixels)
    done = CliRunner().invoke(app, ["edges", "disc.png", "--paper", "--jobs", "1"])
    assert done.exit_code == 0, done.output
    assert_allclose(np.load("imtorque-out/disc.png.edges.strengthened.npy"), strengthened_edges(pixels), atol=1e-6)


def test_other_detectors_have_no_paper_form(tmp_path):
    from typer.testing import CliRunner

    from imtorque.cli import app

    (tmp_path / "disc.png").write_bytes(b"")
    done = CliRunner().invoke(app, ["edges", str(tmp_path / "disc.png"), "--paper", "--detector", "pb"])
    assert done.exit_code == 2


def test_a_share_lies_between_0_and_1():
    with pytest.raises(ValueError, match=r"share must lie in \[0, 1\], got 2"):
        strengthened_edges(DISC, share=2)


@pytest.mark.parametrize("name", ["imtorque.paper_strength", "imtorque.paper.strengthened_as_printed"])
def test_old_names_of_strengthened_edges_warn(name):
    module, _, old = name.rpartition(".")
    with pytest.warns(DeprecationWarning, match="is now imtorque.paper.strengthened_edges"):
        assert getattr(import_module(module), old) is strengthened_edges


def test_edges_are_strengthened_as_those_of_their_image():
    assert_array_equal(strengthened_edges(paper.edges(DISC, paper.BOUNDARIES)), strengthened_edges(DISC))


def test_the_paper_s_cue_for_cuts_is_the_reading_of_the_results():
    image = noisy().astype(np.float32)
    edges = paper.edges(image, paper.FIGURES)
    votes = paper.contribution(edges, paper.extrema(edges, paper.FIGURES), paper.FIGURES)
    assert_allclose(edge_cue(image, "torque-paper"), votes, atol=1e-5)  # the cue rounds the image's grey


def noisy(seed=0):
    return scene("overlap", (60, 80)) + 0.3 * np.random.default_rng(seed).random((60, 80))


def test_by_default_edges_are_those_of_the_authors_program():
    image = noisy()
    edges = paper.edges(image)
    mask = detect_edges(image, sigma=1.0).mask
    assert_array_equal(edges.mask & ~mask, np.zeros(mask.shape))
    slope_y, slope_x = np.gradient(gaussian_filter(image.astype(np.float64), 0.5, mode="nearest"))
    angle = np.round(np.arctan2(-slope_x, slope_y) / (np.pi / 4)) * (np.pi / 4)  # along the edge, brighter side right
    assert_allclose(edges.fx[mask], np.cos(angle)[mask], atol=1e-6)
    assert_allclose(edges.fy[mask], np.sin(angle)[mask], atol=1e-6)


def test_by_default_extrema_are_those_of_the_authors_program():
    edges = paper.edges(noisy())
    reading = paper.Reading(count=9)
    found = paper.extrema(edges, reading)
    tau = torque_volume(edges, range(3, 46, 2)).tau
    halves = [(size // 2, size // 2) for size in range(3, 46, 2)]
    ref = [e for sign in (1, -1) for e in naive.find_cross_extrema(tau, 9, sign, False, halves)]
    ref.sort(key=lambda e: -abs(e[3]))
    assert_array_equal(found.y, [e[1] for e in ref])
    assert_array_equal(found.x, [e[2] for e in ref])
    assert_array_equal(found.size, [2 * e[0] + 3 for e in ref])
    assert_array_equal(found.value, [e[3] for e in ref])


def test_extrema_of_the_value_map_are_above_all_others_in_their_window():
    edges = paper.edges(noisy())
    found = paper.value_map_extrema(edges)
    value, scale = value_and_scale_maps(edges, range(3, 46, 2))
    ref = []
    for y, x in np.ndindex(value.shape):
        window = value[max(y - 5, 0) : y + 6, max(x - 5, 0) : x + 6]
        inner = 0 < y < value.shape[0] - 1 and 0 < x < value.shape[1] - 1
        own = value[y, x]
        if inner and own != 0 and np.count_nonzero(own * window >= own * own) == 1:
            ref.append((y, x, abs(scale[y, x]), own))
    assert set(zip(found.y, found.x, found.size, found.value, strict=True)) == set(ref)
    assert np.all(np.diff(np.abs(found.value)) <= 0)


def test_eq_21_as_printed_has_no_signs():
    edges = detect_edges(DISC)
    found = find_extrema(edges, sizes=range(3, 26, 2), count=20)
    plain = contribution_map(edges, found[found.value > 0]) - contribution_map(edges, found[found.value < 0])
    votes = paper.contribution(edges, found, paper.Reading(votes="printed", weight="one"))
    assert_allclose(votes, np.abs(plain) / np.abs(plain).max(), atol=1e-12)


def test_a_base_may_have_the_gradients_strength():
    image = noisy()
    strong = strengthened_edges(image, binary=False, share=0.0)
    assert_allclose(strong, np.minimum(detect_edges(image, high=0.05, force="strength").strength, 1), atol=1e-6)


def test_a_part_of_the_images_side_stands_for_sizes():
    assert paper.Reading(sizes=0.5).patch_sizes((40, 90)) == range(3, 31, 2)
    assert paper.Reading(sizes=(3, 9)).patch_sizes((40, 90)) == (3, 9)


def test_saliency_is_largest_at_an_object():
    image = np.zeros((90, 120))
    image[30:50, 70:90] = 1
    found = paper.saliency(image, spread=6.0)
    assert found.min() == 0
    assert found.max() == 1
    y, x = np.unravel_index(found.argmax(), found.shape)
    assert abs(y - 40) <= 8
    assert abs(x - 80) <= 8
    assert not paper.saliency(np.zeros((30, 30))).any()


def test_seeds_are_the_strongest_patches_that_overlap_little_and_patches_are_of_either_sign():
    image = noisy()
    every = paper.extrema(paper.edges(image))
    seeds = paper.region_seeds(image, count=5)
    assert len(seeds) == 5
    assert seeds.value[0] == every.value[0]
    maxima, minima = paper.patches(image)
    assert len(maxima) + len(minima) == len(every)
    assert maxima.value.min() > 0 > minima.value.max()
