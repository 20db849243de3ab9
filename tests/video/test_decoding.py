"""Frames do not depend on where a video is cut, and what is no video is refused in one line."""

import os
import wave
from fractions import Fraction

import av
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from imtorque.video import decoding, open_video
from video_files import FORMS, drawn_frames, make_video, write_video


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("least", [1, 24])
def test_segments_hold_the_frames_of_one_pass(tmp_path, monkeypatch, name, least):
    monkeypatch.setattr(decoding, "SEGMENT_FRAMES", least)
    video = open_video(make_video(tmp_path, name))
    whole = list(video.frames())
    parts = [frame for segment in video.segments() for frame in video.frames(segment)]
    assert len(video.segments()) >= (5 if least == 1 else 2)
    assert [(f.number, f.time) for f in parts] == [(f.number, f.time) for f in whole]
    assert [f.number for f in whole] == list(range(60)) == list(range(video.count))
    assert_array_equal([f.pixels for f in parts], [f.pixels for f in whole])


def test_a_segment_can_be_read_without_the_others(tmp_path):
    video = open_video(make_video(tmp_path))
    last = video.segments()[-1]
    frames = list(video.frames(last, every=7))
    assert [f.number for f in frames] == [k for k in range(last.first, 60) if k % 7 == 0]


def test_times_are_seconds_after_the_first_frame(tmp_path):
    frames = list(open_video(write_video(tmp_path / "a.mp4", drawn_frames(10), rate=10)).frames(every=3))
    assert [frame.time for frame in frames] == pytest.approx([0, 0.3, 0.6, 0.9])


def test_brightness_is_that_of_the_video_and_colour_is_given_where_asked_for(tmp_path):
    video = open_video(make_video(tmp_path))
    frame = next(video.frames(colour=True))
    assert frame.pixels.shape == (96, 128)
    assert frame.colour.shape == (96, 128, 3)
    assert next(video.frames()).colour is None
    assert np.corrcoef(frame.pixels.ravel(), drawn_frames()[0].ravel())[0, 1] > 0.99


def test_ten_bits_stay_ten_bits():
    frame = av.VideoFrame(64, 48, "yuv420p10le")
    rows = np.frombuffer(frame.planes[0], np.uint16).reshape(-1, frame.planes[0].line_size // 2)
    values = rows[:48, :64].copy()
    pixels = decoding.brightness(frame)
    assert pixels.dtype == np.uint16
    assert_array_equal(pixels, values)


def test_a_video_taken_upright_is_turned():
    class Turned:
        rotation = -90
        format = av.VideoFormat("gray")
        planes = (type("Plane", (bytes,), {"line_size": 3})([1, 2, 3, 4, 5, 6]),)
        height, width = 2, 3

    assert_array_equal(decoding.as_frame(0, 0.0, Turned(), False).pixels, [[4, 1], [5, 2], [6, 3]])


def test_an_animation_is_a_video_that_is_read_from_its_beginning(tmp_path):
    from PIL import Image

    images = [Image.fromarray(frame) for frame in drawn_frames(6)]
    images[0].save(tmp_path / "a.gif", save_all=True, append_images=images[1:], duration=40)
    video = open_video(tmp_path / "a.gif")
    assert video.segments() == (None,)
    assert [frame.number for frame in video.frames(every=2)] == [0, 2, 4]


def refused(path, match):
    with pytest.raises((ValueError, OSError), match=match) as caught:
        list(open_video(path).frames())
    assert "\n" not in str(caught.value)
    assert os.path.basename(path) in str(caught.value)


@pytest.mark.parametrize(("name", "share"), [("open.mkv", 0.3), ("open.mkv", 0.95), ("mpeg4.avi", 0.7)])
def test_of_a_video_that_is_cut_off_there_is_what_came_before(tmp_path, name, share):
    path = make_video(tmp_path, name)
    pixels = {round(frame.time, 6): frame.pixels for frame in open_video(path).frames()}
    assert not open_video(path).warning
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    video = open_video(path)
    assert video.warning == f"the video is cut off: it has {video.count} whole frames"
    parts = [frame for segment in video.segments() for frame in video.frames(segment)]
    assert [frame.number for frame in parts] == list(range(video.count))
    assert 8 < video.count < 60
    for frame in [*parts, *video.frames()]:
        assert_array_equal(frame.pixels, pixels[round(frame.time, 6)])


def test_a_video_that_is_cut_off_before_its_index_is_refused(tmp_path):
    path = make_video(tmp_path, "open.mp4")
    content = path.read_bytes()
    path.write_bytes(content[: int(0.7 * len(content))])
    refused(path, "must be a video that can be read")


def test_frames_of_an_avi_that_repeat_the_one_before_are_passed_over(tmp_path):
    """They are stored as chunks without content, and the file counts them as frames."""
    path = tmp_path / "a.avi"
    shown = [k for k in range(60) if k % 5 == 0 or k > 50]
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=25)
        stream.height, stream.width, stream.pix_fmt = 96, 128, "yuv420p"
        for k in shown:
            frame = av.VideoFrame.from_ndarray(drawn_frames()[k], format="gray").reformat(format="yuv420p")
            frame.pts, frame.time_base = k, Fraction(1, 25)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    with av.open(str(path)) as container:
        assert container.streams.video[0].frames == 60
    video = open_video(path)
    assert (video.count, video.warning) == (len(shown), "")
    assert [round(25 * frame.time) for frame in video.frames()] == shown


def test_a_video_without_an_image_is_refused(tmp_path):
    with wave.open(str(tmp_path / "a.wav"), "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(bytes(8000))
    refused(tmp_path / "a.wav", "must have a video stream, got none")


def test_a_video_without_frames_is_refused(tmp_path):
    with av.open(str(tmp_path / "a.mkv"), "w") as container:
        stream = container.add_stream("mpeg4", rate=25)
        stream.height, stream.width, stream.pix_fmt = 48, 64, "yuv420p"
        container.start_encoding()
    refused(tmp_path / "a.mkv", "must (have frames|be a video)")


def test_what_is_no_video_is_refused(tmp_path):
    (tmp_path / "a.mp4").write_text("no video")
    refused(tmp_path / "a.mp4", "must be a video that can be read")
    refused(tmp_path / "b.mp4", "no such file")
    os.mkfifo(tmp_path / "c.mp4")
    with pytest.raises(OSError, match="a pipe where a file must be"):
        open_video(tmp_path / "c.mp4")


def test_without_pyav_it_is_said_how_to_get_it(tmp_path, monkeypatch):
    path = make_video(tmp_path, count=2)
    monkeypatch.setitem(__import__("sys").modules, "av", None)
    with pytest.raises(ImportError, match=r"pip install 'imtorque\[video\]'"):
        open_video(path)


@pytest.mark.parametrize("share", [0.4, 0.66, 0.9])
def test_of_a_recording_without_a_length_there_is_what_came_before_the_cut(tmp_path, share):
    """Matroska as it is streamed: the length, and those of its clusters, are not known when they are written."""
    path = tmp_path / "a.mkv"
    with open(path, "wb") as file, av.open(_Stream(file), "w", format="matroska") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 128, 96, "yuv420p"
        for pixels in drawn_frames(60):
            frame = av.VideoFrame.from_ndarray(pixels, format="gray").reformat(format="yuv420p")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    assert open_video(path).count == 60
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    video = open_video(path)
    assert video.warning
    assert [frame.number for frame in video.frames()] == list(range(video.count))
    assert 5 < video.count < 60


class _Stream:
    """A file that cannot be gone back in."""

    def __init__(self, file):
        self.file = file

    def write(self, data):
        return self.file.write(data)
