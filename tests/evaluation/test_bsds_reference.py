"""The official benchmark's own inputs and outputs, five images: our numbers must be theirs.

The official matcher adds random links, so its numbers vary in the fourth digit from run to run.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from data_folder import data_folder
from imtorque import datasets
from imtorque.evaluation import summarise_boundaries, summarise_regions
from imtorque.evaluation.folders import BoundaryOptions, pair_files, score_boundaries, score_regions

INPUTS = {1: "ucm2", 2: "png", 3: "segs", 4: "segs", 5: "segs"}


@pytest.fixture(scope="module")
def reference():
    return data_folder("bsds_bench_reference")


def expected(reference, run, name):
    return np.loadtxt(reference / "expected" / f"test_{run}" / f"{name}.txt")


def scores(reference, run, score, *options):
    pairs = pair_files(reference / INPUTS[run], datasets.find_truths(reference / "groundTruth"))
    return [score(path, truth, *options) for _, path, truth in pairs]


def point(p):
    return [p.recall, p.precision, p.f]


@pytest.mark.parametrize("run", [1, 2, 3, 4])
def test_boundary_numbers_are_the_official_ones(reference, run):
    summary = summarise_boundaries(scores(reference, run, score_boundaries, BoundaryOptions(thresholds=5)))
    threshold, *official = expected(reference, run, "eval_bdry")
    assert_allclose(summary.ods.threshold, threshold, atol=1e-6)
    assert_allclose([*point(summary.ods), *point(summary.ois), summary.ap], official, atol=0.001)
    curve = np.column_stack([summary.thresholds, summary.recall, summary.precision, summary.f])
    assert_allclose(curve, expected(reference, run, "eval_bdry_thr"), atol=0.001)
    images = [[i, p.threshold, *point(p)] for i, p in enumerate(summary.images, start=1)]
    assert_allclose(images, expected(reference, run, "eval_bdry_img"), atol=0.002)


@pytest.mark.parametrize("run", [1, 4, 5])
def test_region_numbers_are_the_official_ones(reference, run):
    results = scores(reference, run, score_regions, 5)
    s = summarise_regions(results)
    covering = [s.covering_threshold, s.covering_ods, s.covering_ois, s.covering_best]
    assert_allclose(covering, expected(reference, run, "eval_cover"), atol=1e-5)
    rand_and_variation = [s.pri_threshold, s.pri_ods, s.pri_ois, s.voi_threshold, s.voi_ods, s.voi_ois]
    assert_allclose(rand_and_variation, expected(reference, run, "eval_RI_VOI"), atol=1e-5)
    images = [[r.thresholds[r.covered.argmax()], r.covered.max() / r.area] for r in results]
    assert_allclose(images, expected(reference, run, "eval_cover_img")[:, 1:3], atol=1e-5)


def test_cardinality_finds_the_same_recall_and_nearly_the_same_precision(reference):
    exact, fast = (
        summarise_boundaries(scores(reference, 2, score_boundaries, BoundaryOptions(thresholds=5, matching=matching)))
        for matching in ("min_cost", "cardinality")
    )
    assert_allclose(fast.recall, exact.recall, atol=1e-9)
    assert_allclose(fast.precision, exact.precision, atol=0.006)
