"""An image of any size, from a file to maps and tables: the bits that it would have in memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from imtorque import __version__
from imtorque.core.extrema import Neighbourhood
from imtorque.core.patterns import Pattern, Polarity
from imtorque.core.types import Patch, Sizes
from imtorque.edges import SQRT2, find_recipe
from imtorque.edges.canny import Force
from imtorque.images import ValueRange
from imtorque.jobs.tables import TABLE_FORMATS
from imtorque.tiling import maps
from imtorque.tiling.extrema import blobs_of, wanted_extrema, write_extrema
from imtorque.tiling.grid import Grid
from imtorque.tiling.job import Job, forget_work, save_array, work_folder
from imtorque.tiling.levels import check_recipe, chosen_level, reduced_source, write_saliency, write_strengthened
from imtorque.tiling.manifest import begin, end
from imtorque.tiling.passes import (
    Progress,
    Runner,
    find_thresholds,
    find_tone,
    finish_pyramid,
    finish_tiles,
)
from imtorque.tiling.settings import (
    MAPS,
    REDUCED,
    Config,
    EdgeSettings,
    TorqueSettings,
    checked_tile,
    chosen_outputs,
    chosen_sizes,
    optional_range,
    outputs_with_extrema,
)
from imtorque.tiling.source import ArraySource, NpySource, Source
from imtorque.tiling.sources import as_source

if TYPE_CHECKING:
    from distributed import Client

TILE = 2048  # convention: pixels; larger tiles take less time in all and more memory


@dataclass(frozen=True)
class Summary:
    """The result of `process_image`.

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
        Steps per unit of force (see `imtorque.ForceStatistics`).
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
    outputs: Sequence[str] | None = None,
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
    neighbourhood: Neighbourhood = "box",
    end_scales: bool = True,
    inside: bool = False,
    threshold: float = 0.4,
    overlap: float = 0.4,
    count: int | None = None,
    least: float = 0.0,
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
        (as `find_extrema`) and "blobs" (the paper's: place, size and torque as ``find_blobs(..., method="paper")``);
        of the image at a level also "strengthened" (as `boundary_strength`) and "saliency" (as `torque_saliency`).
        By default value, scale, edges and blobs, and extrema where `count` or `least` is given: of all of them the
        table is long, of noise above all.
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
    neighbourhood, end_scales, inside
        Of extrema, as for `find_extrema`; not with blobs, which have the defaults.
    threshold, overlap
        Of blobs: least |torque|, and the largest part of the smaller patch that two of one sign may share.
    count
        How many extrema the table has at most, the strongest.
    least
        Least |torque| of extrema in the table.
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
    outputs = outputs_with_extrema(outputs, count, least)
    if table not in TABLE_FORMATS:
        raise ValueError(f'table must be "csv" or "parquet", got {table!r}')
    if recipe in ("contours", "paper"):
        raise ValueError(
            'recipe must be one of strengthened edges; blobs are those of find_blobs(..., method="paper") here, '
            f"because others are judged by all in the image: count_objects finds these, got {recipe!r}"
        )
    image, folder = as_source(source), Path(out).absolute()
    edges = EdgeSettings(sigma, low, high, force, directions, strength_scale, length_correction)
    if "blobs" in outputs and (neighbourhood, end_scales, inside) != ("box", True, False):
        raise ValueError("outputs must not have blobs with another neighbourhood, end_scales or inside, got blobs")
    rule: dict[str, Any] = {"neighbourhood": neighbourhood, "end_scales": end_scales, "inside": inside}
    torque = TorqueSettings(chosen_sizes(sizes, image.shape), patch, alpha, pattern, polarity, **rule)
    config = Config(
        value_range=optional_range(value_range),
        edges=edges,
        torque=torque,
        outputs=chosen_outputs(outputs),
        tile=checked_tile(tile),
        threshold=threshold,
        overlap=overlap,
        count=count,
        least=least,
        level=level,
        recipe=find_recipe(recipe),
        table=table,
    )
    chosen_level(image, level, config.outputs)
    if "strengthened" in config.outputs:
        check_recipe(config.recipe)
    if find_spec("zarr") is None:  # before anything is written
        raise ImportError("large images need zarr: pip install 'imtorque[scale]'")
    before = begin(folder, {"version": __version__, "source": image.fingerprint(), **asdict(config)})
    if before is not None:
        return Summary(**{**before, "shape": image.shape})
    runner = Runner(folder, client, jobs, progress)
    summary = _run(_shared(image, folder, alone=client is None and jobs == 1), config, runner)
    end(folder, asdict(summary))
    forget_work(folder)
    return summary


def _run(source: Source, config: Config, runner: Runner) -> Summary:
    """Write all outputs."""
    grid = Grid(source.shape, config.tile)
    written = {name: source for name in MAPS if name in config.outputs}
    summary = Summary(str(runner.out), source.shape, len(grid.tiles()))
    if any(name not in REDUCED for name in config.outputs):
        tone = find_tone(source, grid, runner, config.value_range)
        full = replace(config, outputs=tuple(name for name in config.outputs if name not in REDUCED))
        summary = _with_torque(summary, Job(source, grid, full, tone, runner.out), runner)
    if any(name in REDUCED for name in config.outputs):
        level = chosen_level(source, config.level, config.outputs)
        reduced = reduced_source(source, level, runner)
        written |= {name: reduced for name in REDUCED if name in written}
        if "strengthened" in written:
            write_strengthened(reduced, runner, config)
        if "saliency" in written:
            write_saliency(reduced, runner, config.value_range)
        summary = replace(summary, level=level)
    maps.describe(runner.out, written, source.affine)
    return summary


def _with_torque(summary: Summary, job: Job, runner: Runner) -> Summary:
    """Do all passes at the full size, and write the tables."""
    names = tuple(name for name in MAPS if name in job.config.outputs)
    maps.make_arrays(job.out, names, job.grid)
    thresholds, listed = find_thresholds(job, runner)
    plan, statistics = finish_tiles(job, runner, thresholds, listed)
    finish_pyramid(job, runner, names)
    counts = _write_tables(job) if "extrema" in job.config.outputs or "blobs" in job.config.outputs else {}
    return replace(
        summary,
        low=thresholds.low * job.tone.unit,
        high=thresholds.high * job.tone.unit,
        steps=plan.steps,
        rounds=plan.rounds,
        edge_pixels=sum(count for _, count in statistics.octaves),
        extrema=counts.get("extrema"),
        blobs=counts.get("blobs"),
    )


def _write_tables(job: Job) -> dict[str, int]:
    """Write the tables; return how many rows each has."""
    config = job.config
    counts: dict[str, int] = {}
    for name in ("extrema", "blobs"):
        if name in config.outputs:
            parts = [blobs_of(job)] if name == "blobs" else wanted_extrema(job, config.count, config.least)
            counts[name] = write_extrema(job.out / f"{name}.{config.table}", parts, job.source.affine)
    return counts


def _shared(image: Source, out: Path, *, alone: bool) -> Source:
    """Return a source that other processes can read: an array is written to a file first."""
    if alone or not isinstance(image, ArraySource) or not isinstance(image.array, np.ndarray):
        return image
    path = work_folder(out) / "image.npy"
    if not path.exists():
        save_array(path, image.array)
    fields = {name: getattr(image, name) for name in ("shape", "samples", "dtype", "affine")}
    return replace(NpySource(str(path), **fields))
