"""Tasks on a cluster of dask's: few in flight, each let go when it is done, and a watch that nothing hangs."""

from __future__ import annotations

import inspect
import secrets
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from distributed import Client, Future, KilledWorker, Scheduler
from distributed.comm import CommClosedError

from imtorque.io.errors import describe_error
from imtorque.jobs.worker import Attempt, Report, attempt_apart

FEWEST = 16  # tasks in flight, beside two for each thread of the workers
MOST_LOSSES = 3  # workers that may end while they have a task, before it is given up
LONGEST_TICK = 5.0  # seconds
GOES_ON = "what is done is recorded, and the same call goes on from there"
# What a call to a scheduler or a worker that is no more may raise.
UNREACHABLE = (OSError, TimeoutError, CancelledError, CommClosedError)


@dataclass(frozen=True)
class _Try:
    """A task to be attempted: how, and how many workers have ended while they had it."""

    pair: tuple[str, Any]
    careful: bool = False
    losses: int = 0


def reports_of(
    client: Client, attempt: Attempt, again: Attempt, left: Sequence[tuple[str, Any]], patience: float
) -> Iterator[tuple[tuple[str, Any], Report]]:
    """Attempt tasks on a cluster, and yield each with its report, in the order in which they are done.

    Parameters
    ----------
    client
        Of the cluster.
    attempt, again
        What is done for a task, and what for one whose worker ended over it, in a process apart.
    left
        The tasks.
    patience
        Seconds in which workers must show that they live, else it is a RuntimeError.
    """
    if client.asynchronous:
        raise ValueError("client must be one that waits, got an asynchronous one")
    run = _Run(client, attempt, again, left, _Watch(client, patience))
    try:
        yield from run.work()
    finally:
        run.let_go()


class _Run:
    """The tasks that wait and those in flight."""

    def __init__(
        self, client: Client, attempt: Attempt, again: Attempt, left: Sequence[tuple[str, Any]], watch: _Watch
    ) -> None:
        self.client, self.watch = client, watch
        self.attempt, self.attempt_again = attempt, partial(attempt_apart, again)
        self.waiting = deque(_Try(pair) for pair in left)
        self.flying: dict[str, tuple[Future, _Try]] = {}
        self.finished: SimpleQueue[Future] = SimpleQueue()
        self.name, self.sent = f"imtorque-{secrets.token_hex(6)}", 0

    def work(self) -> Iterator[tuple[tuple[str, Any], Report]]:
        """Yield the reports, while the workers are kept busy."""
        while self.waiting or self.flying:
            self.watch.look(self.flying)
            self._send()
            try:
                future = self.finished.get(timeout=self.watch.tick)
            except Empty:
                continue
            tried = self.flying.pop(future.key)[1]
            report = self._report(future, tried)
            future.release()
            if report is not None:
                self.watch.work_was_done()
                yield tried.pair, report

    def let_go(self) -> None:
        """Let go of all tasks in flight: those that were not begun never are."""
        for future, _ in self.flying.values():
            future.release()

    def _send(self) -> None:
        """Send tasks, as many as keep all workers busy."""
        while self.waiting and len(self.flying) < self.watch.window and self.client.status == "running":
            tried = self.waiting.popleft()
            function = self.attempt_again if tried.careful else self.attempt
            self.sent += 1
            future = self.client.submit(function, tried.pair, key=f"{self.name}-{self.sent}", pure=False)
            self.flying[future.key] = future, tried
            future.add_done_callback(self.finished.put)

    def _report(self, future: Future, tried: _Try) -> Report | None:
        """Return what came of a task; None where it has to wait for another try."""
        lost = False
        try:
            report: Report = future.result(timeout=self.watch.answer_in)
            if not report.suspect:
                return report
            tried = replace(tried, careful=True)
        except KilledWorker:
            lost = True
        except UNREACHABLE:
            pass  # the cluster does not hold it any more; if it is done, its record says so
        except Exception as error:  # attempts raise nothing, so that this one could not be made
            raise RuntimeError(f"workers must be able to do the tasks, got {describe_error(error)}") from None
        tried = replace(tried, losses=tried.losses + lost)
        if tried.losses >= MOST_LOSSES:
            return Report(error=f"the workers that had it ended, {tried.losses} of them")
        self.waiting.appendleft(tried)
        return None


class _Watch:
    """Whether the cluster lives: its scheduler answers, and workers that have our tasks send heartbeats."""

    def __init__(self, client: Client, patience: float) -> None:
        self.client, self.patience = client, patience
        self.tick, self.answer_in = min(LONGEST_TICK, patience / 10), patience / 4
        self.window = FEWEST
        self.good = self.looked = time.monotonic()
        self.heard: dict[str, float] = {}

    def work_was_done(self) -> None:
        """Note that a task came back: nothing else shows life as well."""
        self.good = time.monotonic()

    def look(self, keys: Any) -> None:
        """Look at the cluster, if it is time to; raise a RuntimeError where it has shown no life for long."""
        now = time.monotonic()
        if self.client.status == "closed":
            raise RuntimeError(f"the scheduler must be there, got a connection that is closed; {GOES_ON}")
        if now - self.looked < self.tick:
            return
        if now - self.looked > 2 * self.tick + self.answer_in:
            self.good = now  # we were away, as when a caller takes its time with a result
        trouble = self._trouble(keys)
        self.looked = time.monotonic()
        if trouble is None:
            self.good = self.looked
        elif (
            self.looked - self.good + self.tick + self.answer_in > self.patience
        ):  # else the next look might be too late
            raise RuntimeError(f"{trouble} for {self.patience:g} seconds; {GOES_ON}")

    def _trouble(self, keys: Any) -> str | None:
        """Say what keeps the work from being done; None where nothing does."""
        try:
            workers, processing = self.client.sync(_state, self.client, callback_timeout=self.answer_in)
        except UNREACHABLE:
            return "the scheduler must answer, got no answer"
        self.window = FEWEST + 2 * sum(worker["nthreads"] for worker in workers.values())
        if not workers:
            return "there must be workers, got none"
        ours = [address for address, held in processing.items() if not keys.keys().isdisjoint(held)] or list(workers)
        before, self.heard = self.heard, {address: worker["last_seen"] for address, worker in workers.items()}
        living = [address for address in ours if self.heard.get(address, 0) > before.get(address, 0)]
        if not living:
            return f"workers must send heartbeats, got none from {ours[0]}{' and others' * (len(ours) > 1)}"
        if not any(_can_work(workers[address]) for address in living):
            return f"workers must have memory left to begin a task, got {living[0]} paused"
        return None


def _can_work(worker: dict[str, Any]) -> bool:
    return bool(worker["status"] != "paused" or worker["metrics"].get("executing", 0) > 0)


async def _state(client: Client) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the scheduler knows of its workers, and the tasks each of them has."""
    # Newer schedulers tell of a few workers only where they are not asked for all.
    every = {"n_workers": -1} if "n_workers" in inspect.signature(Scheduler.identity).parameters else {}
    identity = await client.scheduler.identity(**every)
    return identity["workers"], await client.scheduler.processing(workers=None)
