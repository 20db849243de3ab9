"""The explorer's server: the page's files, and the library's functions on the stored images."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Any

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
from imtorque.edges import DETECTORS, CannyOptions, Detector
from imtorque.explorer.access import MAX_UPLOAD_BYTES, Guard
from imtorque.explorer.connections import log_loop_error
from imtorque.explorer.handlers import HANDLERS, Handler, image_info
from imtorque.explorer.image_store import (
    ImageStore,
    StartImage,
    StoredImage,
    image_of_file,
    image_of_sample,
    return_memory,
)
from imtorque.explorer.limits import Uploads, Workers
from imtorque.explorer.settings import Settings, read_settings

EVICTION_INTERVAL = 5.0  # seconds; convention: well below image_store.CLOSE_GRACE
MEDIA_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
CLIENT_CLOSED_REQUEST = 499  # convention: nginx's status, which nobody reads


def make_app(
    start: Sequence[StartImage] = (),
    *,
    names: tuple[str, ...] = (),
    store: ImageStore | None = None,
    notebook: Notebook | None = None,
    token: str | None = None,
) -> ASGIApp:
    """Return the explorer as an ASGI application.

    Parameters
    ----------
    start
        The images to go through; the page opens with the first, or with a drawn scene where there are none.
    names
        Host names the server answers to, besides addresses and localhost.
    store
        Keeps the images.
    notebook
        Receives the page's state, and may frame the page.
    token
        The first part of every path; None for none.
    """
    images = ImageStore() if store is None else store
    explorer = Explorer(images, start, notebook)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        asyncio.get_running_loop().set_exception_handler(log_loop_error)

        async def evict() -> None:
            while True:
                await asyncio.sleep(EVICTION_INTERVAL)
                images.evict()
                if images.pop_evicted():
                    await anyio.to_thread.run_sync(return_memory)

        eviction = asyncio.create_task(evict())
        yield
        eviction.cancel()

    app = Starlette(
        routes=explorer.routes(),
        exception_handlers={
            HTTPException: _refuse,
            ValueError: _refuse,
            ImportError: _refuse,  # a missing extra, which the message names
            ClientDisconnect: _disconnected,
            _native.Cancelled: _disconnected,
            Exception: _fail,
        },
        lifespan=lifespan,
    )
    # Outermost, so that answers to failures have its headers too.
    return Guard(app, names, () if notebook is None else notebook.ancestors, token)


@dataclass
class Notebook:
    """The notebook that shows the page: the sites that may frame it, and the page's last state."""

    ancestors: tuple[str, ...]
    image: StoredImage | None = None
    settings: Settings = field(default_factory=Settings)


