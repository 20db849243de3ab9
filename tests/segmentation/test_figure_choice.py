"""The best of many cuts around a click, and the parts it is made of."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import ndimage

import naive_figure
from imtorque import segment_figure
from imtorque.images import CheckedImage, lab
from imtorque.io.weights import read_weights
from imtorque.segmentation import colour_cut, figure_cuts, figure_scores
from imtorque.segmentation.appearance import SHRINKING_FACTORS, WORDS, appearance, log_likelihood_ratios, word_counts
from imtorque.segmentation.colour_cut import Hints
from imtorque.segmentation.figure import best_cut
from imtorque.segmentation.figure_features import cut_features
from imtorque.segmentation.fixated_boxes import bounding_box, enlarged, torque_boxes
from imtorque_reproduce.figure_ground import weights as figure_weights

SHAPE = (80, 100)
CLICK = (40, 50)


def disc(shape=SHAPE, centre=CLICK, radius=20):
    y, x = np.ogrid[: shape[0], : shape[1]]
    return (y - centre[0]) ** 2 + (x - centre[1]) ** 2 <= radius**2


def coloured(figure, inside=(0.8, 0.2, 0.2), outside=(0.2, 0.5, 0.3), noise=0.05):
    """An image of a figure in one colour on ground of another, with noise."""
    image = np.where(figure[:, :, None], inside, outside)
    return np.clip(image + noise * np.random.default_rng(0).standard_normal(image.shape), 0, 1)


def overlap(mask, truth):
    return (mask & truth).sum() / (mask | truth).sum()


def view_of(image, click=CLICK, **hints):
    return figure_cuts.view_image(CheckedImage(image), Hints([click], **hints))


@pytest.mark.parametrize("radius", [8, 14, 24, 38])
def test_a_disc_of_any_size_is_cut_out(radius):
    figure = disc((100, 130), (50, 60), radius)
    assert overlap(segment_figure(coloured(figure), (50, 60)), figure) > 0.95


def test_colours_tell_where_the_object_ends_although_its_edges_do_not():
    x = np.broadcast_to(np.arange(SHAPE[1]), SHAPE)
    figure = disc()
    image = coloured(figure)
    image[(x % 10 < 2) & ~figure] = 0.9  # bars that stop at the object, and have stronger edges than it
    assert overlap(segment_figure(image, CLICK), figure) > 0.85
    assert overlap(segment_figure(image, CLICK), figure) > overlap(segment_figure(image, CLICK, method="polar"), figure)


def test_sharpened_outlines_move_to_where_the_colours_change_and_no_further():
    figure = disc()
    level = appearance(lab(np.moveaxis(coloured(figure), 2, 0)))[0]
    for radius in (18, 22):
        assert overlap(colour_cut.sharpened(level, disc(radius=radius), [CLICK]), figure) > 0.95
    far = colour_cut.sharpened(level, disc(radius=8), [CLICK])
    assert disc(radius=8 - colour_cut.SHARPENING_REACH)[far].sum() == disc(radius=8 - colour_cut.SHARPENING_REACH).sum()
    assert not far[~disc(radius=8 + colour_cut.SHARPENING_REACH + 1)].any()


@pytest.mark.parametrize("mask", [np.zeros(SHAPE, bool), np.ones(SHAPE, bool), disc(radius=1)])
def test_anything_can_be_sharpened_and_holds_its_clicks(mask):
    level = appearance(lab(np.moveaxis(coloured(disc()), 2, 0)))[0]
    assert colour_cut.sharpened(level, mask, [CLICK, (2, 3)])[[40, 2], [50, 3]].all()


def test_a_removed_point_is_ground_for_every_cut():
    figure, other = disc(radius=14, centre=(40, 36)), disc(radius=14, centre=(40, 66))
    image = coloured(figure | other)
    image[40, 50:53] = image[0, 0]
    left = segment_figure(image, (40, 36), remove=[(40, 66)])
    assert not left[40, 66]
    assert overlap(left, figure) > 0.8


def test_scribbled_points_that_lie_in_the_cut_change_nothing():
    image = coloured(disc())
    assert_array_equal(segment_figure(image, CLICK, add=[(40, 51), (42, 55)]), segment_figure(image, CLICK))


def test_a_box_keeps_the_figure_within_it():
    figure = disc()
    mask = segment_figure(coloured(figure), CLICK, box=(15, 25, 65, 50.5))
    y, x = np.nonzero(mask)
    assert y.min() >= 15
    assert y.max() < 65
    assert x.min() >= 25
    assert x.max() <= 50
    assert overlap(mask, figure & (np.arange(100) <= 50)) > 0.8


def test_a_box_helps_every_method():
    for method in ("polar", "cartesian"):
        assert not segment_figure(coloured(disc()), CLICK, box=(15, 25, 65, 51), method=method)[:, 51:].any()


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"box": (0, 0, 30, 30)}, ValueError, "box must hold all fixations"),
        ({"box": (0, 0, 30)}, TypeError, "box must be four numbers"),
        ({"method": "best", "size": 20}, ValueError, "must be left out with method"),
        ({"method": "worst"}, ValueError, "method must be"),
    ],
)
def test_wrong_hints_are_refused(given, error, message):
    with pytest.raises(error, match=message):
        segment_figure(coloured(disc()), CLICK, **given)


def test_grey_images_have_words_by_their_lightness_and_texture_alone():
    grey = np.random.default_rng(0).random((1, 20, 30)).repeat(3, axis=0)
    words = appearance(lab(grey))[0].words
    assert np.unique(words // 4 % 64).size == 1


def test_log_likelihood_ratios_favour_words_where_they_are_common():
    words = appearance(lab(np.moveaxis(coloured(disc(), noise=0), 2, 0)))[0].words
    figure = disc()
    log_odds = log_likelihood_ratios(word_counts(words[figure]), word_counts(words[~figure]))[words]
    assert log_odds[CLICK] > 1
    assert log_odds[2, 2] < -1


def test_log_likelihood_ratios_are_those_of_smoothed_histograms():
    rng = np.random.default_rng(0)
    figure, ground = rng.integers(0, 4, (2, WORDS)).astype(float)
    shares = []
    for counts in (figure, ground):
        spread = ndimage.gaussian_filter(counts.reshape(8, 8, 8, 4), 0.7, mode="constant").ravel()
        shares.append(spread / spread.sum() + 1e-4)
    assert_allclose(log_likelihood_ratios(figure, ground), np.log(shares[0] / shares[1]), atol=1e-12)


@given(st.integers(0, 99), st.integers(0, 2))
@settings(max_examples=15)
def test_the_colour_cut_is_that_of_its_plain_twin(seed, kind):
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(8, 13)), int(rng.integers(8, 13)))
    levels = appearance(lab(rng.random((3, *shape)) * 0.3 + 0.5 * disc(shape, (4, 4), 3)))
    hints = Hints([(4, 4)], [(1, 1)] if kind == 1 else [], (0, 0, 7, 7) if kind == 2 else None)
    box = (1.0, 1.0, *rng.integers(6, 14, 2).tolist())
    found = colour_cut.colour_cut(levels, box, None, hints)
    assert_array_equal(found, naive_figure.colour_cut(levels[0], box, hints))


@given(st.integers(0, 99))
@settings(max_examples=10)
def test_measures_are_those_of_their_plain_twins(seed):
    rng = np.random.default_rng(seed)
    view = view_of(np.clip(coloured(disc()) + 0.2 * rng.random((*SHAPE, 3)), 0, 1))
    cuts = [disc(view.shape, (20, 25), radius) | (rng.random(view.shape) < 0.02) for radius in (3, 7, 12)]
    names, measures = cut_features(view, cuts)
    for k, expected in enumerate(naive_figure.measures(view, cuts)):
        found = dict(zip(names, measures[k], strict=True))
        assert found.keys() >= expected.keys()
        for name, value in expected.items():
            assert_allclose(found[name], value, rtol=1e-4, atol=1e-5, err_msg=name)


def test_cuts_begin_at_all_sizes_and_hold_the_click():
    view = view_of(coloured(disc()))
    cuts = figure_cuts.figure_cuts(view)
    assert {name.partition("-")[0] for name in cuts} == {"polar", "fixated", "centred", "box"}
    for cut in cuts.values():
        assert cut.shape in [level.shape for level in view.levels]
        assert figure_cuts.at_working_size(view, cut)[CLICK]


def test_without_torque_no_cut_begins_with_its_boxes():
    view = figure_cuts.view_image(CheckedImage(coloured(disc())), Hints([CLICK]), torque=False)
    assert not any(name.startswith("box") for name in figure_cuts.figure_cuts(view))
    assert overlap(best_cut(view), disc()) > 0.9


def test_the_box_of_strongest_torque_is_the_object():
    planes = np.moveaxis(coloured(disc(), noise=0), 2, 0)
    for box in torque_boxes(np.ascontiguousarray(planes), CLICK).values():
        shrunk = enlarged(box, 1 / 1.5)
        assert_allclose(shrunk, bounding_box(disc()), atol=8)


def test_levels_halve_the_image():
    fine, coarse = appearance(lab(np.random.default_rng(0).random((3, 21, 30))))
    assert (fine.shape, coarse.shape) == ((21, 30), (11, 15))
    assert (fine.factor, coarse.factor) == SHRINKING_FACTORS
    assert fine.words.max() < WORDS


def test_learned_weights_choose_the_cut_that_overlaps_most():
    names, rng = ("area", "good", "noise"), np.random.default_rng(0)
    cases = []
    for _ in range(40):
        measures = rng.random((6, 3))
        cases.append((names, measures, np.where(measures[:, 0] > 0.5, measures[:, 1], 1 - measures[:, 1])))
    weights = figure_weights.fit(cases)
    chosen = [case[2][weights.logit(case[1]).argmax()] for case in cases]
    assert np.mean(chosen) > 0.75


def test_weights_of_other_features_are_refused():
    with pytest.raises(ValueError, match="weights must be for the features area, got area, overlap"):
        figure_scores.figure_model(True, ("area",))


@pytest.mark.parametrize("torque", [True, False])
def test_the_stored_weights_are_for_the_features_that_are_measured(torque):
    view = figure_cuts.view_image(CheckedImage(coloured(disc())), Hints([CLICK]), torque=torque)
    names, _ = cut_features(view, [disc(view.shape, (20, 25), radius) for radius in (3, 7, 12)])
    assert tuple(read_weights("figure")["torque" if torque else "no-torque"]["features"]) == names
    assert names[0] == "area"  # which multiplies the interaction
