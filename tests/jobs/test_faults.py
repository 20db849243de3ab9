"""What goes wrong on clusters and here: nothing is lost, nothing doubled, nothing hangs, and the culprit is named."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from functools import partial
from pathlib import Path
from threading import Lock

import numpy as np
import pytest

import scale_work
from imtorque.jobs import Failure, cluster, run_tasks
from imtorque.jobs.records import Records
from imtorque.jobs.worker import Attempt
from imtorque.tiling import process_image
from imtorque.video import decoding, process_video
from waiting import until

NUMBERS = [(f"task {k}", k) for k in range(12)]
SQUARES = [k * k for k in range(12)]


@pytest.fixture(params=["here", pytest.param("cluster", marks=pytest.mark.cluster)])
def place(request):
    """Both places where tasks are done."""
    return {"jobs": 2} if request.param == "here" else {"client": request.getfixturevalue("client")}


class Run:
    """A run of tasks in a folder, and what came back."""

    def __init__(self, folder, **options):
        self.folder, self.options, self.values = folder, options, []

    def __call__(self, work, items=NUMBERS, *arguments, **options):
        task = partial(work, str(self.folder), *arguments)
        done = lambda item, value: self.values.append((item, value))  # noqa: E731
        options = {"heartbeat_timeout": 10, **self.options, **options}
        return run_tasks(task, items, records=self.folder / "records", on_done=done, **options)

    def begun(self):
        """How often each item was begun."""
        return Counter(item for item, _ in scale_work.noted(self.folder))


def test_every_task_is_done_once_and_never_again(tmp_path, place):
    run = Run(tmp_path, **place)
    assert run(scale_work.note) == []
    assert run(scale_work.note) == []
    assert sorted(run.values) == sorted(2 * [(k, k * k) for k in range(12)])
    assert set(run.begun().values()) == {1}


def test_a_bad_task_is_named_and_the_rest_is_done(tmp_path, place):
    run = Run(tmp_path, **place)
    failures = run(scale_work.act, [*NUMBERS, ("bad", "fail"), ("set", "odd"), ("t", "threads"), ("poison", "die")])
    assert sorted(failure.key for failure in failures) == ["bad", "poison", "set"]
    messages = {failure.key: failure.message for failure in failures}
    assert messages["bad"] == "must be good, got fail"
    assert messages["set"].startswith("what a task returns must be what JSON can hold, got {1, 2}")
    assert messages["poison"] == "the process that worked on it ended by itself (SIGKILL)"
    assert dict(run.values) == {k: k * k for k in range(12)} | {"threads": 1}


def test_what_killed_a_worker_once_is_kept_from_the_workers_next_time(tmp_path, client):
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "poison.begun").touch()  # left by a worker that is no more
    before = client.run(os.getpid)
    failures = Run(tmp_path, client=client)(scale_work.act, [*NUMBERS, ("poison", "die")])
    assert [failure.key for failure in failures] == ["poison"]
    assert before.items() <= client.run(os.getpid).items()


def in_thread(call):
    """Start a call in a thread; return how to get its result."""
    found = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()

    def result():
        thread.join()
        return found[0]

    return result


@pytest.mark.slow
def test_a_killed_worker_costs_only_the_task_it_was_at(tmp_path, place):
    run = Run(tmp_path, **place)
    result = in_thread(lambda: run(scale_work.wait_for))
    until(lambda: len(scale_work.noted(tmp_path)) == 2)
    os.kill(scale_work.noted(tmp_path)[0][1], signal.SIGKILL)
    (tmp_path / "go").touch()
    assert result() == []
    assert sorted(value for _, value in run.values) == sorted(SQUARES)
    assert sum(run.begun().values()) == len(NUMBERS) + 1


DRIVER = """
import sys
from functools import partial
from pathlib import Path
import scale_work
from imtorque.jobs import run_tasks

if __name__ == "__main__":
    folder, scheduler = sys.argv[1:]
    options = {"jobs": 2}
    if scheduler:
        from distributed import Client
        options = {"client": Client(scheduler)}
    run_tasks(partial(scale_work.wait_for, folder), [(f"task {k}", k) for k in range(12)], records=folder + "/records",
              **options)
