"""One attempt at one task: what every process does, of this machine or of a cluster."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from imtorque import __version__
from imtorque.core.threads import set_num_threads
from imtorque.io.errors import describe_error
from imtorque.jobs.records import Records
from imtorque.jobs.subprocesses import call_in_subprocess

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True)
class Report:
    """What came of an attempt.

    Parameters
    ----------
    value
        What the task returned, as its record holds it.
    error
        What went wrong, in one line.
    suspect
        Whether it was not tried, because a process that began it before may have ended over it.
    full
        Whether it failed for want of room on the disk, as all others would.
    """

    value: Any = None
    error: str | None = None
    suspect: bool = False
    full: bool = False


@dataclass(frozen=True)
class Attempt:
    """How tasks are attempted.

    Parameters
    ----------
    task
        The task; what it returns must be what JSON can hold.
    records
        Where results are recorded.
    isolated
        Whether a task that an earlier process began is attempted too: this process may crash.
    threads
        For the kernels; None leaves them as they are.
    version
        Version of the client; workers must match.
    """

    task: Callable[[Any], Any]
    records: Records
    isolated: bool = False
    threads: int | None = 1
    version: str = __version__

    def __call__(self, pair: tuple[str, Any]) -> Report:
        """Do one task and write its record, unless that is there; say what came of it."""
        key, item = pair
        if self.version != __version__:
            raise RuntimeError(f"all workers must have imtorque {self.version}, got one with {__version__}")
        if self.threads is not None:
            set_num_threads(self.threads)
        try:
            stored = self.records.read(key)
            if stored is not None:
                return Report(stored[0])
            if not self.records.begin(key) and not self.isolated:
                return Report(suspect=True)
            report = Report(self.records.write(key, self.task(item)))
        except Exception as error:  # whatever is wrong with one task, the others are done
            full = isinstance(error, OSError) and error.errno in DISK_FULL
            report = Report(error=describe_error(error), full=full)
        self.records.end(key)
        return report


def attempt_isolated(attempt: Attempt, pair: tuple[str, Any]) -> Report:
    """Attempt a task in a fresh process; where that ends over it, the task is to blame."""
    try:
        report: Report = call_in_subprocess(attempt, pair)
    except ChildProcessError as error:
        return Report(error=str(error))
    return report
