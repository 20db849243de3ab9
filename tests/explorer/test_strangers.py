"""The server among strangers: a token in its address, and connections that ask for nothing or take no answer."""

import contextlib
import logging
import os
import re
import socket
import subprocess
import sys

import httpx
import pytest

from explorer_browser import IDLE, Tab
from explorer_client import client, running
from imtorque.explorer import connections
from imtorque.explorer.connections import Throttle, log_loop_error
from waiting import GIVEN_UP, until

resource = pytest.importorskip("resource")

TOKEN = "a-token-of-the-tests"
HALF, WHOLE = 1200, 200  # connections
MANY = 40  # answers, more than all buffers on the way hold
FILES = 1024  # that the server may open: what systems allow by default


# ---- the token -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/api/start", "/page/main.js", "/api/images?sample=disc", "/x/api/start", "//"])
def test_without_the_token_nothing_is_answered(path):
    with client(token=TOKEN) as server:
        for method in ("GET", "POST"):
            refused = server.request(method, path)
            assert refused.status_code == 403
            assert "open the address that it printed" in refused.text
            assert "default-src 'none'" in refused.headers["content-security-policy"]
        assert server.get(f"/{TOKEN}é/api/start").status_code == 403


def test_with_the_token_all_is_answered_below_it():
    with client(token=TOKEN) as server:
        assert server.get(f"/{TOKEN}/api/start").json()["start"] == []
        assert server.get(f"/{TOKEN}", follow_redirects=True).url.path == f"/{TOKEN}/"
        key = server.post(f"/{TOKEN}/api/images?sample=disc").json()["key"]
        assert server.get(f"/{TOKEN}/api/images/{key}/view").status_code == 200
        assert server.get(f"/{TOKEN}/{TOKEN}/api/start").status_code == 404


@pytest.mark.browser
def test_saved_addresses_lead_to_the_page_once_it_was_opened(browser):
    with running(token=TOKEN) as address:
        context = browser.new_context()
        context.set_default_timeout(1000 * GIVEN_UP)
        page = context.new_page()
        page.goto(f"{address}/#image=sample:disc")
        assert "open the address that it printed" in page.inner_text("body")
        tab = Tab(page, f"{address}/{TOKEN}")
        tab.open()
        for saved in ("", "/the-token-of-an-earlier-server"):
            page.goto("about:blank")
            page.goto(f"{address}{saved}/#image=sample:hole&sigma=2&tab=save")
            page.wait_for_url(f"{address}/{TOKEN}/#*")
            page.wait_for_selector(IDLE)
            assert "image=sample:hole" in page.url
            assert "sigma=2" in page.url
        with page.expect_download() as saved:  # a link's own request
            page.locator("#downloads a", has_text="npy").first.click()
        assert os.path.getsize(saved.value.path()) > 0
        assert all(request.startswith((address, "blob:", "data:", "about:")) for request in tab.requests)
        assert ["403" in complaint for complaint in tab.complaints] == [True, True]  # the saved addresses themselves
        context.close()


# ---- connections ---------------------------------------------------------------------------------------------------


