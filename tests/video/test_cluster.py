"""Segments on a cluster give the table of one process, to the byte."""

from dataclasses import dataclass
from pathlib import Path

import dask
import pytest
from typer.testing import CliRunner

from imtorque.cli import app
from imtorque.video import FrameExtrema, decoding, process_video
from video_files import make_video

distributed = pytest.importorskip("distributed")


def failing(image):
    raise ValueError(f"nothing to see in {image.shape[1]} x {image.shape[0]}")


@dataclass(frozen=True)
class Noting:
    """Extrema, and a note for each frame that was looked at."""

    folder: str

    def __call__(self, image):
        with open(Path(self.folder) / "notes", "a") as notes:
            notes.write(".")
        return FrameExtrema()(image)


def run(*arguments):
    result = CliRunner().invoke(app, ["track", *(str(argument) for argument in arguments)])
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def client():
    """A client of two workers within this process: what processes of their own do is the engine's to test."""
    with (
        dask.config.set({"distributed.admin.log-format": "%(message)s"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_a_cluster_writes_what_one_process_does(tmp_path, monkeypatch, client):
    monkeypatch.setattr(decoding, "SEGMENT_FRAMES", 1)
    video = make_video(tmp_path)
    expected = process_video(video, tmp_path / "one", every=2, jobs=1).table.read_bytes()
    done = process_video(video, tmp_path / "many", every=2, client=client)
    assert done.table.read_bytes() == expected
    assert [path.name for path in (tmp_path / "many").iterdir()] == ["open.mp4.video.csv"]


def test_an_error_on_a_worker_ends_the_work_without_files(tmp_path, client):
    with pytest.raises(ValueError, match="nothing to see in 128 x 96"):
        process_video(make_video(tmp_path), tmp_path / "out", find=failing, client=client)
    assert list((tmp_path / "out").iterdir()) == []


def test_the_verb_works_on_a_cluster(tmp_path, monkeypatch, client):
    monkeypatch.setattr(decoding, "SEGMENT_FRAMES", 1)
    make_video(tmp_path)
    monkeypatch.chdir(tmp_path)
    run("open.mp4", "--out", "one", "--jobs", 1)
    done = run("open.mp4", "--out", "many", "--scheduler", client.scheduler.address)
    assert "120 places in 60 frames, 2 tracks" in done.stdout
    table = "open.mp4.track.csv"
    assert (tmp_path / "many" / table).read_bytes() == (tmp_path / "one" / table).read_bytes()
    assert sorted(path.name for path in (tmp_path / "many").iterdir()) == [table, "open.mp4.track.json"]


def test_segments_that_are_done_are_not_done_again(tmp_path, monkeypatch, client):
    monkeypatch.setattr(decoding, "SEGMENT_FRAMES", 1)
    video, out = make_video(tmp_path), tmp_path / "out"

    def stop(done, _total):
        if done == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        process_video(video, out, find=Noting(str(tmp_path)), client=client, progress=stop)
    kept = len(list((out / "open.mp4.video.segments").glob("*.json")))
    assert kept >= 2
    before = len((tmp_path / "notes").read_text())
    process_video(video, out, find=Noting(str(tmp_path)), client=client)
    assert len((tmp_path / "notes").read_text()) - before <= 60 - 12 * kept
    assert [path.name for path in out.iterdir()] == ["open.mp4.video.csv"]
