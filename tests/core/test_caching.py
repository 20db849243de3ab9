"""A property that is computed once: also in a child that is forked while another thread computes it."""

import os
import signal
import threading

import pytest

from imtorque.core.caching import cached_property


class Counted:
    """Counts how often its value is computed; one that is given events waits in between."""

    def __init__(self, begun=None, go_on=None):
        self.begun, self.go_on, self.computed = begun, go_on, 0

    @cached_property
    def value(self):
        """Say seven."""
        self.computed += 1
        if self.begun is not None:
            self.begun.set()
            self.go_on.wait()
        return 7


def test_it_is_computed_once_and_named_as_its_method():
    one = Counted()
    assert (one.value, one.value, one.computed) == (7, 7, 1)
    assert Counted.value.__doc__ == "Say seven."


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork()")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_forked_while_another_thread_computes_does_not_wait():
    begun, go_on = threading.Event(), threading.Event()
    slow = Counted(begun, go_on)
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    begun.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # what hangs ends at last
        os._exit(Counted().value)
    status = os.waitpid(child, 0)[1]
    go_on.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 7
