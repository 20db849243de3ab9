"""One figure of everything: what is found over each property, and precision over recall on every set."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from PIL import Image as PillowImage

from imtorque_reproduce.plots import figure_png, panels
from imtorque_reproduce.properties.rows import METHODS
from imtorque_reproduce.properties.scenes import SWEEPS
from imtorque_reproduce.scoring import Floats

PANEL_COLUMNS = 4  # convention
# Okabe and Ito's colours, which all people tell apart; torque is the only thick line.
STYLES: dict[str, dict[str, Any]] = {
    "torque": {"color": "#d55e00", "lw": 2.6, "zorder": 3},
    "gradient-torque": {"color": "#e69f00", "lw": 1.6, "ls": "--"},
    "closure": {"color": "#cc79a7", "lw": 1.6},
    "control:log": {"color": "#0072b2"},
    "control:dog": {"color": "#56b4e9", "ls": "--"},
    "control:radial-symmetry": {"color": "#009e73"},
    "control:mser": {"color": "#000000", "ls": ":"},
    "control:random": {"color": "#999999", "lw": 0.8},
}


def overview(rows: Sequence[Mapping[str, Any]], curves: Mapping[str, Mapping[str, Floats]]) -> bytes:
    """Draw all sweeps, then all sets."""
    found = {row["method"]: row["found"] for row in rows if "found" in row}
    lines = -(-(len(SWEEPS) + len(curves)) // PANEL_COLUMNS)
    axes = panels(lines, PANEL_COLUMNS, (11, 2.5 * lines))
    axes[0, 0].figure.set_layout_engine("constrained")
    cells = iter(axes.ravel())
    for sweep, (about, levels) in SWEEPS.items():
        axis = next(cells)
        for method in METHODS:
            shares = [found[f"{method}@{sweep}={level:g}"] for level in levels]
            axis.plot(levels, shares, label=method.removeprefix("control:"), **STYLES[method])
        _label(axis, sweep, about, "found first")
    handles = axes[0, 0].get_legend_handles_labels()
    for name, by_method in curves.items():
        axis = next(cells)
        for method, (precision, recall) in by_method.items():
            axis.plot(recall, precision, **STYLES[method])
        _label(axis, name, "recall", "precision")
    last = list(cells)
    for axis in last:
        axis.set_axis_off()
    (last[0] if last else axes[0, 0]).legend(*handles, fontsize="small", loc="center")
    return figure_png(axes[0, 0], 128, PillowImage.Dither.NONE)


def _label(axis: Axes, title: str, x: str, y: str) -> None:
    axis.set_title(title, fontsize="medium")
    axis.set_xlabel(x, fontsize="x-small")
    axis.set_ylabel(y, fontsize="small")
    axis.set_ylim(-0.02, 1.04)
    axis.tick_params(labelsize="x-small")
