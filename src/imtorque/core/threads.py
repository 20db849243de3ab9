"""Threads of the kernels: how many they use, mapping over them, and their cancellation."""

import operator
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from imtorque import _native

Result = TypeVar("Result")

VARIABLE = "IMTORQUE_NUM_THREADS"
# Read when the libraries are loaded, so they are set before a process starts.
THREAD_VARIABLES = (
    VARIABLE,
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "OPENCV_FOR_THREADS_NUM",
)


def set_num_threads(n: int) -> None:
    """Set the number of threads the kernels use. Results do not depend on it.

    It is a limit: a call uses no more threads than its work keeps busy, and than this process may have cores.

    See Also
    --------
    get_num_threads

    Examples
    --------
    >>> set_num_threads(2)
    >>> get_num_threads()
    2
    """
    count = operator.index(n)
    if not 1 <= count <= 1024:
        raise ValueError(f"number of threads must be from 1 to 1024, got {n}")
    _native.set_num_threads(count)


def get_num_threads() -> int:
    """Return the number of threads the kernels use."""
    return _native.num_threads()


def available_cores() -> int:
    """Return how many cores this process may run on (its affinity), not how many the machine has."""
    if sys.version_info >= (3, 13):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def worker_environment(threads: int) -> dict[str, str]:
    """Return the environment of a process whose kernels and linear algebra take so many threads each."""
    environment = dict(os.environ)
    for name in THREAD_VARIABLES:
        # Keep a smaller number that the user set; our own variable was counted in when `threads` was divided.
        given = environment.get(name, "")
        if name == VARIABLE or not given.isdecimal() or not 0 < int(given) < threads:
            environment[name] = str(threads)
    return environment


def _initial_threads() -> int:
    """Return what the environment asks for, else the number of cores this process may use."""
    given = os.environ.get(VARIABLE, "").strip()
    if not given:
        return min(available_cores(), 1024)
    if not given.isdecimal() or not 1 <= int(given) <= 1024:
        raise ValueError(f"{VARIABLE} must be a number from 1 to 1024, got {given!r}")
    return int(given)


_native.set_num_threads(_initial_threads())


_thread = threading.local()


@contextmanager
def cancel_with(cancellation: _native.Cancellation | None) -> Iterator[None]:
    """Let `cancellation.cancel()`, called elsewhere, end this thread's kernels with `_native.Cancelled`.

    Long work outside of kernels calls `_native.check_interrupt()` between its steps; threads that work for this one
    enter `cancel_with` with the `current_cancellation()` read here.
    """
    before = current_cancellation()
    _watch(cancellation)
    try:
        yield
    finally:
        _watch(before)


def current_cancellation() -> _native.Cancellation | None:
    """Return the cancellation of this thread's kernels; None where there is none."""
    cancellation: _native.Cancellation | None = getattr(_thread, "cancellation", None)
    return cancellation


def thread_map(*tasks: Callable[[], Result]) -> list[Result]:
    """Run tasks in as many threads as the kernels use and return their results in order.

    For tasks that release the GIL for most of their time.
    """
    cancellation = current_cancellation()

    def result(task: Callable[[], Result]) -> Result:
        with cancel_with(cancellation):
            _native.check_interrupt()
            return task()

    with ThreadPoolExecutor(get_num_threads()) as threads:
        return list(threads.map(result, tasks))


def _watch(cancellation: _native.Cancellation | None) -> None:
    _thread.cancellation = cancellation
    if cancellation is None:
        _native.watch_nothing()
    else:
        cancellation.watch()
