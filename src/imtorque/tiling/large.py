"""An image of any size, from a file to maps and tables: the bits that it would have in memory."""

from __future__ import annotations

import operator
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from imtorque import __version__
from imtorque.core.patterns import Pattern, Polarity
from imtorque.core.types import Patch, Sizes
from imtorque.edges import SQRT2, EdgeRecipe, find_recipe
from imtorque.edges.canny import Force
from imtorque.images import ValueRange
from imtorque.jobs.tables import FORMATS
from imtorque.tiling import maps
from imtorque.tiling.extrema import blobs_of, in_parts, merged_rows, write_extrema
from imtorque.tiling.grid import Grid
from imtorque.tiling.job import Job, save_array, work_folder
from imtorque.tiling.levels import check_recipe, chosen_level, reduced_source, write_saliency, write_strengthened
from imtorque.tiling.manifest import begin, end
from imtorque.tiling.passes import (
    Progress,
    Runner,
    find_thresholds,
    find_tone,
    finish_pyramid,
    finish_tiles,
    forget_work,
)
from imtorque.tiling.settings import (
    DEFAULT_OUTPUTS,
    LEVELLED,
    MAPS,
    EdgeSettings,
    TorqueSettings,
    checked_tile,
    chosen_outputs,
    chosen_sizes,
    optional_range,
)
from imtorque.tiling.source import ArraySource, NpySource, Source
from imtorque.tiling.sources import as_source

if TYPE_CHECKING:
    from distributed import Client

TILE = 2048


@dataclass(frozen=True)
class Summary:
    """What became of a large image.

    Parameters
    ----------
    out
        The folder of the results.
    shape
        Height and width of the image.
    tiles
        How many tiles it was cut into.
    low, high
        Thresholds of its edges, in parts of the value range per pixel.
    steps
        Steps per unit of force (see `imtorque.Survey`).
    rounds
        Of corner removal that were allowed for.
    edge_pixels, extrema, blobs
        How many were found; None where they were not asked for, like all that follows from edges.
    level
        Of strengthened edges and saliency, None where these were not asked for.
    """

    out: str
    shape: tuple[int, int]
    tiles: int
    low: float | None = None
    high: float | None = None
    steps: float | None = None
    rounds: int | None = None
    edge_pixels: int | None = None
    extrema: int | None = None
    blobs: int | None = None
    level: int | None = None


def process_image(
    source: Source | str | os.PathLike[str] | Any,
    out: str | os.PathLike[str],
    sizes: Sizes | None = None,
    outputs: Sequence[str] = DEFAULT_OUTPUTS,
    *,
    tile: int = TILE,
    client: Client | None = None,
    jobs: int | None = None,
    sigma: float = SQRT2,
    low: float | None = None,
    high: float | None = None,
    force: Force = "unit",
    directions: Literal[8] | None = None,
    strength_scale: float | None = None,
    length_correction: bool = False,
    value_range: ValueRange | None = None,
    patch: Patch = "square",
    alpha: float = 2.0,
    pattern: Pattern = "circle",
    polarity: Polarity = "signed",
    threshold: float = 0.4,
    overlap: float = 0.4,
    count: int | None = None,
    level: int | None = None,
    recipe: str = "canny",
    table: Literal["csv", "parquet"] = "csv",
    progress: Progress | None = None,
) -> Summary:
    """Compute maps and tables of an image of any size, tile by tile, to the bit as in memory.

    Memory does not grow with the image: a worker holds a tile and what surrounds it. What is done is recorded, and
    the same call goes on where one before it ended.

    Parameters
    ----------
    source
        A path, what `open_image` returns, or an array.
    out
        Folder for the results: `maps.zarr` with an array for each map, `extrema.csv`, `blobs.csv`, `results.json`.
    sizes
        Patch sizes, odd and increasing; by default those of `default_sizes` up to 91.
    outputs
        Which results: "value", "scale" (as `value_and_scale_maps`), "edges" (fx and fy, as `detect_edges`), "extrema"
        (as `find_extrema`) and "blobs" (the paper's: place, size and torque as ``find_blobs(..., recipe="paper")``);
        of the image at a level also "strengthened" (as `boundary_strength`) and "saliency" (as `torque_saliency`).
    tile
        Side of the tiles in pixels. Changes no result: larger ones take less time in all and more memory.
    client
        Of a dask cluster whose workers see the same files; by default processes of this machine.
    jobs
        How many processes; as many as cores by default.
    sigma, low, high, force, directions, strength_scale, length_correction, value_range
        As for `detect_edges`; `strength_scale` must be given with force="strength".
    patch, alpha, pattern, polarity
        As for `torque_volume`.
    threshold, overlap
        Of blobs: least |torque|, and the largest part of the smaller patch that two of one sign may share.
    count
        How many extrema the table has at most, the strongest; all by default.
    level
        Of strengthened edges and saliency: blocks of 2^level x 2^level pixels are averaged first, as `shrink_image`
        does. By default the first level of at most 2^24 pixels, which is the most that saliency takes.
    recipe
        Of strengthened edges, as for `boundary_strength`: one of Canny's, whose edges can be found in tiles.
    table
        "csv" or "parquet".
    progress
        Called with the name of a pass, how many of its tasks are done, and how many there are.

    Returns
    -------
    Summary
        Also in OUT/results.json.
    """
    if table not in FORMATS:
        raise ValueError(f'table must be "csv" or "parquet", got {table!r}')
    if recipe in ("contours", "paper"):
        raise ValueError(
            'recipe must be one of strengthened edges; blobs are those of find_blobs(..., recipe="paper") here, '
            f'because recipe="contours" judges objects by all others in the image, got {recipe!r}'
        )
    image, folder = as_source(source), Path(out).absolute()
    edges = EdgeSettings(sigma, low, high, force, directions, strength_scale, length_correction)
    torque = TorqueSettings(chosen_sizes(sizes, image.shape), patch, alpha, pattern, polarity)
    asked = Asked(
        value_range=optional_range(value_range),
        edges=edges,
        torque=torque,
        outputs=chosen_outputs(outputs),
        tile=checked_tile(tile),
        threshold=threshold,
        overlap=overlap,
        count=_checked_count(count),
        level=level,
        recipe=find_recipe(recipe),
        table=table,
    )
    chosen_level(image, level, asked.outputs)
    if "strengthened" in asked.outputs:
        check_recipe(asked.recipe)
    if find_spec("zarr") is None:  # before anything is written
        raise ImportError("large images need zarr: pip install 'imtorque[scale]'")
    before = begin(folder, {"version": __version__, "source": image.fingerprint(), **asdict(asked)})
    if before is not None:
        return Summary(**{**before, "shape": image.shape})
    runner = Runner(folder, client, jobs, progress)
    summary = _done(_shared(image, folder, alone=client is None and jobs == 1), asked, runner)
    end(folder, asdict(summary))
    forget_work(folder)
    return summary


