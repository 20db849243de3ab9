"""Figures that may be objects, the rule that ranks them, and which of them are kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from imtorque import segment_objects
from imtorque.images import CheckedImage
from imtorque.io.weights import read_weights
from imtorque.segmentation import figure_cuts, object_candidates, object_selection
from imtorque.segmentation.object_selection import select_in_turn
from imtorque.segmentation.region_graph import RegionTree
from imtorque_reproduce.objects import weights as object_weights

SHAPE = (90, 120)


def disc(centre=(40, 50), radius=18, shape=SHAPE):
    y, x = np.ogrid[: shape[0], : shape[1]]
    return (y - centre[0]) ** 2 + (x - centre[1]) ** 2 <= radius**2


def coloured(figure, inside=(0.8, 0.2, 0.2), outside=(0.2, 0.5, 0.3)):
    image = np.where(figure[:, :, None], inside, outside)
    return np.clip(image + 0.05 * np.random.default_rng(0).standard_normal(image.shape), 0, 1)


def overlap(mask, truth):
    return (mask & truth).sum() / (mask | truth).sum()


def naive_in_turn(masks, logits, count, iou):
    chosen = []
    while len(chosen) < count:
        best, best_value = None, None
        for k, mask in enumerate(masks):
            alike, most = k in chosen, 0.0
            for other in chosen:
                shared, union = (mask & masks[other]).sum(), (mask | masks[other]).sum()
                whole = min(mask.sum(), masks[other].sum()) if iou is None else union
                alike |= shared > (object_selection.MAX_SHARE if iou is None else iou) * whole
                most = max(most, shared / max(union, 1))
            value = logits[len(chosen) % len(logits)][k] - object_selection.OVERLAP_PENALTY * most
            if not alike and (best is None or value > best_value):
                best, best_value = k, value
        if best is None:
            break
        chosen.append(best)
    return chosen


@given(
    arrays(bool, (6, 3, 4)),
    arrays(np.float64, (2, 6), elements=st.integers(-9, 9).map(lambda k: 0.37 * k)),
    st.integers(0, 6),
    st.sampled_from([None, 0.25, 0.5, 0.75]),
)
@settings(max_examples=80)
def test_rules_choose_in_turn_and_masks_too_much_like_a_chosen_one_are_left_out(masks, logits, count, iou):
    assert select_in_turn(masks, logits, count, iou) == naive_in_turn(masks, logits, count, iou)


def test_another_place_comes_before_an_alternative_of_the_same():
    masks = np.zeros((3, 10, 20), bool)
    masks[0, 2:8, 2:8], masks[1, 2:8, 3:10], masks[2, 4:6, 15:17] = True, True, True
    logits = np.array([[3.0, 2.5, 1.0]])
    assert select_in_turn(masks, logits, 3, 0.7) == [0, 2, 1]


def test_the_second_choice_is_of_the_second_rule():
    masks = np.zeros((3, 10, 20), bool)
    masks[0, :, :4], masks[1, :, 6:10], masks[2, :, 12:16] = True, True, True
    logits = np.array([[3.0, 2.0, 1.0], [3.0, 1.0, 2.0]])
    assert select_in_turn(masks, logits, 3, None) == [0, 2, 1]


@pytest.mark.parametrize("torque", [True, False])
def test_the_first_figure_is_the_object_with_torque_and_without(torque):
    figure = disc()
    found = object_selection.best_objects(CheckedImage(coloured(figure)), 1, None, torque=torque)
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
    view, cuts = object_candidates.object_candidates(CheckedImage(coloured(disc())))
    halves = np.stack([figure_cuts.at_half_size(view, cut) for cut in cuts])
    assert halves.mean(axis=(1, 2)).min() >= object_candidates.MIN_AREA_SHARE
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
    rule = object_weights.fit(cases)["first"]
    assert rule.weight[0] > 10 * abs(rule.weight[1])
    logits = rule.logit(np.array([[2.0, 0.0], [-2.0, 0.0]]))
    assert logits[0] > 0 > logits[1]


def test_the_second_rule_learns_from_scenes_where_the_first_is_wrong():
    rng = np.random.default_rng(0)
    cases = []
    for k in range(40):
        measures = rng.standard_normal((30, 3))
        objects = measures[:, 2] > 1 if k % 4 == 0 else measures[:, 1] > 1  # one scene in four is of another kind
        cases.append((("area", "usual", "rare"), measures, objects.astype(float)))
    rules = object_weights.fit(cases)
    assert rules["first"].weight[1] > rules["first"].weight[2]
    assert rules["second"].weight[2] > rules["second"].weight[1]


def test_stored_models_have_the_area_first_which_multiplies_the_interaction():
    for models in read_weights("object").values():
        assert tuple(models) == object_selection.MODELS
        for which, model in models.items():
            assert next(iter(model["features"])) == "area"
            assert {len(row) for row in model["features"].values()} == {3 if which == "first" else 4}
