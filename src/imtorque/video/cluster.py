"""Segments of a video on a cluster of dask's, by the engine for many tasks."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from imtorque import __version__
from imtorque.core.types import Extrema

if TYPE_CHECKING:
    from distributed import Client

Found = tuple[int, float, Extrema]


def on_cluster(
    work: Callable[[Any], list[Found]], segments: Sequence[Any], client: Client, files: Sequence[str], folder: Path
) -> Iterator[list[Found]]:
    """Yield what is found in each segment, in order, as soon as those before it are done.

    Segments that are done have records, by what they depend on, so that the same call goes on where it was stopped.
    When all are done, and where one cannot be, the records are removed.

    Parameters
    ----------
    work
        From a segment to what is found in it.
    segments
        The parts of the video.
    client
        Of the cluster, whose workers must see the video and the folder.
    files
        What the video is read from.
    folder
        Where the records are kept meanwhile; nothing else may be in it.
    """
    from imtorque.jobs.engine import Failure, task_outcomes  # here, because they need dask only when they are used
    from imtorque.jobs.files import file_state, identity

    depends = repr((identity(work), __version__, [(name, file_state(name)) for name in files]))
    start = hashlib.sha256(depends.encode()).hexdigest()[:24]
    done: dict[int, list[Found]] = {}
    wanted = 0
    items = [(f"{start}-{number:06}", (number, segment)) for number, segment in enumerate(segments)]
    for outcome in task_outcomes(partial(_plain, work), items, client=client, records=folder):
        if isinstance(outcome, Failure):
            _remove(folder)
            raise ValueError(outcome.message)
        done[outcome.item[0]] = [_rebuilt(*row) for row in outcome.value]
        while wanted in done:
            yield done.pop(wanted)
            wanted += 1
    _remove(folder)


def _remove(folder: Path) -> None:
    """Remove the records; a task that is just ending may still write there, so more than once where it must be."""
    for _ in range(100):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.02)


def _plain(work: Callable[[Any], list[Found]], item: tuple[int, Any]) -> list[list[Any]]:
    """Return what is found in a segment as JSON has it, which keeps every bit of a float."""
    return [
        [number, time, *(column.tolist() for column in (found.y, found.x, found.size, found.value))]
        for number, time, found in work(item[1])
    ]


def _rebuilt(number: int, time: float, y: Any, x: Any, size: Any, value: Any) -> Found:
    return number, time, Extrema(np.array(y), np.array(x), np.array(size), np.array(value, np.float64))
