"""A cache of arrays on disk, by a key of all that they depend on; files are complete or not there."""

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from imtorque.files import write_array

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass
class ArrayCache:
    """A folder of arrays, by key, which several runs may share.

    Where the disk is full nothing more is kept, which is told once; what is asked for is computed all the same.

    Parameters
    ----------
    folder
        Where; made when something is first kept.
    """

    folder: Path
    full: ClassVar[bool] = False

    def load(self, key: str) -> NDArray[Any] | None:
        """Return the array of a key; None where it is missing or damaged."""
        try:
            return np.asarray(np.load(self._path(key), allow_pickle=False))
        except (OSError, ValueError, EOFError):
            return None

    def store(self, key: str, array: NDArray[Any]) -> None:
        """Store an array under a key, where there is room."""
        if ArrayCache.full:
            return
        try:
            path = self._path(key)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_array(path, array)
        except OSError as error:
            if error.errno not in DISK_FULL:
                raise
            ArrayCache.full = True
            print(f"imtorque: {self.folder}: the disk is full; no more features are kept", file=sys.stderr)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.npy"


@contextmanager
def room_on_disk(folder: Path) -> Iterator[None]:
    """Say what to do where the disk is full."""
    try:
        yield
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        raise OSError(
            f"{folder}: the disk is full; make room, or name another folder in IMTORQUE_CACHE, and give the same "
            "command again: it goes on where it was"
        ) from error
