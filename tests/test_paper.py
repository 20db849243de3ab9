"""The paper's own strengthened edges."""

from importlib import import_module

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from imtorque import contribution_map, detect_edges, find_extrema, strengthen_edges
from imtorque.paper import normalised_contribution, strengthened_edges
from imtorque.synthetic import scene

DISC = scene("disc", (48, 64))
SIZES = range(3, 26, 2)  # up to 21 % of the area


def contribution(count=5000):
    edges = detect_edges(DISC)
    votes = np.maximum(contribution_map(edges, find_extrema(edges, sizes=SIZES, count=count)), 0)
    return edges.mask.astype(float), votes / votes.max()


def test_it_is_eq_22_of_binary_edges_with_the_papers_coefficients():
    base, votes = contribution()
    assert_allclose(strengthened_edges(DISC), strengthen_edges(base, votes, coefficients="paper"))


def test_a_share_makes_it_eq_23():
    base, votes = contribution(count=20)
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
    assert_array_equal(strengthened_edges(detect_edges(DISC)), strengthened_edges(DISC))
