"""Access control: allowed hosts and origins, the size of uploads, and security headers."""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import logging
import secrets
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOGGER = logging.getLogger("imtorque.explorer")
MAX_UPLOAD_BYTES = 64 * 2**20  # bound: an uploaded file

# Only the page's own scripts and styles, images it made itself, and frames in notebooks.
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "frame-ancestors {ancestors}; base-uri 'none'; form-action 'none'"
)
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}

# Addresses with another token, or none, lead to where this browser last opened the page (engine.js keeps that).
SCRIPT = """try {
  const known = localStorage.getItem("imtorque");
  if (known && known !== location.pathname) location.replace(known + location.hash);
} catch { /* a browser that keeps nothing */ }"""
DOOR = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>imtorque</title>
<p>The explorer's address has a token: open the address that it printed.</p><script>{SCRIPT}</script></html>"""
DOOR_POLICY = (
    f"default-src 'none'; script-src 'sha256-{base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()}'; "
    "frame-ancestors {ancestors}; base-uri 'none'; form-action 'none'"
)


class Guard:
    """Refuse requests without the token, for foreign host names, from other sites, or with bodies that are too large.

    The token is the first part of every path: others who use the machine can reach the server, but do not know it.
    Against DNS rebinding, where a web site points its own name at 127.0.0.1, a request must name the server by an
    address, by localhost, or by a name it was started with.
    """

    def __init__(
        self, app: ASGIApp, names: Iterable[str] = (), ancestors: Iterable[str] = (), token: str | None = None
    ) -> None:
        """Guard an application that answers to these names and may be framed by these sites."""
        self._app = app
        self._token = token
        self._names = {"localhost", *(name.lower() for name in names)}
        sites = " ".join(ancestors)
        self._framed = bool(sites)
        policy = CONTENT_POLICY.format(ancestors=sites or "'none'")
        self._headers = {"content-security-policy": policy, **HEADERS}
        self._door_headers = {"content-security-policy": DOOR_POLICY.format(ancestors=sites or "'none'")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(Headers(scope=scope))
        if refusal is not None:
            status, message = refusal
            LOGGER.info("refused %s: %s", scope["path"], message)
            await JSONResponse({"error": message}, status)(scope, receive, self._with_headers(send))
            return
        try:
            await self._behind_token(scope)(scope, receive, self._with_headers(send))
        except Exception:  # the application has answered it
            LOGGER.exception("request failed: %s", scope["path"])

    def _behind_token(self, scope: Scope) -> ASGIApp:
        """Return what answers a request: the application, whose paths have no token, where it gave the right one."""
        if self._token is None:
            return self._app
        given, slash, rest = scope["path"].removeprefix("/").partition("/")
        if not secrets.compare_digest(given.encode(), self._token.encode()):
            return HTMLResponse(DOOR, 403, self._door_headers)
        if not slash:
            return RedirectResponse(f"{given}/")
        scope.update(path=f"/{rest}", raw_path=f"/{rest}".encode())
        return self._app

    def _refusal(self, headers: Headers) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if not self._is_own(host):
            return 421, f"the explorer must be asked for by its address or localhost, got {host[:80]!r}"
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host and not self._is_proxy(origin):
            return 403, f"requests must come from the explorer's own page, got one from {origin[:80]!r}"
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and headers.get("sec-fetch-mode") != "navigate":
            return 403, "requests must come from the explorer's own page, got one from another site"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_UPLOAD_BYTES:
            return 413, f"an image must have at most {MAX_UPLOAD_BYTES // 2**20} MiB, got {length[:20]} bytes"
        return None

    def _with_headers(self, send: Send) -> Send:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        return send_with_headers

    def _is_proxy(self, origin: str) -> bool:
        """Return whether the origin is a proxy of a notebook that forwards to this server."""
        return self._framed and host_name(origin.partition("://")[2]) in self._names - {"localhost"}

    def _is_own(self, host: str) -> bool:
        name = host_name(host)
        return name in self._names or _is_address(name)


def host_name(host: str) -> str:
    """Return the name in a Host header, without the port.

    Examples
    --------
    >>> host_name("[::1]:8000"), host_name("localhost:8000"), host_name("127.0.0.1")
    ('::1', 'localhost', '127.0.0.1')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
