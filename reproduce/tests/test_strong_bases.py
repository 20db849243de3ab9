"""What the two forms of torque on gPb learn from, on drawn cases that are known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from imtorque import Edges
from imtorque.edges import OrientedMap, ultrametric_contours
from imtorque.images import CheckedImage
from imtorque_reproduce.strong_bases import match_learning, merge_learning


def two_lines(shape=(40, 60)):
    fx, fy = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    fy[:, 20], fy[:, 22] = 0.5, 0.3
    return Edges(fx, fy)


def test_of_two_edges_beside_one_boundary_only_one_is_matched():
    truth = np.zeros((40, 60), bool)
    truth[:, 20] = True
    found = match_learning.edge_pixels(two_lines(), [truth])
    columns = np.nonzero(found.at)[1]
    assert np.all(found.matched[columns == 20] == 1)
    assert np.nanmean(found.matched[columns == 22]) == 0


def test_faint_edges_are_kept_but_not_learned_from():
    edges = two_lines()
    edges = Edges(edges.fx, np.where(edges.fy == np.float32(0.3), np.float32(0.05), edges.fy))
    found = match_learning.edge_pixels(edges, [edges.fy > 0.1])
    columns = np.nonzero(found.at)[1]
    assert np.isnan(found.matched[columns == 22]).all()
    everything = match_learning.FORMS["control:gpb+density+torque"]
    map_ = found.strengthened(everything, np.zeros(1 + len(everything)))
    assert_array_equal(map_ > 0, edges.mask)
    assert_allclose(map_[edges.mask], 0.5)


@pytest.fixture
def quarters():
    """Four parts of an image; people keep the left and the right apart, one of them also those on the left."""
    strengths = np.zeros((8, 40, 60), np.float32)
    strengths[4, :, 30] = 0.6
    strengths[0, 20, :] = np.where(np.arange(60) == 30, 0, 0.3)
    oriented = OrientedMap(strengths)
    image = np.zeros((40, 60))
    image[:, 31:] = 1
    checked = CheckedImage(image, (0.0, 1.0))
    two = np.where(np.arange(60) > 30, 2, 1) * np.ones((40, 1), int)
    three = np.where((np.arange(40)[:, None] > 20) & (two == 1), 3, two)
    edges = oriented.edges(checked, 0.02)
    return merge_learning.find_borders(checked, oriented, edges, ultrametric_contours(oriented), [two, three])


def test_borders_know_their_strength_and_who_keeps_them_apart(quarters):
    assert quarters.regions.max() == 3
    logits = quarters.features[:, 0]
    upright = logits > 0
    assert_allclose(1 / (1 + np.exp(-logits)), np.where(upright, 0.6, 0.3), atol=0.03)
    assert_array_equal(np.sort(quarters.separate[upright]), [1, 1])
    assert_array_equal(np.sort(quarters.separate[~upright]), [0, 0.5])
    lightness = quarters.features[:, merge_learning.COLOUR[0]]
    assert_allclose(lightness, np.where(upright, lightness.max(), 0), atol=0.05)
    assert lightness.max() > 0.5


def test_merged_regions_take_the_learned_likelihood(quarters):
    tree = quarters.merged(merge_learning.BORDER, np.array([0.0, 1.0]))
    assert_allclose(np.sort(tree.heights), [0.3, 0.3, 0.6], atol=0.03)
    turned = quarters.merged(merge_learning.BORDER, np.array([0.0, -1.0]))
    assert_allclose(turned.heights.max(), 0.7, atol=0.03)


def test_forms_are_learned_by_length_of_border(quarters):
    learned = merge_learning.fit_forms([quarters])
    assert {name: len(found) for name, found in learned.items()} == {
        name: 1 + len(form) for name, form in merge_learning.FORMS.items()
    }
    assert learned["control:gpb-ucm+border"][1] > 0
