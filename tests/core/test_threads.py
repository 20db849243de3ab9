"""Kernel threads: kept between calls, after fork() and at the end of Python; no more of them than help; Ctrl-C."""

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import imtorque
from imtorque import Edges, value_and_scale_maps
from waiting import GIVEN_UP, until

SIZES = [3, 9, 45, 91]
LINUX = Path("/proc/self/task").exists()
START = """
import os, queue, signal, sys, threading
import numpy as np
import imtorque
from imtorque import _native, segmentation, volumes

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs start without it
rng = np.random.default_rng(0)
field = lambda side: imtorque.Edges(*rng.normal(size=(2, side, side)))
"""
# What a kernel does that polls, and no other: it hears signals while it works, one after the other as each was heard,
# and ends with the last. One that does not poll hears them when it has ended.
SIGNALS = 5
HEARD = f"""
heard = queue.SimpleQueue()
def hear(*_):
    heard.put(None)
    if next(numbers) == {SIGNALS}:
        raise KeyboardInterrupt
def send():
    for _ in range({SIGNALS}):
        os.kill(os.getpid(), signal.SIGINT)
        heard.get()
signal.signal(signal.SIGINT, hear)
"""
LONG = {  # each takes a second or more, and polls twenty times in one
    "maps of disks": "maps, edges, sizes = imtorque.value_and_scale_maps, field(1500), range(601, 1401, 100)\n"
    "work = lambda: maps(edges, sizes, patch='disk')",
    "maps of squares": "maps, edges = imtorque.value_and_scale_maps, field(4000)\n"
    "work = lambda: maps(edges, range(3, 2003, 2))",
    "a volume of disks": "edges = field(600)\n"
    "work = lambda: imtorque.torque_volume(edges, range(101, 1101, 8), patch='disk')",
    "closure of disks": "edges = field(600)\n"
    "work = lambda: imtorque.torque_volume(edges, range(101, 1101, 8), patch='disk', polarity='free')",
    "closure of rectangles": "edges = field(4000)\n"
    "work = lambda: imtorque.value_and_scale_maps(edges, [(n, n + 2) for n in range(3, 203, 2)], polarity='free')",
    "extrema": "edges = field(4000)\nwork = lambda: imtorque.find_extrema(edges, sizes=range(3, 1003, 2))",
    "gradient torque of volumes": "volume = rng.random((160, 160, 160)).astype(np.float32)\n"
    "work = lambda: volumes.gradient_torque(volume, range(3, 203, 2))",
    "absolute contributions": "edges, n = field(1500), 40000\n"
    "votes = [np.full(n, 750), np.full(n, 750), np.full(n, 1501), np.full(n, 1501)]\n"
    "work = lambda: _native.contributions(edges.fx, edges.fy, *votes, np.ones(n), False, True, False)",
    "expansion": "unary, plane = rng.random((40, 600, 600)), rng.random((600, 600))\n"
    "links = [np.ascontiguousarray(plane[:y, :x]) for y, x in [(600, 599), (599, 600), (599, 599), (599, 599)]]\n"
    "start = np.zeros((600, 600), np.int32)\n"
    "work = lambda: _native.alpha_expansion(unary, *links, True, False, 1 - np.eye(40), 100, start)",
    "matching": "truths = (rng.random((4, 900, 900)) < 0.3).astype(np.uint8)\n"
    "pixels = np.flatnonzero(rng.random(810000) < 0.3).astype(np.int32)\n"
    "work = lambda: _native.match_min_cost(pixels, np.array([0, len(pixels)]), truths, 20.0, 100.0)",
    "machines": "products, labels = np.eye(3000, dtype=np.float32), np.arange(3000, dtype=np.int32) % 40\n"
    "work = lambda: _native.train_linear_svms(products, labels, 1.0, -1.0, 10**6, np.zeros((3000, 40), np.float32))",
}


def run(code, **options):
    return subprocess.run(
        [sys.executable, "-c", START + code], capture_output=True, text=True, timeout=GIVEN_UP, **options
    )


def noise(shape):
    return Edges(*np.random.default_rng(0).normal(size=(2, *shape)))


def threads_alive():
    return len(list(Path("/proc/self/task").iterdir()))


@pytest.mark.slow
@pytest.mark.parametrize("kernel", LONG)
def test_a_long_kernel_hears_signals_and_ends_by_ctrl_c(kernel):
    code = f"""
import itertools
{HEARD}
{LONG[kernel]}
for threads in {(2,) if kernel in ("matching", "machines") else (1, 2)}:  # they use one however many there are
    imtorque.set_num_threads(threads)
    numbers, sender = itertools.count(1), threading.Thread(target=send, daemon=True)
    sender.start()
    try:
        work()
        print("ended by itself")
    except KeyboardInterrupt:
        sender.join()
        print("interrupted")
"""
    assert set(run(code).stdout.split("\n")) == {"interrupted", ""}


def test_a_kernel_works_after_one_was_interrupted():
    code = f"""
{LONG["maps of disks"]}
import itertools
{HEARD}
numbers = itertools.count(1)
try:
    threading.Thread(target=send, daemon=True).start()
    work()
except KeyboardInterrupt:
    print("enough")
again = imtorque.torque_volume(imtorque.Edges(np.eye(9), np.eye(9)), [3]).tau
print(again.shape)
"""
    assert run(code).stdout.split("\n")[:2] == ["enough", "(1, 9, 9)"]


