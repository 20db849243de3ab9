"""Tables are the same to the byte however a video is cut, and complete or, after an error, not there."""

import csv
from functools import partial

import numpy as np
import pytest
from PIL import Image

from imtorque import Extrema
from imtorque.files import write_image
from imtorque.video import FrameBlobs, Linking, decoding, open_video, process_video, processing
from video_files import FORMS, drawn_frames, make_video, write_video


def brightest(image):
    """A finder of one's own: the brightest pixel."""
    y, x = np.unravel_index(np.argmax(image), image.shape)
    return Extrema(np.array([y]), np.array([x]), np.array([9]), np.ones(1))


def damaged(image):
    if image[32, 20 + 40] > 200:
        raise ValueError("a frame that cannot be looked at")
    return brightest(image)


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def in_turn(function, segments, _count):
    """Do segments as processes would, each by itself, from its own copy of the video."""
    return (function(segment) for segment in segments)


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMS)
def test_tables_of_segments_and_of_one_pass_are_the_same_bytes(tmp_path, monkeypatch, name):
    monkeypatch.setattr(processing, "each", in_turn)
    video = make_video(tmp_path, name)
    expected = process_video(video, tmp_path / "one", jobs=1).table.read_bytes()
    for least in (1, 24):
        monkeypatch.setattr(decoding, "SEGMENT_FRAMES", least)
        assert process_video(video, tmp_path / f"cut{least}", jobs=8).table.read_bytes() == expected
    assert expected.count(b"\n") == 1 + 2 * 60


@pytest.mark.slow
def test_two_processes_write_what_one_does(tmp_path):
    video = make_video(tmp_path)
    one, two = (process_video(video, tmp_path / str(jobs), overlay=True, every=2, jobs=jobs) for jobs in (1, 2))
    assert one.table.read_bytes() == two.table.read_bytes()
    assert len(list(open_video(one.overlay).frames())) == len(list(open_video(two.overlay).frames())) == 30
    assert (one.frames, one.places, one.tracks) == (two.frames, two.places, two.tracks) == (30, 60, 2)


def test_the_table_says_where_each_thing_was(tmp_path):
    rows = rows_of(process_video(make_video(tmp_path), tmp_path, every=5).table)
    assert list(rows[0]) == ["frame", "time", "track", "y", "x", "size", "torque"]
    bright = [row for row in rows if float(row["torque"]) > 0]
    assert {row["track"] for row in bright} == {bright[0]["track"]}
    assert [int(row["frame"]) for row in bright] == list(range(0, 60, 5))
    assert [float(row["time"]) for row in bright] == pytest.approx(np.arange(0, 60, 5) / 25, abs=1e-6)
    np.testing.assert_allclose([float(r["x"]) for r in bright], 20 + 1.4 * np.arange(0, 60, 5), atol=1.5)
    np.testing.assert_allclose([float(r["y"]) for r in bright], 32, atol=1.5)


def test_places_need_not_be_linked(tmp_path):
    done = process_video(make_video(tmp_path, count=5), tmp_path, linking=None)
    assert done.tracks == 0
    assert {row["track"] for row in rows_of(done.table)} == {"0"}


def test_the_overlay_has_the_frames_looked_at(tmp_path):
    odd = [frame[:95, :127] for frame in drawn_frames(9)]
    done = process_video(folder_of(tmp_path, odd), tmp_path / "out", every=2, overlay=True)
    frames = [frame.colour for frame in open_video(done.overlay).frames(colour=True)]
    assert len(frames) == 5
    assert frames[0].shape == (96, 128, 3)
    coloured = np.abs(frames[-1].astype(int) - frames[-1].mean(axis=2, keepdims=True)).max()
    assert coloured > 30


def folder_of(tmp_path, frames):
    folder = tmp_path / "frames"
    folder.mkdir()
    for k, frame in enumerate(frames):
        write_image(folder / f"{k:03}.png", frame)
    return folder


def test_folders_and_stacks_are_videos(tmp_path, monkeypatch):
    monkeypatch.setattr(processing, "each", in_turn)
    frames = drawn_frames()[:20]
    folder = folder_of(tmp_path, frames)
    pages = [Image.fromarray(frame) for frame in frames]
    pages[0].save(tmp_path / "stack.tif", save_all=True, append_images=pages[1:])
    tables = [process_video(source, tmp_path / "out", jobs=2).table for source in (folder, tmp_path / "stack.tif")]
    assert tables[0].name == "frames.video.csv"
    assert tables[0].read_bytes() == tables[1].read_bytes()
    assert rows_of(tables[0])[-1]["frame"] == "19"


