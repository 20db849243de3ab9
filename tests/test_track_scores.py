"""Tracks are judged by places found and identities kept, in the benchmark of videos."""

import runpy
from pathlib import Path

import numpy as np
import pytest

SCORES = runpy.run_path(
    str(Path(__file__).resolve().parents[1] / "benchmarks" / "track_scores.py"), run_name="track_scores"
)
TrackTable, track_scores = SCORES["TrackTable"], SCORES["track_scores"]


def table(rows):
    """Rows of frame, number, y, x; all objects are 20 pixels large."""
    frame, number, y, x = (np.array(column) for column in zip(*rows, strict=True)) if rows else ([],) * 4
    return TrackTable(np.asarray(frame), np.asarray(number), np.asarray(y), np.asarray(x), np.full(len(frame), 20.0))


TRUTH = table([(k, number, 10 * number, 5 * k) for k in range(6) for number in (1, 4)])


def test_the_truth_itself_is_perfect():
    scores = track_scores(TRUTH, TRUTH)
    assert (scores.recall, scores.switches, scores.false, scores.mota) == (1, 0, 0, 1)


def test_a_place_beyond_reach_is_missed_and_false():
    scores = track_scores(TRUTH, table([(0, 1, 10, 5.5)]))
    assert (scores.truth, scores.found, scores.false) == (12, 0, 1)
    assert track_scores(TRUTH, table([(0, 1, 10, 4.5)])).found == 1


def test_exchanged_identities_are_a_switch_for_each_object():
    found = table([(k, number if k < 3 else 5 - number, 10 * number, 5 * k) for k in range(6) for number in (1, 4)])
    scores = track_scores(TRUTH, found)
    assert (scores.switches, scores.found) == (2, 12)
    assert scores.mota == pytest.approx(1 - 2 / 12)


def test_a_track_that_goes_on_is_preferred_to_a_nearer_one():
    truth = table([(0, 1, 0, 0), (1, 1, 0, 0)])
    assert track_scores(truth, table([(0, 7, 0, 0), (1, 7, 0, 3), (1, 8, 0, 0)])).switches == 0


def test_places_near_hidden_objects_are_not_false():
    extra = table([(0, 9, 100, 100)])
    assert track_scores(TRUTH, extra).false == 1
    assert track_scores(TRUTH, extra, ignored=table([(0, 3, 104, 100)])).false == 0
