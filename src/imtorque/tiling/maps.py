"""The store of maps: arrays of the whole image in OUT/maps.zarr, their pyramids, and what OME-NGFF says of them.

Of each 2 x 2 pixels the next level of a pyramid keeps the strongest. Every chunk belongs to one tile, at every level
that a tile writes, so tasks never write to the same file.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.tiling.grid import Box, Grid
from imtorque.tiling.job import Job
from imtorque.tiling.source import Affine, Source

DTYPES = {"value": "float32", "scale": "int32", "edges": "float32", "strengthened": "float64", "saliency": "float64"}
CHUNK = 1024  # convention: pixels a side at most, where the tile can be cut so
PYRAMID_TOP = 512  # convention: pixels of the longer side at which a pyramid ends
TILE_LEVELS = 2  # bound: levels that the task of a tile writes besides the full size; those above are made from them
COMPRESSION_LEVEL = 1  # of LZ4 on shuffled bits: a third of the time of zstd at the same size; chosen by measured time


def store_of(out: Path) -> str:
    """Return the path of the store of maps."""
    return str(out / "maps.zarr")


def array_name(name: str, level: int) -> str:
    """Return where a level of a map lies: the full size under the map's own name."""
    return name if level == 0 else f"pyramid/{level}/{name}"


def levels_of(shape: tuple[int, int]) -> int:
    """Return how many levels the pyramid of a map has, the full size among them."""
    level = 1
    while max(level_shape(shape, level - 1)) > PYRAMID_TOP:
        level += 1
    return level


