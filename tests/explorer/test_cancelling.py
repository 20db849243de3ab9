"""Work that nobody wants any more ends at once on the server, whatever it is."""

import threading
import time
from functools import cache

import numpy as np
import pytest

from explorer_browser import photograph
from explorer_client import file_bytes
from imtorque import _native
from imtorque.core.threads import cancel_with, current_cancellation
from imtorque.explorer.handlers import HANDLERS
from imtorque.explorer.image_store import image_of_array, image_of_file
from imtorque.explorer.settings import read_settings

SECONDS = 0.05  # within which a computation ends
SLACK = 2  # for a machine that does something else beside

COLOURED = np.dstack([photograph(), photograph()[::-1], photograph()[:, ::-1]])
QUESTIONS = {
    "squares": ("/view", {}),
    "disks": ("/view", {"patch": "disk", "polarity": "free"}),
    "saliency": ("/view", {"layers": "saliency"}),
    "strengthened": ("/view", {"layers": "strengthened"}),
    "figure": ("/figure", {"clicks": "160,240 +40,60", "figure_size": "torque"}),
    "count": ("/count", {"annotations": "80,120,30 40,60,30 120,200,30"}),
}


def answering(name):
    path, query = QUESTIONS[name]
    pixels = COLOURED[:160, :240] if path == "/count" else COLOURED  # which takes seconds otherwise
    image = image_of_array(pixels, "a.png", "")
    return lambda: HANDLERS[path](image, read_settings(query))


@cache
def large_file():
    """An image that is sent, and shrunk."""
    return file_bytes(np.tile(np.random.default_rng(0).integers(0, 256, (50, 3000, 3), np.uint8), (60, 1, 1)), "JPEG")


def decoding():
    data = large_file()
    return lambda: image_of_file(data, "a.jpg")


def processor_time_after_cancelling(work, seconds):
    """How long the process worked on after `work` was cancelled so many seconds of processor time from its start."""
    cancellation, ended = _native.Cancellation(), []

    def run():
        try:
            with cancel_with(cancellation):
                work()
            ended.append("done")
        except _native.Cancelled:
            ended.append("cancelled")

    began = time.process_time()
    thread = threading.Thread(target=run)
    thread.start()
    while time.process_time() - began < seconds and thread.is_alive():
        time.sleep(0.002)
    cancellation.cancel()
    left = time.process_time()
    thread.join()
    return time.process_time() - left, ended[0]


@pytest.mark.parametrize("name", [*QUESTIONS, "decoding"])
def test_whatever_is_computed_ends_soon_after_it_is_cancelled(name):
    fresh = decoding if name == "decoding" else lambda: answering(name)
    work = fresh()
    began = time.process_time()
    work()
    whole = time.process_time() - began
    took = [processor_time_after_cancelling(fresh(), whole * part) for part in (0.1, 0.35, 0.6)]
    assert "cancelled" in [how for _, how in took]
    assert max(seconds for seconds, _ in took) <= SLACK * SECONDS, took


def test_what_is_watched_before_is_watched_again():
    first, second = _native.Cancellation(), _native.Cancellation()
    second.cancel()
    with cancel_with(first):
        with cancel_with(second), pytest.raises(_native.Cancelled, match="nobody wants the result any more"):
            _native.check_interrupt()
        _native.check_interrupt()
        assert current_cancellation() is first
    assert current_cancellation() is None
