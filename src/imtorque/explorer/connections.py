"""Connections of strangers: bounded in number and in the time that they may be silent, and logged sparingly."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import Callable
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

LOGGER = logging.getLogger("imtorque.explorer")

# Bounds on what clients hold open.
MAX_CONNECTIONS = 400  # below the 1,024 files that a process may open by default; bound: open files
BACKLOG = 100  # accepted at once, on top of these; bound: open files
SILENT_SECONDS = 10.0  # until a request is whole, between two, and for a part of an answer; bound: connections held
LOG_INTERVAL = 1.0  # seconds; bound: lines logged


class Throttle(logging.Filter):
    """Let one record pass in each interval; it says how many were left out before it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Read the time from a clock, in seconds."""
        super().__init__()
        self._clock = clock
        self._next = -float("inf")
        self._left_out = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record passes."""
        now = self._clock()
        if record.levelno < logging.WARNING:
            return True
        if now < self._next:
            self._left_out += 1
            return False
        if self._left_out:
            record.msg = f"{record.getMessage()} ({self._left_out} more were not logged)"
            record.args = ()
        self._next, self._left_out = now + LOG_INTERVAL, 0
        return True


LOGGER.addFilter(Throttle())


class Connection(H11Protocol):
    """One connection; it is closed where a request does not come, or its answer is not taken.

    Where there are too many, the one that has been silent for longest makes room.
    """

    _numbers = itertools.count()
    _timer: asyncio.TimerHandle | None = None
    _heard = 0  # when it last said something, in an order of all connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Make room, and wait for a request."""
        self.logger = LOGGER
        super().connection_made(transport)
        self._heard = next(self._numbers)
        if len(self.connections) > MAX_CONNECTIONS:
            silent = [one for one in self.connections if isinstance(one, Connection) and not one.is_busy]
            longest = min(silent, key=lambda one: one._heard)
            self.connections.discard(longest)
            longest.transport.abort()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Go on with a request; the time for its head does not begin anew with each byte."""
        self._heard = next(self._numbers)
        super().data_received(data)
        if self.is_busy and not self.flow.write_paused:
            self._stop_waiting()
        elif self._timer is None:
            self._wait()

    def pause_writing(self) -> None:
        """Wait for the client to take the answer."""
        self.flow.pause_writing()
        self._wait()

    def resume_writing(self) -> None:
        """Go on with the answer."""
        self._stop_waiting()
        self.flow.resume_writing()

    @property
    def is_busy(self) -> bool:
        """Whether a request is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        self._stop_waiting()
        self._timer = self.loop.call_later(SILENT_SECONDS, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def server_config(app: ASGIApp, **options: Any) -> uvicorn.Config:
    """Return how uvicorn serves the explorer."""
    idle = int(SILENT_SECONDS)
    return uvicorn.Config(
        app, http=Connection, ws="none", backlog=BACKLOG, timeout_keep_alive=idle, log_level="warning", **options
    )


def log_loop_error(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log in one line what fails in the event loop itself, such as accepting with all files in use."""
    LOGGER.error("%s: %r", context["message"], context.get("exception"))
