"""Small pictures that are always at hand, for examples and first steps."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from imtorque.datasets.pictures import read_picture


def _hopper() -> NDArray[Any]:
    # Finding the package does not import it, which would take longer than everything else here.
    spec = importlib.util.find_spec("matplotlib")
    if spec is None or spec.submodule_search_locations is None:
        raise ValueError("the sample 'hopper' must come with matplotlib, which is not installed")
    return read_picture(Path(spec.submodule_search_locations[0]) / "mpl-data" / "sample_data" / "grace_hopper.jpg")


# What each name stands for; a drawn scene is one more entry.
SAMPLES: dict[str, Callable[[], NDArray[Any]]] = {"hopper": _hopper}


def sample(name: str) -> NDArray[Any]:
    """Return a sample picture, uint8.

    "hopper" is the photograph of Grace Hopper that matplotlib carries, (600, 512, 3).

    Examples
    --------
    >>> sample("hopper").shape
    (600, 512, 3)
    """
    if name not in SAMPLES:
        raise ValueError(f"name must be one of {', '.join(sorted(SAMPLES))}, got {name!r}")
    return SAMPLES[name]()
