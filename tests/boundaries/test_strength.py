"""Edges re-weighed by torque, and how the weights are learned."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from imtorque import BoundaryModel, strengthen_edges

maps = hnp.arrays(float, (4, 5), elements=st.floats(0, 1)).filter(np.any)
contributions = hnp.arrays(float, (4, 5), elements=st.floats(-2, 3))


def test_the_papers_coefficients_give_the_papers_values():
    strength, contribution = np.array([[1.0, 1.0, 1.0, 0.0]]), np.array([[0.0, 0.5, 1.0, 1.0]])
    comp = strengthen_edges(strength, contribution, coefficients="paper")
    assert_allclose(comp, [[0.336, 0.660, 0.882, 0.0]], atol=5e-4)


def test_a_blend_is_linear():
    comp = strengthen_edges([[0.2, 0.4]], [[1.0, 0.0]], method="blend", share=0.25)
    assert_allclose(comp, [[0.4, 0.3]])


@given(maps, contributions, st.sampled_from(["logistic", "blend", "product"]))
def test_strengthened_edges_lie_between_0_and_1_and_only_where_edges_are(strength, contribution, method):
    comp = strengthen_edges(strength, contribution, method=method)
    assert comp.min() >= 0
    assert comp.max() <= 1
    assert not comp[strength == 0].any()


@given(maps, contributions)
def test_more_support_never_weakens_an_edge(strength, contribution):
    for method in ("logistic", "blend", "product"):
        more = strengthen_edges(strength, contribution + 0.5, method=method)
        assert np.all(more >= strengthen_edges(strength, contribution, method=method))


@pytest.mark.parametrize(
    ("strength", "contribution", "options", "message"),
    [
        ([[1.5]], [[0.0]], {}, "strength must lie in"),
        ([[-0.1]], [[0.0]], {}, "strength must lie in"),
        ([[np.nan]], [[0.0]], {}, "strength must lie in"),
        ([[0.0]], [[0.0]], {}, "strength must have at least one edge pixel, got zeros only"),
        ([0.5], [0.0], {}, "strength must have shape"),
        ([[0.5]], [[0.0, 1.0]], {}, "contribution must be finite, of the strength's shape"),
        ([[0.5]], [[np.inf]], {}, "contribution must be finite"),
        ([[0.5]], [[0.0]], {"method": "magic"}, 'method must be "logistic"'),
        ([[0.5]], [[0.0]], {"coefficients": "mine"}, "coefficients must be one of paper, learned"),
        ([[0.5]], [[0.0]], {"coefficients": (1.0, 2.0)}, "coefficients must be three finite numbers"),
        ([[0.5]], [[0.0]], {"method": "blend", "share": 2}, "share must lie in"),
    ],
)
def test_bad_maps_are_refused(strength, contribution, options, message):
    with pytest.raises(ValueError, match=message):
        strengthen_edges(strength, contribution, **options)


def learned(coefficients, form, seed=0):
    """An image whose pixels are boundaries with the probability the coefficients say."""
    rng = np.random.default_rng(seed)
    strength, cue = rng.uniform(0.01, 1, (200, 300)), rng.normal(size=(200, 300))
    z = coefficients[0] + coefficients[1] * form(strength) + coefficients[2] * cue
    truth = rng.random(strength.shape) < 1 / (1 + np.exp(-z))
    return strength, cue, truth


def test_fitting_finds_the_coefficients_that_made_the_truth():
    strength, cue, truth = learned((-0.5, 1.2, 0.8), lambda d: np.log(d + 0.05))
    found = BoundaryModel(tolerance=0, step=1).fit([strength], [cue], [[truth]])
    assert_allclose([found.intercept_, *found.coef_], [-0.5, 1.2, 0.8], atol=0.05)
    own = strengthen_edges(strength, cue, coefficients=[found.intercept_, *found.coef_])
    assert_allclose(found.transform(strength, cue), own)


def test_the_papers_form_has_the_strength_as_it_is():
    strength, cue, truth = learned((-1.0, 2.0, 0.7), lambda d: d)
    found = BoundaryModel(tolerance=0, step=1, logarithm=False).fit([strength], [cue], [[truth]])
    assert_allclose([found.intercept_, *found.coef_], [-1.0, 2.0, 0.7], atol=0.08)


def test_second_powers_and_several_cues_are_further_features():
    strength, cue, truth = learned((-0.5, 1.2, 0.8), np.log)
    cues = np.stack([cue, -cue, cue**2])
    found = BoundaryModel(quadratic=True, tolerance=0).fit([strength, strength], [cues, cues], [[truth]] * 2)
    assert found.coef_.shape == (1 + 3 + 3,)
    assert_array_equal(found.transform(strength, cues) > 0, strength > 0)


def test_annotators_share_their_say():
    strength, cue, truth = learned((0.0, 1.0, 1.0), np.log)
    half = BoundaryModel(tolerance=0, step=1).fit([strength], [cue], [[truth, np.zeros_like(truth)]])
    assert half.transform(strength, cue).mean() == pytest.approx(truth.mean() / 2, rel=1e-3)


@pytest.mark.parametrize(
    ("strengths", "cues", "truths", "message"),
    [
        ([], [], [], "at least one image, got none"),
        ([np.ones((3, 3))], [np.ones((3, 3))], [[np.zeros((3, 3))]], "got no pixel on one"),
        ([np.ones((3, 3))], [np.ones((3, 3))], [[np.ones((3, 3))]], "got every pixel on one"),
        ([np.ones((3, 3))], [np.ones((3, 3))], [[np.ones((3, 4))]], "truth must have the strength's shape"),
        ([np.ones((3, 3))], [np.ones((3, 3))], [[]], "at least one annotator"),
        ([np.ones((3, 3))], [np.ones((4, 3))], [[np.ones((3, 3))]], "cues must be finite"),
        ([np.zeros((3, 3))], [np.ones((3, 3))], [[np.ones((3, 3))]], "at least one edge pixel"),
    ],
)
def test_bad_training_sets_are_refused(strengths, cues, truths, message):
    with pytest.raises(ValueError, match=message):
        BoundaryModel().fit(strengths, cues, truths)


def test_transform_needs_the_fit_and_its_cues():
    strength, cue, truth = learned((-0.5, 1.2, 0.8), np.log)
    with pytest.raises(ValueError, match="must be fitted before transform"):
        BoundaryModel().transform(strength, cue)
    fitted = BoundaryModel().fit([strength], [cue], [[truth]])
    with pytest.raises(ValueError, match="cues must give the 2 features fitted, got 3"):
        fitted.transform(strength, np.stack([cue, cue]))
