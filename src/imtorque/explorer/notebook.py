"""The explorer's page in a notebook, and its state in Python."""

from __future__ import annotations

import importlib.util
import sys
import threading
import time
import webbrowser
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import numpy as np

from imtorque.core.deprecation import deprecated_attribute
from imtorque.core.types import BoolArray, Extrema, Float32Array, Image
from imtorque.detection import Blobs, ObjectFinder
from imtorque.explorer.counting import finder_of, objects_of
from imtorque.explorer.image_store import StoredImage, image_of_array, image_of_sample, start_image
from imtorque.explorer.python_code import python_code
from imtorque.explorer.results import extrema_of, figure_of, maps_of
from imtorque.explorer.settings import Settings

if TYPE_CHECKING:
    from imtorque.explorer.server import Notebook

# Where notebooks run in a browser: Jupyter on this machine, and Visual Studio Code's own pages.
ANCESTORS = ("http://localhost:*", "http://127.0.0.1:*", "vscode-webview:", "https://*.vscode-cdn.net")
START_SECONDS = 20.0  # bound: to wait for the server


class Exploration:
    """The state and the results of an explorer's page: read them after clicking there.

    Parameters
    ----------
    address
        Of the page.
    """

    def __init__(self, address: str, notebook: Notebook, start: StoredImage, server: Any) -> None:
        """Follow the state that the page sends to its server."""
        self.address = address
        self._notebook = notebook
        self._start = start
        self._server = server

    @property
    def image(self) -> Image:
        """The image on the page, shrunk where it was large: places and sizes count in its pixels."""
        return self._stored.image

    @property
    def patch(self) -> tuple[int, int, int] | None:
        """The patch on the page: y, x and size; None before the page has been seen."""
        now = self._settings
        return None if now.y is None or now.x is None or now.size is None else (now.y, now.x, now.size)

    @property
    def clicks(self) -> list[tuple[Literal["new", "add", "remove"], int, int]]:
        """The clicks of the cut-out: "new", "add" or "remove", y and x."""
        return [(click.operation, click.y, click.x) for click in self._settings.clicks]  # type: ignore[misc]

    @property
    def mask(self) -> BoolArray | None:
        """The figure that was cut out, (H, W); None where nothing was clicked."""
        return figure_of(self._stored, self._settings) if self._settings.clicks else None

    @property
    def extrema(self) -> Extrema:
        """The extrema, with the page's settings."""
        return extrema_of(self._stored, self._settings)

    @property
    def maps(self) -> tuple[Float32Array, np.typing.NDArray[np.int32]]:
        """The value and the scale map, with the page's settings."""
        return maps_of(self._stored, self._settings)

    @property
    def annotations(self) -> list[tuple[float, float, float, bool]]:
        """The annotations of the image: y, x, diameter (0 where none was dragged), and whether it is a negative."""
        return [(point.y, point.x, point.diameter, point.negative) for point in self._settings.annotations]

    @property
    def finder(self) -> ObjectFinder | None:
        """The finder trained by the annotations, for images as they were opened; None where no object was annotated."""
        return finder_of(self._stored, self._settings) if self._settings.has_objects else None

    @property
    def objects(self) -> Blobs | None:
        """The objects counted; None where no object was annotated."""
        return objects_of(self._stored, self._settings) if self._settings.has_objects else None

    @property
    def code(self) -> str:
        """The Python program that computes what is on the page."""
        return python_code(self._stored, self._settings)

    def close(self) -> None:
        """Stop the server."""
        self._server.should_exit = True

    def __getattr__(self, name: str) -> Any:
        """Look up a name of version 0.2."""
        return deprecated_attribute(self, name)

    def __repr__(self) -> str:
        """Name the image and the page's address."""
        return f"Exploration({self._stored.name!r} at {self.address})"

    @property
    def _stored(self) -> StoredImage:
        return self._notebook.image or self._start

    @property
    def _settings(self) -> Settings:
        return self._notebook.settings


def explore(
    image: Image | str | None = None, *, height: int = 720, port: int | None = None, address: str | None = None
) -> Exploration:
    """Show the explorer's page, in a notebook below the cell, elsewhere in the browser; return its state.

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
    if any(importlib.util.find_spec(name) is None for name in ("starlette", "uvicorn", "threadpoolctl")):
        raise ImportError("explore needs starlette, uvicorn and threadpoolctl: pip install 'imtorque[explore]'")
    from imtorque.explorer.server import Notebook

    if isinstance(image, str) or image is None:
        start = image_of_sample(image or "shapes")
    else:
        start = image_of_array(np.asarray(image), "image", "...  # the array that was explored")
    site = urlsplit(address or "")
    notebook = Notebook((*ANCESTORS, *([f"{site.scheme}://{site.netloc}"] if site.netloc else ())))
    served_at, token, server = _start_server(start, notebook, port, site.hostname)
    exploration = Exploration(f"{(address or served_at).rstrip('/')}/{token}/", notebook, start, server)
    if _in_notebook():
        from IPython.display import IFrame, display

        display(IFrame(exploration.address, "100%", height))
    else:
        webbrowser.open(exploration.address)
    return exploration


def _start_server(start: StoredImage, notebook: Notebook, port: int | None, name: str | None) -> tuple[str, str, Any]:
    """Start a server in a thread; return its address, its token and itself."""
    import uvicorn

    from imtorque.explorer.connections import server_config
    from imtorque.explorer.launch import listen, new_token, page_address
    from imtorque.explorer.server import make_app

    sock = listen("127.0.0.1", port)
    token = new_token()
    app = make_app([start_image(start)], names=() if name is None else (name,), notebook=notebook, token=token)
    server = uvicorn.Server(server_config(app, timeout_graceful_shutdown=1))
    # As a daemon: a notebook that ends does not wait for it.
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    until = time.monotonic() + START_SECONDS
    while not server.started and time.monotonic() < until:
        time.sleep(0.01)
    return page_address("127.0.0.1", sock.getsockname()[1]), token, server


def _in_notebook() -> bool:
    """Return whether a notebook's kernel runs this."""
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    return running is not None and hasattr(running, "kernel")
