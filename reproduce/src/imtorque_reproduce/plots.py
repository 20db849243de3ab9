"""What the plots of several experiments share, as PNG bytes: curves, maps side by side, sheets of labelled images."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image as PillowImage

from imtorque import plotting
from imtorque.core.types import FloatArray
from imtorque.evaluation import BoundarySummary
from imtorque.render.saliency import labelled_sheet
from imtorque.render.torque import Bytes


def png(image: PillowImage.Image, colours: int | None = None, dither: int = PillowImage.Dither.FLOYDSTEINBERG) -> bytes:
    """Return an image as a PNG, of so many colours where they are given, which keeps it small."""
    drawn = io.BytesIO()
    small = image if colours is None else image.quantize(colours, dither=PillowImage.Dither(dither))
    small.save(drawn, "PNG", optimize=True)
    return drawn.getvalue()


def sheet_png(rows: Sequence[Sequence[tuple[str, Bytes]]], colours: int | None = None) -> bytes:
    """Return rows of labelled images as a PNG."""
    return png(PillowImage.fromarray(labelled_sheet(rows)), colours)


def figure_png(drawn: Figure | Axes, colours: int, dither: int = PillowImage.Dither.FLOYDSTEINBERG) -> bytes:
    """Return a figure as a PNG of so many colours."""
    figure = drawn if isinstance(drawn, Figure) else plotting.figure_of(drawn)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=100)
    return png(PillowImage.open(buffer).convert("RGB"), colours, dither)


def curves_image(summaries: Mapping[str, BoundarySummary]) -> bytes:
    """Draw the precision-recall curve of each method."""
    axes = plotting.new_axes((5, 5))
    for name, summary in summaries.items():
        best = (summary.ods.recall, summary.ods.precision)
        label = f"{name}, F = {summary.ods.f:.3f}"
        plotting.show_precision_recall(summary.recall, summary.precision, best=best, label=label, ax=axes)
    axes.legend(loc="upper right", fontsize="small")
    return figure_png(axes, 128)


def lines_image(
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    xlabel: str,
    ylabel: str,
    *,
    logarithmic: bool = False,
) -> bytes:
    """Draw named curves (x, y) over one pair of axes, x on a logarithmic one where asked for."""
    axes = plotting.new_axes((5, 3.6))
    for name, (x, y) in curves.items():
        axes.plot(x, y, marker="o", label=name)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    if logarithmic:
        axes.set_xscale("log")
    axes.legend(fontsize="small")
    return figure_png(axes, 128)


def panels(rows: int, columns: int, size: tuple[float, float], **options: Any) -> NDArray[Any]:
    """Return empty axes in rows and columns."""
    figure = plotting.figure_of(plotting.new_axes(size))
    figure.clear()
    axes: NDArray[Any] = figure.subplots(rows, columns, squeeze=False, **options)
    return axes


def maps_image(rows: Sequence[Sequence[FloatArray]], titles: Sequence[str], width: int = 240) -> bytes:
    """Draw maps in rows, dark on white, each stretched to its own 99.5 % quantile, with titles above the columns."""
    heights = [width * row[0].shape[0] / row[0].shape[1] for row in rows]
    size = (width * len(titles) / 100, sum(heights) / 100 + 0.25)
    axes = panels(len(rows), len(titles), size, height_ratios=heights)
    for k, row in enumerate(rows):
        for j, found in enumerate(row):
            axes[k, j].imshow(_ink(found), cmap="gray_r", vmin=0, vmax=1, interpolation="antialiased")
            axes[k, j].set(xticks=[], yticks=[], title=titles[j] if k == 0 else "")
    return figure_png(axes[0, 0], 16)


def _ink(found: FloatArray) -> FloatArray:
    top = float(np.quantile(found[found > 0], 0.995)) if np.any(found > 0) else 1.0
    return np.asarray(np.minimum(found / top, 1))
