"""Edges and torque of dask's and xarray's arrays, computed when they are asked for, chunk by chunk, to the bit.

A chunk needs what lies around it, and what only the whole image says must be given: what is white, one threshold for
edges, and the steps in which forces are rounded. Hysteresis sees the whole image: `process_image` has it. Chunks
are read with their surroundings for every step anew; `process_image` takes a fraction of the tasks and the memory.

Examples
--------
>>> import dask.array as da, numpy as np, imtorque
>>> image = (np.indices((200, 300)).sum(axis=0) // 40 % 2 * 200).astype(np.uint8)
>>> forces = detect_edges(da.from_array(image, chunks=90), threshold=0.02, value_range=(0, 255))
>>> volume = torque_volume(forces, [5, 9], steps=survey(forces).steps)
>>> edges = imtorque.detect_edges(image, low=0.02, high=0.02)
>>> bool((volume.compute() == imtorque.torque_volume(edges, [5, 9]).tau).all())
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from imtorque.core import torque
from imtorque.core.patterns import Pattern, Polarity
from imtorque.core.quantisation import Survey
from imtorque.core.types import Edges, Float32Array, Patch, Sizes
from imtorque.edges import SQRT2
from imtorque.edges.canny import Force
from imtorque.images import ValueRange, checked_range
from imtorque.tiling.grid import Box, Grid
from imtorque.tiling.hysteresis import Thresholds
from imtorque.tiling.intensity import Tone, tone_of
from imtorque.tiling.job import Job
from imtorque.tiling.settings import EdgeSettings, TorqueSettings, chosen_sizes
from imtorque.tiling.source import ArraySource
from imtorque.tiling.tile import Plan, tile_edges

Lazy = Any  # a dask array or an xarray DataArray
Block = Callable[[NDArray[Any], Box, Box], tuple[NDArray[Any], ...]]  # of a window's pixels, the window, its core


def detect_edges(
    image: Lazy,
    *,
    threshold: float,
    value_range: ValueRange,
    bounds: ValueRange | None = None,
    sigma: float = SQRT2,
    force: Force = "unit",
    directions: Literal[8] | None = None,
    strength_scale: float | None = None,
    rounds: int = 12,
) -> Lazy:
    """Return the edges of an image as a lazy array of forces: fx and fy, shape (2, H, W), float32.

    Parameters
    ----------
    image
        A dask array or a DataArray, (H, W) or (H, W, 3 or 4).
    threshold
        Both thresholds of `imtorque.detect_edges`.
    value_range
        Black and white.
    bounds
        The lowest and the highest value of the whole image, which floats are levelled by: ``image.min()`` and
        ``image.max()``.
    sigma, force, directions, strength_scale
        As for `process_image`.
    rounds
        Of corner removal; where a chunk needs more, computing it is a ValueError that says so.
    """
    data = _data(image)
    if data.ndim not in (2, 3) or (data.ndim == 3 and data.shape[2] not in (1, 3, 4)):
        raise ValueError(f"image must be grey (H, W) or colour (H, W, 3 or 4), got shape {data.shape}")
    if data.dtype.kind == "f" and bounds is None:
        raise ValueError("bounds must be given with floats: the lowest and the highest value of the whole image")
    settings = EdgeSettings(sigma, threshold, threshold, force, directions, strength_scale)
    samples = data.shape[2] if data.ndim == 3 else 1
    low, high = checked_range(value_range)
    lowest, highest = (float(bound) for bound in bounds or (low, high))
    tone = tone_of((lowest, highest, high), data.dtype, samples, (low, high))
    one = float(settings.thresholds(tone.unit)[0])
    plan = Plan(Thresholds(one, one), rounds, None, False)
    block = partial(_edge_block, tone, settings, plan, (data.shape[0], data.shape[1]))
    halo = 2 * rounds + 2 + settings.halo
    (forces,) = _by_blocks(data, (0, 1), halo, block, [((2,), np.float32)])
    return _as_given(image, forces, ("force",), {"force": ["x", "y"]}, (0, 1))


def survey(forces: Lazy) -> Survey:
    """Look at all forces, now: what their rounding follows from. Its `steps` are what the other functions need."""
    from dask import compute, delayed

    data = _data(forces)
    parts = [delayed(_survey_block)(data[(slice(None), *core.slices)], core) for core in _cores(data, (1, 2))]
    surveys = compute(*parts)
    merged: Survey = surveys[0].merge(*surveys[1:])
    return merged


def torque_volume(
    forces: Lazy,
    sizes: Sizes,
    *,
    steps: float,
    patch: Patch = "square",
    alpha: float = 2.0,
    pattern: Pattern = "circle",
    polarity: Polarity = "signed",
) -> Lazy:
    """Return the torque of every patch as a lazy array (S, H, W), as `imtorque.torque_volume`.

    Parameters
    ----------
    forces
        What `detect_edges` of this module returns, or any lazy array (2, H, W) of fx and fy.
    sizes, patch, alpha, pattern, polarity
        As for `imtorque.torque_volume`; sizes are sides of squares or disks.
    steps
        Of the whole field: ``survey(forces).steps``.
    """
    settings = _settings(forces, sizes, patch, alpha, pattern, polarity)
    block = partial(_volume_block, settings, steps)
    (volume,) = _by_blocks(_data(forces), (1, 2), settings.reach, block, [((len(settings.sizes),), np.float32)])
    return _as_given(forces, volume, ("size",), {"size": list(settings.sizes)}, (1, 2))


def value_and_scale_maps(
    forces: Lazy,
    sizes: Sizes,
    *,
    steps: float,
    patch: Patch = "square",
    alpha: float = 2.0,
    pattern: Pattern = "circle",
    polarity: Polarity = "signed",
) -> tuple[Lazy, Lazy]:
    """Return the strongest torque at each pixel and its signed size, lazy (H, W), as `imtorque.value_and_scale_maps`.

    Parameters
    ----------
    forces, sizes, steps, patch, alpha, pattern, polarity
        As for `torque_volume`.
    """
    settings = _settings(forces, sizes, patch, alpha, pattern, polarity)
    block = partial(_maps_block, settings, steps)
    kinds: list[tuple[tuple[int, ...], Any]] = [((), np.float32), ((), np.int32)]
    value, scale = _by_blocks(_data(forces), (1, 2), settings.reach, block, kinds)
    return _as_given(forces, value, (), {}, (1, 2)), _as_given(forces, scale, (), {}, (1, 2))


def _settings(
    forces: Lazy, sizes: Sizes, patch: Patch, alpha: float, pattern: Pattern, polarity: Polarity
) -> TorqueSettings:
    shape = forces.shape
    if len(shape) != 3 or shape[0] != 2:
        raise ValueError(f"forces must be fx and fy, shape (2, H, W), got {shape}")
    return TorqueSettings(chosen_sizes(sizes, (shape[1], shape[2])), patch, alpha, pattern, polarity)


def _data(array: Lazy) -> Any:
    """Return the dask array that was given, or that a DataArray holds."""
    data = getattr(array, "data", array) if hasattr(array, "dims") else array
    if not hasattr(data, "dask"):
        raise TypeError(f"array must be lazy, a dask array or a DataArray of one, got {type(data).__name__}")
    return data


def _as_given(given: Lazy, data: Any, dims: tuple[str, ...], coords: dict[str, Any], spatial: tuple[int, int]) -> Lazy:
    """Return a result as what was given: a DataArray gets its own axes and coordinates back."""
    if not hasattr(given, "dims"):
        return data
    kept = [given.dims[axis] for axis in spatial]
    own = {name: coord for name, coord in given.coords.items() if set(coord.dims) <= set(kept)}
    return type(given)(data, dims=(*dims, *kept), coords={**own, **coords})


def _cores(data: Any, axes: tuple[int, int]) -> list[Box]:
    """Return where the chunks of a lazy array lie, row by row."""
    rows, columns = ([0, *accumulate(data.chunks[axis])] for axis in axes)
    return [Box(top, left, bottom, right) for top, bottom in pairwise(rows) for left, right in pairwise(columns)]


def _by_blocks(
    data: Any, axes: tuple[int, int], halo: int, block: Block, kinds: Sequence[tuple[tuple[int, ...], Any]]
) -> list[Any]:
    """Return lazy arrays whose chunks are made from those of another and what lies around them."""
    from dask import array, delayed

    shape = (data.shape[axes[0]], data.shape[axes[1]])
    columns = len(data.chunks[axes[1]])
    parts: list[list[Any]] = [[] for _ in kinds]
    made = delayed(block, nout=len(kinds))
    for core in _cores(data, axes):
        window = core.grown(halo, shape)
        before = (slice(None),) * axes[0]
        results = made(data[(*before, *window.slices)], window, core)
        for k, (leading, dtype) in enumerate(kinds):
            parts[k].append(array.from_delayed(results[k], (*leading, *core.shape), dtype))
    return [array.block([row[i : i + columns] for i in range(0, len(row), columns)]) for row in parts]


def _edge_block(
    tone: Tone,
    settings: EdgeSettings,
    plan: Plan,
    shape: tuple[int, int],
    pixels: NDArray[Any],
    window: Box,
    core: Box,
) -> tuple[Float32Array]:
    source = _Window.at(pixels, window, shape)
    job = Job(source, Grid(shape, 1), settings, TorqueSettings((1,)), tone, Path(), ("edges",))
    fx, fy, _, left = tile_edges(job, plan, core)
    if left:
        raise ValueError(f"rounds must be more than {plan.rounds} for the corners of this image")
    return (np.stack([fx, fy]),)


def _survey_block(forces: Float32Array, core: Box) -> Survey:
    return Edges(forces[0], forces[1]).survey.at(core.top, core.left)


def _volume_block(
    settings: TorqueSettings, steps: float, forces: Float32Array, window: Box, core: Box
) -> tuple[Float32Array]:
    volume = torque.torque_volume(Edges(forces[0], forces[1], steps), settings.sizes, **settings.options)
    return (volume.tau[(slice(None), *core.inside(window).slices)],)


def _maps_block(
    settings: TorqueSettings, steps: float, forces: Float32Array, window: Box, core: Box
) -> tuple[Float32Array, NDArray[np.int32]]:
    value, scale = torque.value_and_scale_maps(Edges(forces[0], forces[1], steps), settings.sizes, **settings.options)
    inner = core.inside(window).slices
    return value[inner], scale[inner]


@dataclass(frozen=True)
class _Window(ArraySource):
    """A window of an image, read by places in the whole."""

    top: int = 0
    left: int = 0

    @classmethod
    def at(cls, pixels: NDArray[Any], window: Box, shape: tuple[int, int]) -> _Window:
        samples = pixels.shape[2] if pixels.ndim == 3 else 1
        return cls("window", shape, samples, pixels.dtype.str, None, pixels, window.top, window.left)

    def read(self, box: Box) -> NDArray[Any]:
        moved = Box(box.top - self.top, box.left - self.left, box.bottom - self.top, box.right - self.left)
        return super().read(moved)
