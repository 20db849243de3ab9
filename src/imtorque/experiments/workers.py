"""One function over many images, several at a time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

from imtorque.threads import set_num_threads

Item = TypeVar("Item")
Result = TypeVar("Result")


def each(
    function: Callable[[Item], Result], items: Sequence[Item], jobs: int, label: str, unit: str = "images"
) -> Iterator[Result]:
    """Yield function(item) for every item, in order; with several jobs in as many processes, one thread each.

    The function must be one that a process can be handed: of a module, or a partial of one. How far it is, is told on
    standard error.
    """
    for done, result in enumerate(results_of(function, items, jobs), start=1):
        if done % max(1, len(items) // 10) == 0 or done == len(items):
            print(f"{label}: {done} of {len(items)} {unit}", file=sys.stderr, flush=True)
        yield result


def results_of(function: Callable[[Item], Result], items: Sequence[Item], jobs: int) -> Iterator[Result]:
    """Yield function(item) for every item, as `each`, without a word."""
    if jobs <= 1:
        yield from map(function, items)
        return
    with ProcessPoolExecutor(jobs, get_context("spawn"), set_num_threads, (1,)) as pool:
        try:
            yield from pool.map(function, items)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
