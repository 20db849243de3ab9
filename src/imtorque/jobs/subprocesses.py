"""One call in a fresh process that is nobody's worker: it may start processes, and its end harms nobody.

Workers of a cluster may not start processes by multiprocessing, so this is a program of its own. It is sent the call on
standard input, sends back what came of it, and ends when the one who started it does.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import IO, Any

from imtorque.core.threads import threads_in_environment
from imtorque.io.errors import describe_error
from imtorque.jobs.processes import Outcome

LENGTH_BYTES = 8  # of the length before a call


def call_in_subprocess(function: Callable[[Any], Any], item: Any) -> Any:
    """Return function(item), called in a fresh process; a ChildProcessError where that did not live to outcome."""
    call = pack((function, item))
    command = [sys.executable, "-c", "from imtorque.jobs.subprocesses import main; main()"]
    with threads_in_environment(1):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        _send(process.stdin, call)
        said = process.stdout.read()  # standard input stays open, which says that we are here
        status = process.wait()
    finally:
        process.kill()
        with process:  # closes both ends and waits
            pass
    if not said:
        raise ChildProcessError(f"the process that worked on it ended by itself ({_ending(status)})")
    outcome: Outcome[Any] = pickle.loads(said)
    return outcome.get()


def pack(content: Any) -> bytes:
    """Pickle; by cloudpickle where it is installed, which holds functions of a user's script as well."""
    try:
        import cloudpickle
    except ModuleNotFoundError:
        return pickle.dumps(content)
    packed: bytes = cloudpickle.dumps(content)
    return packed


def _send(pipe: IO[bytes], call: bytes) -> None:
    try:
        pipe.write(len(call).to_bytes(LENGTH_BYTES, "big") + call)
        pipe.flush()
    except BrokenPipeError:
        pass  # it has ended already, which is seen when it is asked for its outcome


def _ending(status: int) -> str:
    if status >= 0:
        return f"status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


def main() -> None:
    """Outcome the call on standard input: what the fresh process does."""
    said = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what the task prints is not its outcome
    source = sys.stdin.buffer
    length = int.from_bytes(source.read(LENGTH_BYTES), "big")
    call = source.read(length)
    threading.Thread(target=_exit_with, args=(source,), daemon=True).start()
    outcome = _result(call)
    with os.fdopen(said, "wb") as file:
        file.write(outcome)
    os._exit(0)  # the thread above waits for ever


def _result(call: bytes) -> bytes:
    try:
        function, item = pickle.loads(call)
        return pickle.dumps(Outcome(function(item)))
    except Exception as error:
        return pickle.dumps(Outcome(error=RuntimeError(describe_error(error))))


def _exit_with(source: IO[bytes]) -> None:
    source.read()
    os._exit(1)
