"""Which kinds of proposals a finder takes: the simplest that are not clearly worse than the best."""

import numpy as np
import pytest

from imtorque.detection.training import KIND_SETS, BestParams, CVResult, one_standard_error

MARKED = 20.0


def result(name, matched, smooth):
    """Return a result that met so many of 20 objects in each image, and found as many objects as there were."""
    matched = np.asarray(matched, float)
    counts = np.stack([matched, matched, np.full(len(matched), MARKED), np.full(len(matched), MARKED)], axis=1)
    f1 = float(matched.mean() / MARKED)
    return CVResult(BestParams((name,), 0.3, 0.3, f1, f1, 0.0, 0.0, MARKED, smooth), counts, [], [])


def chosen(*results):
    return one_standard_error(results).params.kinds[0]


def test_a_lead_that_differs_from_image_to_image_does_not_count():
    plain = result("plain", [18, 12, 18, 12, 18, 12, 18, 12], 0.75)
    other = result("other", [12, 19, 12, 19, 12, 19, 12, 19], 0.775)
    assert chosen(plain, other) == "plain"


def test_the_same_lead_on_every_image_counts():
    plain = result("plain", [15] * 8, 0.75)
    other = result("other", [16, 15, 16, 15, 16, 15, 16, 16], 0.78)
    assert chosen(plain, other) == "other"


def test_the_first_of_those_that_are_level_is_taken_even_between_others():
    worse = result("worse", [10] * 8, 0.5)
    level = result("level", [15, 17, 15, 17, 15, 17, 15, 17], 0.8)
    best = result("best", [17, 15, 17, 15, 17, 15, 17, 16], 0.81)
    assert chosen(worse, level, best) == "level"


def test_one_image_tells_no_error_and_the_best_is_taken():
    assert chosen(result("plain", [15], 0.75), result("other", [16], 0.8)) == "other"


def test_wrong_counts_are_held_against_a_kind():
    plain, other = (result(name, [16] * 4, smooth) for name, smooth in (("plain", 0.7), ("other", 0.8)))
    plain.counts[:, 2] += [10, 11, 12, 13]
    assert chosen(plain, other) == "other"


@pytest.mark.parametrize("kinds", [kinds for kinds in KIND_SETS if len(kinds) > 1])
def test_pools_come_after_the_kinds_in_them(kinds):
    singles = {part[0]: place for place, part in enumerate(KIND_SETS) if len(part) == 1}
    assert all(singles[kind] < KIND_SETS.index(kinds) for kind in kinds if kind in singles)
