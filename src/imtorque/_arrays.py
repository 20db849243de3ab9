"""Files of arrays, as numpy writes them."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque._atomic import open_regular


def read_arrays(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """Return the arrays of an .npz file by name; to be called within `reading_file`."""
    with open_regular(path) as file:
        stored = np.load(file, allow_pickle=False)
        if not isinstance(stored, np.lib.npyio.NpzFile):
            raise ValueError("one array, not several by their names")
        arrays = {name: stored[name] for name in stored.files}
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise ValueError(f"{name} is no array")
    return arrays
