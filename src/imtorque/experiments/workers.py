"""One function over many images, several at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

from imtorque.threads import set_num_threads

Item = TypeVar("Item")
Result = TypeVar("Result")


def each(function: Callable[[Item], Result], items: Iterable[Item], jobs: int) -> Iterator[Result]:
    """Yield function(item) for every item, in order; with several jobs in as many processes, one thread each.

    The function must be one that a process can be handed: of a module, or a partial of one.
    """
    if jobs <= 1:
        yield from map(function, items)
        return
    with ProcessPoolExecutor(jobs, get_context("spawn"), set_num_threads, (1,)) as pool:
        try:
            yield from pool.map(function, items)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
