"""Limits on concurrent uploads and computations; a computation ends when its client disconnects."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from threadpoolctl import threadpool_limits

from imtorque import _native
from imtorque.core.threads import available_cores, cancel_with
from imtorque.explorer.access import MAX_UPLOAD_BYTES

# Bounds on memory and on the time of one client.
MAX_UPLOADS = 2  # read at once; others wait, unread; bound: memory
MAX_WAITING = 30  # uploads; bound: of the server's load
UPLOAD_SECONDS = 60.0  # for one upload as a whole, and as long for its turn; bound: of a client's hold
STALL_SECONDS = 5.0  # without a byte; bound: of a client's hold
MAX_COMPUTATIONS = 4  # at once; bound: of the server's load

Result = TypeVar("Result")


def single_threaded_blas() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread: the products here take a millisecond, and idle BLAS threads spin for ten."""
    limits: AbstractContextManager[Any] = threadpool_limits(1, user_api="blas")
    return limits


class Uploads:
    """Reads uploads, a few at a time, each within a time limit."""

    def __init__(self) -> None:
        """Start without uploads."""
        self._turn = asyncio.Semaphore(MAX_UPLOADS)
        self._waiting = 0

    async def read(self, request: Request) -> bytes:
        """Return the body of a request; refuse one that is too large, too slow, or one of too many."""
        if self._waiting >= MAX_WAITING:
            raise HTTPException(503, "too many uploads at once: try again in a moment")
        self._waiting += 1
        try:
            with anyio.fail_after(UPLOAD_SECONDS):
                await self._turn.acquire()
        except TimeoutError:
            raise HTTPException(503, "too many uploads at once: try again in a moment") from None
        finally:
            self._waiting -= 1
        try:
            with anyio.fail_after(UPLOAD_SECONDS):
                return await _body(request)
        except TimeoutError:
            limits = f"{UPLOAD_SECONDS:.0f} s in all, {STALL_SECONDS:.0f} s idle"
            raise HTTPException(408, f"upload timed out ({limits})") from None
        finally:
            self._turn.release()


async def _body(request: Request) -> bytes:
    """Return the body; stop reading beyond the size limit."""
    body = io.BytesIO()  # returns its bytes without a copy
    parts = request.stream()
    while True:
        with anyio.fail_after(STALL_SECONDS):
            part = await anext(parts, None)
        if part is None:
            return body.getvalue()
        if body.tell() + len(part) > MAX_UPLOAD_BYTES:
            raise HTTPException(413, f"an image must have at most {MAX_UPLOAD_BYTES // 2**20} MiB, got more")
        body.write(part)


class Workers:
    """Computes in threads beside the event loop; a computation is cancelled when its client disconnects."""

    def __init__(self, maximum: int | None = None) -> None:
        """Allow this many computations at once; by default one for each processor, within bounds."""
        default = min(MAX_COMPUTATIONS, max(2, available_cores()))
        self._limiter = anyio.CapacityLimiter(default if maximum is None else maximum)

    async def compute(self, request: Request, work: Callable[[], Result]) -> Result:
        """Return the result of the work; it raises `Cancelled` soon after the client disconnects."""
        cancellation = _native.Cancellation()

        def run() -> Result:
            with cancel_with(cancellation):
                if cancellation.cancelled:  # while it waited for its turn
                    raise _native.Cancelled
                return work()

        watcher = asyncio.create_task(_cancel_on_disconnect(request, cancellation))
        try:
            return await anyio.to_thread.run_sync(run, limiter=self._limiter)
        finally:
            watcher.cancel()
            with suppress(asyncio.CancelledError):
                await watcher


async def _cancel_on_disconnect(request: Request, cancellation: _native.Cancellation) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    cancellation.cancel()
