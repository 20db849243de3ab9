"""Files that are there completely or not at all, and files that can be read to their end."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from io import BufferedReader
from pathlib import Path

if sys.platform != "win32":
    import fcntl

LONGEST_NAME = 255  # bytes, what nearly all file systems allow; bound: of file systems
_GUARD: ContextVar[Callable[[Path], None] | None] = ContextVar("guard", default=None)
_PARTIAL = re.compile(r"\..+\.[0-9a-f]{16}\.part")


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a name to write to, and rename it to `path` when the block ends well; else leave nothing behind.

    The name is nobody else's, and what it names is locked while it is written, so that `remove_leftovers` can tell a
    file whose writer is no more, wherever that ran.
    """
    target = Path(path)
    if len(os.fsencode(target.name)) > LONGEST_NAME:
        given = len(os.fsencode(target.name))
        raise ValueError(f"{target}: a file's name must have at most {LONGEST_NAME} bytes, got {given}")
    if (guard := _GUARD.get()) is not None:
        guard(target)
    # The name is cut so that it is not too long with what is added.
    head = os.fsencode(target.name)[: LONGEST_NAME - 32].decode("utf-8", "ignore")
    partial = target.with_name(f".{head}.{secrets.token_hex(8)}.part")
    lock = None
    try:  # before the file is made: Ctrl-C may come right after that
        lock = _made_and_locked(partial)
        if sys.platform == "win32":  # where no open file can be renamed
            os.close(lock)
        yield partial
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
        if lock is not None and sys.platform != "win32":
            os.close(lock)


@contextmanager
def alone(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let one process at a time into such blocks about a path; others wait. Without locks, all are let in."""
    target = Path(path)
    name = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]
    mark = target.with_name(f".lock.{name}.part")  # a name of leftovers: it may outlive its maker
    try:
        lock = None if sys.platform == "win32" else _made_and_locked(mark)
    except OSError:
        lock = None  # nothing can be written there
    try:
        yield
    finally:
        if lock is not None:
            mark.unlink(missing_ok=True)  # while it is locked: who waits for it makes another
            os.close(lock)


@contextmanager
def guarding(guard: Callable[[Path], None]) -> Iterator[None]:
    """Call a function with each path before it is replaced within the block; what it raises forbids that."""
    before = _GUARD.set(guard)
    try:
        yield
    finally:
        _GUARD.reset(before)


def write_bytes(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write a file, complete or not at all, and return its path."""
    target = Path(path)
    with replacing(target) as partial:
        partial.write_bytes(content)
    return target


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Write text as UTF-8, complete or not at all, and return its path.

    Bytes of file names that are no UTF-8 are written as escapes.
    """
    return write_bytes(path, text.encode("utf-8", "backslashreplace"))


def remove_leftovers(folder: Path) -> None:
    """Remove what writers that are no more had begun to write in a folder."""
    for partial in folder.iterdir():
        if _PARTIAL.fullmatch(partial.name):
            try:
                handle = os.open(partial, os.O_RDWR)
            except OSError:
                continue  # gone meanwhile, or somebody else's
            try:
                if _lock(handle, wait=False):
                    partial.unlink(missing_ok=True)
            finally:
                os.close(handle)


def open_regular(path: str | os.PathLike[str]) -> BufferedReader:
    """Open a file for reading. What has no end, or would wait for somebody to write it, is an OSError."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    kind = "a pipe" if stat.S_ISFIFO(mode) else "a device"
    raise OSError(errno.EINVAL, f"{kind} where a file must be", os.fspath(path))


def _made_and_locked(partial: Path) -> int:
    """Make an empty file and lock it."""
    while True:
        handle = os.open(partial, os.O_RDWR | os.O_CREAT, 0o666)
        _lock(handle, wait=True)
        # Between the two somebody may have removed it: who looks for leftovers, or who had it before.
        try:
            if os.path.samestat(os.stat(partial), os.fstat(handle)):
                return handle
        except FileNotFoundError:
            pass
        os.close(handle)


def _lock(handle: int, *, wait: bool) -> bool:
    """Lock an open file until it is closed, and return whether that could be. Some file systems know no locks."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
