"""Which kinds of proposals a finder takes: the simplest that are level with the best."""

import numpy as np
import pytest

from imtorque.detection.training import KIND_SETS, BestParams, CVResult, simplest_level

MARKED = 20.0


def result(name, matched, smooth):
    """Return a result that met so many of 20 objects in each image, and found as many objects as there were."""
    matched = np.asarray(matched, float)
    counts = np.stack([matched, matched, np.full(len(matched), MARKED), np.full(len(matched), MARKED)], axis=1)
    f1 = float(matched.mean() / MARKED)
    return CVResult(BestParams((name,), 0.3, 0.3, f1, f1, 0.0, 0.0, MARKED, smooth), counts, [], [])


def chosen(*results):
    return simplest_level(results).params.kinds[0]


def test_a_lead_of_less_than_a_hundredth_does_not_count():
    plain = result("plain", [15] * 8, 0.75)
    other = result("other", [16] + [15] * 7, 0.756)
    assert chosen(plain, other) == "plain"


def test_a_larger_lead_counts_though_it_differs_from_image_to_image():
    plain = result("plain", [18, 12, 18, 12, 18, 12, 18, 12], 0.75)
    other = result("other", [12, 19, 12, 19, 12, 19, 12, 19], 0.775)
    assert chosen(plain, other) == "other"


def test_the_first_of_those_that_are_level_is_taken_even_between_others():
    worse = result("worse", [10] * 8, 0.5)
    level = result("level", [16] * 8, 0.8)
    best = result("best", [17] + [16] * 7, 0.806)
    assert chosen(worse, level, best) == "level"


def test_wrong_counts_are_held_against_a_kind():
    plain, other = (result(name, [16] * 4, smooth) for name, smooth in (("plain", 0.7), ("other", 0.8)))
    plain.counts[:, 2] += [10, 11, 12, 13]
    assert chosen(plain, other) == "other"


@pytest.mark.parametrize("kinds", [kinds for kinds in KIND_SETS if len(kinds) > 1])
def test_pools_come_after_the_kinds_in_them(kinds):
    singles = {part[0]: place for place, part in enumerate(KIND_SETS) if len(part) == 1}
    assert all(singles[kind] < KIND_SETS.index(kinds) for kind in kinds if kind in singles)
