"""Places of a video as columns: read as written, in the forms of other packages."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from imtorque import synthetic
from imtorque.video import Trajectories, open_video, process_video, track_extrema
from imtorque.video.moving import background_of
from video_files import drawn_frames, make_video, write_video


@pytest.fixture(scope="module")
def found():
    return Trajectories.of(track_extrema(drawn_frames(12)))


@pytest.mark.parametrize("table", ["csv", "parquet"])
def test_tables_are_read_as_they_were_written(tmp_path, table):
    path = process_video(make_video(tmp_path), tmp_path, table=table, limit=12).table
    places = Trajectories.read(path)
    assert len(places) == 24
    if table == "csv":
        assert places.to_csv() == path.read_text()
        places.to_csv(tmp_path / "again.csv")
        assert (tmp_path / "again.csv").read_bytes() == path.read_bytes()
    assert places.frame.dtype == places.track.dtype == np.int64


def test_no_places_are_a_table_too(tmp_path):
    empty = Trajectories.of([])
    empty.to_csv(tmp_path / "a.csv")
    assert len(Trajectories.read(tmp_path / "a.csv")) == len(empty) == len(empty.to_napari()[0]) == 0


def test_another_table_is_refused_by_name(tmp_path):
    (tmp_path / "a.csv").write_text("y,x\n1,2\n")
    with pytest.raises(ValueError, match=r"a.csv: must have the columns frame,time,track,.* got y,x"):
        Trajectories.read(tmp_path / "a.csv")


def test_napari_has_tracks_one_after_the_other(found):
    rows, _, kind = found.to_napari()
    assert kind == "tracks"
    assert_array_equal(rows[:, 0], np.repeat([1, 2], 12))
    assert_array_equal(rows[:, 1], np.tile(np.arange(12), 2))
    assert_array_equal(rows[:12, 3], found.x[found.track == 1])


def test_trackpy_has_particles(found):
    pytest.importorskip("pandas")
    table = found.to_trackpy()
    assert {"frame", "particle", "y", "x", "size"} <= set(table.columns)
    assert table.groupby("particle").size().tolist() == [12, 12]


def with_post(frames):
    """The frames with a bright disc that stands still."""
    disc = synthetic.disc(frames[0].shape, (16, 64), 9)
    return [np.uint8(synthetic.paint(frame.astype(float), disc, 250.0)) for frame in frames]


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_stands_still_can_be_left_out(tmp_path, jobs):
    video = write_video(tmp_path / "a.mp4", with_post(drawn_frames()), options={"g": "12"})
    all_places = Trajectories.read(process_video(video, tmp_path / "all", jobs=jobs).table)
    places = Trajectories.read(process_video(video, tmp_path / "moving", moving=True, jobs=jobs).table)
    still = (abs(all_places.y - 16) < 5) & (abs(all_places.x - 64) < 5)
    assert np.count_nonzero(still) == 60
    assert not np.any((abs(places.y - 16) < 5) & (abs(places.x - 64) < 5))
    assert len(places) >= 0.95 * np.count_nonzero(~still)


def test_the_background_is_the_median_of_frames(tmp_path):
    video = open_video(write_video(tmp_path / "a.mp4", with_post(drawn_frames())))
    background = background_of(video)
    expected = np.median(with_post(drawn_frames())[::2], axis=0) / 255
    assert np.abs(background - expected).mean() < 0.02
