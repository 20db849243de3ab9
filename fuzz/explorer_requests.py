"""Requests to the explorer, without a network: every handler of an image, and its other paths."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import quote

from imtorque.explorer.handlers import HANDLERS

SETTINGS = (
    "sigma=1.5&low=0.1&high=0.2&force=unit&layers=value,edges&count=5",
    "y=20&x=30&size=15&patch=disk&alpha=1.5&smallest=5&largest=31&polarity=free&range=99",
    "clicks=20,30 +25,35 -5,5&figure_size=any&pattern=45&nms=0&number=1",
    "annotations=40,60,20 30,20,18 -5,5",
)
ADDRESSES = [b"start", b"images/none", b"images?sample=disc", b"../page/x", b""]


def queries() -> list[bytes]:
    """Return a request of every kind with settings of every kind."""
    return [f"{name[1:]}?{query}".encode() for name in HANDLERS for query in SETTINGS]


class _Page:
    """The explorer, without a network."""

    def __init__(self) -> None:
        with warnings.catch_warnings():  # starlette is about to change from httpx to its successor
            warnings.simplefilter("ignore")
            from starlette.testclient import TestClient

        from imtorque.explorer.server import make_app

        self.client = TestClient(make_app(), base_url="http://localhost", raise_server_exceptions=True)
        self.key: str | None = None

    def answer(self, method: str, address: str, **options: Any) -> Any:
        answer = self.client.request(method, address, **options)
        if answer.status_code >= 500:
            raise AssertionError(
                f"an answer must not be a fault of the server, got {answer.status_code}: {answer.text}"
            )
        return answer


_page: list[_Page] = []


def page() -> _Page:
    """Return the explorer with one image in it."""
    if not _page:
        _page.append(_Page())
    if _page[0].key is None:
        _page[0].key = _page[0].answer("POST", "/api/images?sample=shapes").json()["key"]
    return _page[0]


def upload(path: Path) -> None:
    """Upload a file to the explorer, and remove the image again."""
    answer = page().answer("POST", "/api/images", params={"name": path.name}, content=path.read_bytes())
    if answer.status_code == 201:
        page().answer("DELETE", f"/api/images/{json.loads(answer.content)['key']}")


def request_of_image(path: Path) -> None:
    """Request what a file of bytes names of the image."""
    page().answer("GET", f"/api/images/{page().key}/{_address(path)}")


def request_at(path: Path) -> None:
    """Request any address by every method; none of them is the page's own image."""
    for method in ("GET", "POST", "DELETE"):
        page().answer(method, f"/api/{_address(path)}")


def _address(path: Path) -> str:
    name, _, query = path.read_bytes().decode("latin-1").partition("?")
    return f"{quote(name[:200])}?{quote(query[:2000], safe='=&,?/')}"
