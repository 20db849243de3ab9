"""Patches of a shape: the directions of edges, summed over the cells of a patch."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import Edges, FloatArray

MARGIN = 0.15  # of the shape's box, that the patch reaches beyond it on every side; untuned
CHANNEL_STEPS = 4096  # per unit of the channels, which are rounded; derived: exact sums of integers
FLOOR = 0.15  # edges per side of the patch below which a response fades; unrecorded
JITTER, COPIES = 0.03, 4  # of the examples, in parts of their size: shapes never lie exactly on the cells; untuned
BACKGROUNDS = 40  # patches of each image without the shape; bound: time
SMALLEST_HEIGHT = 24  # height of the smallest shapes looked for, in pixels; untuned


def channels(edges: Edges, polarity: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return what is summed, in steps: the unit force, or the cosine and sine of twice its angle."""
    length = np.where(edges.mask, edges.strength, 1).astype(np.float64)
    fx, fy = edges.fx / length, edges.fy / length
    first, second = (fx, fy) if polarity == "signed" else (fx * fx - fy * fy, 2 * fx * fy)
    return np.rint(CHANNEL_STEPS * first).astype(np.int32), np.rint(CHANNEL_STEPS * second).astype(np.int32)


def extent(height: float, aspect: float) -> float:
    """Return the area of the patch of a shape."""
    return height * height / aspect * (1 + 2 * MARGIN) ** 2


def cell_borders(height: float, aspect: float, cells: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the borders of the cells from the patch's centre, down and across."""
    sides = height * (1 + 2 * MARGIN), height / aspect * (1 + 2 * MARGIN)
    parts = np.arange(cells + 1) / cells - 0.5
    down, across = (np.floor(side * parts + 0.5).astype(np.int32) for side in sides)
    return down, across


def patch_vector(tables: NDArray[np.int64], centre: FloatArray, height: float, aspect: float, cells: int) -> FloatArray:
    """Return the sums over all cells of one patch, over the length that `response` divides by."""
    spans = []
    for axis, border in enumerate(cell_borders(height, aspect, cells)):
        spans.append(np.clip(np.rint(centre[axis]).astype(int) + border, 0, tables.shape[axis + 1] - 1))
    corners = tables[:, spans[0]][:, :, spans[1]]
    sums = np.diff(np.diff(corners, axis=1), axis=2).astype(np.float64).ravel()
    return sums / math.sqrt(float(sums @ sums) + (CHANNEL_STEPS * FLOOR) ** 2 * extent(height, aspect))


def channel_tables(edges: Edges, polarity: str) -> NDArray[np.int64]:
    """Return the summed-area tables of the channels, shape (2, H + 1, W + 1)."""
    both = np.stack(channels(edges, polarity)).astype(np.int64)
    return np.pad(both.cumsum(axis=1).cumsum(axis=2), ((0, 0), (1, 0), (1, 0)))


def seen_patches(
    edges: Edges, box: FloatArray, aspect: float, polarity: str, cells: int, rng: np.random.Generator
) -> list[FloatArray]:
    """Return the patches of one example: at its box's centre and area, a little displaced."""
    tables = channel_tables(edges, polarity)
    centre, size = (box[:2] + box[2:]) / 2, math.sqrt((box[2] - box[0]) * (box[3] - box[1]))
    moved = rng.normal(0, JITTER, (COPIES, 3))
    height = size * math.sqrt(aspect)
    return [patch_vector(tables, centre + size * m[:2], height * math.exp(m[2]), aspect, cells) for m in moved]


def unlike_patches(
    edges: Edges, aspect: float, polarity: str, cells: int, rng: np.random.Generator
) -> list[FloatArray]:
    """Return random patches of an image without the shape."""
    tables = channel_tables(edges, polarity)
    largest = max(float(SMALLEST_HEIGHT), 0.9 * min(edges.shape[0], edges.shape[1] * aspect))
    heights = np.exp(rng.uniform(math.log(SMALLEST_HEIGHT), math.log(largest), BACKGROUNDS))
    centres = rng.uniform(0, edges.shape, (BACKGROUNDS, 2))
    return [patch_vector(tables, c, float(h), aspect, cells) for c, h in zip(centres, heights, strict=True)]
