"""What the processes of test_parallel.py are given to do; of a module, so that they can be handed it."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

from imtorque.core.threads import get_num_threads
from imtorque.jobs import processes as _parallel


class OddError(Exception):
    """An error that cannot be rebuilt from its text."""

    def __init__(self, what, where):
        super().__init__(f"{what} {where}")


def act(item):
    """Do as the item says: a number comes back doubled, "die" ends the process, and so on."""
    if item == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if item == "fail":
        raise ValueError("must be good, got fail")
    if item == "odd":
        raise OddError("here", "now")
    if item == "unpicklable":
        return threading.Lock()
    if item == "threads":
        import threadpoolctl

        return get_num_threads(), {pool["num_threads"] for pool in threadpoolctl.threadpool_info()}
    return 2 * item


def kernel_threads(*_):
    """Score a file by the threads that kernels would use."""
    return get_num_threads()


def note_and_wait(folder, item):
    """Note who works, then take long."""
    (Path(folder) / f"{item}.{os.getpid()}").touch()
    time.sleep(0.3 if item < 100 else 60)
    (Path(folder) / f"{item}.done").touch()
    return item


class Busy:
    """`note_and_wait` in a folder."""

    def __init__(self, folder):
        self.folder = str(folder)

    def __call__(self, item):
        return note_and_wait(self.folder, item)


if __name__ == "__main__":
    list(_parallel.each(Busy(sys.argv[1]), [100, 101], 2))
