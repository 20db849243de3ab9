"""Figures of torque: maps, extrema and their evidence."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.patheffects import AbstractPathEffect, Normal, Stroke

from imtorque.core.contribution import contribution_map
from imtorque.core.torque import default_sizes, torque_spectrum, value_and_scale_maps
from imtorque.core.types import Edges, Extrema, FloatArray, Image, IntArray, Patch, Sizes, check_sizes
from imtorque.detection import find_blobs
from imtorque.edges import detect_edges
from imtorque.images import CheckedImage
from imtorque.plotting.axes import figure_of, given_or_new_axes
from imtorque.render.torque import MAXIMUM_COLOUR, MINIMUM_COLOUR, SCALE_COLOURS, VALUE_COLOURS, edge_image

VALUE_MAP = LinearSegmentedColormap.from_list("imtorque_value", VALUE_COLOURS)
SCALE_MAP = LinearSegmentedColormap.from_list("imtorque_scale", SCALE_COLOURS)
OUTLINED: list[AbstractPathEffect] = [Stroke(linewidth=3, foreground="black"), Normal()]


def show_value_map(value: FloatArray, *, limit: float | None = None, ax: Axes | None = None) -> Axes:
    """Show torque over the image: red around bright objects, blue around dark ones.

    Parameters
    ----------
    value
        A value map or the torque map of one size, shape (H, W).
    limit
        Torque shown in the full colour, and its negative; by default the largest |value|.
    ax
        Where to draw.
    """
    axes = given_or_new_axes(ax)
    top = limit if limit is not None else float(np.abs(value).max()) or 1.0
    drawn = axes.imshow(value, cmap=VALUE_MAP, vmin=-top, vmax=top)
    figure_of(axes).colorbar(drawn, ax=axes, label="torque (− dark, + bright)", fraction=0.04, pad=0.02)
    return _bare(axes)


def show_scale_map(scale: IntArray, *, limit: float | None = None, ax: Axes | None = None) -> Axes:
    """Show the patch size of the strongest torque: red and blue for its sign, lighter for larger, black for no torque.

    Parameters
    ----------
    scale
        Signed size, shape (H, W), as `value_and_scale_maps` returns it.
    limit
        Size shown in the lightest colour; by default the largest.
    ax
        Where to draw.
    """
    axes = given_or_new_axes(ax)
    top = limit if limit is not None else float(np.abs(scale).max()) or 1.0
    drawn = axes.imshow(scale, cmap=SCALE_MAP, vmin=-top, vmax=top, interpolation="nearest")
    label = "patch size (sign: torque's)"
    figure_of(axes).colorbar(drawn, ax=axes, label=label, fraction=0.04, pad=0.02)
    return _bare(axes)


def show_extrema(image: Image, extrema: Extrema, *, numbered: bool = False, ax: Axes | None = None) -> Axes:
    """Show extrema with their patches on the image: maxima solid yellow (▲), minima dashed green (▼).

    Parameters
    ----------
    image
        The image they were found in.
    extrema
        What to show.
    numbered
        Whether to write each one's place in the list, from 1, beside it.
    ax
        Where to draw.
    """
    axes = given_or_new_axes(ax)
    axes.imshow(CheckedImage(image).as_bytes())
    kinds = (
        ("bright: maximum", 1, MAXIMUM_COLOUR, "-", "^"),
        ("dark: minimum", -1, MINIMUM_COLOUR, (0, (3, 1.5)), "v"),
    )
    handles = []
    for label, sign, colour, line, marker in kinds:
        chosen = np.flatnonzero(extrema.value * sign > 0)
        for k in chosen:
            corner = (extrema.x[k] - extrema.width[k] / 2, extrema.y[k] - extrema.height[k] / 2)
            box = Rectangle(corner, extrema.width[k], extrema.height[k], fill=False, ec=colour, ls=line, lw=1.5)
            box.set_path_effects(OUTLINED)
            axes.add_patch(box)
        axes.plot(extrema.x[chosen], extrema.y[chosen], marker, ms=6, mfc=colour, mec="black", ls="none")
        handles.append(
            Line2D([], [], color=colour, ls=line, marker=marker, mec="black", label=f"{label} ({len(chosen)})")
        )
    if numbered:
        _number(axes, extrema)
    axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=2, frameon=True, facecolor="0.6")
    axes.set(xlim=(-0.5, np.shape(image)[1] - 0.5), ylim=(np.shape(image)[0] - 0.5, -0.5))
    return _bare(axes)


def show_torque_spectrum(
    edges: Edges,
    point: tuple[int, int],
    sizes: Sizes,
    *,
    patch: Patch = "square",
    alpha: float = 2.0,
    ax: Axes | None = None,
) -> Axes:
    """Show the torque over patch size at one point, and the size of the strongest (the paper's figure 6).

    Parameters
    ----------
    edges
        Edge vectors.
    point
        (y, x).
    sizes, patch, alpha
        As for `torque_spectrum`; sizes of squares or disks.
    ax
        Where to draw.
    """
    axes = given_or_new_axes(ax)
    sides = check_sizes(sizes)
    if sides.ndim == 2:
        raise ValueError("sizes must be those of squares or disks, got (height, width) pairs")
    torque = torque_spectrum(edges, point, sides, patch=patch, alpha=alpha)
    best = int(np.argmax(np.abs(torque)))
    colour = VALUE_COLOURS[-2] if torque[best] > 0 else VALUE_COLOURS[1]
    axes.axhline(0, color="0.6", lw=0.8)
    axes.plot(sides, torque, color="0.2", marker=".", ms=4, label=f"at y = {point[0]}, x = {point[1]}")
    label = f"strongest: {torque[best]:+.2f} at size {sides[best]}".replace("-", "−")
    axes.plot(sides[best], torque[best], marker="o", ms=9, mfc="none", mew=2, color=colour, ls="none", label=label)
    axes.set(xlabel=f"size of the {patch} patch in pixels", ylabel="torque")
    axes.margins(y=0.2)
    axes.legend()
    return axes


def show_evidence(
    edges: Edges, extrema: Extrema, *, image: Image | None = None, patch: Patch = "square", ax: Axes | None = None
) -> Axes:
    """Show which edge pixels made extrema, by how much each contributes (Sec. 4.2).

    An extremum's torque is the sum of the contributions inside its patch. Edges that turn with it are orange and the
    larger the more they add; those that turn against it are purple.

    Parameters
    ----------
    edges
        Edge vectors the extrema were found in.
    extrema
        One or more; `extrema[:1]` for the strongest.
    image
        Shown faintly below.
    patch
        Shape of the patches: "square" or "disk".
    ax
        Where to draw.
    """
    axes = given_or_new_axes(ax)
    if image is not None:
        grey = CheckedImage(image).as_bytes().mean(axis=2)
        axes.imshow(grey, cmap="gray", vmin=-700, vmax=255)  # faint
    share = contribution_map(edges, extrema, weight="area", patch=patch)
    y, x = np.nonzero(edges.mask)
    none = share[y, x] == 0
    axes.scatter(x[none], y[none], s=2, marker="s", linewidths=0, color="0.75")
    order = np.argsort(np.abs(share[y, x][~none]))
    y, x, part = (values[~none][order] for values in (y, x, share[y, x]))
    top = float(np.abs(part).max()) if len(part) else 1.0
    size = 2 + 22 * np.abs(part) / top
    drawn = axes.scatter(x, y, s=size, c=part, cmap="PuOr_r", vmin=-top, vmax=top, marker="s", linewidths=0)
    label = "share of the torque (− against, + with)"
    figure_of(axes).colorbar(drawn, ax=axes, label=label, fraction=0.04, pad=0.02)
    for k in range(len(extrema)):
        corner = (extrema.x[k] - extrema.width[k] / 2, extrema.y[k] - extrema.height[k] / 2)
        axes.add_patch(Rectangle(corner, extrema.width[k], extrema.height[k], fill=False, ec="black", ls=":", lw=1.2))
        axes.plot(extrema.x[k], extrema.y[k], "k+", ms=8)
    axes.set(xlim=(-0.5, edges.shape[1] - 0.5), ylim=(edges.shape[0] - 0.5, -0.5))
    return _bare(axes)


def overview(image: Image, extrema: Extrema | None = None, *, title: str = "") -> Figure:
    """Draw all steps of one image on a page: image, edges, value map, scale map, extrema, torque over size.

    Parameters
    ----------
    image
        As for `detect_edges`.
    extrema
        What to mark; by default the twelve strongest blobs.
    title
        Stands above the page.
    """
    edges = detect_edges(image)
    sizes = default_sizes(edges.shape)
    marked = find_blobs(image, method="paper", count=12) if extrema is None else extrema
    value, scale = value_and_scale_maps(edges, sizes)
    height = 1.6 + 2 * min(6.0, max(2.4, 3.3 * edges.shape[0] / edges.shape[1]))
    figure = Figure(figsize=(13, height), layout="constrained")
    cells = figure.subplots(2, 3)
    figure.suptitle(title)
    _bare(cells[0, 0]).imshow(CheckedImage(image).as_bytes())
    _bare(cells[0, 1]).imshow(255 - edge_image(edges), cmap="gray", vmin=0, vmax=255)
    show_value_map(value, ax=cells[0, 2])
    show_scale_map(scale, ax=cells[1, 0])
    show_extrema(image, marked, numbered=True, ax=cells[1, 1])
    names = (
        "image",
        "edges",
        "value map: strongest torque",
        "scale map: patch size of it",
        "extrema and their patches",
    )
    for cell, name in zip(cells.flat, names, strict=False):
        cell.set_title(name)
    if len(marked):
        show_torque_spectrum(edges, (int(marked.y[0]), int(marked.x[0])), sizes, ax=cells[1, 2])
        cells[1, 2].set_title("torque over patch size at number 1")
    else:
        cells[1, 2].set_axis_off()
    return figure


def _number(axes: Axes, extrema: Extrema) -> None:
    for k in range(len(extrema)):
        colour = MAXIMUM_COLOUR if extrema.value[k] > 0 else MINIMUM_COLOUR
        place = (float(extrema.x[k]), float(extrema.y[k]))
        text = axes.annotate(
            str(k + 1), place, (5, 4), textcoords="offset points", color=colour, weight="bold", clip_on=True
        )
        text.set_path_effects(OUTLINED)


def _bare(axes: Axes) -> Axes:
    axes.set(xticks=[], yticks=[])
    return axes
