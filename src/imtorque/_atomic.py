"""Files that are there completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a name to write to, and rename it to `path` when the block ends well; else leave nothing behind."""
    target = Path(path)
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield partial
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
