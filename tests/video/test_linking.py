"""Links are the best there are, and identities last through what hides objects for a while."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.testing import assert_allclose, assert_array_equal

from imtorque import Extrema
from imtorque.synthetic import spot_scene
from imtorque.video import Linker, Linking, track_extrema
from imtorque.video.linking import best_links, near_pairs


def naive_most_worth(worth):
    """What the best set of links is worth, by trying all of them."""
    rows, columns = worth.shape
    if rows > columns:
        return naive_most_worth(worth.T)
    return max(sum(worth[i, j] for i, j in enumerate(chosen)) for chosen in permutations(range(columns), rows))


@given(
    arrays.arrays(
        np.float64,
        st.tuples(st.integers(0, 5), st.integers(0, 5)),
        elements=st.sampled_from([0.0, 0.0, 0.0, 0.1, 0.25, 0.5, 0.75, 1.0]),
    ),
)
def test_links_are_worth_as_much_as_any(worth):
    rows, columns = best_links(*np.nonzero(worth), worth[np.nonzero(worth)])
    assert len(set(rows)) == len(rows)
    assert len(set(columns)) == len(columns)
    assert np.all(worth[rows, columns] > 0)
    assert worth[rows, columns].sum() == pytest.approx(naive_most_worth(worth) if worth.size else 0)


coordinates = arrays.arrays(np.float64, st.tuples(st.integers(0, 6), st.just(2)), elements=st.integers(-4, 4))


@given(coordinates, coordinates, st.data())
def test_near_pairs_are_all_there_are(these, others, data):
    reach = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(these), max_size=len(these))), float)
    expected = {
        (i, j) for i, here in enumerate(these) for j, there in enumerate(others) if max(abs(here - there)) <= reach[i]
    }
    pairs = list(zip(*(side.tolist() for side in near_pairs(these, reach, others)), strict=True))
    assert set(pairs) == expected
    assert len(pairs) == len(expected)


def detections(*places):
    """Extrema at (y, x, size, torque)."""
    y, x, size, value = (np.array(column) for column in zip(*places, strict=True)) if places else ([], [], [], [])
    return Extrema(np.asarray(y), np.asarray(x), np.asarray(size), np.asarray(value, float))


def tracks(frames, **given):
    return [frame.track.tolist() for frame in track_extrema(frames, linking=Linking(**given))]


def moving(k, hidden=()):
    return detections() if k in hidden else detections((50, 20 + 6 * k, 21, 0.8))


def test_a_thing_that_moves_keeps_its_number():
    assert tracks(moving(k) for k in range(20)) == [[1]] * 20


def test_a_thing_keeps_its_number_while_it_is_hidden_as_long_as_memory_lasts():
    hidden = range(10, 14)
    seen = [[] if k in hidden else [1] for k in range(20)]
    assert tracks((moving(k, hidden) for k in range(20)), memory=4) == seen
    assert tracks((moving(k, hidden) for k in range(20)), memory=3)[-1] == [2]


def test_things_that_cross_keep_their_numbers():
    frames = [
        detections((50 + 4 * (k - 10), 30 + 6 * k, 21, 0.9), (50 - 4 * (k - 10), 30 + 6 * k, 21, 0.8))
        for k in range(21)
    ]
    followed = list(track_extrema(frames))
    assert {frame.y[frame.track == 1][0] for frame in followed[:3]} == {10, 14, 18}
    assert {frame.y[frame.track == 1][0] for frame in followed[-3:]} == {82, 86, 90}
    assert followed[-1].track.max() == 2


def seen_as_one(k):
    """Two objects, one going right, one going left, that make one place while they overlap."""
    left, right = 40 + 5 * k, 200 - 5 * k
    if abs(right - left) < 40:
        return detections((50, (left + right) // 2, 47, 0.9))
    return detections((48, left, 41, 0.9), (53, right, 37, 0.8))


def test_two_things_that_are_seen_as_one_keep_their_numbers_and_both_have_places():
    followed = list(track_extrema(seen_as_one(k) for k in range(32)))
    assert [frame.track.tolist() for frame in followed] == [[1, 2]] * 32
    for k, frame in enumerate(followed):
        assert_allclose(frame.x, [40 + 5 * k, 200 - 5 * k], atol=20)
    assert followed[-1].x.tolist() == [40 + 5 * 31, 200 - 5 * 31]


def behind_a_post(k):
    """An object that goes left behind a post: its right part, its left part, and what the post leaves at its right."""
    x = 200 - 6 * k
    right, left = min(x + 25, 200) - 106, 94 - max(x - 25, 0)  # of the post, from 94 to 106: how much is seen there
    if right >= 50 or left >= 50:
        return detections((50, x, 51, 1.0))
    parts = [(50, 106 + right // 2, right, 1.0)] if right > 20 else [(50, 124, 49, 0.6)] if right > -12 else []
    return detections(*parts, *([(50, 94 - left // 2, left, 1.0)] if left > 16 else []))


def test_what_comes_out_from_behind_a_post_is_the_thing_that_went_behind_it():
    followed = list(track_extrema(behind_a_post(k) for k in range(32)))
    assert followed[0].track.tolist() == followed[-1].track.tolist() == [1]
    whole = [frame.track.tolist() for frame in followed[24:]]  # from where it is whole again
    assert whole == [[1]] * len(whole)


def test_a_track_that_began_too_large_follows_its_thing():
    frames = [
        detections((50, 20, 61, 0.8), (150, 9, 9, 0.5)),
        *(detections((50, 20 + 9 * k, 41, 0.8)) for k in range(1, 12)),
    ]
    assert tracks(frames)[1:] == [[1]] * 11


def test_a_track_that_began_around_a_part_follows_the_whole_thing():
    frames = (
        [detections((50, 60, 21, 0.9))] * 9 + [detections((50, 60, 51, 0.9))] * 4 + [detections((50, 60, 61, 0.9))] * 4
    )
    assert tracks(frames) == [[1]] * 17


def test_a_thing_that_goes_in_a_circle_and_one_that_turns_back_keep_their_numbers():
    turn = 2 * np.pi / 60
    frames = [
        detections(
            (round(100 + 60 * np.sin(turn * k)), round(100 + 60 * np.cos(turn * k)), 31, 0.9),
            (300, 50 + 7 * min(k, 60 - k), 31, 0.9),
        )
        for k in range(60)
    ]
    assert tracks(frames) == [[1, 2]] * 60


@pytest.mark.parametrize(("count", "frames", "most"), [(60, 150, 110), (300, 50, 600)])
def test_things_that_wander_are_linked_as_well_as_by_squared_distances(count, frames, most):
    """trackpy 0.7 with its best range, 18 to 20 pixels, has 81 switches here, and 596; this linker 83 and 592."""
    scene = spot_scene(0, shape=(480, 640), frames=frames, count=count, size=(9.0, 9.0), step=4.0)
    torque = np.linspace(0.5, 0.6, count)[::-1]  # places come by strength
    found = [Extrema(y, x, np.full(count, 9.0), torque) for y, x in zip(scene.y, scene.x, strict=True)]
    linker = Linker()
    numbers = np.array([linker.link(places) for places in found])
    assert np.count_nonzero(numbers[1:] != numbers[:-1]) <= most


def test_a_crowd_that_moves_steadily_is_linked_by_velocity():
    rng = np.random.default_rng(0)
    speed, start, torque = rng.normal(0, 3, (100, 2)), rng.uniform(0, 640, (100, 2)), np.linspace(0.6, 0.5, 100)
    linker = Linker()
    places = (start + k * speed for k in range(40))
    numbers = np.array([linker.link(Extrema(*at.T, np.full(100, 9.0), torque)) for at in places])
    assert np.count_nonzero(numbers[3:] != numbers[2:-1]) <= 12


def test_bright_and_dark_things_never_meet():
    assert tracks([detections((50, 50, 21, 0.8)), detections((50, 50, 21, -0.8))]) == [[1], [2]]


def test_a_thing_of_another_size_is_another_thing():
    assert tracks([detections((50, 50, 11, 0.8)), detections((50, 50, 61, 0.8))]) == [[1], [2]]


def test_what_is_seen_all_the_time_is_not_taken_over_by_what_was_hidden():
    first = detections((50, 50, 21, 0.9), (50, 61, 21, 0.8))
    later = detections((50, 50, 21, 0.9))
    assert tracks([first] * 8 + [later] * 6)[-1] == [1]


def test_the_same_frames_give_the_same_numbers():
    rng = np.random.default_rng(3)
    frames = [
        Extrema(rng.integers(0, 99, 30), rng.integers(0, 99, 30), rng.integers(5, 30, 30), rng.normal(size=30))
        for _ in range(12)
    ]
    assert tracks(frames) == tracks(frames)


def test_frames_without_places_and_no_frames_are_fine():
    assert tracks([detections(), detections((5, 5, 9, 1.0)), detections()]) == [[], [1], []]
    assert tracks([]) == []


def test_frames_are_asked_for_one_at_a_time():
    asked = []

    def camera():
        for k in range(100):
            asked.append(k)
            yield moving(k)

    followed = track_extrema(camera())
    assert next(followed).number == 0
    assert next(followed).time == pytest.approx(1 / 25)
    assert asked == [0, 1]


def test_a_linker_can_be_used_by_itself():
    linker = Linker()
    assert_array_equal(linker.link(detections((5, 5, 9, 1.0), (40, 40, 9, 0.9))), [1, 2])
    assert_array_equal(linker.link(detections((40, 41, 9, 1.0), (5, 6, 9, 0.9))), [2, 1])


def test_bad_linking_is_refused():
    with pytest.raises(ValueError, match="memory must not be negative, got -1"):
        Linking(memory=-1)
    with pytest.raises(ValueError, match="search_range must be above 0, got 0"):
        Linking(search_range=0)