def test_a_folder_with_images_of_two_sizes_is_refused(tmp_path):
    folder = folder_of(tmp_path, [np.zeros((20, 30), np.uint8), np.zeros((20, 31), np.uint8)])
    with pytest.raises(ValueError, match=r"001.png: frames must be of one size, 30 x 20 as 000.png, got 31 x 20"):
        process_video(folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_one_image_is_no_video(tmp_path):
    write_image(tmp_path / "a.png", np.zeros((20, 30), np.uint8))
    with pytest.raises(ValueError, match=r"a.png: must be a video, a folder or a stack of several pages"):
        open_video(tmp_path / "a.png")


@pytest.mark.parametrize("source", [0, "97", "/dev/null"])
def test_cameras_are_refused_with_what_to_use(source):
    with pytest.raises(ValueError, match=r"cameras were removed in version 0\.3: give frames"):
        open_video(source)


def interrupting(after, done, _total):
    if done == after:
        raise KeyboardInterrupt


def test_ctrl_c_leaves_the_frames_that_were_done_and_says_so(tmp_path):
    with pytest.raises(KeyboardInterrupt) as caught:
        process_video(make_video(tmp_path), tmp_path / "out", overlay=True, progress=partial(interrupting, 7))
    assert caught.value.__notes__[0].endswith("open.mp4.video.csv holds the first 7 frames looked at")
    assert len(rows_of(tmp_path / "out" / "open.mp4.video.csv")) == 14
    assert len(list(open_video(tmp_path / "out" / "open.mp4.video.mp4").frames())) == 7
    assert len(list((tmp_path / "out").iterdir())) == 2


def stopped(_image):
    raise KeyboardInterrupt


def test_ctrl_c_before_the_first_frame_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        process_video(make_video(tmp_path, count=3), tmp_path / "out", find=stopped, overlay=True)
    assert list((tmp_path / "out").iterdir()) == []


def test_after_an_error_there_is_no_file(tmp_path):
    with pytest.raises(ValueError, match="cannot be looked at"):
        process_video(make_video(tmp_path), tmp_path / "out", find=damaged, overlay=True)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_finder_of_ones_own_and_blobs_are_taken(tmp_path):
    video = make_video(tmp_path, count=4)
    assert process_video(video, tmp_path / "own", find=brightest, linking=Linking(memory=2)).places == 4
    blobs = rows_of(process_video(video, tmp_path / "blobs", find=FrameBlobs(sizes=(12, 30))).table)
    assert float(blobs[0]["size"]) == pytest.approx(22, abs=2)


def test_progress_is_told(tmp_path):
    told = []
    process_video(make_video(tmp_path, count=9), tmp_path, every=2, progress=lambda *numbers: told.append(numbers))
    assert told == [(k, 5) for k in range(1, 6)]


def test_what_cannot_be_meant_is_refused(tmp_path):
    video = write_video(tmp_path / "a.mp4", drawn_frames(3))
    for options, message in (
        ({"every": 0}, "every must be at least 1, got 0"),
        ({"limit": 0}, "limit must be at least 1, got 0"),
        ({"find": "dogs"}, 'find must be "extrema", "blobs" or a function'),
        ({"table": "xls"}, 'table must be "csv" or "parquet"'),
    ):
        with pytest.raises(ValueError, match=message):
            process_video(video, tmp_path / "out", **options)


def test_parquet_holds_what_csv_does(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    video = make_video(tmp_path, count=10)
    table = parquet.read_table(process_video(video, tmp_path, table="parquet").table).to_pydict()
    rows = rows_of(process_video(video, tmp_path).table)
    assert list(table) == list(rows[0])
    for name, column in table.items():
        np.testing.assert_allclose(column, [float(row[name]) for row in rows], rtol=1e-5, atol=1e-6)


def test_parquet_without_pyarrow_is_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match="parquet tables need pyarrow"):
        process_video(make_video(tmp_path, count=3), tmp_path / "out", table="parquet")
