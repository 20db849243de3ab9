"""Drawn videos show what their truth says."""

import numpy as np
import pytest

from imtorque.synthetic import video_scene


def test_the_truth_of_drawn_videos_is_what_is_drawn():
    scene = video_scene(3, shape=(120, 200), frames=20, count=3, posts=1)
    frames, share = list(scene.frames()), scene.visible()
    assert len(frames) == len(scene) == len(share) == 20
    assert 0 <= share.min() < 0.9 < share.max() <= 1
    frame, number = np.argwhere(share == 1)[0]
    seen = frames[frame][round(scene.y[frame, number]), round(scene.x[frame, number])]
    assert seen / 255 == pytest.approx(scene.grey[number], abs=0.06)
    np.testing.assert_array_equal(list(scene.frames())[5], frames[5])
