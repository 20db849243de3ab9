"""Drawn images to try the tools on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Layer = tuple[NDArray[Any], dict[str, Any], str]
PLACES = [(30, 40, 14, 1), (35, 110, 20, -1), (90, 35, 18, -1), (95, 95, 12, 1), (70, 150, 16, 1), (120, 140, 9, -1)]


def discs() -> list[Layer]:
    """Return bright and dark discs on grey."""
    return [(_drawn(0), {"name": "discs"}, "image")]


def stack() -> list[Layer]:
    """Return a stack of three planes, in which the discs grow."""
    planes = np.stack([_drawn(more) for more in (-2, 0, 2)])
    return [(planes, {"name": "stack of discs", "scale": (2, 1, 1)}, "image")]


def _drawn(more: int) -> NDArray[np.uint8]:
    """Return the discs, so many pixels more in radius, with some noise."""
    y, x = np.indices((150, 180))
    image = 120 + np.random.default_rng(0).normal(0, 4, y.shape)
    for cy, cx, radius, sign in PLACES:
        image[(y - cy) ** 2 + (x - cx) ** 2 <= (radius + more) ** 2] += 80 * sign
    return image.clip(0, 255).astype(np.uint8)
