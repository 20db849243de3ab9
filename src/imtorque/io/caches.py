"""Where what was computed or trained on this computer is kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any


def cache_folder() -> Path:
    """Return the folder of caches: $IMTORQUE_CACHE, or imtorque in the user's folder of caches."""
    if given := os.environ.get("IMTORQUE_CACHE"):
        return Path(given)
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given) / "imtorque"
    try:
        return Path.home() / ".cache" / "imtorque"
    except RuntimeError:
        raise FileNotFoundError("IMTORQUE_CACHE must name a folder where there is no home, got none") from None


def load_trained(path: Path, load: Callable[[Path], Any], name: str, command: str) -> Any:
    """Return what was trained on this computer, read anew where its file was written anew.

    Parameters
    ----------
    path, load
        Where it is kept, and what reads it.
    name, command
        What errors call it, and the command that trains it.
    """
    if not path.is_file():
        raise ValueError(f"{name} must be trained first, by {command}; got no {path}")
    return _loaded(path, load, path.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _loaded(path: Path, load: Callable[[Path], Any], changed: int) -> Any:  # noqa: ARG001 - tells files apart
    return load(path)
