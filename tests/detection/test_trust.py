"""A finder says when an image is not like those that it learned from."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from detection.test_finder import IMAGES, KINDS, NEW, SHAPE, draw
from imtorque.detection import ObjectFinder
from imtorque.detection.trust import MIN_TRUST, REASONS, TOLERANCES, TrainingRange

pytest.importorskip("sklearn")


@pytest.fixture(scope="module")
def finder():
    boxes = [draw(seed)[1] for seed in range(4)]
    return ObjectFinder(KINDS).fit(IMAGES[:4], boxes)


def test_images_like_those_learned_from_are_trusted(finder):
    for image in (IMAGES[4], NEW, draw(7)[0]):
        found = finder.predict(image)
        assert found.trust >= MIN_TRUST
        assert found.warning == ""


def noise():
    return np.random.default_rng(0).normal(0.5, 0.2, SHAPE)


def grains():
    """Objects of a third of the size, closely packed: many times as many per area."""
    y, x = np.indices(SHAPE)
    return 0.55 + 0.25 * np.sin(y * 2 * np.pi / 9) * np.sin(x * 2 * np.pi / 9)


@pytest.mark.parametrize("odd", [noise, grains])
def test_odd_images_are_flagged_and_said_why(finder, odd):
    found = finder.predict(odd())
    assert found.trust < MIN_TRUST
    assert found.warning in REASONS.values()


def test_an_image_that_is_not_trusted_is_to_be_annotated_first(finder):
    assert finder.query([NEW, IMAGES[4], noise(), draw(7)[0]])[0] == 2


def test_rows_keep_the_trust_of_their_image(finder):
    found = finder.predict(NEW)
    assert found[:2].trust == found.trust


def test_a_saved_finder_trusts_the_same(finder, tmp_path):
    finder.save(tmp_path / "discs.finder")
    loaded = ObjectFinder.load(tmp_path / "discs.finder")
    assert loaded.predict(NEW).trust == finder.predict(NEW).trust


def largest(value=0.0):
    return dict.fromkeys(REASONS, value)


@pytest.mark.parametrize("name", REASONS)
def test_trust_is_halved_by_each_tolerance_beyond_the_training_images(name):
    known = TrainingRange.of([largest(-5.0), largest()])
    assert known.trust(largest()) == (1.0, "")
    assert known.trust(largest() | {name: -3.0}) == (1.0, "")
    assert known.trust(largest() | {name: TOLERANCES[name]}) == (0.5, "")
    assert known.trust(largest() | {name: 3 * TOLERANCES[name]})[0] == pytest.approx(0.125)
    assert known.trust(largest() | {name: 3 * TOLERANCES[name]})[1] == REASONS[name]


@pytest.mark.parametrize("bad", [{}, largest() | {"doubt": float("nan")}, largest() | {"doubt": "much"}, []])
def test_damaged_ranges_are_refused(bad):
    with pytest.raises(ValueError, match=r"measures|doubt"):
        TrainingRange(json.loads(json.dumps(bad))).checked()


def test_find_blobs_says_nothing_about_trust():
    from imtorque import find_blobs

    found = find_blobs(NEW)
    assert np.isnan(found.trust)
    assert_array_equal(found[:0].warning, "")
