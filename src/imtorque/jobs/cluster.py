"""Tasks on a dask cluster: few in flight, each released when it is done, under a timeout of heartbeats."""

from __future__ import annotations

import inspect
import logging
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
from imtorque.jobs.worker import Attempt, Report, attempt_isolated

TASKS_IN_FLIGHT = 16  # bound: beside two for each thread of the workers
MAX_LOSSES = 3  # convention: workers that may end while they have a task, before it is given up
MAX_POLL_INTERVAL = 5.0  # seconds; bound: delay
logger = logging.getLogger(__name__)
RESUMES = "what is done is recorded, and the same call goes on from there"
# What a call to a scheduler or a worker that is no more may raise.
UNREACHABLE = (OSError, TimeoutError, CancelledError, CommClosedError)


@dataclass(frozen=True)
class _Try:
    """A task to be attempted: how, and how many workers have ended while they had it."""

    pair: tuple[str, Any]
    isolated: bool = False
    losses: int = 0


def reports_of(
    client: Client, attempt: Attempt, again: Attempt, left: Sequence[tuple[str, Any]], heartbeat_timeout: float
) -> Iterator[tuple[tuple[str, Any], Report]]:
    """Attempt tasks on a cluster, and yield each with its report, in the order in which they are done.

    Parameters
    ----------
    client
        Of the cluster.
    attempt, again
        What is done for a task, and what for one whose worker crashed on it, in a process of its own.
    left
        The tasks.
    heartbeat_timeout
        Seconds within which workers must send a heartbeat; else RuntimeError.
    """
    if client.asynchronous:
        raise ValueError("client must be one that waits, got an asynchronous one")
    run = _Run(client, attempt, again, left, _Heartbeats(client, heartbeat_timeout))
    try:
        yield from run.work()
    finally:
        run.release()


class _Run:
    """The tasks that wait and those in flight."""

    def __init__(
        self, client: Client, attempt: Attempt, again: Attempt, left: Sequence[tuple[str, Any]], watch: _Heartbeats
    ) -> None:
        self.client, self.watch = client, watch
        self.attempt, self.attempt_again = attempt, partial(attempt_isolated, again)
        self.waiting = deque(_Try(pair) for pair in left)
        self.in_flight: dict[str, tuple[Future, _Try]] = {}
        self.finished: SimpleQueue[Future] = SimpleQueue()
        self.name, self.sent = f"imtorque-{secrets.token_hex(6)}", 0

    def work(self) -> Iterator[tuple[tuple[str, Any], Report]]:
        """Yield the reports, while the workers are kept busy."""
        while self.waiting or self.in_flight:
            self.watch.check(self.in_flight)
            self._send()
            try:
                future = self.finished.get(timeout=self.watch.interval)
            except Empty:
                continue
            tried = self.in_flight.pop(future.key)[1]
            report = self._report(future, tried)
            future.release()
            if report is not None:
                self.watch.task_done()
                yield tried.pair, report

    def release(self) -> None:
        """Release all tasks in flight: those that were not begun never are."""
        for future, _ in self.in_flight.values():
            future.release()

    def _send(self) -> None:
        """Send tasks, as many as keep all workers busy."""
        while self.waiting and len(self.in_flight) < self.watch.window and self.client.status == "running":
            tried = self.waiting.popleft()
            function = self.attempt_again if tried.isolated else self.attempt
            self.sent += 1
            future = self.client.submit(function, tried.pair, key=f"{self.name}-{self.sent}", pure=False)
            self.in_flight[future.key] = future, tried
            future.add_done_callback(self.finished.put)

    def _report(self, future: Future, tried: _Try) -> Report | None:
        """Return what came of a task; None where it has to wait for another try."""
        lost = False
        try:
            report: Report = future.result(timeout=self.watch.call_timeout)
            if not report.suspect:
                return report
            logger.warning("%s: its process crashed; it is tried again in one of its own", tried.pair[0])
            tried = replace(tried, isolated=True)
        except KilledWorker:
            lost = True
        except UNREACHABLE:
            pass  # the cluster does not hold it any more; if it is done, its record says so
        except Exception as error:  # attempts raise nothing, so that this one could not be made
            raise RuntimeError(f"workers must be able to do the tasks, got {describe_error(error)}") from None
        tried = replace(tried, losses=tried.losses + lost)
        logger.warning(
            "%s: lost by the cluster (%d of its workers ended); it is sent again", tried.pair[0], tried.losses
        )
        if tried.losses >= MAX_LOSSES:
            return Report(error=f"the workers that had it ended, {tried.losses} of them")
        self.waiting.appendleft(tried)
        return None


class _Heartbeats:
    """Checks that the scheduler answers, and that workers with our tasks send heartbeats."""

    def __init__(self, client: Client, heartbeat_timeout: float) -> None:
        self.client, self.heartbeat_timeout = client, heartbeat_timeout
        self.interval, self.call_timeout = min(MAX_POLL_INTERVAL, heartbeat_timeout / 10), heartbeat_timeout / 4
        self.window = TASKS_IN_FLIGHT
        self.last_sign = self.checked = time.monotonic()
        self.last_seen: dict[str, float] = {}

    def task_done(self) -> None:
        """Note a finished task, which counts as a heartbeat."""
        self.last_sign = time.monotonic()

    def check(self, keys: Any) -> None:
        """Check the cluster once an interval; raise a RuntimeError without a heartbeat for the timeout."""
        now = time.monotonic()
        if self.client.status == "closed":
            raise RuntimeError(f"the scheduler must be there, got a connection that is closed; {RESUMES}")
        if now - self.checked < self.interval:
            return
        if now - self.checked > 2 * self.interval + self.call_timeout:
            self.last_sign = now  # we were away, as when a caller takes its time with a result
        trouble = self._trouble(keys)
        self.checked = time.monotonic()
        if trouble is None:
            self.last_sign = self.checked
        elif (
            self.checked - self.last_sign + self.interval + self.call_timeout > self.heartbeat_timeout
        ):  # else the next look might be too late
            raise RuntimeError(f"{trouble} for {self.heartbeat_timeout:g} seconds; {RESUMES}")

    def _trouble(self, keys: Any) -> str | None:
        """Say what keeps the work from being done; None where nothing does."""
        try:
            workers, processing = self.client.sync(_state, self.client, callback_timeout=self.call_timeout)
        except UNREACHABLE:
            return "the scheduler must answer, got no answer"
        self.window = TASKS_IN_FLIGHT + 2 * sum(worker["nthreads"] for worker in workers.values())
        if not workers:
            return "there must be workers, got none"
        ours = [address for address, held in processing.items() if not keys.keys().isdisjoint(held)] or list(workers)
        before, self.last_seen = self.last_seen, {address: worker["last_seen"] for address, worker in workers.items()}
        living = [address for address in ours if self.last_seen.get(address, 0) > before.get(address, 0)]
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