class Explorer:
    """The answers to the page's requests."""

    def __init__(self, store: ImageStore, start: Sequence[StartImage], notebook: Notebook | None) -> None:
        """Serve the images of the store, and those it was started with."""
        self._store = store
        self._start = start
        self._notebook = notebook
        self._uploads = Uploads()
        self._decoding = Workers(1)  # one at a time: an image may be large until it is shrunk
        self._computing = Workers()
        self._files = _page_files()

    def routes(self) -> list[Route]:
        """Return the handler of each path."""
        return [
            Route("/", self._page("index.html")),
            *(Route(f"/page/{name}", self._page(name)) for name in self._files),
            Route("/api/start", self.start),
            Route("/api/images", self.upload, methods=["POST"]),
            Route("/api/images/{key}", self.remove, methods=["DELETE"]),
            Route("/api/images/{key}/close", self.close, methods=["POST"]),
            *([Route("/api/images/{key}/state", self.sync, methods=["POST"])] if self._notebook else []),
            *(Route(f"/api/images/{{key}}{name}", self._computed(handler)) for name, handler in HANDLERS.items()),
        ]

    async def start(self, _: Request) -> Response:
        """Answer what the page needs to start: the images to choose from, and limits."""
        facts = {
            "version": imtorque.__version__,
            "samples": list(SAMPLES),
            "detectors": [_detector_info(detector) for detector in DETECTORS.values()],
            "start": [one.name for one in self._start],
            "max_bytes": MAX_UPLOAD_BYTES,
            "notebook": self._notebook is not None,
        }
        return JSONResponse(facts)

    async def upload(self, request: Request) -> Response:
        """Store an image: a file in the body, a sample by name, or a start image by number."""
        query = dict(request.query_params)
        plane = {name: _plane_number(name, query.pop(name)) for name in ("page", "channel") if name in query}
        if set(query) == {"sample"}:
            image = await self._decoding.compute(request, lambda: image_of_sample(query["sample"]))
        elif set(query) == {"start"}:
            read = self._start_image(query["start"]).read
            image = await self._decoding.compute(request, lambda: read(**plane))
        elif set(query) == {"name"}:
            data = await self._uploads.read(request)
            name = query["name"][:200] or "image"
            image = await self._decoding.compute(request, lambda: image_of_file(data, name, **plane))
        else:
            raise ValueError(f"an image must be given by name and content, or by sample, got {sorted(query)}")
        self._store.add(image)
        return JSONResponse(image_info(image), 201)

    def _start_image(self, text: str) -> StartImage:
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < 8 else -1
        if not 0 <= number < len(self._start):
            raise ValueError(f"start must be the number of an image, below {len(self._start)}, got {text[:40]!r}")
        return self._start[number]

    async def sync(self, request: Request) -> Response:
        """Keep the state of the page for the notebook."""
        if self._notebook is not None:
            self._notebook.image, self._notebook.settings = self._parsed(request)
        return Response(status_code=204)

    async def close(self, request: Request) -> Response:
        """Mark the tab closed."""
        self._store.close(request.path_params["key"])
        return Response(status_code=204)

    async def remove(self, request: Request) -> Response:
        """Remove an image."""
        self._store.remove(request.path_params["key"])
        return Response(status_code=204)

    def _computed(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            image, settings = self._parsed(request)
            return await self._computing.compute(request, lambda: handler(image, settings))

        return respond

    def _parsed(self, request: Request) -> tuple[StoredImage, Settings]:
        """Return the image of a request, and its settings."""
        settings = read_settings(dict(request.query_params))
        try:
            image = self._store.get(request.path_params["key"])
            training_images = tuple(self._store.get(key) for key, _ in settings.training)
        except KeyError:
            raise HTTPException(410, "this image is no longer stored: open it again") from None
        return image, replace(settings, training_images=training_images)

    def _page(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        content = self._files[name]
        media_type = MEDIA_TYPES[os.path.splitext(name)[1]]

        async def respond(_: Request) -> Response:
            return Response(content, media_type=media_type)

        return respond


def _detector_info(detector: Detector) -> dict[str, Any]:
    """Return what the page offers of a base detector; `has_settings`: whether the page's edge settings apply."""
    return {
        "name": detector.name,
        "title": ", ".join(filter(None, (detector.title, detector.duration))),
        "description": detector.description,
        "needs": "" if detector.is_ready() else detector.needs,
        "has_settings": isinstance(detector.options, CannyOptions),
    }


def _plane_number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 8):
        raise ValueError(f"{name} must be a number from 0, got {text[:40]!r}")
    return int(text)


async def _refuse(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 400
    message = error.detail if isinstance(error, HTTPException) else str(error)
    return JSONResponse({"error": message}, status)


async def _disconnected(_: Request, __: Exception) -> Response:
    return Response(status_code=CLIENT_CLOSED_REQUEST)


async def _fail(_: Request, error: Exception) -> Response:
    return JSONResponse({"error": f"the explorer failed: {type(error).__name__}"}, 500)


def _page_files() -> dict[str, bytes]:
    """Return the page's files by name. They are read once: no request reaches the file system."""
    folder = resources.files("imtorque.explorer") / "page"
    return {file.name: file.read_bytes() for file in folder.iterdir() if os.path.splitext(file.name)[1] in MEDIA_TYPES}