@dataclass(frozen=True)
class Asked:
    """What was asked of an image, all of which the results depend on."""

    value_range: ValueRange | None
    edges: EdgeSettings
    torque: TorqueSettings
    outputs: tuple[str, ...]
    tile: int
    threshold: float
    overlap: float
    count: int | None
    level: int | None
    recipe: EdgeRecipe
    table: str


def _checked_count(count: int | None) -> int | None:
    if count is not None and operator.index(count) < 0:
        raise ValueError(f"count must not be negative, got {count}")
    return count


def _done(source: Source, asked: Asked, runner: Runner) -> Summary:
    """Do everything that was asked."""
    grid = Grid(source.shape, asked.tile)
    written = {name: source for name in MAPS if name in asked.outputs}
    summary = Summary(str(runner.out), source.shape, len(grid.tiles()))
    if any(name not in LEVELLED for name in asked.outputs):
        tone = find_tone(source, grid, runner, asked.value_range)
        least = asked.threshold if "extrema" not in asked.outputs else 0.0
        wanted = tuple(name for name in asked.outputs if name not in LEVELLED)
        job = Job(source, grid, asked.edges, asked.torque, tone, runner.out, wanted, least)
        summary = _with_torque(summary, job, asked, runner)
    if any(name in LEVELLED for name in asked.outputs):
        level = chosen_level(source, asked.level, asked.outputs)
        reduced = reduced_source(source, level, runner)
        written |= {name: reduced for name in LEVELLED if name in written}
        if "strengthened" in written:
            write_strengthened(reduced, runner, asked.tile, asked.recipe, asked.value_range)
        if "saliency" in written:
            write_saliency(reduced, runner, asked.value_range)
        summary = replace(summary, level=level)
    maps.describe(runner.out, written, source.world)
    return summary


def _with_torque(summary: Summary, job: Job, asked: Asked, runner: Runner) -> Summary:
    """Do all passes at the full size, and write the tables."""
    names = tuple(name for name in MAPS if name in job.outputs)
    maps.make_arrays(job.out, names, job.grid)
    thresholds, listed = find_thresholds(job, runner)
    plan, survey = finish_tiles(job, runner, thresholds, listed)
    finish_pyramid(job, runner, names)
    counts = _write_tables(job, asked) if "extrema" in job.outputs or "blobs" in job.outputs else {}
    return replace(
        summary,
        low=thresholds.low * job.tone.unit,
        high=thresholds.high * job.tone.unit,
        steps=plan.steps,
        rounds=plan.rounds,
        edge_pixels=sum(count for _, count in survey.octaves),
        extrema=counts.get("extrema"),
        blobs=counts.get("blobs"),
    )


def _write_tables(job: Job, asked: Asked) -> dict[str, int]:
    """Write the tables; return how many rows each has."""
    rows, sizes, world = merged_rows(job), job.torque.sizes, job.source.world
    counts = {}
    if "extrema" in job.outputs:
        kept = rows[: asked.count]
        write_extrema(job.out / f"extrema.{asked.table}", in_parts(kept, sizes), world)
        counts["extrema"] = len(kept)
    if "blobs" in job.outputs:
        blobs = blobs_of(rows, sizes, asked.threshold, asked.overlap)
        write_extrema(job.out / f"blobs.{asked.table}", [blobs], world)
        counts["blobs"] = len(blobs)
    return counts


def _shared(image: Source, out: Path, *, alone: bool) -> Source:
    """Return a source that other processes can read: an array is written to a file first."""
    if alone or not isinstance(image, ArraySource) or not isinstance(image.array, np.ndarray):
        return image
    path = work_folder(out) / "image.npy"
    if not path.exists():
        save_array(path, image.array)
    fields = {name: getattr(image, name) for name in ("shape", "samples", "dtype", "world")}
    return replace(NpySource(str(path), **fields))
