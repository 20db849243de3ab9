"""Box patches as the operators need them: reaches, normalising areas and labels."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from imtorque.core.patches import LARGEST_TORQUE


class Boxes(NamedTuple):
    """Half-sizes, no longer than the image needs, areas Z and labels of patches, in the order of the sizes."""

    ry: tuple[int, ...]
    rx: tuple[int, ...]
    area: tuple[float, ...]
    label: tuple[int, ...]
    squares: bool

    def __hash__(self) -> int:
        """A quick one: the same few patches are looked up at every call."""
        return hash((len(self.label), self.label[-1:], self.area[-1:], self.ry[-1:]))

    @property
    def reach(self) -> tuple[int, int]:
        """The longest half-sizes."""
        return max(self.ry), max(self.rx)

    def part(self, start: int, end: int | None = None) -> Boxes:
        """Return some of the patches."""
        which = slice(start, end)
        return Boxes(self.ry[which], self.rx[which], self.area[which], self.label[which], self.squares)


def boxes_for(sides: Sequence[int], alpha: float, height: int, width: int) -> Boxes:
    """Return the patches of these sides (heights and widths in turn) on an image of this shape."""
    return _boxes(tuple(sides), alpha, height, width)


@functools.lru_cache(maxsize=64)
def _boxes(sides: tuple[int, ...], alpha: float, height: int, width: int) -> Boxes:
    heights, widths = np.asarray(sides[0::2], np.int64), np.asarray(sides[1::2], np.int64)
    areas = heights * widths * (np.sqrt(heights * widths) / 2) ** (alpha - 2)
    squares = bool(np.all(heights == widths) and np.all(np.diff(heights) > 0))
    labels = heights if squares else np.arange(1, len(heights) + 1)
    return Boxes(
        tuple(np.minimum(heights // 2, height - 1).tolist()),
        tuple(np.minimum(widths // 2, width - 1).tolist()),
        tuple(areas.tolist()),
        tuple(labels.tolist()),
        squares,
    )


def check_range(boxes: Boxes, alpha: float, largest: float, steps: float, height: int, width: int) -> None:
    """Refuse an exponent with which torque might not fit a float32, as `imtorque.core.torque` does."""
    most, least_area = _extremes(boxes, height, width)
    if not max(most * largest, 1 / (4 * least_area * steps)) <= LARGEST_TORQUE:
        raise ValueError(f"alpha must keep the torque of these sizes below {LARGEST_TORQUE:g}, got alpha {alpha}")


@functools.lru_cache(maxsize=64)
def _extremes(boxes: Boxes, height: int, width: int) -> tuple[float, float]:
    """Return the most torque that forces of 1 can make, and the smallest area."""
    triples = list(zip(boxes.ry, boxes.rx, boxes.area, strict=True))
    pixels = [min((2 * ry + 1) * (2 * rx + 1), height * width) for ry, rx, _ in triples]
    most = [(max(ry, rx) + 0.5) * n / area for n, (ry, rx, area) in zip(pixels, triples, strict=True)]
    return max(most), min(boxes.area)


def norm(area: float, steps: float) -> float:
    """Return the float32 factor from twice the integer moment to torque."""
    return float(np.float32(1 / (4 * area * steps))) if math.isfinite(area) else 0.0
