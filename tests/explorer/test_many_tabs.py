"""Thirty tabs, five changes in each, three times; more by TABS and CHANGES."""

import os
import re
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

from explorer_browser import Tab
from waiting import GIVEN_UP, until

TABS, CHANGES = int(os.environ.get("TABS", "30")), int(os.environ.get("CHANGES", "5"))
IMAGES = ("shapes", "disc", "hole", "overlap", "hopper")
ROUNDS = 3
MAX_GROWTH = 1e6  # bytes that later rounds may leave: less than one image with its maps takes


SERVER = """
import gc, tracemalloc

tracemalloc.start()  # what Python and numpy hold, to the byte: the system counts what the allocator keeps, too

from imtorque.cli import main
from imtorque.explorer import image_store, server

image_store.CLOSE_GRACE = server.EVICTION_INTERVAL = 1.0

class Told(image_store.ImageStore):
    def evict(self):
        super().evict()
        gc.collect()
        print(len(self), "images", tracemalloc.get_traced_memory()[0], "bytes", flush=True)

server.ImageStore = Told
main()
"""


@contextmanager
def server():
    """A server of its own process, which soon lets go of images, and tells what it holds: its address, itself,
    and what it tells."""
    command = [sys.executable, "-c", SERVER, "explore", "--no-browser", "--no-token", "--port", "0"]
    given = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=given) as started:
        told = []
        threading.Thread(target=lambda: [told.append(line) for line in started.stdout], daemon=True).start()
        found = until(lambda: re.search(r"http://127\.0\.0\.1:\d+", "".join(told)))
        try:
            yield found[0], started, told
        finally:
            started.terminate()


def used(tabs, address, told):
    """Open the page in the tabs, change their settings for a while, leave it: the bytes that the server holds once it
    let all images go."""
    for k, tab in enumerate(tabs):
        tab.page.goto(f"{address}/#image=sample:{IMAGES[k % len(IMAGES)]}&layers=value.80,saliency.50")
    for step in range(TABS * CHANGES):
        tabs[step % TABS].page.evaluate(
            "(sigma) => import('/page/page.js').then(({ store }) => store.set({ sigma, y: 40, x: 50, size: 31 }))",
            1 + (step % 17) / 10,
        )
    for tab in tabs:
        tab.wait().page.goto("about:blank")  # a tab that is killed may not tell that it closes
    before = len(told)
    until(lambda: [line for line in told[before:-1] if line.startswith("0 images")][1:])  # the last one's memory, too
    return int(told[-2].split()[2])


@pytest.mark.slow
def test_thirty_tabs_give_no_error_and_memory_is_flat_after(browser):
    with server() as (address, process, told):
        context = browser.new_context(viewport={"width": 900, "height": 600})
        context.set_default_timeout(1000 * GIVEN_UP)
        tabs = [Tab(context.new_page(), address) for _ in range(TABS)]
        held = [used(tabs, address, told) for _ in range(ROUNDS)]
        print("bytes held after each round:", *held)
        complaints = [text for tab in tabs for text in tab.complaints]
        context.close()
        process.terminate()
        assert (complaints, process.stderr.read()) == ([], "")
        assert max(held[1:]) - held[0] < MAX_GROWTH
