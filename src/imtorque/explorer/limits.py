"""What goes on at once: uploads and computations, each bounded, and none for longer than somebody waits for it."""

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
from imtorque.explorer.access import MOST_UPLOAD_BYTES

MOST_UPLOADS = 2  # that are read at once; others wait, unread
MOST_WAITING = 30  # uploads
UPLOAD_SECONDS = 60.0  # for one upload as a whole, and as long for its turn
STALL_SECONDS = 5.0  # without a byte
MOST_COMPUTING = 4  # answers at once: each takes memory

Result = TypeVar("Result")


def plain_algebra() -> AbstractContextManager[Any]:
    """Let linear algebra use one thread: its products here take a millisecond, and its other threads spin for ten."""
    limits: AbstractContextManager[Any] = threadpool_limits(1, user_api="blas")
    return limits


class Uploads:
    """Reads what is sent, a few at a time, each within its time."""

    def __init__(self) -> None:
        """Nothing is being read yet."""
        self._turn = asyncio.Semaphore(MOST_UPLOADS)
        self._waiting = 0

    async def read(self, request: Request) -> bytes:
        """Return the body of a request, or refuse it where it is too much, too slow, or one of too many."""
        if self._waiting >= MOST_WAITING:
            raise HTTPException(503, "too many images are being sent at once: try again in a moment")
        self._waiting += 1
        try:
            with anyio.fail_after(UPLOAD_SECONDS):
                await self._turn.acquire()
        except TimeoutError:
            raise HTTPException(503, "too many images are being sent at once: try again in a moment") from None
        finally:
            self._waiting -= 1
        try:
            with anyio.fail_after(UPLOAD_SECONDS):
                return await _body(request)
        except TimeoutError:
            seconds = f"{UPLOAD_SECONDS:.0f} s, without a pause of {STALL_SECONDS:.0f} s"
            raise HTTPException(408, f"an image must be sent within {seconds}, got a slower one") from None
        finally:
            self._turn.release()


async def _body(request: Request) -> bytes:
    """Return what was sent, and stop reading where it is too much."""
    body = io.BytesIO()  # which gives its bytes away without a copy
    parts = request.stream()
    while True:
        with anyio.fail_after(STALL_SECONDS):
            part = await anext(parts, None)
        if part is None:
            return body.getvalue()
        if body.tell() + len(part) > MOST_UPLOAD_BYTES:
            raise HTTPException(413, f"an image must have at most {MOST_UPLOAD_BYTES // 2**20} MiB, got more")
        body.write(part)


class Workers:
    """Computes beside the event loop; a computation ends when whoever asked for it has gone."""

    def __init__(self, most: int | None = None) -> None:
        """Compute no more at once than this; by default as many as there are processors, within bounds."""
        usual = min(MOST_COMPUTING, max(2, available_cores()))
        self._limiter = anyio.CapacityLimiter(usual if most is None else most)

    async def compute(self, request: Request, work: Callable[[], Result]) -> Result:
        """Return what the work returns; it ends with `Cancelled` soon after the request is given up."""
        cancellation = _native.Cancellation()

        def run() -> Result:
            with cancel_with(cancellation):
                if cancellation.cancelled:  # while it waited for its turn
                    raise _native.Cancelled
                return work()

        watching = asyncio.create_task(_cancel_on_leaving(request, cancellation))
        try:
            return await anyio.to_thread.run_sync(run, limiter=self._limiter)
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching


async def _cancel_on_leaving(request: Request, cancellation: _native.Cancellation) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    cancellation.cancel()
