"""Tracks are judged by places found and identities kept."""

import numpy as np
import pytest

from imtorque.evaluation.tracks import TrackTable, track_scores
from imtorque.synthetic import video_scene


def table(rows):
    """Rows of frame, number, y, x; all objects are 20 pixels large."""
    frame, number, y, x = (np.array(column) for column in zip(*rows, strict=True)) if rows else ([],) * 4
    return TrackTable(np.asarray(frame), np.asarray(number), np.asarray(y), np.asarray(x), np.full(len(frame), 20.0))


TRUTH = table([(k, thing, 10 * thing, 5 * k) for k in range(6) for thing in (1, 4)])


def test_the_truth_itself_is_perfect():
    scores = track_scores(TRUTH, TRUTH)
    assert (scores.recall, scores.switches, scores.false, scores.mota) == (1, 0, 0, 1)


def test_a_place_beyond_reach_is_missed_and_false():
    scores = track_scores(TRUTH, table([(0, 1, 10, 5.5)]))
    assert (scores.truth, scores.found, scores.false) == (12, 0, 1)
    assert track_scores(TRUTH, table([(0, 1, 10, 4.5)])).found == 1


def test_exchanged_identities_are_a_switch_for_each_thing():
    found = table([(k, number if k < 3 else 5 - number, 10 * number, 5 * k) for k in range(6) for number in (1, 4)])
    scores = track_scores(TRUTH, found)
    assert (scores.switches, scores.found) == (2, 12)
    assert scores.mota == pytest.approx(1 - 2 / 12)


def test_a_track_that_goes_on_is_preferred_to_a_nearer_one():
    truth = table([(0, 1, 0, 0), (1, 1, 0, 0)])
    assert track_scores(truth, table([(0, 7, 0, 0), (1, 7, 0, 3), (1, 8, 0, 0)])).switches == 0


def test_places_near_hidden_things_are_not_false():
    extra = table([(0, 9, 100, 100)])
    assert track_scores(TRUTH, extra).false == 1
    assert track_scores(TRUTH, extra, ignored=table([(0, 3, 104, 100)])).false == 0


def test_the_truth_of_drawn_videos_is_what_is_drawn():
    scene = video_scene(3, shape=(120, 200), frames=20, count=3, posts=1)
    frames, share = list(scene.frames()), scene.visible()
    assert len(frames) == len(scene) == len(share) == 20
    assert 0 <= share.min() < 0.9 < share.max() <= 1
    frame, thing = np.argwhere(share == 1)[0]
    seen = frames[frame][round(scene.y[frame, thing]), round(scene.x[frame, thing])]
    assert seen / 255 == pytest.approx(scene.grey[thing], abs=0.06)
    np.testing.assert_array_equal(list(scene.frames())[5], frames[5])
