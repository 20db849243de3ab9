"""Figures of recognition: they are drawn where asked and say what they show."""

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

from imtorque import plotting, synthetic
from imtorque.recognition import TorquePatches, multiscale_torque

matplotlib.use("agg")


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def patches():
    return TorquePatches(count=30).detect(synthetic.scene("shapes", (81, 121)))


def test_patches_are_drawn_as_many_as_asked_for(patches):
    image = synthetic.scene("shapes", (162, 242))  # the image may be larger than where they were found
    axes = Figure().subplots()
    assert plotting.show_patches(image, patches, most=7, ax=axes) is axes
    assert len(axes.collections[0].get_paths()) == 7
    assert axes.get_xlabel() == f"7 of {len(patches)} patches"
    assert axes.get_xlim() == (-0.5, 120.5)
    assert pyplot.get_fignums() == []


def test_a_descriptor_has_a_dot_for_every_value(patches):
    row = multiscale_torque(patches.edges, patches)[0]
    axes = plotting.show_descriptor(row)
    assert len(axes.collections[0].get_paths()) == 99
    assert len(axes.texts) == 3
    low, high = axes.collections[0].get_clim()
    assert low == -high
    with pytest.raises(ValueError, match="descriptor must have 33 values for each size of region, got 32"):
        plotting.show_descriptor(row[:96])


def test_confusions_are_shares_of_the_true_class():
    axes = plotting.show_confusion([[3, 1], [0, 0]], ["cat", "dog"])
    np.testing.assert_allclose(axes.images[0].get_array() ** 2, [[0.75, 0.25], [0, 0]])
    assert [text.get_text() for text in axes.get_yticklabels()] == ["cat", "dog"]
    with pytest.raises(ValueError, match=r"counts must be \(2, 2\)"):
        plotting.show_confusion(np.zeros((3, 3)), ["cat", "dog"])


def test_classes_are_in_the_order_of_the_last_method():
    axes = plotting.show_class_accuracies({"a": [0.1, 0.2, 0.3], "b": [0.9, 0.5, 0.7]}, ["x", "y", "z"])
    assert [text.get_text() for text in axes.get_yticklabels()] == ["y", "z", "x"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a: mean 0.200", "b: mean 0.700"]
    with pytest.raises(ValueError, match="accuracies of b must be one for each of 3 classes"):
        plotting.show_class_accuracies({"b": [0.9]}, ["x", "y", "z"])
