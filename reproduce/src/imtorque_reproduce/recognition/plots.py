"""Images of the recognition experiment: accuracy over training size, confusions, classes, the descriptor."""

import csv
import io
from collections.abc import Mapping, Sequence
from math import cos, pi, sin
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray
from PIL import Image as PillowImage

from imtorque import datasets, torque_map
from imtorque.images import CheckedImage
from imtorque.plotting import new_axes, show_class_accuracies, show_confusion, show_descriptor
from imtorque.plotting.torque import VALUE_MAP
from imtorque.recognition import Patches, TorquePatches, multiscale_torque
from imtorque_reproduce.plots import figure_png
from imtorque_reproduce.recognition.plan import Plan

Curve = Mapping[int, float]
STYLES = {  # line, marker and colour of our rows, then of the paper's
    "sift": ("-", "o", "tab:gray"),
    "torque": ("-", "s", "tab:blue"),
    "torque-paper": (":", "s", "tab:cyan"),
    "sift+torque": ("-", "D", "tab:red"),
    "sift+torque-1:2": ("--", "D", "tab:orange"),
    "sift+torque-paper": (":", "D", "tab:olive"),
    "torque-colour": ("-", "^", "tab:purple"),
    "sift+torque-colour": ("-", "v", "tab:pink"),
    "control:sift+sift": ("--", "o", "tab:gray"),
    "Jain": ("", "x", "tab:brown"),
    "Boiman": ("", "+", "tab:purple"),
    "Yang": ("", "*", "tab:green"),
    "Wang (SIFT-LLC)": ("-.", "o", "tab:gray"),
    "paper: torque": ("-.", "s", "tab:blue"),
    "paper: torque + SIFT": ("-.", "D", "tab:red"),
}


def accuracy_image(ours: Mapping[str, Curve], paper: Mapping[str, Curve]) -> bytes:
    """Draw accuracy over the number of training images, ours filled, the paper's and those it quotes hollow."""
    axes = new_axes((8.6, 7.4))
    for name, curve in {**ours, **paper}.items():
        line, marker, colour = STYLES[name]
        hollow = {"markerfacecolor": "none", "linewidth": 0.9} if name in paper else {"markersize": 5}
        percent = [100 * value for value in curve.values()]
        axes.plot(list(curve), percent, linestyle=line or "none", marker=marker, color=colour, label=name, **hollow)
    axes.set(xlabel="training images per class", ylabel="mean class accuracy, %")
    axes.grid(color="0.9")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return figure_png(axes, 256, PillowImage.Dither.NONE)


def confusion_image(plan: Plan, predictions: Sequence[NDArray[np.int16]]) -> bytes:
    """Draw which class SIFT and torque together take for which, over all splits."""
    counts = np.zeros((len(plan.classes),) * 2)
    for predicted in predictions:
        tested = predicted >= 0
        np.add.at(counts, (np.asarray(plan.labels)[tested], predicted[tested]), 1)
    return figure_png(show_confusion(counts, plan.classes, ax=new_axes((10.5, 9.6))), 256, PillowImage.Dither.NONE)


def per_class_image(classes: Sequence[str], accuracies: Mapping[str, NDArray[np.float64]]) -> bytes:
    """Draw the accuracy of every class."""
    axes = new_axes((7.0, 2.0 + 0.13 * len(classes)))
    return figure_png(show_class_accuracies(accuracies, classes, ax=axes), 256, PillowImage.Dither.NONE)


