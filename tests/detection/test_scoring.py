"""Scores of contours: what looks like an object scores high, and only ratios matter."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from detection.scenes import discs, ellipse, lattice
from imtorque.core.logistic import LogisticModel
from imtorque.detection.contour_features import CONTEXT_FEATURES, UNARY_FEATURES, unary_features, weighted_quantile
from imtorque.detection.contour_proposals import Search, propose_contours
from imtorque.detection.proposals import Outlines
from imtorque.detection.scoring import CLEAR_SNR, NOISY_SNR, contour_scorer, contour_scores, noise_share
from imtorque.io.weights import read_weights
from imtorque_reproduce.counting.weights import Case, drawn_scene, in_turn, learn_model, make_case

SHAPE = (160, 170)
CENTRES = lattice(SHAPE, 50)
SIZES = (14.0, 32.0)


@pytest.fixture(scope="module")
def found():
    """Contours around and between bright discs of 21 pixels, and which are those of the discs."""
    image = 0.3 + 0.4 * discs(SHAPE, CENTRES, 21) + np.random.default_rng(1).normal(0, 0.02, SHAPE)
    contours, _, grey = propose_contours(image, Search(SIZES), least=0.1)
    far = np.hypot(
        contours.y.mean(1)[:, None] - np.array(CENTRES)[:, 0], contours.x.mean(1)[:, None] - np.array(CENTRES)[:, 1]
    )
    right = (far.min(axis=1) < 2) & (np.abs(contours.diameter - 21) < 2) & (contours.sign > 0)
    return contours, grey, right


def test_contours_of_discs_score_above_all_others(found):
    contours, grey, right = found
    score = contour_scores(contours, SHAPE, SIZES, grey, signed=False)
    assert score[right].min() > 0.9
    assert np.median(score[~right]) < 0.1


@pytest.mark.parametrize("sizes", [SIZES, None])
def test_grey_values_in_other_units_change_no_score(found, sizes):
    contours, grey, _ = found
    other = replace(
        contours, inside=7 + 50 * contours.inside, outside=7 + 50 * contours.outside, noise=50 * contours.noise
    )
    expected = contour_scores(contours, SHAPE, sizes, grey, signed=False)
    assert_allclose(contour_scores(other, SHAPE, sizes, 7 + 50 * grey, signed=False), expected, atol=1e-3)


def test_what_is_not_known_counts_as_average(found):
    contours, _, _ = found
    first = contour_scorer("given").unary
    measures = unary_features(contours, SHAPE, SIZES, None, signed=False)
    unknown = np.isnan(measures).all(axis=0)
    assert [name for name, u in zip(UNARY_FEATURES, unknown, strict=True) if u] == list(UNARY_FEATURES[-5:])
    assert_allclose(first.logit(measures), first.logit(np.where(np.isnan(measures), first.mean, measures)))


def test_a_sign_that_was_asked_for_is_not_held_against_a_contour(found):
    contours, grey, _ = found
    dark = contours.sign < 0
    asked, not_asked = (contour_scores(contours, SHAPE, SIZES, grey, signed=signed)[dark] for signed in (True, False))
    assert asked.mean() > not_asked.mean()


def test_the_sign_that_explains_fewer_edges_is_held_against_a_contour_by_what_it_lacks(found):
    contours, grey, _ = found
    half = replace(contours, sign=np.where(np.arange(len(contours)) % 2, 1.0, -1.0))
    sign = unary_features(half, SHAPE, SIZES, grey, signed=False)[:, UNARY_FEATURES.index("sign_share")]
    main, other = sorted({float(share) for share in sign}, reverse=True)
    assert main == 1
    assert 0 < other < 1


def test_weights_for_noise_take_the_place_of_others_as_far_as_there_is_noise(found):
    contours, grey, _ = found
    clear, noisy = (
        contour_scores(contours, SHAPE, SIZES, grey, False, contour_scorer("given", noisy=n)) for n in (0, 1)
    )
    for noise, share in ((1, 0), (np.inf, 1)):
        noise = np.abs(contours.contrast) / CLEAR_SNR if share == 0 else np.full(len(contours), noise)
        part = replace(contours, noise=noise)
        assert noise_share(part) == share
        score = contour_scores(part, SHAPE, SIZES, grey, False, noisy=contour_scorer("given", noisy=True))
        assert_array_equal(score, noisy if share else clear)
    half = replace(contours, noise=np.abs(contours.contrast) / np.sqrt(CLEAR_SNR * NOISY_SNR))
    assert noise_share(half) == pytest.approx(0.5)


def test_images_without_grey_values_are_not_noisy(found):
    contours = found[0]
    assert noise_share(replace(contours, inside=np.full(len(contours), np.nan))) == 0


def test_no_contours_have_no_scores(found):
    contours, grey, _ = found
    assert len(contour_scores(contours[:0], SHAPE, SIZES, grey, signed=False)) == 0


def test_the_stored_weights_name_every_feature():
    for stages in (*read_weights("contour").values(), *read_weights("contour_noisy").values()):
        assert tuple(stages["unary"]["features"]) == UNARY_FEATURES
        assert tuple(stages["context"]["features"]) == CONTEXT_FEATURES


def test_a_model_is_learned_that_tells_objects_from_others_and_is_stored_whole():
    scene = drawn_scene(0)
    case = make_case(scene, "given")
    model = learn_model([case], [case.features], UNARY_FEATURES)
    logit, known = model.logit(case.features), np.isfinite(case.is_object)
    assert np.mean((logit > 0)[known] == case.is_object[known]) > 0.9
    stored = LogisticModel.from_dict(model.to_dict(4), UNARY_FEATURES)
    assert_allclose(stored.logit(case.features), logit, atol=0.05)


def test_sets_and_kinds_count_alike_in_learning():
    rng = np.random.default_rng(0)
    many = Case("a", None, SHAPE, rng.normal(size=(400, 1)), (rng.random(400) < 0.05).astype(float))
    few = Case("b", None, SHAPE, np.array([[-1.0], [1.0]] * 5), np.array([0.0, 1.0] * 5))
    model = learn_model([many, few], [many.features, few.features], ("only",))
    assert model.weight[0] > 0.5  # the few, of another set, are not drowned by the many


def test_sizes_are_found_by_the_selected_objects_and_tell_where_in_their_range_others_lie():
    scene = drawn_scene(0)  # objects of one kind, looked for in a range about their size
    case = make_case(scene, "found", contour_scorer("unknown"))
    side = np.sqrt((scene.boxes[:, 2:] - scene.boxes[:, :2]).prod(axis=1)).mean()
    place = case.features[case.is_object == 1][:, UNARY_FEATURES.index("size")]
    assert np.abs(np.median(place)) < 0.5
    assert case.contours.diameter.max() < 4 * side
    assert np.isnan(make_case(scene, "unknown").features[:, UNARY_FEATURES.index("size")]).all()


def test_cases_of_one_image_stand_side_by_side():
    given, found = ([Case(f"{kind}{i}", None, SHAPE, None, None) for i in range(3)] for kind in "ab")
    assert [case.group for case in in_turn(given, found)] == ["a0", "b0", "a1", "b1", "a2", "b2"]
    assert in_turn(given) == given


def test_drawn_scenes_are_the_same_for_a_seed_and_hold_what_they_say():
    first, again = drawn_scene(3), drawn_scene(3)
    assert_array_equal(first.image, again.image)
    assert len(first.boxes) > 3
    assert (first.boxes[:, 2:] > first.boxes[:, :2]).all()


def test_a_weighted_quantile_is_where_the_share_of_the_weight_is_reached():
    values, weight = np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 8.0])
    assert [weighted_quantile(values, weight, share) for share in (0.05, 0.5, 0.95)] == [1, 2, 3]
    assert weighted_quantile(values[:0], weight[:0]) == 1


def test_a_small_object_beside_a_large_one_scores_as_an_object_too():
    image = 0.5 * ellipse((120, 120), (60, 60), (40, 40)) + 0.5 * ellipse((120, 120), (55, 66), (9, 9))
    contours, _, grey = propose_contours(image, Search((12.0, 100.0)))
    score = contour_scores(contours, (120, 120), (12.0, 100.0), grey, signed=False)
    near = [np.abs(contours.diameter - d) < 3 for d in (18, 80)]
    assert min(score[small].max() for small in near) > 0.5


def test_chosen_contours_keep_the_moments_of_all(found):
    contours, _, right = found
    whole = contours.moments
    part = contours[right]
    assert "moments" in vars(part.outlines)
    for kept, column in zip(part.moments, whole, strict=True):
        assert_array_equal(kept, column[right])
    for kept, again in zip(part.moments, Outlines.of_points(part.y, part.x).moments, strict=True):
        assert_array_equal(kept, again)
