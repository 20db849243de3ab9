"""`imtorque explore` from the command line: it starts, says where it is, and refuses in one line."""

import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from unittest.mock import ANY

import numpy as np
import pytest
from typer.testing import CliRunner

import imtorque
from imtorque.cli import app
from imtorque.cli import explore as verb
from imtorque.explorer import launch
from imtorque.explorer.launch import is_loopback, listen, network_address, page_address
from imtorque.files import write_image
from waiting import GIVEN_UP


def run(*arguments, status=1):
    result = CliRunner().invoke(app, ["explore", "--no-browser", *arguments])
    assert result.exit_code == status, result.output
    return result.output


@pytest.mark.slow
def test_it_starts_with_an_image_says_where_and_ends_on_ctrl_c(tmp_path):
    write_image(tmp_path / "a.png", np.zeros((40, 50), np.uint8))
    process = subprocess.Popen(
        [sys.executable, "-m", "imtorque", "explore", "a.png", "--no-browser", "--port", "0"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        line = process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/[\w-]{22}/", line)[0]
        with urllib.request.urlopen(f"{address}api/start") as answer:
            assert json.load(answer) == {
                "version": imtorque.__version__,
                "samples": list(imtorque.datasets.SAMPLES),
                "detectors": ANY,
                "start": ["a.png"],
                "max_bytes": 64 * 2**20,
                "notebook": False,
            }
    finally:
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=GIVEN_UP)
    assert (process.returncode, complaints) == (0, "")


def test_a_browser_is_opened_unless_it_is_not_wanted(monkeypatch):
    served = []
    monkeypatch.setattr("imtorque.explorer.launch.serve", lambda start, **options: served.append((start, options)))
    CliRunner().invoke(app, ["explore", "sample:disc"])
    run("--port", "99", status=0)
    assert [options["browser"] for _, options in served] == [True, False]
    assert [[one.name for one in start] for start, _ in served] == [["disc"], []]
    assert served[0][1]["host"] == "127.0.0.1"


@pytest.mark.parametrize("browser", [True, False])
def test_serving_says_where_and_opens_the_page_there_once_it_answers(browser, monkeypatch):
    servers, told, opened = [], queue.Queue(), queue.Queue()

    class Kept(launch._Server):
        def __init__(self, config):
            super().__init__(config)
            servers.append(self)

    monkeypatch.setattr(launch, "_Server", Kept)
    monkeypatch.setattr(launch.webbrowser, "open", opened.put)
    options = {"port": 0, "browser": browser, "announce": told.put}
    thread = threading.Thread(target=launch.serve, kwargs=options)
    thread.start()
    try:
        address = told.get(timeout=GIVEN_UP)
        with urllib.request.urlopen(f"{address}api/start") as answer:
            assert json.load(answer)["start"] == []
        assert not browser or opened.get(timeout=GIVEN_UP) == address
        assert opened.empty()
    finally:
        servers[0].should_exit = True
        thread.join(60)
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no.png"], "no.png: no such file"),
        (["sample:nothing"], "name must be one of"),
        (["--host", "no.such.host.invalid"], "host must be an address of this machine, got 'no.such.host.invalid'"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    output = run(*arguments)
    assert message in output
    assert "Traceback" not in output


def test_a_port_in_use_is_refused_where_it_was_asked_for_and_passed_over_where_not(monkeypatch):
    with listen("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        assert f"port must be free at 127.0.0.1, got {port}" in run("--port", str(port))
        monkeypatch.setattr("imtorque.explorer.launch.DEFAULT_PORT", port)
        with listen("127.0.0.1", None) as other:
            assert other.getsockname()[1] != port


def test_without_the_extra_the_error_names_it(monkeypatch):
    monkeypatch.setattr(verb.importlib.util, "find_spec", lambda _: None)
    assert "pip install 'imtorque[explore]'" in run()


def test_other_machines_are_let_in_only_with_a_note(monkeypatch):
    monkeypatch.setattr("imtorque.explorer.launch.serve", lambda *_, **__: None)
    assert "whoever reaches 0.0.0.0 can use" in run("--host", "0.0.0.0", "--no-token", status=0)
    said = run("sample:disc", "--host", "0.0.0.0", status=0)
    assert (
        "whoever has the address below can use the explorer and send it images. Of the images here they see the 1 given"
        in said
    )
    assert "none of yours. What is sent is not encrypted" in run("--host", "0.0.0.0", status=0)
    assert "whoever" not in run(status=0)
    loopback = {host: is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "lab.example")}
    assert [host for host, yes in loopback.items() if yes] == ["127.0.0.1", "::1", "localhost"]
    assert page_address("lab.example", 80) == "http://lab.example:80/"
    assert page_address("::", 80) == "http://[::1]:80/"


def test_the_address_on_the_network_is_said_where_there_is_one(monkeypatch):
    monkeypatch.setattr(launch, "own_address", lambda version: "192.168.1.7" if version == 4 else None)
    assert network_address("0.0.0.0", 80) == "http://192.168.1.7:80/"
    assert network_address("192.168.1.9", 80) == "http://192.168.1.9:80/"
    assert network_address("lab.example", 80) == "http://lab.example:80/"
    assert network_address("::", 80) is network_address("127.0.0.1", 80) is None
    told = []

    class Quiet(launch._Server):
        def run(self, **_):
            self.ready()

    monkeypatch.setattr(launch, "_Server", Quiet)
    launch.serve(None, host="0.0.0.0", port=0, browser=False, announce=told.append)
    launch.serve(None, host="0.0.0.0", port=0, browser=False, token=False, announce=told.append)
    both = r"http://127.0.0.1:(\d+)/{0} and, on this network, at http://192.168.1.7:\1/{0}"
    assert re.fullmatch(both.format(r"([\w-]{22}/)").replace(r"\1/([\w-]{22}/)", r"\1/\2"), told[0])
    assert re.fullmatch(both.format(""), told[1])


def test_answers_do_not_wait_for_each_other():
    """Without TCP_NODELAY, which asyncio sets on sockets that name their protocol, each waits for 40 ms."""
    with listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP
