"""Thirty tabs, five changes in each, twice; more by TABS and CHANGES."""

import os
import re
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

from explorer_browser import Tab
from waiting import until

TABS, CHANGES = int(os.environ.get("TABS", "30")), int(os.environ.get("CHANGES", "5"))
IMAGES = ("shapes", "disc", "hole", "overlap", "hopper")
ROUNDS = 2
MAX_WARM = 100e6  # bytes that a server keeps once its first tabs are closed: code and tables that it loads at need
MAX_GROWTH = 60e6  # and what it may keep of all later ones: far below what 30 tabs with their images and maps take


SERVER = """
from imtorque.cli import main
from imtorque.explorer import image_store, server

image_store.CLOSE_GRACE = server.EVICTION_INTERVAL = 1.0

class Told(image_store.ImageStore):
    def evict(self):
        super().evict()
        print(len(self), "images", flush=True)

server.ImageStore = Told
main()
"""


@contextmanager
def server():
    """A server of its own process, which soon lets go of images, and tells how many it holds: its address, itself,
    and what it tells."""
    command = [sys.executable, "-c", SERVER, "explore", "--no-browser", "--port", "0"]
    # One arena: what is kept between the blocks of many arenas depends on which threads answered.
    given = {**os.environ, "PYTHONUNBUFFERED": "1", "MALLOC_ARENA_MAX": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=given) as started:
        told = []
        threading.Thread(target=lambda: [told.append(line) for line in started.stdout], daemon=True).start()
        found = until(lambda: re.search(r"http://127\.0\.0\.1:\d+", "".join(told)))
        yield found[0], started, told
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
    most = 0
    for step in range(TABS * CHANGES):
        tabs[step % TABS].page.evaluate(
            "(sigma) => import('/page/page.js').then(({ store }) => store.set({ sigma, y: 40, x: 50, size: 31 }))",
            1 + (step % 17) / 10,
        )
        most = max(most, memory(pid))
    for tab in tabs:
        tab.wait()
    context.close()
    complaints = [text for tab in tabs for text in tab.complaints]
    print(f"{TABS} tabs, {TABS * CHANGES} changes: {len(complaints)} complaints, at most {most / 1e6:.0f} MB")
    return complaints


def wait_until_all_went(told):
    """Wait until the server tells that it holds no image, and again after it gave back the memory of the last one."""
    before = len(told)
    until(lambda: "0 images\n" in told[before:-1])


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is read from /proc")
def test_thirty_tabs_give_no_error_and_memory_is_flat_after(browser):
    with server() as (address, process, told):
        after, complaints = [memory(process.pid)], []
        for _ in range(ROUNDS):
            complaints += many_tabs(browser, address, process.pid)
            wait_until_all_went(told)
            after.append(memory(process.pid))
        print("memory before and after each round:", ", ".join(f"{one / 1e6:.0f} MB" for one in after))
        process.terminate()
        assert (complaints, process.stderr.read()) == ([], "")
        assert max(after[2:]) - after[1] < MAX_GROWTH
        assert after[-1] - after[0] < MAX_WARM
