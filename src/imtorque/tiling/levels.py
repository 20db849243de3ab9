"""Strengthened edges and saliency, which suit images of a few thousand pixels: of the image at a reduced size."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from imtorque.edges import RECIPES, CannyOptions, EdgeRecipe
from imtorque.images import ValueRange
from imtorque.saliency import torque_saliency
from imtorque.tiling import maps
from imtorque.tiling.grid import Box, Grid
from imtorque.tiling.job import Job, work_folder
from imtorque.tiling.passes import Runner, find_thresholds, find_tone, finish_pyramid, finish_tiles
from imtorque.tiling.settings import Config, EdgeSettings, TorqueSettings
from imtorque.tiling.source import ReducedSource, Source
from imtorque.tiling.zarr_source import ZarrSource

SALIENCY_PIXELS = 1 << 24  # bound: of an image whose saliency is computed in memory
REDUCED_SIDE = 4096  # bound: pixels a side of the full image that a task reduces together


def chosen_level(source: Source, level: int | None, outputs: tuple[str, ...]) -> int:
    """Return the level, a power of two, by which the image is reduced; by default the first of 16 megapixels."""
    least = 0
    while np.prod([side >> least for side in source.shape]) > SALIENCY_PIXELS:
        least += 1
    if level is None:
        return least
    if level < 0 or min(source.shape) >> level < 1:
        raise ValueError(f"level must leave at least a pixel of {source.shape}, got {level}")
    if level < least and "saliency" in outputs:
        raise ValueError(f"level must be at least {least} for the saliency of {source.shape} pixels, got {level}")
    return level


def check_recipe(recipe: EdgeRecipe) -> None:
    """Refuse a recipe whose edges cannot be found in tiles: all but Canny's need the whole image."""
    if not isinstance(recipe.options, CannyOptions):
        known = ", ".join(one.name for one in RECIPES.values() if isinstance(one.options, CannyOptions))
        raise ValueError(f"recipe must be one of {known} for strengthened edges in tiles, got {recipe.name!r}")


def reduced_source(source: Source, level: int, runner: Runner) -> Source:
    """Return the image at a level, from a store that all tasks can read."""
    if level == 0:
        return source
    reduced = ReducedSource.of(source, 2**level)
    side = max(1, REDUCED_SIDE >> level)
    planes = (source.samples,) if source.samples > 1 else ()
    store = str(work_folder(runner.out) / "reduced.zarr")
    maps.make_array(store, "", (*reduced.shape, *planes), (side, side, *planes), source.dtype)
    runner.run("reduce", partial(reduce_block, reduced, store), Grid(reduced.shape, side).tiles())
    axes = "YXS" if planes else "YX"
    return ZarrSource(store, reduced.shape, source.samples, source.dtype, reduced.affine, "", (None,) * len(axes), axes)


def reduce_block(reduced: Source, store: str, pair: tuple[str, Box]) -> None:
    """Write a block of the reduced image."""
    import zarr

    zarr.open_array(store, mode="r+")[pair[1].slices] = reduced.read(pair[1])


def write_strengthened(source: Source, runner: Runner, config: Config) -> None:
    """Write the edges of an image after torque has re-weighed them, as `boundary_strength` does."""
    own = replace(runner, prefix="strengthened-")
    recipe, grid = config.recipe, Grid(source.shape, config.tile)
    found: CannyOptions = recipe.options  # as `check_recipe` has made sure
    edges = EdgeSettings(found.sigma, found.low, found.high, "strength", strength_scale=found.strength_scale)
    tone = find_tone(source, grid, own, config.value_range)
    outputs = ("strengthened",)
    full = replace(config, edges=edges, torque=TorqueSettings(recipe.sizes), outputs=outputs)
    job = Job(source, grid, full, tone, runner.out)
    maps.make_arrays(runner.out, outputs, grid)
    finish_tiles(job, own, *find_thresholds(job, own))
    finish_pyramid(job, own, outputs)


def write_saliency(source: Source, runner: Runner, value_range: ValueRange | None) -> None:
    """Write where people look, as `torque_saliency` does, in one task."""
    grid = Grid(source.shape, maps.CHUNK)
    maps.make_arrays(runner.out, ("saliency",), grid)
    whole = Box(0, 0, *source.shape)
    runner.run("saliency", partial(salient, source, runner.out, grid, value_range), [("saliency", whole)])


def salient(source: Source, out: Path, grid: Grid, value_range: ValueRange | None, pair: tuple[str, Box]) -> None:
    """Compute and write the saliency of a whole image."""
    values = torque_saliency(source.read(pair[1]), value_range=value_range)
    for level in range(maps.levels_of(grid.shape)):
        values = maps.strongest(values) if level else values
        maps.opened(out, "saliency", level, "r+")[:] = values
