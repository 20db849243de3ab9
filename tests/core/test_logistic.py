"""Logistic regression on standardised features, and the weights files that it is read from."""

import json
from importlib import resources

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from imtorque.core.logistic import LogisticModel, sigmoid
from imtorque.io.weights import PROVENANCE, read_provenance, weights_text

FEATURES = np.array([[1.0, 3.0], [2.0, np.nan], [300.0, -300.0]])


def model(**options):
    return LogisticModel(np.array([1.0, 2.0]), np.array([2.0, 0.5]), np.array([1.0, -1.0]), 0.5, ("a", "b"), **options)


def test_logits_are_weighted_sums_of_standardised_features():
    assert_allclose(model().logit(FEATURES[:1]), [0.5 + 0 - 2])


def test_unknown_features_count_as_average():
    assert_allclose(model().logit(FEATURES[1:2]), [0.5 + 0.5])


def test_features_are_clipped_at_the_limit():
    assert_allclose(model(limit=3.0).logit(FEATURES[2:]), [0.5 + 3 + 3])


def test_the_first_feature_multiplies_the_interaction():
    found = model(interaction=np.array([0.0, 2.0])).logit(np.array([[3.0, 3.0], [-1.0, 3.0]]))
    assert_allclose(found, [0.5 + 1 + 2 * (-1 + 2), 0.5 - 1 + 2 * (-1 - 2)])


def test_terms_add_up_to_the_logit_less_the_bias():
    for interaction in (None, np.array([0.0, 2.0])):
        whole = model(limit=3.0, interaction=interaction)
        assert_allclose(whole.terms(FEATURES).sum(axis=1) + whole.bias, whole.logit(FEATURES))


def test_probabilities_are_sigmoids_of_logits():
    features = FEATURES[:2]
    assert_allclose(model().probability(features), 1 / (1 + np.exp(-model().logit(features))))
    assert_allclose(sigmoid(np.array([0.0, 1e9, -1e9])), [0.5, 1, 0], atol=1e-20)


@pytest.mark.parametrize("interaction", [None, np.array([0.25, 0.5])])
def test_a_stored_model_gives_the_same_logits_in_any_order_of_names(interaction):
    whole = model(limit=3.0, interaction=interaction)
    stored = json.loads(json.dumps(whole.to_dict()))
    assert_array_equal(LogisticModel.from_dict(stored).logit(FEATURES), whole.logit(FEATURES))
    if interaction is None:
        turned = LogisticModel.from_dict(stored, ("b", "a"))
        assert_allclose(turned.logit(FEATURES[:, ::-1]), whole.logit(FEATURES))


def test_a_model_of_other_features_is_refused():
    with pytest.raises(ValueError, match="weights must be for the features a, c, got a, b"):
        LogisticModel.from_dict(model().to_dict(), ("a", "c"))


def test_every_weights_file_says_where_it_comes_from():
    files = resources.files("imtorque.io.weights").iterdir()
    names = [file.name.removesuffix(".json") for file in files if file.name.endswith(".json")]
    assert {"contour", "figure", "object", "ownership"} <= set(names)
    for name in names:
        provenance = read_provenance(name)
        assert all(provenance[key] for key in PROVENANCE)


def test_weights_without_provenance_are_refused():
    with pytest.raises(ValueError, match=r"provenance must say .* got no version, date"):
        weights_text({}, {"data": "a", "split": "b", "command": "c"})
