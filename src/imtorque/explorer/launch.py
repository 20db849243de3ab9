"""Start the explorer: find a free port, serve the page, open a browser."""

from __future__ import annotations

import ipaddress
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence

import uvicorn

from imtorque.explorer.connections import server_config
from imtorque.explorer.image_store import StartImage
from imtorque.explorer.limits import single_threaded_blas
from imtorque.explorer.server import make_app

DEFAULT_PORT = 8745  # convention
PORT_RANGE = 20  # ports tried before any free one; convention


def serve(
    start: Sequence[StartImage] = (),
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    browser: bool = True,
    token: bool = True,
    announce: Callable[[str], None] = print,
) -> None:
    """Serve the page until interrupted.

    Parameters
    ----------
    start
        The images to go through; the page opens with the first.
    host
        The address to listen at.
    port
        The port; by default 8745, or the next that is free.
    browser
        Whether to open the page.
    token
        Whether the address has a token, without which nothing is answered.
    announce
        Called with the page's address once it is reachable.
    """
    sock = listen(host, port)
    number = sock.getsockname()[1]
    secret = new_token() if token else None
    path = "" if secret is None else f"{secret}/"
    address = page_address(host, number) + path
    network = network_address(host, number)
    network = None if network is None else network + path
    names = () if is_loopback(host) else (host, socket.gethostname(), socket.getfqdn())
    app = make_app(start, names=names, token=secret)
    server = _Server(server_config(app, timeout_graceful_shutdown=2))

    def ready() -> None:
        announce(address if network in (None, address) else f"{address} and, on this network, at {network}")
        if browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()  # some block until closed

    server.ready = ready
    with sock, single_threaded_blas():
        server.run(sockets=[sock])


class _Server(uvicorn.Server):
    """A server that calls `ready` once it has started."""

    ready: Callable[[], None]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready()


def new_token() -> str:
    """Return a token that nobody guesses."""
    return secrets.token_urlsafe(16)


def listen(host: str, port: int | None) -> socket.socket:
    """Return a socket bound to the port, by default to the first free one of a range."""
    try:
        family, _, _, _, _ = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise ValueError(f"host must be an address of this machine, got {host!r} ({error.strerror})") from None
    ports = [port] if port is not None else [*range(DEFAULT_PORT, DEFAULT_PORT + PORT_RANGE), 0]
    for number in ports:
        # The protocol must be named, or asyncio leaves out TCP_NODELAY and every answer waits for 40 ms.
        sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, number))
        except OSError as error:
            sock.close()
            problem = error.strerror
        else:
            return sock
    raise ValueError(f"port must be free at {host}, got {ports[0]} ({problem})")


def page_address(host: str, port: int) -> str:
    """Return the address of the page on this machine.

    Examples
    --------
    >>> page_address("0.0.0.0", 8745), page_address("::1", 80)
    ('http://127.0.0.1:8745/', 'http://[::1]:80/')
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return f"http://{host}:{port}/"
    if address.is_unspecified:
        address = ipaddress.ip_address("127.0.0.1" if address.version == 4 else "::1")
    return f"http://{address}:{port}/" if address.version == 4 else f"http://[{address}]:{port}/"


def network_address(host: str, port: int) -> str | None:
    """Return the address of the page for other machines; None where they cannot reach it."""
    if is_loopback(host):
        return None
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return page_address(host, port)
    if not address.is_unspecified:
        return page_address(host, port)
    own = own_address(address.version)
    return None if own is None else page_address(own, port)


def own_address(version: int = 4) -> str | None:
    """Return the address of this machine on its network; None where it has none."""
    family, target = (socket.AF_INET, "192.0.2.1") if version == 4 else (socket.AF_INET6, "2001:db8::1")
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((target, 9))  # sends nothing, but binds the address it would send from
        except OSError:
            return None
        own: str = probe.getsockname()[0]
    return None if is_loopback(own) else own


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
