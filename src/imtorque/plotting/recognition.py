"""Figures of recognition: patches, descriptors, confusions, accuracy by class and by training size."""

from collections.abc import Mapping, Sequence
from math import cos, pi, sin
from typing import Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.patches import Circle, Rectangle
from numpy.typing import ArrayLike

from imtorque.core.types import Edges, Image, IntArray
from imtorque.images import CheckedImage
from imtorque.plotting.axes import figure_of, given_or_new_axes
from imtorque.plotting.torque import VALUE_MAP
from imtorque.render.torque import MAXIMUM_COLOUR

DIRECTIONS = 8  # in which regions lie; paper, Fig. 19


class PatchesLike(Protocol):
    """Square patches with the edges they lie in, as `imtorque.recognition.Patches`."""

    @property
    def edges(self) -> Edges: ...  # noqa: D102
    @property
    def y(self) -> IntArray: ...  # noqa: D102
    @property
    def x(self) -> IntArray: ...  # noqa: D102
    @property
    def size(self) -> IntArray: ...  # noqa: D102


def show_patches(image: Image, patches: PatchesLike, *, most: int = 100, ax: Axes | None = None) -> Axes:
    """Show the patches that describe an image.

    Parameters
    ----------
    image
        The image, at any size.
    patches
        What `TorquePatches` found in it.
    most
        How many to draw, the first of the list.
    ax
        Where to draw.
    """
    axes = given_or_new_axes(ax)
    height, width = patches.edges.shape
    axes.imshow(CheckedImage(image).as_bytes(), extent=(-0.5, width - 0.5, height - 0.5, -0.5))
    sides = np.broadcast_to(patches.size[:most].T, (2, len(patches.y[:most])))  # heights, widths
    rows = zip(patches.y[:most], patches.x[:most], *sides, strict=True)
    windows = [Rectangle((x - wide / 2, y - tall / 2), wide, tall) for y, x, tall, wide in rows]
    axes.add_collection(PatchCollection(windows, facecolor="none", edgecolor=MAXIMUM_COLOUR, linewidth=0.8))
    shown = min(most, len(patches.y))
    axes.set(xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5), xticks=[], yticks=[])
    axes.set_xlabel(f"{shown} of {len(patches.y)} patches")
    return axes


def show_descriptor(
    descriptor: ArrayLike,
    *,
    regions: Sequence[float] = (1 / 8, 1 / 4, 1 / 2),
    distances: Sequence[float] = (1 / 8, 1 / 4, 3 / 8, 1 / 2),
    ax: Axes | None = None,
) -> Axes:
    """Show a multiscale torque descriptor: a dot for each region at its place in the patch, red positive, blue not.

    Parameters
    ----------
    descriptor
        One row of what `multiscale_torque` returns.
    regions, distances
        As it was asked for: one panel for each size of region.
    ax
        Where to draw.
    """
    axes = given_or_new_axes(ax)
    values = np.asarray(descriptor, dtype=float).reshape(len(regions), -1)
    if values.shape[1] != 1 + DIRECTIONS * len(distances):
        wanted = 1 + DIRECTIONS * len(distances)
        raise ValueError(f"descriptor must have {wanted} values for each size of region, got {values.shape[1]}")
    places = [(0.0, 0.0)] + [
        (away * cos(d * pi / 4), away * sin(d * pi / 4)) for d in range(DIRECTIONS) for away in distances
    ]
    reach = max(0.5, *distances) + 0.12
    dots = [Circle((x + 2 * reach * k, y), 0.05) for k in range(len(regions)) for x, y in places]
    top = float(np.abs(values).max()) or 1.0
    drawn = PatchCollection(dots, cmap=VALUE_MAP, edgecolor="0.6", linewidth=0.4)
    drawn.set_array(values.ravel())
    drawn.set_clim(-top, top)
    axes.add_collection(drawn)
    for k, region in enumerate(regions):
        axes.add_patch(Rectangle((2 * reach * k - 0.5, -0.5), 1, 1, fill=False, edgecolor="0.7", linewidth=0.8))
        axes.text(2 * reach * k, -reach, f"regions of {region:.3g}", ha="center", va="bottom")
    axes.set(xlim=(-reach, (2 * len(regions) - 1) * reach), ylim=(reach, -reach - 0.12), aspect="equal")
    axes.set_axis_off()
    figure_of(axes).colorbar(drawn, ax=axes, label="torque", fraction=0.03, pad=0.02)
    return axes


def show_confusion(counts: ArrayLike, classes: Sequence[str], *, ax: Axes | None = None) -> Axes:
    """Show the confusion matrix, as shares of the true class.

    Parameters
    ----------
    counts
        Test images by true class (rows) and predicted class (columns), (n, n).
    classes
        Names.
    ax
        Where to draw.
    """
    axes = given_or_new_axes(ax)
    table = np.asarray(counts, dtype=float)
    if table.shape != (len(classes),) * 2:
        raise ValueError(f"counts must be ({len(classes)}, {len(classes)}), as there are classes, got {table.shape}")
    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    drawn = axes.imshow(np.sqrt(shares), cmap="magma", vmin=0, vmax=1, interpolation="nearest")
    bar = figure_of(axes).colorbar(drawn, ax=axes, fraction=0.04, pad=0.02, ticks=np.sqrt([0, 0.02, 0.1, 0.25, 0.5, 1]))
    bar.ax.set_yticklabels(["0", "0.02", "0.1", "0.25", "0.5", "1"])
    bar.set_label("share of the true class")
    size = max(3.0, min(9.0, 500 / max(1, len(classes))))
    axes.set_xticks(range(len(classes)), classes, rotation=90, fontsize=size)
    axes.set_yticks(range(len(classes)), classes, fontsize=size)
    axes.set(xlabel="predicted", ylabel="true")
    return axes


def show_class_accuracies(
    accuracies: Mapping[str, ArrayLike], classes: Sequence[str], *, ax: Axes | None = None
) -> Axes:
    """Show the accuracy of every class under one or more methods, best class of the last method on top.

    Parameters
    ----------
    accuracies
        By method, (n,).
    classes
        Names.
    ax
        Where to draw.
    """
    axes = given_or_new_axes(ax)
    values = {method: np.asarray(given, dtype=float) for method, given in accuracies.items()}
    for method, given in values.items():
        if given.shape != (len(classes),):
            raise ValueError(
                f"accuracies of {method} must be one for each of {len(classes)} classes, got {given.shape}"
            )
    order = np.argsort(list(values.values())[-1], kind="stable")
    for marker, (method, given) in zip("osD^v", values.items(), strict=False):
        axes.plot(given[order], range(len(classes)), marker, markersize=4, label=f"{method}: mean {given.mean():.3f}")
    axes.hlines(range(len(classes)), 0, 1, color="0.92", zorder=0)
    axes.set_yticks(range(len(classes)), [classes[k] for k in order], fontsize=7)
    axes.set(xlabel="accuracy", xlim=(-0.01, 1.01), ylim=(-1, len(classes)))
    axes.legend(loc="lower right")
    return axes
