"""Figures: they are drawn where asked, say what they mean, and have no side effects."""

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

from imtorque import Extrema, detect_edges, find_blobs, plotting, synthetic, value_and_scale_maps
from imtorque.plotting.axes import figure_of

matplotlib.use("agg")
SIZES = range(5, 72, 6)


@pytest.fixture(scope="module")
def image():
    return synthetic.scene("shapes", (81, 121))


@pytest.fixture(scope="module")
def calls(image):
    edges = detect_edges(image)
    value, scale = value_and_scale_maps(edges, SIZES)
    blobs = find_blobs(image)
    return {
        "value": lambda ax=None: plotting.show_value_map(value, ax=ax),
        "scale": lambda ax=None: plotting.show_scale_map(scale, ax=ax),
        "extrema": lambda ax=None: plotting.show_extrema(image, blobs, numbered=True, ax=ax),
        "spectrum": lambda ax=None: plotting.show_torque_spectrum(edges, (48, 58), SIZES, ax=ax),
        "evidence": lambda ax=None: plotting.show_evidence(edges, blobs[:1], image=image, ax=ax),
    }


NAMES = ["value", "scale", "extrema", "spectrum", "evidence"]


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    pyplot.close("all")


@pytest.mark.parametrize("name", NAMES)
def test_draws_into_the_axes_given_and_leaves_pyplot_alone(calls, name):
    axes = Figure().subplots()
    assert calls[name](ax=axes) is axes
    assert pyplot.get_fignums() == []
    assert axes.has_data()
    axes.figure.canvas.draw()


@pytest.mark.parametrize("name", NAMES)
def test_makes_one_figure_where_no_axes_are_given(calls, name):
    axes = calls[name]()
    assert [axes.figure.number] == pyplot.get_fignums()


@pytest.mark.parametrize("name", NAMES)
def test_says_what_it_shows(calls, name):
    axes = Figure().subplots()
    calls[name](ax=axes)
    bars = [other.get_ylabel() for other in axes.figure.axes if other is not axes]
    if name in ("extrema", "spectrum"):
        assert len(axes.get_legend().get_texts()) == 2
    else:
        assert len(bars[0]) > 10


def test_colours_of_torque_are_the_same_on_both_sides_of_zero(calls):
    axes = calls["value"]()
    low, high = axes.images[0].get_clim()
    assert low == -high
    assert axes.images[0].cmap(0.9)[0] > axes.images[0].cmap(0.9)[2]  # positive is red


def test_maxima_and_minima_differ_in_line_as_well_as_colour(image):
    axes = plotting.show_extrema(image, Extrema([20, 40], [20, 40], [9, 9], [1.0, -1.0]))
    assert len({patch.get_edgecolor() for patch in axes.patches}) == 2
    assert len({str(patch.get_linestyle()) for patch in axes.patches}) == 2


def test_the_spectrum_marks_the_strongest_size(image):
    axes = plotting.show_torque_spectrum(detect_edges(image), (48, 58), SIZES)
    assert "strongest: +" in axes.get_legend().get_texts()[1].get_text()


def test_the_spectrum_refuses_rectangles(image):
    with pytest.raises(ValueError, match="squares or disks"):
        plotting.show_torque_spectrum(detect_edges(image), (48, 58), [(3, 5)])


def test_no_extrema_and_no_edges_are_drawn_too():
    nothing = Extrema(*(np.zeros(0, int),) * 3, np.zeros(0))
    flat = np.ones((20, 30))
    plotting.show_extrema(flat, nothing)
    plotting.show_evidence(detect_edges(flat), nothing)
    plotting.show_value_map(np.zeros((20, 30)))
    plotting.show_scale_map(np.zeros((20, 30), int))
    plotting.overview(flat).canvas.draw()


def test_the_overview_shows_every_step(image):
    page = plotting.overview(image, title="shapes")
    titles = [axes.get_title() for axes in page.axes if axes.get_title()]
    assert len(titles) == 6
    assert pyplot.get_fignums() == []


def test_a_second_curve_joins_the_first_image():
    axes = plotting.show_precision_recall([0.9, 0.5, 0], [0.4, 0.8, 0], best=(0.5, 0.8), label="a")
    lines = len(axes.lines)
    again = plotting.show_precision_recall([0.8, 0.3], [0.5, 0.9], label="b", ax=axes)
    assert again is axes
    assert len(axes.lines) == lines + 1  # the lines of equal F are drawn once
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]
    assert len(axes.lines[9].get_xdata()) == 2  # where nothing was predicted, there is no point


def test_axes_that_were_removed_have_no_figure():
    axes = Figure().subplots()
    assert figure_of(axes) is axes.figure
    axes.remove()
    with pytest.raises(ValueError, match="ax must belong to a figure"):
        figure_of(axes)