@pytest.fixture
def few_files():
    """A server of its own process that may open few files: (address, process)."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most < HALF + WHOLE + 100:
        pytest.skip(f"this process may open {most} files only")
    usual = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    command = [sys.executable, "-m", "imtorque", "explore", "--no-browser", "--no-token", "--port", "0"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES)),
    ) as started:
        found = re.search(r"http://127\.0\.0\.1:(\d+)", started.stdout.readline())
        yield ("127.0.0.1", int(found[1])), started
        started.terminate()
    resource.setrlimit(resource.RLIMIT_NOFILE, usual)


def answer(connection):
    """Ask over a connection that stays open; return the status."""
    connection.sendall(b"GET /api/start HTTP/1.1\r\nHost: localhost\r\n\r\n")
    received = b""
    while b'"notebook":false' not in received:
        part = connection.recv(65536)
        assert part, "closed without an answer"
        received += part
    return int(received.split()[1])


def test_whole_connections_are_answered_beside_many_that_stop_half_way(few_files):
    address, started = few_files
    half, whole = [], []
    for k in range(HALF):
        half.append(socket.create_connection(address, GIVEN_UP))
        half[-1].sendall(b"GET /api/start HTTP/1.1\r\nHost: local"[: k % 40])
    whole = [socket.create_connection(address, GIVEN_UP) for _ in range(WHOLE)]
    for connection in whole:
        connection.sendall(b"GET /api/start HTTP/1.1\r\nHost: lo")  # all at once
    for connection in whole:
        connection.sendall(b"calhost\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
    assert httpx.get("http://{}:{}/api/start".format(*address), timeout=GIVEN_UP).status_code == 200
    for connection in half + whole:
        connection.close()
    started.terminate()
    assert started.communicate(timeout=GIVEN_UP)[1] == ""


@pytest.mark.parametrize("sent", [b"", b"GET / HTT", b"GET /api/start HTTP/1.1\r\nHost: localhost\r\n\r\nGET / H"])
def test_connections_that_stop_half_way_are_closed(sent, monkeypatch):
    monkeypatch.setattr(connections, "SILENT_SECONDS", 0.05)
    with client() as server, socket.create_connection((server.base_url.host, server.base_url.port)) as connection:
        connection.settimeout(GIVEN_UP)
        connection.sendall(sent)
        with contextlib.suppress(ConnectionResetError):
            while connection.recv(65536):
                pass


def test_a_connection_that_does_not_take_its_answer_is_closed(monkeypatch):
    monkeypatch.setattr(connections, "SILENT_SECONDS", 0.2)
    ended = []
    lost = connections.Connection.connection_lost
    monkeypatch.setattr(
        connections.Connection, "connection_lost", lambda self, error: (ended.append(self.is_busy), lost(self, error))
    )
    with client() as server:
        key = server.post("/api/images?sample=hopper").json()["key"]
        head = f"GET /api/images/{key}/value.npy HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        while True not in ended:  # a machine that is busy elsewhere closes it before it has asked
            seen = len(ended)
            with socket.socket() as connection, contextlib.suppress(OSError):
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                connection.connect((server.base_url.host, server.base_url.port))
                connection.sendall(MANY * head)
                until(lambda seen=seen: len(ended) > seen)


def test_the_one_that_was_silent_for_longest_makes_room(monkeypatch):
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 3)
    monkeypatch.setattr(connections, "SILENT_SECONDS", GIVEN_UP)
    with running() as address:
        host, port = re.search(r"//(.*):(\d+)", address).groups()
        first, second, third = (socket.create_connection((host, int(port)), GIVEN_UP) for _ in range(3))
        assert [answer(one) for one in (second, third, first)] == [200, 200, 200]
        fourth = socket.create_connection((host, int(port)), GIVEN_UP)
        assert answer(fourth) == 200
        assert [answer(one) for one in (third, first)] == [200, 200]
        with pytest.raises((AssertionError, ConnectionResetError)):
            answer(second)
        for one in (first, second, third, fourth):
            one.close()


# ---- the log -------------------------------------------------------------------------------------------------------


def test_errors_are_logged_once_a_second_at_most():
    now, told = [0.0], []
    logger = logging.Logger("a")
    logger.addFilter(Throttle(lambda: now[0]))
    handler = logging.Handler()
    handler.emit = lambda record: told.append(record.getMessage())
    logger.addHandler(handler)
    for k in range(5000):
        logger.error("failed: %d", k)
        logger.info("so it is")
        now[0] += 1 / 1024
    told = [text for text in told if text != "so it is"]
    assert told == ["failed: 0"] + [f"failed: {1024 * k} (1023 more were not logged)" for k in range(1, 5)]


def test_what_fails_in_the_loop_takes_one_line(caplog):
    log_loop_error(None, {"message": "socket.accept() out of system resource", "exception": OSError(24, "Too many")})
    assert caplog.messages == ["socket.accept() out of system resource: OSError(24, 'Too many')"]
    assert caplog.records[0].exc_info is None
