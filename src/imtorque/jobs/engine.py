"""Many tasks, each from store to store, on the processes of this machine or on a dask cluster.

A task reads what it needs and writes its results; then its record is written, and it is never done again. A task
whose process crashed is tried once more in a process of its own, which shows whether it was the cause.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imtorque.core.deprecation import accept_old_keywords
from imtorque.io.atomic import remove_leftovers
from imtorque.jobs.processes import default_jobs, outcomes
from imtorque.jobs.records import Records
from imtorque.jobs.subprocesses import pack
from imtorque.jobs.worker import Attempt, Report, attempt_isolated

if TYPE_CHECKING:
    from distributed import Client

Pair = tuple[str, Any]  # a key and its item
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Failure:
    """A task that could not be done, and why, in one line."""

    key: str
    message: str


@dataclass(frozen=True)
class Done:
    """A task that is done, with its value; `before` says that it was when the run began."""

    key: str
    item: Any
    value: Any
    before: bool = False


@accept_old_keywords
def run_tasks(
    task: Callable[[Any], Any],
    items: Sequence[Pair],
    *,
    client: Client | None = None,
    jobs: int | None = None,
    records: str | Path,
    on_done: Callable[[Any, Any], None] | None = None,
    heartbeat_timeout: float = 60.0,
    on_crash: Callable[[Any], Any] | None = None,
) -> list[Failure]:
    """Do all tasks that are not done yet, and return those that could not be.

    Parameters
    ----------
    task
        A function of one item, of a module or a partial of one. It does all its reading and writing itself, may be
        called twice for an item, and returns something small that JSON can hold. Kernels have one thread in it.
    items
        Pairs of a key, which names the task and is its own, and the item.
    client
        Of a cluster, whose workers must see the same files; by default processes of this machine do the work.
    jobs
        How many processes, as many as cores by default; 1 is this one, with all its threads.
    records
        The folder of the records, made where it is missing. A key whose record is there is not run again.
    on_done
        Called here for each task that is done, also before, with the item and what the task returned.
    heartbeat_timeout
        Seconds within which workers must send a heartbeat.
    on_crash
        Called instead of `task` for an item whose process crashed. It runs in a process that may start others, to find
        out what crashed it.

    Raises
    ------
    RuntimeError
        Where no worker sent a heartbeat for `heartbeat_timeout` seconds.
    OSError
        Where the disk is full.
    """
    failures = []
    outcomes = task_outcomes(
        task, items, client=client, jobs=jobs, records=records, heartbeat_timeout=heartbeat_timeout, on_crash=on_crash
    )
    for outcome in outcomes:
        if isinstance(outcome, Failure):
            failures.append(outcome)
        elif on_done is not None:
            on_done(outcome.item, outcome.value)
    return failures


def task_outcomes(
    task: Callable[[Any], Any],
    items: Sequence[Pair],
    *,
    client: Client | None = None,
    jobs: int | None = None,
    records: str | Path,
    heartbeat_timeout: float = 60.0,
    on_crash: Callable[[Any], Any] | None = None,
) -> Iterator[Done | Failure]:
    """Do what `run_tasks` does, and yield what came of each task as soon as it is known, in any order."""
    _check(task, items, jobs, heartbeat_timeout)
    if client is not None and not hasattr(client, "submit"):
        raise TypeError(f"client must be a distributed.Client, got {client!r:.80}")
    if client is None and jobs != 1:
        pack(task)  # which processes and workers can be handed, or an error before anything begins
    store = Records(Path(records).absolute())
    store.folder.mkdir(parents=True, exist_ok=True)
    remove_leftovers(store.folder)
    left = []
    for key, item in items:
        stored = store.read(key)
        if stored is None:
            left.append((key, item))
        else:
            yield Done(key, item, stored[0], before=True)
    attempt = Attempt(task, store)
    again = replace(attempt, task=on_crash or task, isolated=True)
    if client is None:
        yield from _outcomes_here(attempt, again, left, jobs)
    else:
        from imtorque.jobs.cluster import reports_of

        for pair, report in reports_of(client, attempt, again, left, heartbeat_timeout):
            yield _outcome(pair, report)


def _outcomes_here(
    attempt: Attempt, again: Attempt, left: Sequence[Pair], jobs: int | None
) -> Iterator[Done | Failure]:
    """Do tasks on this machine; those whose process ended come last, one at a time, when memory is free."""
    if jobs == 1:
        attempt = replace(attempt, threads=None)
    suspects = []
    found = outcomes(attempt, left, jobs or default_jobs(), finish=True, isolated=jobs != 1)
    for pair, attempted in zip(left, found, strict=True):
        if isinstance(attempted.error, ChildProcessError) or (attempted.error is None and attempted.get().suspect):
            logger.warning("%s: its process crashed; it is tried again in one of its own", pair[0])
            suspects.append(pair)
        else:
            yield _outcome(pair, attempted.get())
    for pair in suspects:
        yield _outcome(pair, attempt_isolated(again, pair))


def _outcome(pair: Pair, report: Report) -> Done | Failure:
    if report.full:
        raise OSError(f"{report.error}; what is done is recorded, and the same call goes on from there")
    if report.error is not None:
        return Failure(pair[0], report.error)
    return Done(*pair, report.value)


def _check(task: Callable[[Any], Any], items: Sequence[Pair], jobs: int | None, heartbeat_timeout: float) -> None:
    if not callable(task):
        raise TypeError(f"task must be a function of one item, got {task!r:.80}")
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    if not heartbeat_timeout > 0:
        raise ValueError(f"heartbeat_timeout must be a number of seconds above 0, got {heartbeat_timeout}")
    if len({key for key, _ in items}) < len(items):
        raise ValueError("every task must have a key of its own, got one twice")
