"""The explorer's server: the page's files, and the library's functions for the images it holds."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources

import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

import imtorque
from imtorque import _native
from imtorque.datasets import SAMPLES
from imtorque.explorer.access import MOST_UPLOAD_BYTES, Guard
from imtorque.explorer.handlers import ANSWERS, Answer, described
from imtorque.explorer.image_store import (
    Given,
    HeldImage,
    ImageStore,
    image_of_file,
    image_of_sample,
    return_memory,
)
from imtorque.explorer.limits import Uploads, Workers
from imtorque.explorer.qr import qr_image
from imtorque.explorer.settings import Settings, read_settings

SWEEP_SECONDS = 5.0
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
GONE = 499  # nobody reads the answer


def make_app(
    start: Sequence[Given] = (),
    *,
    names: tuple[str, ...] = (),
    store: ImageStore | None = None,
    network: str | None = None,
    notebook: Notebook | None = None,
) -> ASGIApp:
    """Return the explorer as an ASGI application.

    Parameters
    ----------
    start
        The images the page goes through, the first of which it opens with; a drawn scene where there are none.
    names
        Host names, besides addresses and localhost, by which the server may be asked for.
    store
        Where images are held.
    network
        Where other machines find the page, if they do.
    notebook
        Told what is on the page, which it may have in a frame.
    """
    held = ImageStore() if store is None else store
    explorer = Explorer(held, start, network, notebook)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async def sweep() -> None:
            while True:
                await asyncio.sleep(SWEEP_SECONDS)
                held.sweep()
                if held.some_went():
                    await anyio.to_thread.run_sync(return_memory)

        sweeping = asyncio.create_task(sweep())
        yield
        sweeping.cancel()

    app = Starlette(
        routes=explorer.routes(),
        exception_handlers={
            HTTPException: _refuse,
            ValueError: _refuse,
            ImportError: _refuse,  # an extra that is not installed; the message names it
            ClientDisconnect: _gone,
            _native.Cancelled: _gone,
            Exception: _fail,
        },
        lifespan=lifespan,
    )
    return Guard(
        app, names, () if notebook is None else notebook.ancestors
    )  # around all of it, so that answers to failures have its headers too


@dataclass
class Notebook:
    """The notebook that shows the page: who may frame it, and what was last on it."""

    ancestors: tuple[str, ...]
    image: HeldImage | None = None
    settings: Settings = field(default_factory=Settings)


class Explorer:
    """The answers to the page's requests."""

    def __init__(
        self, store: ImageStore, start: Sequence[Given], network: str | None, notebook: Notebook | None
    ) -> None:
        """Answer about the images in the store, and about those that are given."""
        self._store = store
        self._start = start
        self._network = network
        self._notebook = notebook
        self._uploads = Uploads()
        self._decoding = Workers(1)  # an image may be large until it is shrunk
        self._answering = Workers()
        self._files = _page_files()

    def routes(self) -> list[Route]:
        """Return what is answered where."""
        return [
            Route("/", self._page("index.html")),
            *(Route(f"/page/{name}", self._page(name)) for name in self._files),
            Route("/api/start", self.about),
            Route("/api/qr.svg", self.qr_code),
            Route("/api/images", self.take, methods=["POST"]),
            Route("/api/images/{key}", self.forget, methods=["DELETE"]),
            Route("/api/images/{key}/close", self.close, methods=["POST"]),
            *([Route("/api/images/{key}/state", self.note, methods=["POST"])] if self._notebook else []),
            *(Route(f"/api/images/{{key}}{name}", self._computed(answer)) for name, answer in ANSWERS.items()),
        ]

    async def about(self, _: Request) -> Response:
        """Say which images there are to begin with, and how large one may be."""
        facts = {
            "version": imtorque.__version__,
            "samples": list(SAMPLES),
            "start": [one.name for one in self._start],
            "most_bytes": MOST_UPLOAD_BYTES,
            "network": self._network,
            "notebook": self._notebook is not None,
        }
        return JSONResponse(facts)

    async def qr_code(self, request: Request) -> Response:
        """Answer a text, such as the page's address, as a QR code."""
        text = request.query_params.get("text", "")
        return Response(qr_image(text), media_type="image/svg+xml")

    async def take(self, request: Request) -> Response:
        """Take an image: a file in the body, the name of a sample, or the number of one it was started with."""
        query = dict(request.query_params)
        if set(query) == {"sample"}:
            image = await self._decoding.compute(request, lambda: image_of_sample(query["sample"]))
        elif set(query) == {"start"}:
            image = await self._decoding.compute(request, self._given(query["start"]).read)
        elif set(query) == {"name"}:
            data = await self._uploads.read(request)
            name = query["name"][:200] or "image"
            image = await self._decoding.compute(request, lambda: image_of_file(data, name))
        else:
            raise ValueError(f"an image must be given by name and content, or by sample, got {sorted(query)}")
        self._store.add(image)
        return JSONResponse(described(image), 201)

    def _given(self, text: str) -> Given:
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < 8 else -1
        if not 0 <= number < len(self._start):
            raise ValueError(f"start must be the number of an image, below {len(self._start)}, got {text[:40]!r}")
        return self._start[number]

    async def note(self, request: Request) -> Response:
        """Take note of what is on the page, for the notebook."""
        if self._notebook is not None:
            self._notebook.image, self._notebook.settings = self._asked(request)
        return Response(status_code=204)

    async def close(self, request: Request) -> Response:
        """Take a tab's farewell."""
        self._store.close(request.path_params["key"])
        return Response(status_code=204)

    async def forget(self, request: Request) -> Response:
        """Let an image go."""
        self._store.remove(request.path_params["key"])
        return Response(status_code=204)

    def _computed(self, answer: Answer) -> Callable[[Request], Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            image, settings = self._asked(request)
            return await self._answering.compute(request, lambda: answer(image, settings))

        return respond

    def _asked(self, request: Request) -> tuple[HeldImage, Settings]:
        """Return the image a request is about, and its settings."""
        settings = read_settings(dict(request.query_params))
        try:
            image = self._store.get(request.path_params["key"])
            teachers = tuple(self._store.get(key) for key, _ in settings.lessons)
        except KeyError:
            raise HTTPException(410, "this image is no longer held: open it again") from None
        return image, replace(settings, teachers=teachers)

    def _page(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        content = self._files[name]
        media = TYPES[os.path.splitext(name)[1]]

        async def respond(_: Request) -> Response:
            return Response(content, media_type=media)

        return respond


async def _refuse(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 400
    message = error.detail if isinstance(error, HTTPException) else str(error)
    return JSONResponse({"error": message}, status)


async def _gone(_: Request, __: Exception) -> Response:
    return Response(status_code=GONE)


async def _fail(_: Request, error: Exception) -> Response:
    return JSONResponse({"error": f"the explorer failed: {type(error).__name__}"}, 500)


def _page_files() -> dict[str, bytes]:
    """Return the page's files by name. They are read once: no request reaches the file system."""
    folder = resources.files("imtorque.explorer") / "page"
    return {file.name: file.read_bytes() for file in folder.iterdir() if os.path.splitext(file.name)[1] in TYPES}
