"""Tracks are drawn on the frame they lead to."""

import numpy as np
from numpy.testing import assert_array_equal

from imtorque.render.tracks import TRACK_COLOURS, track_image

GREY = np.full((100, 160), 128, np.uint8)
NONE = np.zeros(0)


def drawn(track, tails):
    one = np.array([track]), np.array([50.0]), np.array([80.0]), np.array([31])
    return track_image(GREY, *one, tails)


def has(image, colour):
    wanted = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return np.any(np.all(image == wanted, axis=2))


def test_a_frame_without_things_stays_as_it_is():
    assert_array_equal(track_image(GREY, NONE, NONE, NONE, NONE, {}), np.repeat(GREY[:, :, None], 3, axis=2))


def test_a_box_in_the_tracks_colour_lies_around_the_thing():
    image = drawn(4, {})
    assert has(image[30:70, 60:100], TRACK_COLOURS[4])
    assert_array_equal(image[45:56, 70:90], 128)


def test_a_tail_leads_to_where_the_thing_came_from():
    assert has(drawn(4, {4: [(20.0, 10.0), (50.0, 80.0)]})[15:30, 5:30], TRACK_COLOURS[4])
    assert not has(drawn(4, {5: [(20.0, 10.0), (50.0, 80.0)]})[15:30, 5:30], TRACK_COLOURS[4])


def test_places_without_a_track_have_no_number():
    box = (slice(10, 33), slice(70, 90))
    assert np.any(drawn(7, {})[box] != drawn(0, {})[box])
    assert_array_equal(drawn(0, {})[box], 128)
