"""What the workers of the tests of imtorque.tiling are given to do; of a module, so that they can be handed it."""

import os
import resource
import signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from imtorque.core.threads import get_num_threads
from imtorque.files import read_image
from imtorque.video import FrameExtrema
from waiting import until


def note(folder, item):
    """Note that an item was begun, by whom; return the square of its number."""
    with open(Path(folder) / "notes", "a") as notes:
        notes.write(f"{item} {os.getpid()}\n")
    return item * item


def noted(folder):
    """What `note` noted: (item, process) in order."""
    path = Path(folder) / "notes"
    return [tuple(map(int, line.split())) for line in path.read_text().splitlines()] if path.exists() else []


def act(folder, item):
    """Do as the item says; a number is noted."""
    if item == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if item == "fail":
        raise ValueError("must be good, got fail")
    if item == "threads":
        return get_num_threads()
    if item == "odd":
        return {1, 2}
    return note(folder, item)


def wait_for(folder, item):
    """Note an item, then wait until a file named go is there."""
    note(folder, item)
    until((Path(folder) / "go").exists)
    return item * item


def measure(path):
    """Two rows of an image; a file named so ends the process, another one's name is too good."""
    if path.name.startswith("poison"):
        os.kill(os.getpid(), signal.SIGKILL)
    image = read_image(path)
    return [{"y": k, "mean": float(image.mean())} for k in range(2)]


def columns(path):
    """No rows, or one, as columns."""
    return {"bytes": np.array([path.stat().st_size] * (path.stem != "3"))}


def fill(folder, limit, item):
    """Write a file under a limit of so many bytes, as on a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        (Path(folder) / f"{item}.bin").write_bytes(bytes(2000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return item


@dataclass(frozen=True)
class DiesOnce:
    """Extrema of a frame; the first process that is asked for any ends itself."""

    folder: str

    def __call__(self, image):
        try:
            (Path(self.folder) / "died").touch(exist_ok=False)
        except FileExistsError:
            return FrameExtrema()(image)
        os.kill(os.getpid(), signal.SIGKILL)
