"""Thirty tabs for a minute, twice: pytest -s -m slow tests/explorer/test_many_tabs.py. Others by TABS and SECONDS."""

import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from explorer_browser import Tab

TABS, SECONDS = int(os.environ.get("TABS", "30")), float(os.environ.get("SECONDS", "60"))
IMAGES = ("shapes", "disc", "hole", "overlap", "hopper")
ROUNDS = 2
MAX_WARM = 100e6  # bytes that a server keeps once its first tabs are closed: code and tables that it loads at need
MAX_GROWTH = 20e6  # and what it may keep of all later ones


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


def many_tabs(browser, address, pid):
    """Open the tabs, change their settings for a while, close them: what they complained of, and the most memory."""
    context = browser.new_context(viewport={"width": 900, "height": 600})
    context.set_default_timeout(180_000)
    tabs = [Tab(context.new_page(), address) for _ in range(TABS)]
    for k, tab in enumerate(tabs):
        tab.page.goto(f"{address}/#image=sample:{IMAGES[k % len(IMAGES)]}&layers=value.80,saliency.50")
    until, steps, most = time.monotonic() + SECONDS, 0, 0
    while time.monotonic() < until:
        tabs[steps % TABS].page.evaluate(
            "(sigma) => import('/page/page.js').then(({ store }) => store.set({ sigma, y: 40, x: 50, size: 31 }))",
            1 + (steps % 17) / 10,
        )
        steps += 1
        most = max(most, memory(pid))
    for tab in tabs:
        tab.wait()
    context.close()
    complaints = [text for tab in tabs for text in tab.complaints]
    print(f"{TABS} tabs, {steps} changes in {SECONDS:.0f} s: {len(complaints)} complaints, at most {most / 1e6:.0f} MB")
    return complaints


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is read from /proc")
def test_thirty_tabs_for_a_minute_give_no_error_and_memory_is_flat_after(browser):
    with server() as (address, process):
        after, complaints = [memory(process.pid)], []
        for _ in range(ROUNDS):
            complaints += many_tabs(browser, address, process.pid)
            time.sleep(30)  # after which the images of closed tabs are let go
            after.append(memory(process.pid))
        print("memory before and after each round:", ", ".join(f"{one / 1e6:.0f} MB" for one in after))
        process.terminate()
        assert (complaints, process.communicate(timeout=30)[1]) == ([], "")
        assert max(after[2:]) - after[1] < MAX_GROWTH
        assert after[-1] - after[0] < MAX_WARM
