"""Waiting for something to hold. How long is no test's verdict: what never holds is given up in the end."""

import os
import time

GIVEN_UP = 300  # seconds: no machine is that slow


def until(condition):
    """Wait until something holds; return what it gave."""
    end = time.monotonic() + GIVEN_UP
    while not (held := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
    return held


def group_is_gone(leader):
    """Whether no process is left of those that a process started with its session."""
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return True
    return False
