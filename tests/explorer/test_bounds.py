"""What the explorer's server does when objects go wrong: it stays small, quiet, and free for the next question."""

import contextlib
import os
import re
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import pytest

from explorer_client import client, file_bytes
from imtorque import _native
from imtorque.core.threads import current_cancellation
from imtorque.explorer import limits, results
from imtorque.explorer.handlers import HANDLERS
from kernel_calls import noted_calls
from waiting import GIVEN_UP, until

LAST = {"connection": "close"}
HOSTILE = (
    "view?layers=value,scale,edges,saliency,strengthened&count=200&nms=0",
    "view?polarity=free&largest=4095&layers=value,edges&count=200&nms=0",
    "figure?clicks=300,300 %2B90,90 -500,500",
    "view?patch=disk&polarity=free&sigma=0.3&low=0&high=0&smallest=99&largest=255",
    "view?patch=disk&pattern=saddle&sigma=0.3&layers=value,scale,saliency&smallest=3001&largest=4095",
    "strengthened.npy",
    "code",
)


@pytest.fixture
def process():
    """A server of its own process; (address, process)."""
    command = [sys.executable, "-m", "imtorque", "explore", "--no-browser", "--no-token", "--port", "0"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as started:
        yield re.search(r"http://127\.0\.0\.1:\d+", started.stdout.readline())[0], started
        started.terminate()


def memory(pid, field="VmRSS"):
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(rf"{field}:\s+(\d+)", status.read())[1]) * 1024


def unfinished(address, length=64 * 2**20, sent=0):
    """Begin to send an image, and stop."""
    host, port = re.search(r"//(.*):(\d+)", address).groups()
    connection = socket.create_connection((host, int(port)))
    head = f"POST /api/images?name=a.png HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n"
    connection.sendall(head.encode())
    connection.settimeout(0.5)
    with contextlib.suppress(OSError):
        connection.sendall(bytes(sent))
    return connection


def test_a_failure_of_our_own_has_the_content_policy_too(monkeypatch):
    with client() as server:
        disc = server.post("/api/images?sample=disc").json()["key"]
        monkeypatch.setattr(results, "detect_edges", lambda *_, **__: 1 / 0)
        answer = server.get(f"/api/images/{disc}/view", headers=LAST)
    assert answer.status_code == 500
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_an_interrupted_upload_and_an_abandoned_question_leave_no_traceback(process):
    address, started = process
    unfinished(address, sent=2**20).close()
    key = httpx.post(f"{address}/api/images?sample=hopper", timeout=GIVEN_UP).json()["key"]
    with contextlib.suppress(httpx.TimeoutException):
        httpx.get(f"{address}/api/images/{key}/view?layers=saliency&patch=disk", timeout=0.05)
    assert httpx.get(f"{address}/api/images/{key}/view", timeout=GIVEN_UP).status_code == 200
    started.terminate()
    assert started.communicate(timeout=GIVEN_UP)[1] == ""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is read from /proc")
def test_unfinished_uploads_are_bounded_in_number(process):
    address, started = process
    httpx.post(f"{address}/api/images?sample=disc", timeout=GIVEN_UP)
    before = memory(started.pid)
    connections = [unfinished(address, sent=63 * 2**20) for _ in range(12)]
    after = memory(started.pid, "VmHWM")
    for connection in connections:
        connection.close()
    assert after - before < (limits.MAX_UPLOADS + 1) * 64 * 2**20
    answer = httpx.post(
        f"{address}/api/images?name=a.png", content=file_bytes(np.zeros((9, 9), np.uint8)), timeout=GIVEN_UP
    )
    assert answer.status_code == 201


