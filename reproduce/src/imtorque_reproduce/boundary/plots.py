"""Images of boundary experiments as PNG bytes: precision-recall curves, and maps side by side. No photographs."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image as PillowImage

from imtorque.core.types import FloatArray
from imtorque.evaluation import BoundarySummary

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def curves_image(summaries: Mapping[str, BoundarySummary]) -> bytes:
    """Draw the precision-recall curve of each method."""
    from imtorque import plotting  # brings matplotlib

    axes = plotting.new_axes((5, 5))
    for name, summary in summaries.items():
        best = (summary.ods.recall, summary.ods.precision)
        label = f"{name}, F = {summary.ods.f:.3f}"
        plotting.show_precision_recall(summary.recall, summary.precision, best=best, label=label, ax=axes)
    axes.legend(loc="upper right", fontsize="small")
    return _png(axes, 128)


def lines_image(
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    xlabel: str,
    ylabel: str,
    *,
    logarithmic: bool = False,
) -> bytes:
    """Draw named curves (x, y) over one pair of axes, x on a logarithmic one where asked for."""
    from imtorque import plotting

    axes = plotting.new_axes((5, 3.6))
    for name, (x, y) in curves.items():
        axes.plot(x, y, marker="o", label=name)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    if logarithmic:
        axes.set_xscale("log")
    axes.legend(fontsize="small")
    return _png(axes, 128)


def maps_image(rows: Sequence[Sequence[FloatArray]], titles: Sequence[str], width: int = 240) -> bytes:
    """Draw maps in rows, dark on white, each stretched to its own 99.5 % quantile, with titles above the columns."""
    from imtorque import plotting

    heights = [width * row[0].shape[0] / row[0].shape[1] for row in rows]
    size = (width * len(titles) / 100, sum(heights) / 100 + 0.25)
    figure = plotting.figure_of(plotting.new_axes(size))
    figure.clear()
    axes = figure.subplots(len(rows), len(titles), squeeze=False, height_ratios=heights)
    for k, row in enumerate(rows):
        for j, found in enumerate(row):
            axes[k, j].imshow(_ink(found), cmap="gray_r", vmin=0, vmax=1, interpolation="antialiased")
            axes[k, j].set(xticks=[], yticks=[], title=titles[j] if k == 0 else "")
    return _png(axes[0, 0], 16)


def sides_image(examples: Sequence[tuple[FloatArray, FloatArray]], columns: int = 3) -> bytes:
    """Draw edges in grey, and over them in green those whose owner was found, in red those whose owner was not.

    Parameters
    ----------
    examples
        Strength of the edges, and +1, -1 or 0 for right, wrong and not known, shape (H, W) each.
    columns
        How many in a row.
    """
    from imtorque import plotting

    rows = -(-len(examples) // columns)
    figure = plotting.figure_of(plotting.new_axes((columns * 2.6, rows * 2.1)))
    figure.clear()
    axes = figure.subplots(rows, columns, squeeze=False)
    for cell, (strength, right) in zip(axes.flat, examples, strict=True):
        colours = 1 - 0.35 * (strength > 0)[..., None] * np.ones(3)
        colours[right > 0], colours[right < 0] = (0.0, 0.6, 0.3), (0.85, 0.1, 0.1)
        cell.imshow(colours, interpolation="nearest")
        cell.set(xticks=[], yticks=[])
    return _png(axes[0, 0], 32)


def _ink(found: FloatArray) -> FloatArray:
    top = float(np.quantile(found[found > 0], 0.995)) if np.any(found > 0) else 1.0
    return np.asarray(np.minimum(found / top, 1))


def _png(axes: Axes, colours: int) -> bytes:
    """Return the figure as a PNG of so many colours, which keeps it small."""
    from imtorque import plotting

    drawn, small = io.BytesIO(), io.BytesIO()
    plotting.figure_of(axes).savefig(drawn, format="png", dpi=100)
    PillowImage.open(drawn).convert("RGB").quantize(colours).save(small, "PNG", optimize=True)
    return small.getvalue()
