"""Thirty tabs for a minute: pytest -s -m slow tests/explorer/test_many_tabs.py. Other numbers by TABS and SECONDS."""

import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from explorer_browser import Tab

TABS, SECONDS = int(os.environ.get("TABS", "30")), float(os.environ.get("SECONDS", "60"))
PICTURES = ("shapes", "disc", "hole", "overlap", "hopper")
MOST_GROWTH = 200e6  # bytes that a server may be larger by, once its tabs are closed


@contextmanager
def server():
    """A server of its own process: its address and number."""
    command = [sys.executable, "-m", "imtorque", "explore", "--no-browser", "--port", "0"]
    given = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=given) as started:
        yield re.search(r"http://127\.0\.0\.1:\d+", started.stdout.readline())[0], started
        started.terminate()


def memory(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1]) * 1024


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is read from /proc")
def test_thirty_tabs_for_a_minute_give_no_error_and_memory_is_flat_after(browser):
    with server() as (address, process):
        context = browser.new_context(viewport={"width": 900, "height": 600})
        context.set_default_timeout(180_000)
        first = Tab(context.new_page(), address).open("#picture=sample:hopper&layers=value.80,saliency.50")
        before = memory(process.pid)
        tabs = [first, *(Tab(context.new_page(), address) for _ in range(TABS - 1))]
        for k, tab in enumerate(tabs):
            tab.page.goto(f"{address}/#picture=sample:{PICTURES[k % len(PICTURES)]}&layers=value.80")
        until, steps, most = time.monotonic() + SECONDS, 0, before
        while time.monotonic() < until:
            tab = tabs[steps % TABS]
            tab.page.evaluate(
                "(sigma) => import('/page/page.js').then(({ store }) => store.set({ sigma, y: 40, x: 50, size: 31 }))",
                1 + (steps % 17) / 10,
            )
            steps += 1
            most = max(most, memory(process.pid))
        for tab in tabs:
            tab.wait()
        complaints = [text for tab in tabs for text in tab.complaints]
        context.close()
        time.sleep(30)  # after which the pictures of closed tabs are let go
        after = memory(process.pid)
        print(f"{TABS} tabs, {steps} changes in {SECONDS:.0f} s: {len(complaints)} complaints")
        print(f"memory before {before / 1e6:.0f} MB, at most {most / 1e6:.0f} MB, after {after / 1e6:.0f} MB")
        process.terminate()
        assert (complaints, process.communicate(timeout=30)[1]) == ([], "")
        assert after - before < MOST_GROWTH
