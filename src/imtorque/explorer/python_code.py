"""The Python program that computes what is on the page."""

from __future__ import annotations

from typing import Any

from imtorque.explorer.counting import count_code
from imtorque.explorer.image_store import StoredImage
from imtorque.explorer.results import figure_arguments
from imtorque.explorer.settings import Settings


def python_code(image: StoredImage, settings: Settings) -> str:
    """Return a program that computes what the page shows with these settings."""
    lines = ["import imtorque", "", *image.recipe, f"edges = {_edges(settings)}"]
    if settings.y is not None:
        place = f"({settings.y}, {settings.x}), [{settings.size}]"
        lines += [
            "",
            "# The patch: torque at (y, x) for one size.",
            f"torque = imtorque.torque_spectrum(edges, {place}{_given(settings.patch_options)})[0]",
            'print(f"torque {torque:+.4f}")',
        ]
    if {"value", "scale"} & set(settings.layers) or settings.count:
        lines += ["", f"sizes = imtorque.default_sizes(edges.shape{_given(settings.size_options)})"]
    if {"value", "scale"} & set(settings.layers):
        lines += [f"value, scale = imtorque.value_and_scale_maps(edges, sizes{_given(settings.patch_options)})"]
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
    if settings.has_objects:
        lines += count_code(image, settings)
    return "\n".join(lines) + "\n"


def _extrema(settings: Settings) -> list[str]:
    given = _given(settings.patch_options)
    if settings.nms:
        found = [
            f"extrema = imtorque.find_extrema(edges, sizes=sizes{given})",
            f"extrema = imtorque.suppress_overlaps(extrema)[:{settings.count}]",
        ]
    else:
        found = [f"extrema = imtorque.find_extrema(edges, sizes=sizes, count={settings.count}{given})"]
    found += ["print(extrema.to_csv())"]
    if settings.number is not None:
        one = f"extrema[{settings.number - 1}:{settings.number}]"
        options = _given(settings.contribution_options)
        found += [f"contribution = imtorque.contribution_map(edges, {one}{options})"]
    return found


def _edges(settings: Settings) -> str:
    if settings.recipe is not None:
        return f'imtorque.edges.find_recipe("{settings.detector}").edges(image)'
    return f"imtorque.detect_edges(image{_given(settings.edge_options)})"


def _recipe(settings: Settings) -> str:
    if settings.recipe is not None:
        return f', "{settings.detector}"'
    given = _given(settings.recipe_options).removeprefix(", ")
    return f", imtorque.edges.canny_recipe({given})" if given else ""


def _given(arguments: dict[str, Any]) -> str:
    return "".join(f", {name}={value!r}" for name, value in arguments.items())