"""


@pytest.mark.slow
def test_a_killed_driver_is_started_again_and_goes_on(tmp_path, place):
    scheduler = place["client"].scheduler.address if "client" in place else ""
    run = Run(tmp_path, **(place if scheduler else {"jobs": 1}))
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    for k in range(3):  # done before
        run(scale_work.note, NUMBERS[k : k + 1])
    environment = {**os.environ, "PYTHONPATH": str(Path(scale_work.__file__).parent)}
    driver = subprocess.Popen([sys.executable, script, tmp_path, scheduler], env=environment)
    until(lambda: len(scale_work.noted(tmp_path)) == 5)
    driver.kill()
    driver.wait()
    (tmp_path / "go").touch()
    run.values.clear()
    assert run(scale_work.note) == []
    assert sorted(run.values) == [(k, k * k) for k in range(12)]
    assert all(run.begun()[k] == 1 for k in range(3))
    assert sum(run.begun().values()) <= len(NUMBERS) + 2  # the two that were at work


def test_a_full_disk_ends_the_run_and_the_next_one_goes_on(tmp_path, place):
    run = Run(tmp_path, **(place if "client" in place else {"jobs": 1}))
    assert run(scale_work.fill, NUMBERS[:2], 10_000) == []
    with pytest.raises(
        OSError, match=r"File too large; what is done is recorded, and the same call goes on from there"
    ):
        run(scale_work.fill, NUMBERS, 1000)
    assert run(scale_work.fill, NUMBERS, 10_000) == []
    assert sorted(item for item, _ in run.values[-12:]) == list(range(12))


TICKS = 10  # in which patience runs out: its share of a look at the cluster


@pytest.fixture
def looks(monkeypatch):
    """The looks that a run takes at the cluster: what each of them finds wrong."""
    found, look = [], cluster._Heartbeats._trouble

    def noted(watch, keys):
        found.append(look(watch, keys))
        return found[-1]

    monkeypatch.setattr(cluster._Heartbeats, "_trouble", noted)
    return found


def test_a_long_task_is_waited_for(tmp_path, client, looks):
    run = Run(tmp_path, client=client, heartbeat_timeout=10)
    result = in_thread(lambda: run(scale_work.wait_for, NUMBERS[:2]))
    until(lambda: len(looks) > TICKS)
    (tmp_path / "go").touch()
    assert result() == []


def error_of(run):
    with pytest.raises(RuntimeError) as caught:
        run(scale_work.wait_for)
    return str(caught.value)


def ends_with(text, folder, client, looks, process, how=signal.SIGKILL):
    """Start a run, stop a process when the first task is begun: the run ends with such an error, as soon as it says."""
    run = Run(folder, client=client, heartbeat_timeout=20)  # a busy scheduler answers within a fourth of it
    result = in_thread(lambda: error_of(run))
    until(lambda: scale_work.noted(folder))
    process.send_signal(how)
    before = len(looks)
    error = result()
    assert re.search(text, error)
    assert "\n" not in error
    assert len(looks) - before <= TICKS + 2  # a look under way, and one that still finds it well


def test_without_workers_it_ends_with_a_message(tmp_path, bare, looks):
    text = "there must be workers, got none for 20 seconds; what is done is rec"
    with bare.client() as client:
        ends_with(text, tmp_path, client, looks, bare.worker)


def test_without_a_scheduler_it_ends_with_a_message(tmp_path, bare, looks):
    with bare.client() as client:
        ends_with("the scheduler must", tmp_path, client, looks, bare.scheduler)


def test_a_worker_that_is_frozen_ends_it_with_a_message(tmp_path, bare, looks):
    text = "workers must send heartbeats, got none from tcp"
    with bare.client() as client:
        ends_with(text, tmp_path, client, looks, bare.worker, signal.SIGSTOP)


def test_with_one_process_what_ended_it_is_named_by_the_next_run(tmp_path):
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "poison.begun").touch()  # left by this process, when it was another one
    failures = Run(tmp_path, jobs=1)(scale_work.act, [*NUMBERS[:2], ("poison", "die")])
    assert failures == [Failure("poison", "the process that worked on it ended by itself (SIGKILL)")]


def test_a_worker_of_another_version_does_nothing(tmp_path):
    with pytest.raises(RuntimeError, match=r"all workers must have imtorque 0\.0, got one with"):
        Attempt(abs, Records(tmp_path), version="0.0")(("a", -1))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"jobs": 0}, ValueError, "jobs must be at least 1, got 0"),
        ({"heartbeat_timeout": 0}, ValueError, "heartbeat_timeout must be a number of seconds above 0, got 0"),
        ({"items": [("a", 1), ("a", 2)]}, ValueError, "every task must have a key of its own, got one twice"),
        ({"client": "tcp://HOST:8786"}, TypeError, "client must be a distributed.Client, got 'tcp://HOST:8786'"),
        ({"task": 3}, TypeError, "task must be a function of one item, got 3"),
        (
            {"task": partial(print, Lock())},
            TypeError,
            "what other processes are to do must be picklable, got functools",
        ),
    ],
)
def test_bad_input_is_refused_in_one_line(tmp_path, options, error, message):
    with pytest.raises(error, match=message):
        run_tasks(**{"task": abs, "items": [("a", -1)], "records": tmp_path, **options})


def test_a_worker_killed_over_a_segment_of_a_video_costs_nothing_but_time(tmp_path, monkeypatch, client):
    videos = pytest.importorskip("video_files", exc_type=ImportError)
    monkeypatch.setattr(decoding, "SEGMENT_FRAMES", 1)
    video = videos.make_video(tmp_path)
    expected = process_video(video, tmp_path / "one", jobs=1).table.read_bytes()
    done = process_video(video, tmp_path / "many", find=scale_work.DiesOnce(str(tmp_path)), client=client)
    assert (tmp_path / "died").exists()
    assert done.table.read_bytes() == expected


def test_without_zarr_nothing_is_begun(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(ImportError, match=r"large images need zarr: pip install 'imtorque\[scale\]'"):
        process_image(np.zeros((50, 60), np.uint8), tmp_path / "out", sizes=range(3, 30, 2))
    assert not (tmp_path / "out").exists()
