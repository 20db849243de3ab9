"""Small images that are always at hand, for examples and first steps."""

import importlib.util
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import synthetic
from imtorque.datasets.images import read_image


def _hopper() -> NDArray[Any]:
    # Finding the package does not import it, which would take longer than everything else here.
    spec = importlib.util.find_spec("matplotlib")
    if spec is None or spec.submodule_search_locations is None:
        raise ValueError("the sample 'hopper' must come with matplotlib, which is not installed")
    return read_image(Path(spec.submodule_search_locations[0]) / "mpl-data" / "sample_data" / "grace_hopper.jpg")


def _scene(name: str) -> NDArray[np.uint8]:
    return np.rint(255 * synthetic.scene(name)).astype(np.uint8)


PHOTOGRAPHS = ("hopper",)
SAMPLES: dict[str, Callable[[], NDArray[Any]]] = {
    "hopper": _hopper,
    **{name: partial(_scene, name) for name in synthetic.SCENES},
}


def sample(name: str) -> NDArray[Any]:
    """Return a sample image, uint8.

    "hopper" is the photograph of Grace Hopper that matplotlib carries, (600, 512, 3); the
    others are scenes drawn by `imtorque.synthetic.scene`, (161, 241).

    Examples
    --------
    >>> sample("hopper").shape
    (600, 512, 3)
    >>> sample("disc").shape
    (161, 241)
    """
    if name not in SAMPLES:
        raise ValueError(f"name must be one of {', '.join(SAMPLES)}, got {name!r}")
    return SAMPLES[name]()