def test_an_upload_that_stalls_is_refused_and_makes_room(monkeypatch):
    monkeypatch.setattr(limits, "STALL_SECONDS", 0.2)
    with client() as server:
        stalled = [unfinished(str(server.base_url), sent=10) for _ in range(limits.MAX_UPLOADS)]
        answer = server.post("/api/images?name=a.png", content=file_bytes(np.zeros((9, 9), np.uint8)))
        assert answer.status_code == 201
        for connection in stalled:
            connection.settimeout(GIVEN_UP)
            assert b" 408 " in connection.recv(4096)
            connection.close()


def test_more_uploads_than_may_wait_are_refused(monkeypatch):
    monkeypatch.setattr(limits, "MAX_WAITING", 0)
    with client() as server:
        answer = server.post("/api/images?name=a.png", content=b"abc", headers=LAST)
        assert (answer.status_code, answer.json()["error"][:29]) == (503, "too many uploads at once: try")


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/view", "patch=disk"),
        ("/view", "patch=disk&polarity=free"),
        ("/view", "polarity=free&layers=value,scale,saliency,strengthened"),
        ("/figure", "clicks=300,300 %2B90,90 -500,500"),
        ("/count", "annotations=80,120,30 40,60,30 120,200,30"),
    ],
)
def test_a_question_that_is_given_up_ends_with_the_next_kernel_on_the_server(path, query, monkeypatch):
    begun, ended, cancelled = threading.Event(), threading.Event(), []
    usual, calls = HANDLERS[path], noted_calls(monkeypatch)

    def noted(*arguments):
        begun.set()
        until(lambda: current_cancellation().cancelled)
        calls.clear()
        try:
            return usual(*arguments)
        except _native.Cancelled:
            cancelled.append(len(calls))
            raise
        finally:
            ended.set()

    monkeypatch.setitem(HANDLERS, path, noted)
    pixels = np.random.default_rng(0).integers(0, 256, (630, 630), np.uint8)
    with client() as server:
        key = server.post("/api/images?name=a.png", content=file_bytes(pixels)).json()["key"]
        with socket.create_connection((server.base_url.host, server.base_url.port)) as connection:
            question = f"GET /api/images/{key}{path}?{query.replace(' ', '%20')} HTTP/1.1"
            connection.sendall(f"{question}\r\nHost: {server.base_url.host}\r\n\r\n".encode())
            begun.wait()
        ended.wait()
    assert cancelled == [1]


def test_a_kernel_is_cancelled_on_all_its_threads_and_no_other():
    token, other = _native.Cancellation(), _native.Cancellation()
    other.cancel()
    assert (token.cancelled, other.cancelled) == (False, True)
    assert len(_native.automatic_thresholds(np.zeros((9, 9), np.float32), 1.0)) == 2
    failures = []

    def run():
        other.watch()
        try:
            _native.smoothed_gradient(np.zeros((400, 400), np.float32), 2.0)
        except _native.Cancelled as cancelled:
            failures.append(str(cancelled))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert failures == ["nobody wants the result any more"]
    assert _native.smoothed_gradient(np.zeros((400, 400), np.float32), 2.0)[0].shape == (400, 400)


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is read from /proc")
def test_twenty_hostile_requests_stay_below_the_memory_that_is_declared(process):
    address, started = process
    large = file_bytes(np.tile(np.random.default_rng(0).integers(0, 256, (70, 7000, 3), np.uint8), (100, 1, 1)), "JPEG")
    noisy = file_bytes(np.random.default_rng(0).integers(0, 256, (630, 630, 3), np.uint8))

    def attack(k):
        """Send an image, and ask about it what takes the most memory."""
        with httpx.Client(base_url=address, timeout=GIVEN_UP) as one:
            key = one.post("/api/images?name=a.png", content=large if k < 2 else noisy).json()["key"]
            return one.get(f"/api/images/{key}/{HOSTILE[k % len(HOSTILE)]}").status_code

    with ThreadPoolExecutor(20) as pool:
        assert set(pool.map(attack, range(20))) == {200}
    peak = memory(started.pid, "VmHWM")
    print(f"twenty hostile requests: peak of {peak / 1e9:.2f} GB")
    assert peak < 1.5e9
