"""The explorer's server: the page's files, and the library's functions for the pictures it holds."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from importlib import resources
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import numpy as np
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import imtorque
from imtorque.datasets import SAMPLES
from imtorque.explorer.frame import pack
from imtorque.explorer.guard import MOST_UPLOAD_BYTES, Guard
from imtorque.explorer.held import HeldPicture, PictureStore, picture_of_file, picture_of_sample
from imtorque.explorer.python_code import python_code
from imtorque.explorer.results import (
    contribution_of,
    edges_of,
    extrema_of,
    figure_of,
    layer_array,
    layer_overlay,
    layer_picture,
    maps_of,
    sizes_of,
)
from imtorque.explorer.settings import LAYERS, Settings, read_settings
from imtorque.files import encode_png
from imtorque.images import Picture
from imtorque.patterns import pattern_edges
from imtorque.threads import available_cores

SWEEP_SECONDS = 5.0
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
BINARY = "application/octet-stream"

Result = TypeVar("Result")
Answer = Callable[[HeldPicture, Settings], Response]


def make_app(
    start: HeldPicture | None = None, *, names: tuple[str, ...] = (), store: PictureStore | None = None
) -> Starlette:
    """Return the explorer as an ASGI application.

    Parameters
    ----------
    start
        The picture the page opens with; a drawn scene where there is none.
    names
        Host names, besides addresses and localhost, by which the server may be asked for.
    store
        Where pictures are held.
    """
    held = PictureStore() if store is None else store
    explorer = Explorer(held, start)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async def sweep() -> None:
            while True:
                await asyncio.sleep(SWEEP_SECONDS)
                held.sweep()

        sweeping = asyncio.create_task(sweep())
        yield
        sweeping.cancel()

    return Starlette(
        routes=explorer.routes(),
        middleware=[Middleware(Guard, names=names)],
        exception_handlers={HTTPException: _refuse, ValueError: _refuse, Exception: _fail},
        lifespan=lifespan,
    )


class Explorer:
    """The answers to the page's requests."""

    def __init__(self, store: PictureStore, start: HeldPicture | None) -> None:
        """Answer about the pictures in the store, the first of which may be given."""
        self._store = store
        self._start = start
        self._working = anyio.CapacityLimiter(max(2, available_cores()))
        self._files = _page_files()

    def routes(self) -> list[Route]:
        """Return what is answered where."""
        answers: dict[str, Answer] = {
            "picture.png": _picture,
            "view": _view,
            "contribution": _contribution,
            "figure": _figure,
            "figure.png": _figure_png,
            "extrema.csv": _extrema_csv,
            "code": _code,
            **{f"{layer}.png": partial(_layer_png, layer) for layer in LAYERS},
            **{f"{layer}.npy": partial(_layer_npy, layer) for layer in LAYERS},
        }
        return [
            Route("/", self._page("index.html")),
            *(Route(f"/page/{name}", self._page(name)) for name in self._files),
            Route("/api/start", self.about),
            Route("/api/pictures", self.take, methods=["POST"]),
            Route("/api/pictures/{key}", self.forget, methods=["DELETE"]),
            Route("/api/pictures/{key}/close", self.close, methods=["POST"]),
            Route("/api/pictures/{key}", self._computed(_facts)),
            *(Route(f"/api/pictures/{{key}}/{name}", self._computed(answer)) for name, answer in answers.items()),
        ]

    async def about(self, _: Request) -> Response:
        """Say which pictures there are to begin with, and how large one may be."""
        start = None if self._start is None else self._start.name
        facts = {"version": imtorque.__version__, "samples": list(SAMPLES), "start": start}
        return JSONResponse({**facts, "most_bytes": MOST_UPLOAD_BYTES})

    async def take(self, request: Request) -> Response:
        """Take a picture: a file in the body, or the name of a sample, or the one the server was started with."""
        query = dict(request.query_params)
        if set(query) == {"sample"}:
            picture = await self._work(lambda: picture_of_sample(query["sample"]))
        elif set(query) == {"start"} and self._start is not None:
            first = self._start
            picture = HeldPicture(first.name, first.image, first.recipe)
        elif set(query) == {"name"}:
            data = await _body(request)
            picture = await self._work(lambda: picture_of_file(data, query["name"][:200] or "picture"))
        else:
            raise ValueError(f"a picture must be given by name and content, or by sample, got {sorted(query)}")
        self._store.add(picture)
        return JSONResponse(_described(picture), 201)

    async def close(self, request: Request) -> Response:
        """Take a tab's farewell."""
        self._store.close(request.path_params["key"])
        return Response(status_code=204)

    async def forget(self, request: Request) -> Response:
        """Let a picture go."""
        self._store.remove(request.path_params["key"])
        return Response(status_code=204)

    def _computed(self, answer: Answer) -> Callable[[Request], Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            settings = read_settings(dict(request.query_params))
            try:
                picture = self._store.get(request.path_params["key"])
            except KeyError:
                raise HTTPException(410, "this picture is no longer held: open it again") from None
            return await self._work(lambda: answer(picture, settings))

        return respond

    async def _work(self, compute: Callable[[], Result]) -> Result:
        """Compute beside the event loop, no more at once than there are processors."""
        return await anyio.to_thread.run_sync(compute, limiter=self._working)

    def _page(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        content = self._files[name]
        media = TYPES[os.path.splitext(name)[1]]

        async def respond(_: Request) -> Response:
            return Response(content, media_type=media)

        return respond


def _view(picture: HeldPicture, settings: Settings) -> Response:
    """Answer all that changes with the settings in one piece, so that the page never shows two states at once."""
    began = time.perf_counter()
    edges = edges_of(picture, settings)
    extrema = extrema_of(picture, settings)
    steps = edges.steps
    places = np.flatnonzero(edges.mask)
    arrays: dict[str, Any] = {"place": places.astype(np.int32)}
    turned = pattern_edges(edges, settings.pattern)
    forces = [("fx", edges.fx), ("fy", edges.fy)]
    forces += [("gx", turned.fx), ("gy", turned.fy)] if turned is not edges else []
    for name, force in forces:
        # As the kernels round: in float32, ties to even.
        arrays[name] = np.rint(force.ravel()[places] * np.float32(steps)).astype(np.int32)
    for layer in settings.layers:
        arrays[layer] = layer_overlay(picture, settings, layer)
    head = {
        "height": picture.shape[0],
        "width": picture.shape[1],
        "steps": steps,
        "sizes": sizes_of(picture, settings).tolist(),
        "limit": float(np.abs(maps_of(picture, settings)[0]).max()),
        "extrema": [
            {"y": y, "x": x, "size": size, "value": value}
            for y, x, size, value in zip(
                extrema.y.tolist(), extrema.x.tolist(), extrema.size.tolist(), extrema.value.tolist(), strict=True
            )
        ],
    }
    head["milliseconds"] = round(1000 * (time.perf_counter() - began), 1)
    return Response(pack(head, arrays), media_type=BINARY)


def _contribution(picture: HeldPicture, settings: Settings) -> Response:
    """Answer for each edge pixel, in the order of `place`, how much it turns with the chosen extremum."""
    contribution = contribution_of(picture, settings)
    edges = edges_of(picture, settings)
    return Response(pack({}, {"moment": contribution[edges.mask].astype(np.float32)}), media_type=BINARY)


def _figure(picture: HeldPicture, settings: Settings) -> Response:
    figure = figure_of(picture, settings)
    return Response(pack({"pixels": int(figure.sum())}, {"mask": figure.astype(np.uint8)}), media_type=BINARY)


def _figure_png(picture: HeldPicture, settings: Settings) -> Response:
    return _file(picture, "figure.png", encode_png(figure_of(picture, settings).astype(np.uint8) * np.uint8(255)))


def _picture(picture: HeldPicture, _: Settings) -> Response:
    """Answer the picture; one that was drawn or pasted under the name by which the code reads it."""
    same = picture.name.endswith(".png") and len(picture.recipe) == 1
    return _file(picture, "" if same else "picture.png", encode_png(Picture(picture.image).as_bytes()))


def _facts(picture: HeldPicture, _: Settings) -> Response:
    return JSONResponse(_described(picture))


def _extrema_csv(picture: HeldPicture, settings: Settings) -> Response:
    return _file(picture, "extrema.csv", extrema_of(picture, settings).to_csv().encode(), "text/csv")


def _code(picture: HeldPicture, settings: Settings) -> Response:
    return Response(python_code(picture, settings), media_type="text/plain")


def _layer_png(layer: str, picture: HeldPicture, settings: Settings) -> Response:
    return _file(picture, f"{layer}.png", encode_png(layer_picture(picture, settings, layer)))


def _layer_npy(layer: str, picture: HeldPicture, settings: Settings) -> Response:
    file = io.BytesIO()
    np.save(file, layer_array(picture, settings, layer), allow_pickle=False)
    return _file(picture, f"{layer}.npy", file.getvalue(), BINARY)


def _file(picture: HeldPicture, ending: str, content: bytes, media: str = "image/png") -> Response:
    """Answer a file to be saved under the picture's name."""
    stem = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in picture.name)[:80]
    disposition = f'attachment; filename="{stem}{"." if ending else ""}{ending}"'
    return Response(content, media_type=media, headers={"content-disposition": disposition})


def _described(picture: HeldPicture) -> dict[str, Any]:
    height, width = picture.shape
    return {"key": picture.key, "name": picture.name, "height": height, "width": width}


async def _body(request: Request) -> bytes:
    """Return what was sent, and stop reading where it is too much."""
    parts, length = [], 0
    async for part in request.stream():
        length += len(part)
        if length > MOST_UPLOAD_BYTES:
            raise HTTPException(413, f"a picture must have at most {MOST_UPLOAD_BYTES // 2**20} MiB, got more")
        parts.append(part)
    return b"".join(parts)


async def _refuse(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 400
    message = error.detail if isinstance(error, HTTPException) else str(error)
    return JSONResponse({"error": message}, status)


async def _fail(_: Request, error: Exception) -> Response:
    return JSONResponse({"error": f"the explorer failed: {type(error).__name__}"}, 500)


def _page_files() -> dict[str, bytes]:
    """Return the page's files by name. They are read once: no request reaches the file system."""
    folder = resources.files("imtorque.explorer") / "page"
    return {file.name: file.read_bytes() for file in folder.iterdir() if os.path.splitext(file.name)[1] in TYPES}
