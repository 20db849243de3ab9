"""Edges whose owner was found, and those whose owner was not."""

from collections.abc import Sequence

import numpy as np

from imtorque.core.types import FloatArray
from imtorque_reproduce.plots import figure_png, panels


def sides_image(examples: Sequence[tuple[FloatArray, FloatArray]], columns: int = 3) -> bytes:
    """Draw edges in grey, and over them in green those whose owner was found, in red those whose owner was not.

    `examples` are the strength of the edges, and +1, -1 or 0 for right, wrong and not known, shape (H, W) each.
    """
    rows = -(-len(examples) // columns)
    axes = panels(rows, columns, (columns * 2.6, rows * 2.1))
    for cell, (strength, right) in zip(axes.flat, examples, strict=True):
        colours = 1 - 0.35 * (strength > 0)[..., None] * np.ones(3)
        colours[right > 0], colours[right < 0] = (0.0, 0.6, 0.3), (0.85, 0.1, 0.1)
        cell.imshow(colours, interpolation="nearest")
        cell.set(xticks=[], yticks=[])
    return figure_png(axes[0, 0], 32)
