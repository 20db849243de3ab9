"""What every task of a large image needs: where to read, what to do, where to write."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import Float32Array
from imtorque.edges import EdgeRecipe
from imtorque.io.atomic import replacing
from imtorque.tiling.grid import Box, Grid
from imtorque.tiling.intensity import Tone
from imtorque.tiling.settings import EdgeSettings, TorqueSettings
from imtorque.tiling.source import Source


@dataclass(frozen=True)
class Job:
    """An image, its tiles, what is asked of it, and the folder of the results."""

    source: Source
    grid: Grid
    edges: EdgeSettings
    torque: TorqueSettings
    tone: Tone
    out: Path
    outputs: tuple[str, ...]
    least: float = 0.0  # |torque| of the weakest extremum that is asked for
    recipe: EdgeRecipe | None = None  # of strengthened edges, which have a job of their own

    def grey(self, box: Box) -> Float32Array:
        """Return the grey of a window."""
        return self.tone.grey(self.source.read(box))

    def scratch(self, kind: str, name: str, suffix: str = ".npy") -> Path:
        """Return where what a pass leaves for the next one lies; bare numbers under ".raw"."""
        return work_folder(self.out) / kind / f"{name}{suffix}"

    @property
    def wants_torque(self) -> bool:
        """Whether anything but edges is asked for."""
        return any(name in self.outputs for name in ("value", "scale", "extrema", "blobs"))

    @property
    def reach(self) -> int:
        """How far around a tile its edges must be known."""
        if self.recipe is not None:
            return 2 * self.torque.reach
        return self.torque.reach + 1 if self.wants_torque else 0


def work_folder(out: Path) -> Path:
    """Return the folder of what is only needed until an image is done."""
    return out / "work"


def save_array(path: Path, array: NDArray[Any]) -> None:
    """Write an array for later passes, complete or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as partial, open(partial, "wb") as file:
        np.save(file, array)


def load_array(path: Path) -> NDArray[Any]:
    """Read an array of an earlier pass."""
    array: NDArray[Any] = np.load(path, allow_pickle=False)
    return array


def save_numbers(path: Path, *arrays: NDArray[Any]) -> None:
    """Write the bare numbers of arrays one after the other: small files that are read very often."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as partial, open(partial, "wb") as file:
        for array in arrays:
            file.write(np.ascontiguousarray(array).data)
