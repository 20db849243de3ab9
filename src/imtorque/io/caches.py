"""Where what was computed or trained on this computer is kept."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return the folder of caches: $IMTORQUE_CACHE, or imtorque in the user's folder of caches."""
    if given := os.environ.get("IMTORQUE_CACHE"):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "imtorque"
