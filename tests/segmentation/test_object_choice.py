"""Figures that may be objects, the rule that ranks them, and which of them are kept."""

import json
from importlib import resources

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from imtorque import segment_objects
from imtorque.experiments import object_weights
from imtorque.images import Picture
from imtorque.segmentation import object_candidates, object_choice
from imtorque.segmentation.object_choice import Rule, distinct
from imtorque.segmentation.region_graph import RegionTree

SHAPE = (90, 120)


def disc(centre=(40, 50), radius=18, shape=SHAPE):
    y, x = np.ogrid[: shape[0], : shape[1]]
    return (y - centre[0]) ** 2 + (x - centre[1]) ** 2 <= radius**2


def coloured(figure, inside=(0.8, 0.2, 0.2), outside=(0.2, 0.5, 0.3)):
    picture = np.where(figure[:, :, None], inside, outside)
    return np.clip(picture + 0.05 * np.random.default_rng(0).standard_normal(picture.shape), 0, 1)


def overlap(mask, truth):
    return (mask & truth).sum() / (mask | truth).sum()


def slow_distinct(masks, count, iou):
    kept = []
    for k, mask in enumerate(masks):
        alike = False
        for other in kept:
            shared = (mask & masks[other]).sum()
            whole = min(mask.sum(), masks[other].sum()) if iou is None else (mask | masks[other]).sum()
            alike |= shared > (object_choice.SHARED if iou is None else iou) * whole
        if not alike and len(kept) < count:
            kept.append(k)
    return kept


@given(arrays(bool, (6, 3, 4)), st.integers(0, 6), st.sampled_from([None, 0.25, 0.5, 0.75]))
@settings(max_examples=60)
def test_masks_too_much_like_a_better_one_are_left_out(masks, count, iou):
    assert distinct(masks, count, iou) == slow_distinct(masks, count, iou)


@pytest.mark.parametrize("torque", [True, False])
def test_the_first_figure_is_the_object_with_torque_and_without(torque):
    figure = disc()
    found = object_choice.best_objects(Picture(coloured(figure)), 1, None, torque=torque)
    assert overlap(found[0], figure) > 0.8


def test_overlapping_objects_are_listed_where_that_is_asked_for():
    image = coloured(disc())
    image[36:44, 46:54] = (0.9, 0.9, 0.1)  # a part of another colour
    apart, ranked = segment_objects(image, 8), segment_objects(image, 8, iou=0.6)
    assert apart.sum(axis=0).max() == 1
    assert ranked.sum(axis=0).max() > 1
    assert_array_equal(apart[0], ranked[0])


def test_no_two_ranked_objects_are_nearly_the_same():
    masks = segment_objects(coloured(disc()), 8, iou=0.5)
    assert max(overlap(a, b) for k, a in enumerate(masks) for b in masks[:k]) < 0.6  # 0.5 at half the size


@pytest.mark.parametrize("iou", [-0.1, 1.1, np.nan])
def test_an_overlap_beyond_all_or_nothing_is_refused(iou):
    with pytest.raises(ValueError, match=r"iou must lie in \[0, 1\]"):
        segment_objects(np.zeros((20, 20)), 2, iou=iou)


def test_figures_are_no_specks_and_no_ground():
    view, cuts = object_candidates.object_candidates(Picture(coloured(disc())))
    halves = np.stack([object_candidates.halved(view, cut) for cut in cuts])
    assert halves.mean(axis=(1, 2)).min() >= object_candidates.LEAST
    sides = [halves[:, 0], halves[:, -1], halves[:, :, 0], halves[:, :, -1]]
    assert not np.all([side.any(axis=1) for side in sides], axis=0).any()


def test_regions_and_all_that_they_merge_to_become_masks():
    regions = np.array([[0, 1], [2, 2]])
    tree = RegionTree(regions, np.array([[0, 1], [0, 2]]), np.array([0.1, 0.2]))
    masks = object_candidates.regions_as_masks(tree, (4, 4))
    large = regions.repeat(2, axis=0).repeat(2, axis=1)
    expected = [large == 0, large == 1, large == 2, large <= 1, large <= 2]
    assert_array_equal(np.stack(masks), np.stack(expected))


def test_the_rule_learns_what_tells_objects():
    rng = np.random.default_rng(0)
    cases = []
    for _ in range(20):
        measures = rng.standard_normal((30, 2))
        cases.append((("tells", "does-not"), measures, (measures[:, 0] > 0.5).astype(float)))
    rule = object_weights.fit(cases)
    assert rule.weights[0] > 10 * abs(rule.weights[1])
    odds = rule.odds(np.array([[2.0, 0.0], [-2.0, 0.0]]))
    assert odds[0] > 0 > odds[1]


def test_measures_far_off_count_for_no_more():
    rule = Rule(("one",), np.zeros(1), np.ones(1), np.ones(1), 0.5)
    assert_allclose(rule.odds(np.array([[2.0], [3.0], [300.0]])), [2.5, 3.5, 3.5])


def test_stored_rules_have_a_weight_for_every_measure():
    stored = json.loads(resources.files("imtorque.segmentation").joinpath("object_weights.json").read_text("utf-8"))
    for rule in stored.values():
        assert len(rule["names"]) == len(rule["means"]) == len(rule["scales"]) == len(rule["weights"])
