"""Files at addresses, such as s3://bucket/a.png or https://host/a.png, by fsspec where it is installed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")  # of two letters at least: one is a drive


def is_address(source: str | os.PathLike[str]) -> bool:
    """Return whether something names a file elsewhere; a path never does."""
    return isinstance(source, str) and _ADDRESS.match(source) is not None


@contextmanager
def fetched(source: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a file as one that can be opened: a path as it is, what lies at an address as a copy, for a while."""
    if not is_address(source):
        yield Path(source)
        return
    address = os.fspath(source)
    with TemporaryDirectory(prefix="imtorque-") as folder:
        copy = Path(folder, Path(address.rpartition("?")[0] or address).name or "file")
        with _one_line(address):
            filesystem, path = _file_system(address)
            filesystem.get_file(path, str(copy))
        yield copy


def find_addresses(address: str) -> list[str]:
    """Return the addresses that one with * ? [ ] matches; another one as it is, to be reported when it is fetched."""
    if address.startswith(("http://", "https://")) or not re.search(r"[*?\[]", address):
        return [address]
    found = []
    with suppress(FileNotFoundError), _one_line(address):
        filesystem, pattern = _file_system(address)
        found = [filesystem.unstrip_protocol(path) for path in sorted(filesystem.glob(pattern))]
    if not found:
        raise ValueError(f"{address}: must match at least one file")
    return found


def _file_system(address: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ModuleNotFoundError:
        raise ValueError("an address must come with fsspec, which is not installed: pip install fsspec") from None
    filesystem, path = url_to_fs(address)
    return filesystem, path


@contextmanager
def _one_line(address: str) -> Iterator[None]:
    """Say in one line what is wrong with an address, whatever its protocol raises."""
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(f"{address}: no such file") from None
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{address}: must be something that can be fetched, got: {reason}") from None
