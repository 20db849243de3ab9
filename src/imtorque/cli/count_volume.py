"""What `count --volume` does: objects of a stack in three dimensions, as a table, labels and a projection."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from imtorque import volumes
from imtorque.cli.batch import Task, Written, csv_table
from imtorque.core.types import Sign
from imtorque.files import write_image, write_stack, write_text
from imtorque.render.objects import numbered_overlay
from imtorque.volumes import VolumeBlobs
from imtorque.volumes.surfaces import ISOTROPIC, Spacing

NAMES: Mapping[str, str] = {"label": "number"} | {
    name: "torque" if name == "value" else name for name in volumes.MEASURED
}
LENGTHS = ("z", "y", "x", "diameter", "major", "middle", "minor")  # columns that come in micrometres too


class ObjectTask(Task):
    """A task whose rows are objects, in images or volumes."""

    verb: ClassVar[str] = "count"

    def measure(self, source: Path) -> dict[str, Any]:
        """Return the result for one file."""
        result: dict[str, Any] = self._measured(source)[-1]
        return result

    def rows(self, result: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the objects."""
        found: list[dict[str, Any]] = result["objects"]
        return found

    @abstractmethod
    def _measured(self, source: Path) -> tuple[Any, ...]:
        """Return what is drawn and written, the result last."""


@dataclass(frozen=True)
class CountVolumeObjects(ObjectTask):
    """Objects of a volume: a table, a label stack, and its maximum projection with their outlines and numbers."""

    sizes: tuple[float, float] | None
    in_micrometres: bool
    patch_sizes: tuple[int, ...] | None
    sign: Sign | None
    threshold: float | None
    overlap: float | None
    count: int | None
    spacing: Spacing | None
    channel: int | None
    overlay: bool
    labels: bool

    def run(self, source: Path, stem: str) -> Written:
        """Write the objects of one volume."""
        volume, found, result = self._measured(source)
        columns = volume_columns(result["pixel_size_um"] is not None)
        outputs = [write_text(f"{stem}.csv", csv_table(columns, result["objects"]))]
        if self.overlay:
            outputs.append(write_image(f"{stem}.png", projection(volume, found)))
        if self.labels:
            outputs.append(write_stack(f"{stem}.labels.tiff", compact(found.labels, len(found))))
        return outputs, result

    def _measured(self, source: Path) -> tuple[Any, VolumeBlobs, dict[str, Any]]:
        volume = volumes.read_volume(source, self.channel)
        spacing = self.spacing or volumes.voxel_size(source)
        unit = None if spacing is None else min(spacing)  # micrometres, of lengths in voxels
        sizes: Any = self.patch_sizes
        if self.sizes is not None:
            if self.in_micrometres and unit is None:
                raise ValueError(f"{source}: --sizes in um needs --spacing, got none, nor one in the file")
            sizes = tuple(size / (unit if self.in_micrometres and unit else 1.0) for size in self.sizes)
        options: dict[str, Any] = {"threshold": self.threshold, "overlap": self.overlap}
        found = volumes.find_blobs(
            volume,
            sizes=sizes if self.patch_sizes is None else list(sizes),
            sign=self.sign,
            count=self.count,
            spacing=spacing or ISOTROPIC,
            **{name: value for name, value in options.items() if value is not None},
        )
        rows = [_in_micrometres(row, spacing) for row in _rows(found)]
        mean = float(f"{np.mean(found.diameter):.6g}") if rows else None
        bright = int(np.count_nonzero(found.value > 0))
        result = {
            "height": volume.shape[1], "width": volume.shape[2], "depth": volume.shape[0], "pixel_size_um": unit,
            "count": len(rows), "bright": bright, "dark": len(rows) - bright, "mean_diameter": mean,
        }  # fmt: skip
        if unit is not None:
            result["mean_diameter_um"] = float(f"{mean * unit:.6g}") if mean is not None else None
        return volume, found, {**result, "plane": "grey", "note": "", "trust": None, "objects": rows}


def compact(labels: NDArray[Any], count: int) -> NDArray[Any]:
    """Return labels in as few bytes as hold their numbers."""
    return labels.astype(np.uint16) if count <= 65535 else labels


def volume_columns(in_micrometres: bool) -> list[str]:
    """Return the columns of a table of objects of volumes, with or without rows."""
    lengths = [f"{name}_um" for name in LENGTHS] + ["volume_um3"]
    return [*NAMES.values(), *(lengths if in_micrometres else [])]


def projection(volume: Any, found: VolumeBlobs) -> Any:
    """Return the largest grey value along z, with the outline of each object as seen from above and its number.

    Where most objects are dark the smallest grey values are shown.
    """
    dark = np.count_nonzero(found.value < 0) > len(found) / 2
    flat = volume.min(axis=0) if dark else volume.max(axis=0)
    nearest = np.argmax(found.labels > 0, axis=0)  # the first object that a line through the stack meets
    labels = np.take_along_axis(found.labels, nearest[None], axis=0)[0]
    return numbered_overlay(flat, labels, found.y.astype(np.float64), found.x.astype(np.float64))


def _rows(found: VolumeBlobs) -> list[dict[str, Any]]:
    columns = {name: found.to_dict()[key].tolist() for key, name in NAMES.items()}
    return rounded_rows(columns)


def rounded_rows(columns: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    """Return columns as rows, of six digits."""
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [{name: float(f"{v:.6g}") if isinstance(v, float) else v for name, v in row.items()} for row in rows]


def _in_micrometres(row: dict[str, Any], spacing: Sequence[float] | None) -> dict[str, Any]:
    """Return a row with its place and measures in micrometres as well, where the voxels' sizes are known."""
    if spacing is None:
        return row
    units = dict(zip("zyx", spacing, strict=True)) | dict.fromkeys(LENGTHS[3:], min(spacing))
    lengths = {f"{name}_um": float(f"{row[name] * units[name]:.6g}") for name in LENGTHS}
    return {**row, **lengths, "volume_um3": float(f"{row['volume'] * min(spacing) ** 3:.6g}")}
