"""Volumes in files: stacks of pages, OME-Zarr and zarr arrays, NIfTI where nibabel is installed."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.files import page_count, pixel_size, read_image
from imtorque.io.arrays import whole_array
from imtorque.io.atomic import open_regular
from imtorque.io.decoding import reading
from imtorque.io.pixel_size import MAX_PIXEL, UNIT_MICROMETRES, slice_distance
from imtorque.io.stacks import RefusedError
from imtorque.io.tiff import Plane
from imtorque.io.tiff_opening import is_tiff, opened
from imtorque.tiling.zarr_source import open_zarr, opened_array, reading_zarr
from imtorque.volumes.surfaces import Spacing

NIFTI_SUFFIXES = (".nii", ".nii.gz")
LONG_UNITS = {"micron": "um", "micrometer": "um", "nanometer": "nm", "millimeter": "mm", "meter": "m"}
LARGEST_VOLUME = 2**31  # bound: voxels; some twenty bytes each are worked with
MOST_PACKED = 1032  # bytes that deflate makes one of, at most; format: deflate


def read_volume(path: str | os.PathLike[str], channel: int | None = None) -> NDArray[Any]:
    """Read a volume (Z, Y, X): all pages of a stack, a zarr array or OME-Zarr group, or a NIfTI file.

    Parameters
    ----------
    path
        What `imtorque.files.read_image` reads, whose pages become slices; a folder that zarr reads; .nii or .nii.gz.
    channel
        Which channel, counted from 0; by default there must be one only.

    See Also
    --------
    volumes.voxel_size, files.read_image
    """
    name = os.fspath(path)
    if os.path.isdir(name):
        volume = _from_zarr(name, channel)
    elif _is_nifti(name):
        with reading(name), open_regular(name) as file:
            stored = _nifti(name).dataobj
            _check_extent(stored.shape)
            most = os.fstat(file.fileno()).st_size * (1 if name.lower().endswith(".nii") else MOST_PACKED)
            if (length := math.prod(stored.shape) * stored.dtype.itemsize) > most:
                raise RefusedError(f"must hold {length} bytes of voxels, got at most {most}")
            volume = np.asanyarray(stored).T
            if math.prod(volume.shape[:-3]) > 1 or volume.ndim < 3:
                raise RefusedError(f"must hold one volume, got shape {volume.shape}")
        volume = volume.reshape(volume.shape[-3:])
    else:
        volume = _from_pages(name, channel)
    return np.asarray(whole_array(volume, name))


def _check_extent(shape: Sequence[int]) -> None:
    """Refuse a volume before it is read that would be too large; within `reading`."""
    if math.prod(shape) > LARGEST_VOLUME:
        raise RefusedError(f"must have at most {LARGEST_VOLUME} voxels, got {math.prod(shape)}")


def voxel_size(path: str | os.PathLike[str]) -> Spacing | None:
    """Return how many micrometres apart voxels are, (z, y, x), as far as a file says; else None."""
    name = os.fspath(path)
    sides: Sequence[float] | None
    if os.path.isdir(name):
        sides = _zarr_size(name)
    elif _is_nifti(name):
        with reading(name), open_regular(name):
            header = _nifti(name).header
            unit = UNIT_MICROMETRES.get(LONG_UNITS.get(header.get_xyzt_units()[0], header.get_xyzt_units()[0]))
            sides = None if unit is None else [float(side) * unit for side in header.get_zooms()[2::-1]]
    else:
        sides = _stack_size(name)
    if sides is None or len(sides) != 3 or not all(0 < side < MAX_PIXEL for side in sides):
        return None
    return sides[0], sides[1], sides[2]


def _stack_size(name: str) -> Sequence[float] | None:
    """Return what a TIFF's metadata say of slices and of the pixels in them."""
    plane = pixel_size(name)
    with open_regular(name) as file:
        depth = slice_distance(file) if plane is not None and is_tiff(file) else None
    return None if plane is None or depth is None else (depth, *plane)


def _from_pages(name: str, channel: int | None) -> NDArray[Any]:
    pages = page_count(name)
    if pages < 2:
        raise ValueError(f"{name}: must be a stack of several pages, got one")
    _check_axes(name, channel)
    first = read_image(name, 0, channel)
    if first.ndim != 2:
        raise ValueError(
            f"{name}: must be grey to be a volume, got pages in colour; channel=0, 1, ... reads one colour"
        )
    with reading(name):
        _check_extent((pages, *first.shape))
    volume = np.empty((pages, *first.shape), first.dtype)
    for k in range(pages):
        page = first if k == 0 else read_image(name, k, channel)
        if page.shape != first.shape or page.dtype != first.dtype:
            raise ValueError(f"{name}: must have pages alike, got {_kind(first)} and, as page {k}, {_kind(page)}")
        volume[k] = page
    return volume


def _check_axes(name: str, channel: int | None) -> None:
    """Refuse a TIFF whose pages lie along several axes, such as slices at several times."""
    with reading(name), open_regular(name) as file:
        if is_tiff(file):
            with opened(file) as tiff:
                axes = Plane(file, tiff, 0, channel).long_axes
                if len(axes) > 1:
                    raise RefusedError(f"must hold one volume, got pages along {' and '.join(axes)}")


def _from_zarr(name: str, channel: int | None) -> NDArray[Any]:
    source = open_zarr(name, None, channel, 0)
    if "Z" not in source.axes:
        raise ValueError(f"{name}: must have an axis z to be a volume, got axes {source.axes}")
    with reading_zarr(name):
        array = opened_array(name, source.path)
        others = [axis for axis, n in zip(source.axes, array.shape, strict=True) if n > 1 and axis not in "CZYX"]
        if others:
            raise RefusedError(f"must hold one volume, got several along {', '.join(others)}")
        _check_extent([n for axis, n in zip(source.axes, array.shape, strict=True) if axis in "ZYX"])
        index = [slice(None) if axis == "Z" else n for axis, n in zip(source.axes, source.numbers, strict=True)]
        return np.asarray(array[tuple(slice(None) if n is None else n for n in index)])


def _zarr_size(name: str) -> Sequence[float] | None:
    """Return the scales of an OME-Zarr group's first level."""
    import zarr

    with reading_zarr(name):
        attributes = json.loads(json.dumps(zarr.open(name, mode="r").attrs.asdict()))
    try:
        image = attributes.get("ome", attributes)["multiscales"][0]
        axes = [axis["name"].upper()[:1] for axis in image["axes"]]
        places = [axes.index(axis) for axis in "ZYX"]
        units = [UNIT_MICROMETRES[LONG_UNITS[image["axes"][i]["unit"]]] for i in places]
        steps = [
            *image["datasets"][0].get("coordinateTransformations", []),
            *image.get("coordinateTransformations", []),
        ]
        scales = [step["scale"] for step in steps if step.get("type") == "scale"]
        return tuple(
            float(np.prod([scale[i] for scale in scales]) * unit) for i, unit in zip(places, units, strict=True)
        )
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        return None


def _is_nifti(name: str) -> bool:
    return name.lower().endswith(NIFTI_SUFFIXES)


def _nifti(name: str) -> Any:
    try:
        nibabel = import_module("nibabel")
    except ImportError:
        raise RefusedError("must be read by nibabel, which is not installed: pip install nibabel") from None
    return nibabel.load(name)


def _kind(page: NDArray[Any]) -> str:
    return f"{' x '.join(map(str, page.shape))} of {page.dtype}"