def level_shape(shape: tuple[int, int], level: int) -> tuple[int, int]:
    """Return height and width of a level."""
    return -(-shape[0] // 2**level), -(-shape[1] // 2**level)


def tile_levels(grid: Grid) -> int:
    """Return how many levels the task of a tile writes: as many as tiles can be halved for."""
    levels = 1
    while levels < min(levels_of(grid.shape), 1 + TILE_LEVELS) and grid.tile % 2**levels == 0:
        levels += 1
    return levels


def chunk_of(tile: int) -> int:
    """Return the side of the chunks of tiles this large: the tile, or a whole part of it."""
    parts = -(-tile // CHUNK)
    return tile // parts if tile % parts == 0 else tile


def make_arrays(out: Path, names: tuple[str, ...], grid: Grid) -> None:
    """Make the arrays of maps of an image, at all levels; those that are there stay."""
    import zarr

    zarr.open_group(store_of(out), mode="a")
    for name in names:
        for level in range(levels_of(grid.shape)):
            by_tile = level < tile_levels(grid)
            side = chunk_of(grid.tile >> level) if by_tile else CHUNK
            shape = level_shape(grid.shape, level)
            planes = (2,) if name == "edges" else ()
            make_array(store_of(out), array_name(name, level), (*planes, *shape), (*planes, side, side), DTYPES[name])


def make_array(store: str, path: str, shape: tuple[int, ...], chunks: tuple[int, ...], dtype: str) -> None:
    """Make one array, unless it is there."""
    import zarr
    from zarr.codecs import BloscCodec

    if (Path(store) / path / "zarr.json").is_file():
        return
    chunk = tuple(min(side, max(length, 1)) for side, length in zip(chunks, shape, strict=True))
    zarr.create_array(
        store,
        name=path or None,
        shape=shape,
        chunks=chunk,
        dtype=dtype,
        compressors=[
            BloscCodec(cname="lz4", clevel=COMPRESSION_LEVEL, shuffle="bitshuffle", typesize=np.dtype(dtype).itemsize)
        ],
        fill_value=0,
        dimension_names=["c", "y", "x"][-len(shape) :] if path else None,
    )


def write_tile(job: Job, core: Box, maps: Mapping[str, NDArray[Any]]) -> None:
    """Write the maps of a tile, and the levels of their pyramids that lie in its chunks."""
    for name, plane in maps.items():
        box, values = core, plane
        for level in range(tile_levels(job.grid)):
            if level:
                values = strongest(values)
                box = Box(box.top // 2, box.left // 2, -(-box.bottom // 2), -(-box.right // 2))
            write_part(job.out, name, level, box, values)


def write_part(out: Path, name: str, level: int, box: Box, values: NDArray[Any]) -> None:
    """Write a part of a level, whose chunks it fills. Chunks without values are left out where there are none at all.

    For zarr to look for values in each chunk takes half as long as to write it.
    """
    opened(out, name, level, "r+", empty=bool(values.any()))[(..., *box.slices)] = values


def opened(out: Path, name: str, level: int, mode: str, *, empty: bool = False) -> Any:
    """Open a level of a map, to write empty chunks too or not; once in a process, as long as it stays the same."""
    path = array_name(name, level)
    state = (Path(store_of(out)) / path / "zarr.json").stat()
    return _open_once(store_of(out), path, mode, empty, (state.st_ino, state.st_mtime_ns))


@lru_cache(maxsize=64)
def _open_once(store: str, path: str, mode: str, empty: bool, _state: tuple[int, int]) -> Any:
    import zarr

    with zarr.config.set({"array.write_empty_chunks": empty}):
        return zarr.open_array(store, path=path, mode=mode)


def strongest(values: NDArray[Any]) -> NDArray[Any]:
    """Return the strongest of each 2 x 2 pixels of (H, W) or (C, H, W); over the rim there is nothing."""
    planes = values if values.ndim == 3 else values[None]
    whole = np.pad(planes, ((0, 0), *((0, side % 2) for side in planes.shape[1:])))
    kept = reduce(_stronger, (whole[:, y::2, x::2] for y in (0, 1) for x in (0, 1)))
    return kept if values.ndim == 3 else kept[0]


def _stronger(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    return np.where(np.abs(second).sum(axis=0) > np.abs(first).sum(axis=0), second, first)


def shrink_block(out: Path, level: int, pair: tuple[str, tuple[str, Box]]) -> None:
    """Make a block of a map's level from the level below it."""
    _, (name, box) = pair
    below = opened(out, name, level - 1, "r")
    rows, columns = slice(2 * box.top, 2 * box.bottom), slice(2 * box.left, 2 * box.right)
    write_part(out, name, level, box, strongest(np.asarray(below[..., rows, columns])))


def describe(out: Path, maps: Mapping[str, Source], affine: Affine | None) -> None:
    """Write what OME-NGFF 0.5 says of the maps, each of an image: axes, levels, the size and the place of pixels."""
    import zarr

    images = [_multiscale(name, source.shape, source.affine) for name, source in maps.items()]
    group = zarr.open_group(store_of(out), mode="a")
    place = {"world": {"matrix": list(affine.matrix), "unit": affine.unit}} if affine else {}
    group.attrs.update({"ome": {"version": "0.5", "multiscales": images}, "imtorque": place})


def _multiscale(name: str, shape: tuple[int, int], affine: Affine | None) -> dict[str, Any]:
    channel = [{"name": "c", "type": "channel"}] if name == "edges" else []
    units = (
        {"unit": affine.unit} if affine and affine.unit in ("micrometer", "nanometer", "millimeter", "meter") else {}
    )
    space = [{"name": axis, "type": "space", **units} for axis in ("y", "x")]
    size = affine.pixel_size if affine else (1.0, 1.0)
    start = (affine.matrix[5], affine.matrix[2]) if affine and affine.is_axis_aligned else (0.0, 0.0)
    datasets = []
    for level in range(levels_of(shape)):
        factor, middle = 2.0**level, (2.0**level - 1) / 2
        scale = [1.0] * len(channel) + [side * factor for side in size]
        offset = [0.0] * len(channel) + [first + middle * side for first, side in zip(start, size, strict=True)]
        steps = [{"type": "scale", "scale": scale}, {"type": "translation", "translation": offset}]
        datasets.append({"path": array_name(name, level), "coordinateTransformations": steps})
    return {"name": name, "axes": [*channel, *space], "datasets": datasets, "type": "strongest of 2 x 2"}
