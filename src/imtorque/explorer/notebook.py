"""The explorer's page in a notebook, and what is on it as Python sees it."""

from __future__ import annotations

import importlib.util
import sys
import threading
import time
import webbrowser
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import numpy as np

from imtorque.core.types import BoolArray, Extrema, Float32Array, Image
from imtorque.detection import Blobs, ObjectFinder
from imtorque.explorer.counting import finder_of, found_of
from imtorque.explorer.image_store import HeldImage, given_image, image_of_array, image_of_sample
from imtorque.explorer.python_code import python_code
from imtorque.explorer.results import extrema_of, figure_of, maps_of
from imtorque.explorer.settings import Settings

if TYPE_CHECKING:
    from imtorque.explorer.server import Notebook

# Where notebooks run in a browser: Jupyter on this machine, and Visual Studio Code's own pages.
ANCESTORS = ("http://localhost:*", "http://127.0.0.1:*", "vscode-webview:", "https://*.vscode-cdn.net")
START_SECONDS = 20.0


class Exploration:
    """What is on an explorer's page: read it after clicking there.

    Parameters
    ----------
    address
        Where the page is.
    """

    def __init__(self, address: str, notebook: Notebook, start: HeldImage, server: Any) -> None:
        """Follow what the page tells its server."""
        self.address = address
        self._notebook = notebook
        self._start = start
        self._server = server

    @property
    def image(self) -> Image:
        """The image on the page, as it is worked on: places and sizes count in its pixels."""
        return self._held.image

    @property
    def patch(self) -> tuple[int, int, int] | None:
        """The patch on the page: y, x and size; None before the page has been seen."""
        now = self._settings
        return None if now.y is None or now.x is None or now.size is None else (now.y, now.x, now.size)

    @property
    def clicks(self) -> list[tuple[Literal["new", "add", "remove"], int, int]]:
        """What was clicked to be cut out: "new", "add" or "remove", y and x."""
        return [(click.operation, click.y, click.x) for click in self._settings.clicks]  # type: ignore[misc]

    @property
    def mask(self) -> BoolArray | None:
        """The figure that was cut out, (H, W); None where nothing was clicked."""
        return figure_of(self._held, self._settings) if self._settings.clicks else None

    @property
    def extrema(self) -> Extrema:
        """The extrema, with the page's settings."""
        return extrema_of(self._held, self._settings)

    @property
    def maps(self) -> tuple[Float32Array, np.typing.NDArray[np.int32]]:
        """The value and the scale map, with the page's settings."""
        return maps_of(self._held, self._settings)

    @property
    def marks(self) -> list[tuple[int, int, int, bool]]:
        """What was clicked to be counted: y, x, diameter (0 where none was dragged), and whether it is wrong."""
        return [(mark.y, mark.x, mark.diameter, mark.wrong) for mark in self._settings.marks]

    @property
    def finder(self) -> ObjectFinder | None:
        """The finder that the clicks taught; None where no object was clicked."""
        return finder_of(self._held, self._settings) if self._teaches else None

    @property
    def found(self) -> Blobs | None:
        """The objects that were counted; None where no object was clicked."""
        return found_of(self._held, self._settings) if self._teaches else None

    @property
    def code(self) -> str:
        """The program that makes what is on the page."""
        return python_code(self._held, self._settings)

    def close(self) -> None:
        """End the server; what was read stays."""
        self._server.should_exit = True

    def __repr__(self) -> str:
        """Say where the page is."""
        return f"Exploration({self._held.name!r} at {self.address})"

    @property
    def _held(self) -> HeldImage:
        return self._notebook.image or self._start

    @property
    def _settings(self) -> Settings:
        return self._notebook.settings

    @property
    def _teaches(self) -> bool:
        now = self._settings
        every = (*(marks for _, marks in now.lessons), now.marks)
        return any(not mark.wrong for marks in every for mark in marks)


def explore(
    image: Image | str | None = None, *, height: int = 720, port: int | None = None, address: str | None = None
) -> Exploration:
    """Show the explorer's page, in a notebook below the cell, elsewhere in the browser; return what is on it.

    Parameters
    ----------
    image
        Grey or colour, or the name of a sample; a drawn scene by default.
    height
        Of the page in a notebook, in pixels of the screen.
    port
        To listen at, on this machine alone; by default the first that is free.
    address
        Where the browser reaches the page where that is another machine's: through a forwarded port, or a proxy such as
        jupyter-server-proxy ("https://hub.example/user/me/proxy/8745/", with `port=8745`).

    Examples
    --------
    >>> page = explore("disc")  # doctest: +SKIP
    >>> page.extrema, page.mask  # after clicking on it  # doctest: +SKIP
    """
    if any(importlib.util.find_spec(name) is None for name in ("starlette", "uvicorn", "segno", "threadpoolctl")):
        raise ImportError("explore needs starlette, uvicorn, segno and threadpoolctl: pip install 'imtorque[explore]'")
    from imtorque.explorer.server import Notebook

    if isinstance(image, str) or image is None:
        start = image_of_sample(image or "shapes")
    else:
        start = image_of_array(np.asarray(image), "image", "...  # the array that was explored")
    site = urlsplit(address or "")
    notebook = Notebook((*ANCESTORS, *([f"{site.scheme}://{site.netloc}"] if site.netloc else ())))
    found, server = _serving(start, notebook, port, site.hostname)
    shown = Exploration(address or found, notebook, start, server)
    if _in_notebook():
        from IPython.display import IFrame, display

        display(IFrame(shown.address, "100%", height))
    else:
        webbrowser.open(shown.address)
    return shown


def _serving(start: HeldImage, notebook: Notebook, port: int | None, name: str | None) -> tuple[str, Any]:
    """Start a server in a thread; return its address and itself."""
    import uvicorn

    from imtorque.explorer.launch import listen, page_address
    from imtorque.explorer.server import make_app

    listening = listen("127.0.0.1", port)
    app = make_app([given_image(start)], names=() if name is None else (name,), notebook=notebook)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
    # As a daemon: a notebook that ends does not wait for it.
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    until = time.monotonic() + START_SECONDS
    while not server.started and time.monotonic() < until:
        time.sleep(0.01)
    return page_address("127.0.0.1", listening.getsockname()[1]), server


def _in_notebook() -> bool:
    """Return whether a notebook's kernel runs this."""
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    return running is not None and hasattr(running, "kernel")