def test_a_handler_that_does_not_raise_lets_the_kernel_go_on():
    edges = noise((300, 300))
    expected = value_and_scale_maps(edges, range(3, 203, 2), patch="disk")
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        found = value_and_scale_maps(edges, range(3, 203, 2), patch="disk")
        until(lambda: seen)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert_array_equal(found, expected)


def test_ctrl_c_leaves_kernels_of_other_threads_alone():
    code = """
edges, sizes, found = field(500), range(3, 203, 2), []
thread = threading.Thread(target=lambda: found.append(imtorque.value_and_scale_maps(edges, sizes, patch="disk")))
thread.start()
try:
    os.kill(os.getpid(), signal.SIGINT)
    thread.join()
except KeyboardInterrupt:
    print("interrupted")
thread.join()
print(len(found))
"""
    assert run(code).stdout == "interrupted\n1\n"


def test_calls_from_several_threads_at_once_agree_while_the_number_of_threads_changes():
    edges = noise((200, 300))
    imtorque.set_num_threads(1)
    expected = value_and_scale_maps(edges, SIZES)
    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(value_and_scale_maps, edges, SIZES) for _ in range(40)]
        for n in range(200):
            imtorque.set_num_threads(1 + n % 9)
        for call in calls:
            assert_array_equal(call.result(), expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork()")
def test_a_forked_child_has_threads_of_its_own_even_if_others_were_inside_a_kernel():
    code = """
_native.use_all_threads(True)
imtorque.set_num_threads(4)
edges = field(300)
compute = lambda: imtorque.value_and_scale_maps(edges, [3, 9, 45])
expected = compute()
stop = threading.Event()
def others():
    while not stop.is_set():
        compute()
team = [threading.Thread(target=others) for _ in range(3)]
for thread in team:
    thread.start()
good = 0
for _ in range(20):
    child = os.fork()
    if child == 0:
        same = all(np.array_equal(a, b) for a, b in zip(compute(), expected))
        os._exit(0 if same and len(os.listdir("/proc/self/task")) == 4 else 1)
    good += os.waitpid(child, 0)[1] == 0
stop.set()
for thread in team:
    thread.join()
print(good)
"""
    if not LINUX:
        code = code.replace(' and len(os.listdir("/proc/self/task")) == 4', "")
    assert run(code).stdout == "20\n"


def test_python_ends_while_a_daemon_thread_is_inside_a_kernel():
    code = f"""
_native.use_all_threads(True)
imtorque.set_num_threads(4)
{LONG["a volume of disks"]}
threading.Thread(target=work, daemon=True).start()
while {LINUX} and len(os.listdir("/proc/self/task")) < 5:  # itself, the thread, and three that help its kernel
    pass
"""
    ended = run(code)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.skipif(not LINUX, reason="reads /proc")
def test_threads_are_kept_between_calls():
    imtorque.set_num_threads(4)
    edges = noise((200, 300))
    value_and_scale_maps(edges, SIZES)
    before = threads_alive()
    for _ in range(20):
        value_and_scale_maps(edges, SIZES)
    assert threads_alive() == before


@pytest.mark.skipif(not LINUX, reason="reads /proc")
def test_small_work_starts_no_threads_and_large_work_no_more_than_there_are_cores():
    code = """
alive = lambda: len(os.listdir("/proc/self/task"))
imtorque.set_num_threads(64)
before = alive()
small = field(64)
imtorque.dense_contribution(small)
imtorque.value_and_scale_maps(small, [3, 9, 45])
imtorque.find_extrema(small, sizes=[3, 9, 45])
print(alive() - before)
imtorque.value_and_scale_maps(field(1000), range(3, 103, 2))
print(alive() - before < len(os.sched_getaffinity(0)))
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
print(imtorque.get_num_threads())
"""
    assert run(code).stdout == "0\nTrue\n64\n"


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs affinity")
def test_the_number_of_threads_starts_as_the_cores_this_process_may_use():
    one = {min(os.sched_getaffinity(0))}
    code = "import imtorque; print(imtorque.get_num_threads())"
    environment = {k: v for k, v in os.environ.items() if k not in ("IMTORQUE_NUM_THREADS", "PYTHON_CPU_COUNT")}
    done = subprocess.run(
        [sys.executable, "-c", f"import os; os.sched_setaffinity(0, {one}); {code}"],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.stdout == "1\n"


def test_threads_of_python_do_not_wait_for_each_other_to_start():
    edges = noise((150, 150))
    imtorque.set_num_threads(8)
    expected = imtorque.find_extrema(edges, sizes=SIZES)
    barrier = threading.Barrier(6)

    def call():
        barrier.wait()
        return imtorque.find_extrema(edges, sizes=SIZES)

    with ThreadPoolExecutor(6) as pool:
        for found in [future.result() for future in [pool.submit(call) for _ in range(6)]]:
            assert_array_equal(found.value, expected.value)
