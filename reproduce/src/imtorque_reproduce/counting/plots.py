"""Images of the counting experiment: F1 over what was annotated, and in changed images; the worst images."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from imtorque.datasets.counting import CountingImage
from imtorque.detection import Blobs
from imtorque_reproduce.counting.curves import CHANGES, CLICKS, CURVES, IMAGE_COUNTS, ROBUST

STYLES = ("-o", "--s", "-D", ":^", "-.v", "--x", ":+", "-^")  # of the methods, so that no colour need be told
Row = Mapping[str, Any]


def curve_images(rows: Sequence[Row]) -> dict[str, bytes]:
    """Return the learning curves and the changed images' scores, drawn from the rows of the table."""
    scores = {str(row["method"]): float(row["f1"]) for row in rows if "f1" in row}
    sets = list(dict.fromkeys(name.partition("@")[2] for name in scores))
    return {"learning.png": _learning(scores, sets), "robustness.png": _robustness(scores, sets)}


def _learning(scores: Mapping[str, float], sets: Sequence[str]) -> bytes:
    lines = [(method, "images", IMAGE_COUNTS) for method in CURVES] + [("learned", "clicks", CLICKS)]
    lines = [line for line in lines if any(name.startswith(f"{line[0]}:{line[2][0]}-{line[1]}@") for name in scores)]
    figure = Figure(figsize=(3 * len(lines), 3.6), layout="constrained")
    panels = figure.subplots(1, len(lines), sharey=True)
    for axes, (method, unit, counts) in zip(panels, lines, strict=True):
        for name, style in zip(sets, STYLES, strict=False):
            known = [n for n in counts if f"{method}:{n}-{unit}@{name}" in scores]
            axes.plot(known, [scores[f"{method}:{n}-{unit}@{name}"] for n in known], style, label=name, markersize=4)
        axes.set_xscale("log")
        axes.set_xticks(counts, [str(n) for n in counts])
        axes.minorticks_off()
        axes.set_xlabel(f"{unit} annotated")
        axes.set_title(re.sub("^control:", "", method), fontsize="medium")
        axes.grid(color="0.9")
    panels[0].set_ylabel("F1 by centre")
    panels[-1].legend(frameon=False, loc="lower right")
    return _png(figure)


def gallery(images: Mapping[str, tuple[CountingImage, Blobs]]) -> bytes:
    """Return one image of each set with the objects found, as outlines, and the annotated ones, as boxes."""
    figure = Figure(figsize=(3.2 * max(len(images), 1), 3.4), layout="constrained")
    panels = figure.subplots(1, max(len(images), 1), squeeze=False)[0]
    for axes, (name, (truth, found)) in zip(panels, images.items(), strict=False):
        axes.imshow(truth.image(), cmap="gray")
        for y0, x0, y1, x1 in truth.boxes:
            axes.add_patch(
                Rectangle((x0 - 0.5, y0 - 0.5), x1 - x0, y1 - y0, fill=False, color="#e0a000", linewidth=0.6)
            )
        for outline in found.outline:
            axes.fill(outline[:, 1], outline[:, 0], fill=False, edgecolor="#2060ff", linewidth=0.9)
        axes.set_title(f"{name}\n{len(truth.points)} annotated, {len(found)} found", fontsize="small")
        axes.axis("off")
    return _png(figure)


def _robustness(scores: Mapping[str, float], sets: Sequence[str]) -> bytes:
    changes = ("plain", *CHANGES)
    figure = Figure(figsize=(3 * len(sets) + 2.4, 3.6), layout="constrained")
    panels = figure.subplots(1, len(sets), sharey=True, squeeze=False)[0]
    for axes, name in zip(panels, sets, strict=True):
        for method, style in zip(ROBUST, STYLES, strict=True):
            values = [scores[f"{method}:{change}@{name}"] for change in changes]
            axes.plot(range(len(changes)), values, style, label=re.sub("^control:", "", method), markersize=4)
        axes.set_xticks(range(len(changes)), changes, rotation=45)
        axes.set_title(name, fontsize="medium")
        axes.grid(color="0.9")
    panels[0].set_ylabel("F1 by centre")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right upper", frameon=False)
    return _png(figure)


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=100)
    return buffer.getvalue()
