"""The pool: order, errors, killed processes, threads, and how it ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from imtorque.core import threads
from imtorque.jobs import processes
from parallel_work import Busy, act
from waiting import GIVEN_UP, group_is_gone, until

HERE = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _found_by_processes(monkeypatch):
    """Let processes that are started import parallel_work."""
    monkeypatch.syspath_prepend(str(HERE))


@pytest.fixture
def started(monkeypatch):
    """The processes that were started."""
    found = []

    class Noted(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            found.append(self)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    return found


@pytest.fixture
def _four_threads():
    before = threads.get_num_threads()
    threads.set_num_threads(4)
    yield
    threads.set_num_threads(before)


@pytest.mark.slow
@pytest.mark.usefixtures("_four_threads")
def test_a_killed_process_costs_its_own_item_and_no_other(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    ticks = []
    items = [*range(4), "die", "fail", "unpicklable", "threads", "odd", *range(8, 30)]
    found = list(processes.outcomes(act, items, 2, tick=lambda: ticks.append(1)))
    assert [a.value for a in found if a.error is None and not isinstance(a.value, tuple)] == [
        2 * item for item in items if isinstance(item, int)
    ]
    errors = {item: a.error for item, a in zip(items, found, strict=True) if a.error is not None}
    assert list(errors) == ["die", "fail", "unpicklable", "odd"]
    assert isinstance(errors["die"], ChildProcessError)
    assert str(errors["fail"]) == "must be good, got fail"
    assert "must be picklable" in str(errors["unpicklable"])
    assert str(errors["odd"]) == "OddError: here now"
    assert len(ticks) == len(items)
    # Four threads shared by two processes: kernels and linear algebra have two each, whatever the environment said.
    kernels, pools = found[7].value
    assert kernels == 2
    assert max(pools) <= 2
    assert (os.environ["OMP_NUM_THREADS"], os.environ.get("OPENBLAS_NUM_THREADS")) == ("7", None)


@pytest.mark.slow
def test_a_process_killed_while_it_had_nothing_to_do_costs_nothing(started):
    found = processes.outcomes(act, list(range(20)), 2)
    assert next(found).value == 0
    for child in started:
        child.kill()
        child.wait()
    rest = list(found)
    # Two were at work at most; what they had done before had been sent.
    assert sum(answer.error is not None for answer in rest) <= 2
    assert [answer.value for answer in rest[-8:]] == [2 * k for k in range(12, 20)]


def test_results_come_in_order_and_progress_is_told(capsys):
    assert list(processes.each(abs, [-3, 1, -2], 2, "numbers")) == [3, 1, 2]
    assert capsys.readouterr().err.splitlines()[-1] == "numbers: 3 of 3 images"


def test_the_first_error_ends_it_where_all_results_are_needed():
    with pytest.raises(ValueError, match="must be good, got fail"):
        list(processes.each(act, [1, "fail", 2], 1))


def test_no_more_processes_are_started_than_pay_for_it(monkeypatch):
    monkeypatch.setattr(processes, "available_cores", lambda: 16)
    monkeypatch.setattr(processes, "get_num_threads", lambda: 12)
    assert [processes.workers_for(items) for items in (0, 1, 4, 5, 1000)] == [0, 1, 1, 2, 12]
    assert [processes.workers_for(items, 3) for items in (0, 2, 9)] == [0, 2, 3]
    with pytest.raises(ValueError, match="jobs must be at least 1, got 0"):
        processes.workers_for(9, 0)


def test_cores_are_those_this_process_may_run_on(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3}, raising=False)
    assert threads.available_cores() == 1


@pytest.mark.slow
@pytest.mark.parametrize("finish", [True, False])
def test_who_stops_early_leaves_nothing_running_and_little_begun(tmp_path, finish, started):
    found = processes.outcomes(Busy(tmp_path), list(range(50)), 2, finish=finish)
    assert next(found).value == 0
    found.close()
    begun = {path.stem for path in tmp_path.iterdir() if path.suffix != ".done"}
    done = {path.stem for path in tmp_path.glob("*.done")}
    assert 1 <= len(begun) <= 2 * processes.QUEUED_PER_PROCESS + 2
    assert (begun == done) or not finish
    assert len(started) == 2
    assert all(child.returncode is not None for child in started)
    assert {path.stem for path in tmp_path.glob("*.done")} == done  # by nobody after


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_processes_end_with_the_one_that_started_them(tmp_path, ending):
    # A shell's background jobs start with Ctrl-C ignored, and so would everything below.
    first = subprocess.Popen(
        [sys.executable, HERE / "parallel_work.py", tmp_path],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    until(lambda: len(list(tmp_path.iterdir())) == 2 or first.poll() is not None)
    assert first.poll() is None
    if ending == signal.SIGINT:  # Ctrl-C goes to all processes of a terminal
        os.killpg(first.pid, ending)
    else:
        os.kill(first.pid, ending)
    assert first.communicate(timeout=GIVEN_UP)[1].count("Traceback") <= 1  # its own
    assert first.returncode != 0
    until(lambda: group_is_gone(first.pid))


def test_a_process_that_cannot_start_is_an_error_and_no_endless_loop(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(ChildProcessError, match="a process for the work must be able to start"):
        list(processes.each(abs, [1, 2, 3], 2))


SCRIPT = """
from imtorque.jobs import processes
print("begun")
class Twice:
    def __init__(self, item): self.item = 2 * item
def twice(item): return Twice(item)
print([isinstance(found, Twice) and found.item for found in processes.each(twice, [1, 2, 3], 2)])
"""


@pytest.mark.parametrize("installed", [True, False])
def test_a_script_without_a_guard_runs_once(tmp_path, installed):
    script = tmp_path / "unguarded.py"
    script.write_text(("" if installed else "import sys; sys.modules['cloudpickle'] = None") + SCRIPT)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=GIVEN_UP, check=False)
    if installed:
        assert (done.stdout, done.stderr) == ("begun\n[2, 4, 6]\n", "")
    else:
        assert done.stdout == "begun\n"
        assert "must come from modules that other processes can import, or cloudpickle be installed, got" in done.stderr
