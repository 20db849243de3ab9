"""Figures of scores."""

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from imtorque.plotting.axes import given_or_new_axes


def show_precision_recall(
    recall: ArrayLike,
    precision: ArrayLike,
    *,
    best: tuple[float, float] | None = None,
    label: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a precision-recall curve over lines of equal F.

    Call it again with the returned Axes to draw further methods into the same image.

    Parameters
    ----------
    recall, precision
        The curve, (n,) each; places where nothing was predicted (both 0) are left out.
    best
        Recall and precision of the point to mark, usually the optimal data-set scale.
    label
        The method's name, for the legend.
    ax
        Where to draw; a new figure by default.
    """
    axes = given_or_new_axes(ax)
    if not axes.lines:
        _draw_equal_f_lines(axes)
    r, p = np.asarray(recall, dtype=float), np.asarray(precision, dtype=float)
    drawn = (r > 0) | (p > 0)
    (curve,) = axes.plot(r[drawn], p[drawn], linewidth=2, label=label)
    if best is not None:
        axes.plot(*best, marker="o", markersize=7, color=curve.get_color(), markeredgecolor="white")
    if label is not None:
        axes.legend(loc="lower left", frameon=True)
    return axes


def _draw_equal_f_lines(axes: Axes) -> None:
    for f in np.arange(1, 10) / 10:
        # F = 2 P R / (P + R), solved for P; it reaches P = 1 at R = F / (2 - F).
        recall = np.linspace(f / (2 - f), 1, 100)
        axes.plot(recall, f * recall / (2 * recall - f), color="0.8", linewidth=0.8, zorder=0)
        axes.annotate(f"{f:.1f}", (1, f / (2 - f)), xytext=(3, 0), textcoords="offset points", va="center", color="0.5")
    axes.set(xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1.005), aspect="equal")
    axes.annotate("F", (1, 1), xytext=(3, 0), textcoords="offset points", va="center", color="0.5")
