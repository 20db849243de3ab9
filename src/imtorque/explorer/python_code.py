"""The Python that makes what is on the page: exact, complete, and no longer than it must be."""

from __future__ import annotations

from typing import Any

from imtorque.explorer.counting import count_code
from imtorque.explorer.image_store import HeldImage
from imtorque.explorer.results import figure_arguments
from imtorque.explorer.settings import Settings


def python_code(image: HeldImage, settings: Settings) -> str:
    """Return a program that computes what the page shows with these settings."""
    lines = ["import imtorque", "", *image.recipe, f"edges = {_edges(settings)}"]
    if settings.y is not None:
        place = f"({settings.y}, {settings.x}), [{settings.size}]"
        lines += [
            "",
            "# The patch: torque at (y, x) for one size.",
            f"torque = imtorque.torque_spectrum(edges, {place}{_given(settings.of_patches)})[0]",
            'print(f"torque {torque:+.4f}")',
        ]
    if {"value", "scale"} & set(settings.layers) or settings.count:
        lines += ["", f"sizes = imtorque.default_sizes(edges.shape{_given(settings.of_sizes)})"]
    if {"value", "scale"} & set(settings.layers):
        lines += [f"value, scale = imtorque.value_and_scale_maps(edges, sizes{_given(settings.of_patches)})"]
    if settings.count:
        lines += _extrema(settings)
    if "saliency" in settings.layers:
        lines += ["", "saliency = imtorque.torque_saliency(image)"]
    if "strengthened" in settings.layers:
        lines += ["", f"strengthened = imtorque.boundary_strength(image{_recipe(settings)})"]
    if settings.clicks:
        fixation, others = figure_arguments(settings)
        cut = f"mask = imtorque.segment_figure(image, {fixation}{_given(others)})"
        lines += ["", "# The figure that was cut out.", cut]
    if settings.lessons or any(not mark.wrong for mark in settings.marks):
        lines += count_code(image, settings)
    return "\n".join(lines) + "\n"


def _extrema(settings: Settings) -> list[str]:
    given = _given(settings.of_patches)
    if settings.apart:
        found = [
            f"extrema = imtorque.find_extrema(edges, sizes=sizes{given})",
            f"extrema = imtorque.suppress_overlaps(extrema)[:{settings.count}]",
        ]
    else:
        found = [f"extrema = imtorque.find_extrema(edges, sizes=sizes, count={settings.count}{given})"]
    found += ["print(extrema.to_csv())"]
    if settings.number is not None:
        one = f"extrema[{settings.number - 1}:{settings.number}]"
        options = _given(settings.of_contribution)
        found += [f"contribution = imtorque.contribution_map(edges, {one}{options})"]
    return found


def _edges(settings: Settings) -> str:
    if settings.learned is not None:
        return f'imtorque.edges.RECIPES["{settings.detector}"].edges(image)'
    return f"imtorque.detect_edges(image{_given(settings.of_edges)})"


def _recipe(settings: Settings) -> str:
    if settings.learned is not None:
        return f', "{settings.detector}"'
    given = _given(settings.of_recipe).removeprefix(", ")
    return f", imtorque.edges.canny_recipe({given})" if given else ""


def _given(arguments: dict[str, Any]) -> str:
    return "".join(f", {name}={value!r}" for name, value in arguments.items())
