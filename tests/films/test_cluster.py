"""Segments on a cluster give the table of one process, to the byte."""

import dask
import pytest

from film_files import make_film
from imtorque.films import decoding, process_video

distributed = pytest.importorskip("distributed")


def failing(picture):
    raise ValueError(f"nothing to see in {picture.shape[1]} x {picture.shape[0]}")


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
    monkeypatch.setattr(decoding, "LEAST", 1)
    film = make_film(tmp_path)
    expected = process_video(film, tmp_path / "one", every=2, jobs=1).table.read_bytes()
    done = process_video(film, tmp_path / "many", every=2, client=client)
    assert done.table.read_bytes() == expected
    assert [path.name for path in (tmp_path / "many").iterdir()] == ["open.mp4.video.csv"]


def test_an_error_on_a_worker_ends_the_work_without_files(tmp_path, client):
    with pytest.raises(ValueError, match="nothing to see in 128 x 96"):
        process_video(make_film(tmp_path), tmp_path / "out", find=failing, client=client)
    assert list((tmp_path / "out").iterdir()) == []
