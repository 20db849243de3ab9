"""The passes over a large image, and what they hand on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from imtorque.core.quantisation import ForceStatistics
from imtorque.images import ValueRange
from imtorque.jobs.engine import run_tasks
from imtorque.tiling import candidates, hysteresis, maps
from imtorque.tiling.grid import Box, Grid
from imtorque.tiling.hysteresis import Thresholds
from imtorque.tiling.intensity import Bounds, Tone, bounds_of, merged, settles, tone_of
from imtorque.tiling.job import Job, load_array, work_folder
from imtorque.tiling.source import Source
from imtorque.tiling.thresholds import automatic_thresholds
from imtorque.tiling.tile import Plan, finish_tile, read_statistics

if TYPE_CHECKING:
    from distributed import Client

CORNER_ROUNDS = 12  # bound: of corner removal at first; nine were the most seen on photographs
LOCAL_BLOCKS = 16  # bound: of a pyramid level; as few are made here sooner than handed out
PROBE_SIDE = 256  # bound: pixels of the windows that may already settle what is white

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Runner:
    """Runs a task over tiles and reports progress."""

    out: Path
    client: Client | None = None
    jobs: int | None = None
    progress: Progress | None = None
    prefix: str = ""  # of the names of passes, where an image has several jobs

    def run(self, name: str, task: Callable[[Any], Any], items: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        """Do a task to every item that has no record of it yet; return what each returned."""
        name = self.prefix + name
        values: dict[str, Any] = {}

        def done(item: Any, value: Any) -> None:
            values[item[0]] = value
            if self.progress is not None:
                self.progress(name, len(values), len(items))

        records = work_folder(self.out) / "records" / name
        pairs = [(key, (key, box)) for key, box in items]
        failures = run_tasks(task, pairs, client=self.client, jobs=self.jobs, records=records, on_done=done)
        if failures:
            first = min(failures, key=lambda failure: failure.key)
            raise RuntimeError(
                f"{len(failures)} of {len(items)} tiles could not be done ({name}), the first {first.key}: "
                f"{first.message}; the same command goes on from there"
            )
        return values


def find_tone(source: Source, grid: Grid, runner: Runner, value_range: ValueRange | None) -> Tone:
    """Return what is black and white in an image; a part of it may settle that, else all of it is looked at."""
    dtype = np.dtype(source.dtype)
    kind = (dtype, source.samples, value_range)
    height, width = source.shape
    corners = [(0, 0), (height // 2, width // 2), (max(0, height - PROBE_SIDE), max(0, width - PROBE_SIDE))]
    probes = [Box(y, x, min(y + PROBE_SIDE, height), min(x + PROBE_SIDE, width)) for y, x in corners]
    seen = merged([bounds_of(source.read(box)) for box in probes]) if dtype.kind in "bu" else None
    if seen is not None and settles(seen, *kind):
        return tone_of(seen, *kind)
    parts = runner.run("bounds", partial(tile_bounds, source), grid.tiles())
    return tone_of(merged([_three(part) for part in parts.values()]), *kind)


def tile_bounds(source: Source, pair: tuple[str, Box]) -> Bounds:
    """Return the lowest and the highest values of a tile."""
    return bounds_of(source.read(pair[1]))


def _three(part: Sequence[float]) -> Bounds:
    return part[0], part[1], part[2]


def find_thresholds(job: Job, runner: Runner) -> tuple[Thresholds, bool]:
    """Return the thresholds, and whether candidates have been listed on the way to them."""
    if not job.config.edges.automatic:
        low, high = job.config.edges.thresholds(job.tone.unit)
        chosen = Thresholds(float(low), float(high))
        if chosen.differ:
            runner.run("candidates", partial(candidates.list_candidates, job), job.grid.tiles())
        return chosen, chosen.differ
    reports = runner.run("candidates", partial(candidates.list_candidates, job), job.grid.tiles())
    tiles = (
        (report["largest"], report["first"], load_array(job.scratch("magnitudes", name)))
        for name, report in reports.items()
    )

    def count_exactly(largest: float) -> Sequence[int]:
        parts = runner.run("bins", partial(candidates.count_bins, job, largest), job.grid.tiles())
        return [int(total) for total in np.sum(list(parts.values()), axis=0)]

    height, width = job.source.shape
    low, high = automatic_thresholds(tiles, height * width, count_exactly)
    return Thresholds(float(low), float(high)), True


def finish_tiles(job: Job, runner: Runner, thresholds: Thresholds, listed: bool) -> tuple[Plan, ForceStatistics]:
    """Do all tiles; again with more rounds where corners were left, and with other steps where these were not right."""
    plan = Plan(thresholds, CORNER_ROUNDS, job.config.edges.likely_steps, listed)
    pending, reports = job.grid.tiles(), dict[str, Any]()
    while True:
        _join(job, runner, plan)
        steps = "statistics" if plan.steps is None else f"{plan.steps:g}"
        name = f"tiles-{plan.rounds}-{steps}"
        reports |= runner.run(name, partial(finish_tile, job, plan), pending)
        left = [box for name, box in job.grid.tiles() if reports[name]["spare"]]
        if left:
            plan = replace(plan, rounds=2 * plan.rounds)
            halo = job.reach + 2 * plan.rounds
            pending = [pair for pair in job.grid.tiles() if _any_near(pair[1].grown(halo, job.source.shape), left)]
            continue
        parts = [read_statistics(report) for report in reports.values()]
        whole = parts[0].merge(*parts[1:])
        if plan.steps is not None and (not whole.octaves or whole.steps == plan.steps):
            return plan, whole
        plan, pending = replace(plan, steps=whole.steps), job.grid.tiles()


def _any_near(box: Box, others: Sequence[Box]) -> bool:
    return any(box.meets(other) for other in others)


def _join(job: Job, runner: Runner, plan: Plan) -> None:
    """Find out which weak edges connect to strong ones, once for each width of windows."""
    halo = plan.halo(job)
    done = work_folder(job.out) / f"seeds-{halo}" / "complete"
    if not plan.listed or done.exists():
        return
    task = partial(hysteresis.label_components, job, plan.thresholds, halo)
    runner.run(f"lines-{halo}", task, job.grid.tiles())
    hysteresis.merge_components(job, halo)
    done.touch()


def finish_pyramid(job: Job, runner: Runner, names: tuple[str, ...]) -> None:
    """Make the levels that no tile wrote; a few blocks are sooner made here than handed out."""
    for level in range(maps.tile_levels(job.grid), maps.levels_of(job.grid.shape)):
        places = Grid(maps.level_shape(job.grid.shape, level), maps.CHUNK).tiles()
        blocks = [(f"{name} {key}", (name, box)) for name in names for key, box in places]
        own = replace(runner, client=None, jobs=1) if len(blocks) <= LOCAL_BLOCKS else runner
        own.run(f"pyramid-{level}", partial(maps.shrink_block, job.out, level), blocks)
