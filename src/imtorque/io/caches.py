"""Where what was computed or trained on this computer is kept."""

from __future__ import annotations

import os
from pathlib import Path


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