def per_class_csv(
    classes: Sequence[str], methods: Sequence[str], train: Sequence[int], accuracies: NDArray[np.float64]
) -> bytes:
    """Return the accuracy of every class, (methods, sizes, classes), as CSV: a row for each method, size and class."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["method", "train", "class", "accuracy"])
    for m, method in enumerate(methods):
        for k, size in enumerate(train):
            for name, value in zip(classes, accuracies[m, k], strict=True):
                rows.writerow([method, size, name, f"{value:.4f}"])
    return text.getvalue().encode()


def descriptor_image() -> bytes:
    """Draw how a descriptor is made, as the paper's figure 19: patch, torque in it, samples, alignment."""
    image = datasets.sample("hopper")
    detector = TorquePatches(count=200)
    found = detector.detect(image)
    plain, aligned = (multiscale_torque(found.edges, found, align=align) for align in (False, True))
    room = np.min([found.y, found.x, found.edges.shape[0] - found.y, found.edges.shape[1] - found.x], axis=0)
    distinct = np.any(plain != aligned, axis=1) & (room > found.size // 2)
    chosen = int(np.argmax(np.where(distinct, found.size, 0)))
    patch = Patches(found.edges, found.y[[chosen]], found.x[[chosen]], found.size[[chosen]])
    figure = Figure(figsize=(13.0, 6.4), layout="constrained")
    grid = figure.add_gridspec(2, 6)
    _draw_patch(figure.add_subplot(grid[0, :2]), image, patch)
    _draw_torque(figure.add_subplot(grid[0, 2:4]), patch)
    _draw_samples(figure.add_subplot(grid[0, 4:]), image, patch)
    for place, rows, title in (
        (grid[1, :3], plain, "(d) the descriptor"),
        (grid[1, 3:], aligned, "(e) the directions from that of the edges' centroid on"),
    ):
        axes = figure.add_subplot(place)
        show_descriptor(rows[chosen], ax=axes)
        axes.set_title(title)
    return figure_png(figure, 256, PillowImage.Dither.NONE)


def _draw_patch(axes: Axes, image: Any, patch: Patches) -> None:
    _on_image(axes, image, patch)
    axes.set_title("(a) a torque patch")
    axes.add_patch(_square(patch, 1.0, "yellow"))


def _draw_torque(axes: Axes, patch: Patches) -> None:
    """Show the torque of regions of a quarter of the patch's side around every point of it."""
    y, x, size = (int(a[0]) for a in (patch.y, patch.x, patch.size))
    half = size // 2
    region = 2 * max(1, round((size / 4 - 1) / 2)) + 1
    tau = torque_map(patch.edges, region)[max(0, y - half) : y + half + 1, max(0, x - half) : x + half + 1]
    limit = float(np.abs(tau).max()) or 1.0
    axes.imshow(tau, cmap=VALUE_MAP, vmin=-limit, vmax=limit)
    axes.set(xticks=[], yticks=[], title="(b) torque of regions of 1/4 of its side")


def _draw_samples(axes: Axes, image: Any, patch: Patches) -> None:
    _on_image(axes, image, patch)
    y, x, size = (float(a[0]) for a in (patch.y, patch.x, patch.size))
    for share, colour in ((1.0, "yellow"), (1 / 8, "white"), (1 / 4, "white"), (1 / 2, "white")):
        axes.add_patch(_square(patch, share, colour))
    for d in range(8):
        along = [k * size / 8 for k in range(1, 5)]
        axes.plot([x + a * cos(d * pi / 4) for a in along], [y + a * sin(d * pi / 4) for a in along], "r.", ms=6)
    axes.plot(x, y, "r.", ms=6)
    axes.set(xlim=(x - 0.75 * size, x + 0.75 * size), ylim=(y + 0.75 * size, y - 0.75 * size))
    axes.set_title("(c) points along 8 directions; three sizes of region")


def _on_image(axes: Axes, image: Any, patch: Patches) -> None:
    height, width = patch.edges.shape
    axes.imshow(CheckedImage(image).as_bytes(), extent=(-0.5, width - 0.5, height - 0.5, -0.5))
    axes.set(xticks=[], yticks=[])


def _square(patch: Patches, share: float, colour: str) -> Rectangle:
    y, x, size = (float(a[0]) for a in (patch.y, patch.x, patch.size))
    side = share * size
    return Rectangle((x - side / 2, y - side / 2), side, side, fill=False, edgecolor=colour, linewidth=1.5)
