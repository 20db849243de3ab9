"""Candidates for edges, tile by tile: found once, listed, and read again by the passes that follow.

A tile's list is ordered by blocks of pixels, so that a neighbour reads the blocks that its window touches, no others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.types import Float32Array
from imtorque.tiling.grid import Box
from imtorque.tiling.job import Job, save_array, save_numbers

CANDIDATE_BYTES = 12  # of a candidate in a list: place, gx, gy; format: three 4-byte numbers
LIST_BLOCK = 128  # bound: pixels a side of what is read of a list together
Planes = tuple[Float32Array, Float32Array]


def list_candidates(job: Job, pair: tuple[str, Box]) -> dict[str, Any]:
    """Find the candidates of a tile and list them; with automatic thresholds also count its magnitudes.

    The thresholds are not known yet where they are automatic: what could be above the lowest possible is listed.
    """
    name, core = pair
    window = core.grown(job.config.edges.halo, job.source.shape)
    inside = core.inside(window).bounds
    automatic = job.config.edges.automatic
    low = 0.0 if automatic else float(job.config.edges.thresholds(job.tone.unit)[0])
    rows, begins, largest, first, counts = _native.list_candidates(
        job.grey(window), job.config.edges.sigma, low, automatic, inside, LIST_BLOCK
    )
    save_numbers(job.scratch("candidates", name, ".raw"), begins, rows)
    if automatic:
        save_array(job.scratch("magnitudes", name), counts)
    return {"largest": largest, "first": first, "candidates": len(rows)}


def count_bins(job: Job, largest: float, pair: tuple[str, Box]) -> list[int]:
    """Count a tile's magnitudes in the 64 bins that the largest of the whole image makes."""
    _, core = pair
    window = core.grown(job.config.edges.halo, job.source.shape)
    counts = _native.count_bins(job.grey(window), job.config.edges.sigma, core.inside(window).bounds, largest)
    return [int(count) for count in counts]


def listed_candidates(job: Job, box: Box) -> Planes:
    """Return the gradient at the candidates inside a window, from the lists of the tiles it touches."""
    gx, gy = (np.zeros(box.shape, np.float32) for _ in range(2))
    for name, core in job.grid.near(box):
        y, x = core.top - box.top, core.left - box.left
        with open(job.scratch("candidates", name, ".raw"), "rb") as file:
            begins = np.fromfile(file, np.int64, _blocks(core) + 1)
            for start, stop in _runs(core, box, begins):
                file.seek(begins.nbytes + CANDIDATE_BYTES * start)
                part = np.fromfile(file, np.uint32, 3 * (stop - start)).reshape(-1, 3)
                _native.place_candidates(part, core.shape[1], y, x, gx, gy)
    return gx, gy


def _blocks(core: Box) -> int:
    """Return how many blocks a tile has."""
    return -(-core.shape[0] // LIST_BLOCK) * -(-core.shape[1] // LIST_BLOCK)


def _runs(core: Box, box: Box, begins: NDArray[Any]) -> list[tuple[int, int]]:
    """Return which rows of a tile's list hold the blocks that a window touches: a run for each row of blocks."""
    across = -(-core.shape[1] // LIST_BLOCK)
    top, left = max(box.top - core.top, 0) // LIST_BLOCK, max(box.left - core.left, 0) // LIST_BLOCK
    bottom = -(-min(box.bottom - core.top, core.shape[0]) // LIST_BLOCK)
    right = -(-min(box.right - core.left, core.shape[1]) // LIST_BLOCK)
    runs = [(int(begins[row * across + left]), int(begins[row * across + right])) for row in range(top, bottom)]
    return [run for run in runs if run[0] < run[1]]


def found_candidates(job: Job, box: Box, low: np.float32) -> Planes:
    """Return the gradient at the candidates inside a window, from the image itself."""
    window = box.grown(job.config.edges.halo, job.source.shape)
    inside = box.inside(window).slices
    gx, gy = _native.find_candidates(job.grey(window), job.config.edges.sigma, float(low))
    return np.ascontiguousarray(gx[inside]), np.ascontiguousarray(gy[inside])
