"""Images in zarr arrays and OME-Zarr groups."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.io.errors import reading_file
from imtorque.io.stacks import RefusedError, choose
from imtorque.tiling.grid import Box
from imtorque.tiling.source import Affine, Source, native


@dataclass(frozen=True)
class ZarrSource(Source):
    """One image of a zarr array: a number for each axis that is not the image's, None for those that are."""

    path: str = ""  # of the array, inside the store
    numbers: tuple[int | None, ...] = ()
    axes: str = "YX"

    def read(self, box: Box) -> NDArray[Any]:
        """Return the pixels of a window."""
        rows, columns = box.slices
        cut = {"Y": rows, "X": columns}
        index = tuple(
            cut.get(axis, slice(None)) if number is None else number
            for axis, number in zip(self.axes, self.numbers, strict=True)
        )
        with reading_zarr(self.name):
            pixels = np.asarray(opened_array(self.name, self.path)[index])
        kept = "".join(axis for axis, number in zip(self.axes, self.numbers, strict=True) if number is None)
        order = [kept.index(axis) for axis in ("Y", "X", *(set(kept) - {"Y", "X"}))]
        return native(np.ascontiguousarray(pixels.transpose(order)))

    def fingerprint(self) -> dict[str, Any]:
        """Return a digest of the array's metadata and of the sizes and times of its chunks, where they are files."""
        folder = Path(self.name) / self.path
        states = hashlib.sha256()
        for place, folders, names in os.walk(folder):
            folders.sort()
            for name in sorted(names):
                status = os.stat(os.path.join(place, name))
                states.update(f"{name} {status.st_size} {status.st_mtime_ns}\n".encode())
        digest = states.hexdigest()
        return {
            "name": self.name,
            "path": self.path,
            "axes": self.axes,
            "numbers": list(self.numbers),
            "sha256": digest,
        }


def reading_zarr(path: str) -> AbstractContextManager[None]:
    """Say in one line, with the name, what is wrong with an array or a group."""
    return reading_file(path, "a zarr array or group", said=(RefusedError,), passed=(MemoryError,))


def open_zarr(path: str, level: int | None, channel: int | None, page: int | None) -> ZarrSource:
    """Open an array, or a level of the first image of an OME-Zarr group."""
    import zarr

    with reading_zarr(path):
        try:
            node = zarr.open(path, mode="r")
        except FileNotFoundError:
            raise RefusedError("must be a zarr array or group, got none") from None
        if isinstance(node, zarr.Group):
            return _open_group(path, node, level or 0, channel, page)
        if level:
            raise RefusedError(f"level must be 0 for a zarr array, which has one, got {level}")
        return _source(path, "", node, _usual_axes(node.shape), None, channel, page)


def _open_group(path: str, group: Any, level: int, channel: int | None, page: int | None) -> ZarrSource:
    attributes = json.loads(json.dumps(group.attrs.asdict()))
    images = attributes.get("ome", attributes).get("multiscales") or []
    if not images:
        arrays = ", ".join(sorted(group.array_keys())) or "no arrays"
        raise RefusedError(f"must be a zarr array or have OME-NGFF multiscales, got a group of {arrays}")
    image = images[0]
    levels = image["datasets"]
    if not 0 <= level < len(levels):
        raise RefusedError(f"level must be from 0 to {len(levels) - 1}, got {level}")
    try:
        array = group[levels[level]["path"]]
    except KeyError:
        raise RefusedError(f"level {level} is missing, {levels[level]['path']!r} is not in the group") from None
    named = image.get("axes") or list("tczyx"[-array.ndim :])
    axes = "".join((a["name"] if isinstance(a, dict) else a).upper()[:1] for a in named)
    affine = _world(image, levels[level], axes, named)
    return _source(path, levels[level]["path"], array, axes, affine, channel, page)


def _source(
    path: str, inner: str, array: Any, axes: str, affine: Affine | None, channel: int | None, page: int | None
) -> ZarrSource:
    shape = array.shape
    if "C" in axes and channel is None and shape[axes.index("C")] in (3, 4) and array.dtype == np.uint8:
        axes = axes.replace("C", "S")  # three or four channels of bytes are a colour
    chosen = choose(axes, shape, page, channel, kind="zarr array")
    samples = [shape[i] for i, number in enumerate(chosen.numbers) if number is None and axes[i] not in "YX"]
    dimensions = (shape[axes.index("Y")], shape[axes.index("X")])
    count = samples[0] if samples else 1
    return ZarrSource(path, dimensions, count, array.dtype.str, affine, inner, chosen.numbers, axes)


def _usual_axes(shape: tuple[int, ...]) -> str:
    if len(shape) == 3 and shape[2] in (3, 4):
        return "YXS"
    if not 2 <= len(shape) <= 5:
        raise RefusedError(f"a zarr array must have from two to five axes, got shape {shape}")
    return "TCZYX"[-len(shape) :]


def _world(image: dict[str, Any], dataset: dict[str, Any], axes: str, named: list[Any]) -> Affine | None:
    """Return where pixels lie, from the transformations of a level and of all levels."""
    scale, offset = np.ones(len(axes)), np.zeros(len(axes))
    steps = [*dataset.get("coordinateTransformations", []), *image.get("coordinateTransformations", [])]
    for step in steps:
        if step.get("type") == "scale":
            scale, offset = scale * step["scale"], offset * step["scale"]
        elif step.get("type") == "translation":
            offset = offset + step["translation"]
    if not steps:
        return None
    y, x = axes.index("Y"), axes.index("X")
    unit = named[x].get("unit", "") if isinstance(named[x], dict) else ""
    return Affine((float(scale[x]), 0.0, float(offset[x]), 0.0, float(scale[y]), float(offset[y])), unit)


def opened_array(store: str, path: str) -> Any:
    """Return an array of a store."""
    import zarr

    return zarr.open_array(store, mode="r", path=path) if path else zarr.open_array(store, mode="r")
