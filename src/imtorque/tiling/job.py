"""What every task of a large image needs: where to read, what to do, where to write."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import Float32Array
from imtorque.files import write_array
from imtorque.io.atomic import replacing
from imtorque.tiling.grid import Box, Grid
from imtorque.tiling.intensity import Tone
from imtorque.tiling.settings import Config
from imtorque.tiling.source import Source


@dataclass(frozen=True)
class Job:
    """An image, its tiles, its settings and intensities, and the folder of the results."""

    source: Source
    grid: Grid
    config: Config
    tone: Tone
    out: Path

    def grey(self, box: Box) -> Float32Array:
        """Return the grey of a window."""
        return self.tone.grey(self.source.read(box))

    def scratch(self, kind: str, name: str, suffix: str = ".npy") -> Path:
        """Return where what a pass leaves for the next one lies; bare numbers under ".raw"."""
        return work_folder(self.out) / kind / f"{name}{suffix}"

    @property
    def strengthens(self) -> bool:
        """Whether this is the job of strengthened edges, which have one of their own."""
        return "strengthened" in self.config.outputs

    @property
    def wants_torque(self) -> bool:
        """Whether an output needs torque."""
        return any(name in self.config.outputs for name in ("value", "scale", "extrema", "blobs"))

    @property
    def least(self) -> float:
        """Least |torque| of extrema that are looked for."""
        least = [self.config.least] if "extrema" in self.config.outputs else []
        return min([*least, self.config.threshold] if "blobs" in self.config.outputs else least)

    @property
    def reach(self) -> int:
        """How far around a tile its edges must be known."""
        if self.strengthens:
            return 2 * self.config.torque.reach
        return self.config.torque.reach + self.config.torque.margin if self.wants_torque else 0


def work_folder(out: Path) -> Path:
    """Return the folder of what is only needed until an image is done."""
    return out / "work"


def forget_work(out: Path) -> None:
    """Remove what was only needed until the image was done."""
    shutil.rmtree(work_folder(out), ignore_errors=True)


def save_array(path: Path, array: NDArray[Any]) -> None:
    """Write an array for later passes, complete or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_array(path, array)


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
