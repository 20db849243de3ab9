"""The task of a tile: its edges, exactly as in the whole image, then their maps and extrema."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from imtorque import _native
from imtorque.boundaries.strength import boundary_strength
from imtorque.core.patches import patch_arrays
from imtorque.core.patterns import pattern_edges
from imtorque.core.quantisation import ForceStatistics
from imtorque.core.torque import value_and_scale_maps
from imtorque.core.types import Edges, Float32Array
from imtorque.tiling.candidates import found_candidates, listed_candidates
from imtorque.tiling.extrema import strength_of, strongest_rows
from imtorque.tiling.grid import Box
from imtorque.tiling.hysteresis import Thresholds, seeds_in
from imtorque.tiling.job import Job, save_numbers
from imtorque.tiling.maps import write_tile

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # as malloc.h has them; convention
LARGE_ARRAY, REUSED_BYTES = 1 << 25, 1 << 26  # bound: the most that the C library takes, and what it may keep


@dataclass(frozen=True)
class Plan:
    """Results of earlier passes: thresholds, rounds of corner removal, and the steps of force.

    `steps` None asks for the edges and their statistics alone.
    """

    thresholds: Thresholds
    rounds: int
    steps: float | None
    listed: bool

    def halo(self, job: Job) -> int:
        """How far beyond a tile connections are looked for."""
        return job.reach + 2 * self.rounds + (1 if job.reach == 0 else 0)


def tile_edges(job: Job, plan: Plan, core: Box) -> tuple[Float32Array, Float32Array, Box, bool]:
    """Return the forces of a tile and of what its torque sees, where these lie, and whether a spare corner is left."""
    region = core.grown(job.reach, job.source.shape)
    window = core.grown(plan.halo(job) + 1, job.source.shape)  # its outermost pixels are no edges
    low, high = np.float32(plan.thresholds.low), np.float32(plan.thresholds.high)
    gx, gy = listed_candidates(job, window) if plan.listed else found_candidates(job, window, low)
    seeds = seeds_in(job, plan.halo(job), window) if plan.listed else np.zeros(0, np.int64)
    left = _native.connect_edges(gx, gy, float(low), float(high), seeds, plan.rounds, core.inside(window).bounds)
    cut = region.inside(window).slices
    fx = np.ascontiguousarray(gx[cut])
    del gx  # each as soon as it is not needed: a worker's memory is what a tile takes at most
    fy = np.ascontiguousarray(gy[cut])
    del gy
    scale = (job.config.edges.strength_scale or 0.0) / job.tone.unit if job.config.edges.force == "strength" else 0.0
    _native.shape_forces(fx, fy, scale, job.config.edges.directions or 0, job.config.edges.length_correction)
    return fx, fy, region, left


@lru_cache(maxsize=1)
def reuse_arrays() -> None:
    """Let this process keep the room of a few arrays for the next ones, and return the rest to the system at once.

    The system clears all memory that it hands out, which takes an eighth of the time. By itself the C library of Linux
    learns from arrays that were freed to keep the room for others like them, and the outputs of a tile would add up.
    """
    if sys.platform == "linux":
        adjust = getattr(ctypes.CDLL(None), "mallopt", None)
        if adjust is not None:
            adjust(MMAP_THRESHOLD, LARGE_ARRAY)
            adjust(TRIM_THRESHOLD, REUSED_BYTES)


def finish_tile(job: Job, plan: Plan, pair: tuple[str, Box]) -> dict[str, Any]:
    """Write the maps and the extrema of a tile; return what its edges say about the rounding of forces."""
    name, core = pair
    reuse_arrays()
    fx, fy, region, left = tile_edges(job, plan, core)
    inner = core.inside(region).slices
    fx_core, fy_core = np.ascontiguousarray(fx[inner]), np.ascontiguousarray(fy[inner])
    statistics = Edges.adopt(fx_core, fy_core).statistics.at(core.top, core.left)
    report: dict[str, Any] = {"spare": left, "statistics": asdict(statistics)}
    if left or plan.steps is None:
        return report
    if "edges" in job.config.outputs:
        write_tile(job, core, {"edges": np.stack([fx_core, fy_core])})
    del fx_core, fy_core
    if not job.strengthens and not job.wants_torque:
        return report
    edges = Edges.from_field(_native.EdgeField(fx, fy), plan.steps)
    del fx, fy
    if job.strengthens:
        write_tile(job, core, {"strengthened": boundary_strength(edges, job.config.recipe)[inner]})
        return report
    if "extrema" in job.config.outputs or "blobs" in job.config.outputs:
        report["extrema"] = _write_extrema(job, edges, name, core, region)
    maps = _torque_maps(job, edges, inner)
    del edges
    write_tile(job, core, maps)
    return report


def _torque_maps(job: Job, edges: Edges, inner: tuple[slice, slice]) -> dict[str, Any]:
    if "value" not in job.config.outputs and "scale" not in job.config.outputs:
        return {}
    value, scale = value_and_scale_maps(edges, job.config.torque.sizes, **job.config.torque.options)
    return {name: plane[inner] for name, plane in (("value", value), ("scale", scale)) if name in job.config.outputs}


def _write_extrema(job: Job, edges: Edges, name: str, core: Box, region: Box) -> int:
    """Write the extrema of a tile, equal neighbours not yet merged; return how many there are."""
    torque = job.config.torque
    field = pattern_edges(edges, torque.pattern)
    patches = patch_arrays(field, np.asarray(torque.sizes), torque.patch, torque.alpha, torque.polarity)
    inside = core.inside(region).bounds
    rows = _native.unmerged_extrema(field.field, *patches, job.least, inside, region.top, region.left, *torque.rule)
    if job.config.count is not None:
        rows = strongest_rows(rows, job.config.count, job.config.threshold if "blobs" in job.config.outputs else np.inf)
    save_numbers(job.scratch("extrema", name, ".raw"), rows[np.argsort(-strength_of(rows), kind="stable")])
    return len(rows)


def read_statistics(report: dict[str, Any]) -> ForceStatistics:
    """Return the statistics in a tile's report, which has been a JSON text."""
    fields = dict(report["statistics"])
    for name in ("area", "extent", "not_pell"):
        fields[name] = None if fields[name] is None else tuple(fields[name])
    fields["octaves"] = tuple((int(octave), int(count)) for octave, count in fields["octaves"])
    return ForceStatistics(**fields)
