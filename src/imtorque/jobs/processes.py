"""One function over many items, several at a time, each in a process of its own: the only pool there is.

A process that is ended from outside costs its own item and no other. At most a few items and results wait, so memory
does not grow with their number.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import wait
from typing import Generic, TypeVar

from imtorque.core.threads import available_cores, get_num_threads
from imtorque.jobs.subprocesses import Outcome, Subprocess, outcome_of, pack

Item = TypeVar("Item")
Result = TypeVar("Result")

QUEUED_PER_PROCESS = 4  # bound: items begun and not yet asked for
ITEMS_PER_PROCESS = 4  # bound: for which starting a process is worth its second, where `jobs` is not given
CRASH_MESSAGE = "a process was ended from outside, most likely for want of memory; fewer --jobs need less"


def each(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    jobs: int | None = None,
    label: str | None = None,
    unit: str = "images",
    *,
    tick: Callable[[], None] | None = None,
) -> Iterator[Result]:
    """Yield function(item) for every item, in order; the first error ends it.

    Parameters
    ----------
    function
        One that `pack` takes: of a module, or a partial of one; with cloudpickle installed, any.
    items
        What it is called with.
    jobs
        How many items to work on at a time; see `workers_for`.
    label
        Where given, it is told under this name on standard error how far it is.
    unit
        What items are called there.
    tick
        Called after each item, in whatever order they are done.
    """
    for done, outcome in enumerate(outcomes(function, items, jobs, tick=tick), start=1):
        if label is not None and (done % max(1, len(items) // 10) == 0 or done == len(items)):
            print(f"{label}: {done} of {len(items)} {unit}", file=sys.stderr, flush=True)
        yield outcome.get()


def outcomes(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    jobs: int | None = None,
    *,
    tick: Callable[[], None] | None = None,
    finish: bool = False,
    isolated: bool = False,
) -> Iterator[Outcome[Result]]:
    """Yield what came of every item, in order: function(item), or the error.

    Parameters
    ----------
    function, items, jobs, tick
        As of `each`. Where a process was ended from outside, the error of its item is a ChildProcessError.
    finish
        Whether items that were begun are finished when the caller stops early or is interrupted, rather than dropped.
    isolated
        Whether a single worker is a process of its own as well, so that none of the items can end this one.
    """
    count = workers_for(len(items), jobs)
    if count <= 1 and not (isolated and items):
        for item in items:
            outcome = outcome_of(function, item)
            if tick is not None:
                tick()
            yield outcome
        return
    pool: _Pool[Item, Result] = _Pool(function, items, count, tick or (lambda: None))
    try:
        yield from pool.work()
    finally:
        pool.end(finish)


def workers_for(items: int, jobs: int | None = None) -> int:
    """Return how many processes work on so many items; 1 stands for this one.

    By default as many as `default_jobs`, and no more than pay for being started.
    """
    if jobs is None:
        return min(default_jobs(), -(-items // ITEMS_PER_PROCESS))
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    return min(jobs, items)


def default_jobs() -> int:
    """Return the number of cores this process may use, or of threads where the user asked for fewer."""
    return min(available_cores(), get_num_threads())


class _Worker(Subprocess):
    """A process, and the number of the item it has."""

    item: int | None = None


class _Pool(Generic[Item, Result]):
    """The processes that work on a list of items."""

    def __init__(
        self, function: Callable[[Item], Result], items: Sequence[Item], count: int, tick: Callable[[], None]
    ) -> None:
        self.function, self.items, self.count, self.tick = pack(function), items, count, tick
        self.threads = max(1, get_num_threads() // count)
        self.workers: list[_Worker] = []
        self.begun = 0
        self.started = False  # whether any process has

    def work(self) -> Iterator[Outcome[Result]]:
        """Yield the outcomes in order, while every process is kept busy."""
        found: dict[int, Outcome[Result]] = {}
        for wanted in range(len(self.items)):
            self._hand_out(wanted + QUEUED_PER_PROCESS * self.count)
            found.update(self._collect(timeout=0))
            while wanted not in found:
                self._hand_out(wanted + QUEUED_PER_PROCESS * self.count)
                found.update(self._collect(timeout=None))
            yield found.pop(wanted)

    def end(self, finish: bool) -> None:
        """Let idle processes go, and busy ones finish or not."""
        try:
            while finish and any(worker.item is not None for worker in self.workers):
                with suppress(ChildProcessError):
                    dict(self._collect(timeout=None))
        finally:
            for worker in self.workers:
                worker.end(kill=worker.item is not None)

    def _hand_out(self, limit: int) -> None:
        """Give every idle process an item, as long as they lie below the limit."""
        left = min(limit, len(self.items)) - self.begun
        idle = [worker for worker in self.workers if worker.item is None]
        for _ in range(min(self.count - len(self.workers), left - len(idle))):
            idle.append(_Worker(self.function, self.threads))
            self.workers.append(idle[-1])
        for worker in idle[: max(0, left)]:
            try:
                worker.send(self.items[self.begun])
            except OSError:  # ended while it had nothing to do
                self._replace(worker)
                continue
            except BaseException:  # in the middle of the item, so that what follows would not be understood
                self._drop(worker)
                raise
            worker.item = self.begun
            self.begun += 1

    def _collect(self, timeout: float | None) -> Iterator[tuple[int, Outcome[Result]]]:
        """Yield the outcomes that are there, after waiting for the first one where the time allows."""
        busy = {worker.link: worker for worker in self.workers if worker.item is not None}
        for link in wait(list(busy), timeout) if busy else ():
            worker = busy[link]  # type: ignore[index]
            number, outcome = worker.item, self._received(worker)
            if number is not None and outcome is not None:
                self.tick()
                yield number, outcome

    def _received(self, worker: _Worker) -> Outcome[Result] | None:
        """Return what a process has to say; None where that is only that it has started."""
        try:
            said: Outcome[Result] | None = worker.receive()
        except (EOFError, OSError):
            self._replace(worker)
            return Outcome(error=ChildProcessError(CRASH_MESSAGE))
        except BaseException:  # in the middle of the outcome
            self._drop(worker)
            raise
        self.started = True
        if said is not None:
            worker.item = None
        return said

    def _replace(self, worker: _Worker) -> None:
        """Part with a process that has ended, for a new one; where none ever started, that would not either."""
        self._drop(worker)
        if not self.started:
            raise ChildProcessError("a process for the work must be able to start, got one that ended")

    def _drop(self, worker: _Worker) -> None:
        self.workers.remove(worker)
        worker.end(kill=True)
