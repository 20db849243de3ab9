"""Clusters for the tests: one with nannies for all of a module, and bare ones whose processes a test may end."""

import os
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import dask
import pytest
from distributed import Client, LocalCluster

from waiting import GIVEN_UP, until

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}  # in which scale_work is found


@pytest.fixture(scope="module")
def client():
    """A client of two workers with nannies, which start them anew."""
    settings = {"distributed.scheduler.allowed-failures": 0}
    with (
        dask.config.set(settings),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        yield client


class Bare:
    """A scheduler and a worker without a nanny, each a process of its own."""

    def __init__(self, folder):
        self.file = folder / "scheduler.json"
        options = ["--no-dashboard", "--scheduler-file", str(self.file)]
        self.scheduler = self._start("scheduler", "--port", "0", "--host", "127.0.0.1", *options)
        self.worker = self._start("worker", "--no-nanny", "--nthreads", "1", *options)

    def _start(self, kind, *arguments):
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *arguments]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(command, cwd=self.file.parent, env=ENVIRONMENT, **quiet)

    @contextmanager
    def client(self):
        until(self.file.exists)
        with until(self._connected) as client:
            client.wait_for_workers(1, timeout=GIVEN_UP)
            yield client

    def _connected(self):
        with suppress(OSError):
            return Client(scheduler_file=str(self.file), timeout=2)

    def end(self):
        for process in (self.worker, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def bare(tmp_path):
    cluster = Bare(tmp_path)
    yield cluster
    cluster.end()
