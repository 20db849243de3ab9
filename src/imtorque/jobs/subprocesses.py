"""A fresh Python process that does what it is sent. It never runs the caller's script again.

A program of its own instead of one of multiprocessing, which imports the script it was started from: a script without a
guard would begin anew in every worker. So workers of a cluster may start one, too, and no lock of this process is
copied. It leaves Ctrl-C to the one that started it and ends when that one ends, however it does.
"""

from __future__ import annotations

import os
import pickle
import pickletools
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from typing import Any, Generic, TypeVar

from imtorque.core.threads import worker_environment

Result = TypeVar("Result")

_in_subprocess = False


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """What came of one item: a value, or the error that was raised."""

    value: Result | None = None
    error: Exception | None = None

    def get(self) -> Result:
        """Return the value, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


class Subprocess:
    """A process that calls a function with one item after the other.

    Parameters
    ----------
    function
        The function, by `pack`.
    threads
        For its kernels and its linear algebra.
    """

    def __init__(self, function: bytes, threads: int) -> None:
        self.link, theirs = Pipe()
        # Its path is ours: -P keeps the current folder out, whose files might have names of modules.
        path = ascii([folder or os.getcwd() for folder in sys.path])
        code = f"import sys; sys.path[:] = {path}; from imtorque.jobs.subprocesses import main; main({theirs.fileno()})"
        with theirs, _interrupts_blocked():
            self.process = subprocess.Popen(
                [sys.executable, *_interpreter_flags(), "-P", "-c", code],
                stdin=subprocess.PIPE,  # stays open and empty, which says that we are here
                env=worker_environment(threads),
                **_inheriting(theirs),
            )
        with suppress(OSError):  # it has ended already, which is seen when it is asked for an outcome
            self.link.send_bytes(function)

    def send(self, item: Any) -> None:
        """Send an item; an OSError where the process has ended."""
        self.link.send_bytes(pack(item))

    def receive(self) -> Outcome[Any] | None:
        """Return what came of an item, or None, which says that it has started; an EOFError where it has ended."""
        said: Outcome[Any] | None = pickle.loads(self.link.recv_bytes())
        return said

    def end(self, kill: bool = False) -> str:
        """Wait until it has ended, and return how it did."""
        if kill:
            self.process.kill()
        self.link.close()
        with self.process as process:
            status = process.wait()
        if status >= 0:
            return f"status {status}"
        try:
            return signal.Signals(-status).name
        except ValueError:
            return f"signal {-status}"


def call_in_subprocess(function: Callable[[Any], Any], item: Any) -> Any:
    """Return function(item), called in a fresh process; a ChildProcessError where that did not live to answer."""
    process = Subprocess(pack(function), 1)
    outcome = None
    try:
        process.send(item)
        while outcome is None:
            outcome = process.receive()
    except (EOFError, OSError):
        raise ChildProcessError(f"the process that worked on it ended by itself ({process.end()})") from None
    finally:
        process.end(kill=True)
    return outcome.get()


def in_subprocess() -> bool:
    """Return whether this process is one that `Subprocess` started."""
    return _in_subprocess


def pack(content: Any) -> bytes:
    """Pickle; what a script or a notebook defines by cloudpickle, since other processes cannot import that."""
    with suppress(Exception):  # a lambda, a function in a function, or nothing that can be packed
        packed = pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
        if b"__main__" not in packed or all(argument != "__main__" for _, argument, _ in pickletools.genops(packed)):
            return packed
    try:
        import cloudpickle

        by_value: bytes = cloudpickle.dumps(content)
    except ModuleNotFoundError:
        why = "must come from modules that other processes can import, or cloudpickle be installed"
        raise TypeError(f"what they are to do {why}, got {content!r:.80}") from None
    except Exception as error:
        raise TypeError(f"what other processes are to do must be picklable, got {content!r:.80}: {error}") from None
    return by_value


def outcome_of(function: Callable[[Any], Result], item: Any) -> Outcome[Result]:
    """Return what comes of function(item)."""
    try:
        return Outcome(function(item))
    except Exception as error:
        return Outcome(error=_portable(error) if _in_subprocess else error)


def main(handle: int) -> None:
    """Call the function with one item after the other until there are no more: what the process does."""
    global _in_subprocess
    _in_subprocess = True
    _watch_for_the_end_of_the_other()
    with _opened(handle) as link, suppress(EOFError, OSError):  # the other end is closed, or was with something unread
        function = outcome_of(pickle.loads, link.recv_bytes())
        link.send_bytes(pickle.dumps(None))
        while True:
            item = outcome_of(pickle.loads, link.recv_bytes())
            wrong = function if function.error else item if item.error else None
            _send(link, wrong or outcome_of(function.get(), item.get()))


def _send(link: Connection[Any, Any], outcome: Outcome[Any]) -> None:
    """Send an outcome; where it cannot be, say so instead."""
    try:
        packed = pack(outcome)
    except Exception as error:
        about = outcome.value if outcome.error is None else outcome.error
        packed = pickle.dumps(
            Outcome(error=TypeError(f"what comes of an item must be picklable, got {about!r}: {error}"))
        )
    link.send_bytes(packed)


def _portable(error: Exception) -> Exception:
    """Return an error that can be sent, with its trace as a note, which by itself cannot be."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # one that is not rebuilt from its text
        error = RuntimeError(f"{type(error).__name__}: {error}")
    error.add_note(traceback.format_exc())
    return error


def _watch_for_the_end_of_the_other() -> None:
    """End at once when the standard input does, that is with the process that holds its other end."""
    source = os.dup(0)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)  # what a task reads is not its business

    def wait() -> None:
        os.read(source, 1)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _interpreter_flags() -> list[str]:
    """Return the options that this interpreter was started with: -W, -X, -O and the like."""
    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return flags


if sys.platform == "win32":

    def _inheriting(link: Any) -> dict[str, Any]:
        os.set_handle_inheritable(link.fileno(), True)
        startup = subprocess.STARTUPINFO(lpAttributeList={"handle_list": [link.fileno()]})
        # A group of its own, so that Ctrl-C is left to this process.
        return {"startupinfo": startup, "creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}

    def _opened(handle: int) -> Any:
        from multiprocessing.connection import PipeConnection

        return PipeConnection(handle)

else:

    def _inheriting(link: Any) -> dict[str, Any]:
        return {"pass_fds": (link.fileno(),)}

    def _opened(handle: int) -> Any:
        return Connection(handle)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Start processes that never see Ctrl-C, which goes to all processes of a terminal."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
