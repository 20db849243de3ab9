import numpy as np
import pytest
from numpy.testing import assert_allclose

from imtorque.evaluation import (
    BoundaryScores,
    FixationScores,
    bootstrap_difference,
    bootstrap_f_difference,
    bootstrap_ods_difference,
    summarise_boundaries,
    summarise_fixations,
)


def random_scores(seed, gain=0, images=12):
    rng = np.random.default_rng(seed)
    results = []
    for _ in range(images):
        hits = np.sort(rng.integers(100, 300, 9))[::-1] + gain
        total = np.sort(rng.integers(400, 900, 9))[::-1]
        results.append(BoundaryScores(np.arange(1, 10) / 10, hits, np.full(9, 700), hits, total))
    return results


def test_the_interval_of_a_mean_is_the_normal_one():
    rng = np.random.default_rng(1)
    a, b = rng.normal(1, 1, 400), rng.normal(0.5, 1, 400)
    difference = bootstrap_difference(a, b, samples=4000)
    error = (a - b).std() / 20
    assert_allclose(difference.value, (a - b).mean())
    assert_allclose([difference.low, difference.high], (a - b).mean() + 1.96 * error * np.array([-1, 1]), atol=0.02)


def test_pairing_removes_what_images_share():
    rng = np.random.default_rng(2)
    difficulty = rng.normal(0, 10, 50)
    difference = bootstrap_difference(difficulty + 0.1, difficulty)
    assert_allclose([difference.low, difference.high], 0.1)


def test_a_method_does_not_differ_from_itself():
    difference = bootstrap_ods_difference(random_scores(0), random_scores(0))
    assert (difference.value, difference.low, difference.high) == (0, 0, 0)


def test_the_value_is_the_difference_of_the_summaries():
    a, b = random_scores(0, gain=100), random_scores(1)
    difference = bootstrap_ods_difference(a, b, samples=300)
    assert_allclose(difference.value, summarise_boundaries(a).ods.f - summarise_boundaries(b).ods.f, atol=1e-9)
    assert 0 < difference.low < difference.value < difference.high


def test_f_of_saliency_maps_is_compared_the_same_way():
    rng = np.random.default_rng(3)
    a, b = ([FixationScores(np.arange(5) / 4, *rng.random((2, 5))) for _ in range(20)] for _ in range(2))
    difference = bootstrap_f_difference(a, b)
    assert_allclose(difference.value, summarise_fixations(a).f - summarise_fixations(b).f, atol=1e-9)
    assert difference.low <= difference.value <= difference.high


def test_the_seed_decides():
    a, b = np.random.default_rng(4).random((2, 30))
    assert bootstrap_difference(a, b, rng=7) == bootstrap_difference(a, b, rng=7)
    assert bootstrap_difference(a, b, rng=7) != bootstrap_difference(a, b, rng=8)


def test_refusals_say_what_must_hold():
    with pytest.raises(ValueError, match=r"same images, got shapes \(2,\) and \(3,\)"):
        bootstrap_difference([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="must be finite"):
        bootstrap_difference([1, np.nan], [1, 2])
    with pytest.raises(ValueError, match="confidence within 0 and 1"):
        bootstrap_difference([1, 2], [1, 2], confidence=95)
