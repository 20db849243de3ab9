"""Work that nobody wants any more ends at once on the server, whatever it is."""

from functools import cache

import numpy as np
import pytest

import imtorque
from explorer_browser import photograph
from explorer_client import file_bytes
from imtorque import _native
from imtorque.core.threads import cancel_with, current_cancellation
from imtorque.explorer.handlers import HANDLERS
from imtorque.explorer.image_store import image_of_array, image_of_file
from imtorque.explorer.settings import read_settings
from kernel_calls import noted_calls

THREADS = 2
LEFT = 2  # kernels that each may still begin: a short one ends without asking whether to go on
QUESTIONS = {
    "squares": ("/view", {}),
    "disks": ("/view", {"patch": "disk", "polarity": "free"}),
    "saliency": ("/view", {"layers": "saliency"}),
    "strengthened": ("/view", {"layers": "strengthened"}),
    "figure": ("/figure", {"clicks": "160,240 +40,60", "figure_size": "torque"}),
    "count": ("/count", {"annotations": "80,120,30 40,60,30 120,200,30"}),
}


@cache
def coloured():
    grey = photograph()
    return np.dstack([grey, grey[::-1], grey[:, ::-1]])


def answering(name):
    path, query = QUESTIONS[name]
    pixels = coloured()[:160, :240] if path == "/count" else coloured()  # which takes seconds otherwise
    image = image_of_array(pixels, "a.png", "")
    return lambda: HANDLERS[path](image, read_settings(query))


@cache
def large_file():
    """An image that is sent, and shrunk."""
    return file_bytes(np.tile(np.random.default_rng(0).integers(0, 256, (50, 3000, 3), np.uint8), (60, 1, 1)), "JPEG")


def decoding():
    data = large_file()
    return lambda: image_of_file(data, "a.jpg")


@pytest.mark.parametrize("name", [*QUESTIONS, "decoding"])
def test_whatever_is_computed_begins_no_more_kernels_once_it_is_cancelled(name, monkeypatch):
    imtorque.set_num_threads(THREADS)
    fresh = decoding if name == "decoding" else lambda: answering(name)
    with monkeypatch.context() as patch:
        calls = noted_calls(patch)
        fresh()()
        whole = len(calls)
    for part in (0.1, 0.35, 0.6):
        cancellation, last = _native.Cancellation(), int(part * whole)
        with monkeypatch.context() as patch, cancel_with(cancellation):
            calls = noted_calls(patch, lambda number, c=cancellation, n=last: c.cancel() if number == n else None)
            with pytest.raises(_native.Cancelled):
                fresh()()
        begun = [kernel for kernel in calls[last:] if kernel != "check_interrupt"]  # which only asks whether to go on
        assert len(begun) <= LEFT * THREADS, begun


def test_what_is_watched_before_is_watched_again():
    first, second = _native.Cancellation(), _native.Cancellation()
    second.cancel()
    with cancel_with(first):
        with cancel_with(second), pytest.raises(_native.Cancelled, match="nobody wants the result any more"):
            _native.check_interrupt()
        _native.check_interrupt()
        assert current_cancellation() is first
    assert current_cancellation() is None
