"""The results the page shows: the library's functions, called with the page's settings and cached."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.boundaries.strength import boundary_strength
from imtorque.core.contribution import contribution_map
from imtorque.core.extrema import find_extrema, suppress_overlaps
from imtorque.core.torque import default_sizes, torque_volume, value_and_scale_maps
from imtorque.core.types import BoolArray, Edges, Extrema, Float32Array, FloatArray, IntArray, TorqueVolume
from imtorque.edges import canny_recipe, detect_edges
from imtorque.edges.canny import automatic_thresholds
from imtorque.explorer.image_store import StoredImage
from imtorque.explorer.settings import MAX_EXTREMA, Settings
from imtorque.render.saliency import heat_image
from imtorque.render.torque import Bytes, edge_image, scale_image, value_image
from imtorque.saliency import torque_saliency
from imtorque.segmentation import segment_figure

MAX_VOLUME_BYTES = 2**26  # bound: a smaller torque volume is computed once for both maps and extrema

LINE_COLOURS = {
    "edges": (94, 234, 212),
    "strengthened": (251, 191, 36),
}  # teal and amber: red and blue are signs of torque


def edges_of(image: StoredImage, settings: Settings) -> Edges:
    """Return the edges of an image."""
    if (recipe := settings.recipe) is not None:
        return image.cached(("edges", recipe.name), lambda: recipe.edges(image.image))
    given = settings.edge_options
    return image.cached(("edges", *given.items()), lambda: detect_edges(image.image, **given))


def thresholds_of(image: StoredImage, settings: Settings) -> tuple[float, float]:
    """Return the automatic thresholds."""
    key = ("thresholds", settings.sigma)
    return image.cached(key, lambda: automatic_thresholds(image.image, settings.sigma))


def range_of(image: StoredImage, settings: Settings) -> float:
    """Return the value of full colour: the percentile `settings.range` of the value map's strength."""
    value, _ = maps_of(image, settings)

    def compute() -> float:
        strength = np.abs(value)
        positive = strength[strength > 0]
        return float(np.quantile(positive, settings.range / 100)) if positive.size else 0.0

    return image.cached(("range", settings.range, *_torque_key(settings)), compute)


def sizes_of(image: StoredImage, settings: Settings) -> IntArray:
    """Return the patch sizes of maps and extrema."""
    return default_sizes(image.shape, **settings.size_options)


def maps_of(image: StoredImage, settings: Settings) -> tuple[Float32Array, NDArray[np.int32]]:
    """Return the value and the scale map."""
    maps, _ = _torque_of(image, settings)
    return maps


def extrema_of(image: StoredImage, settings: Settings) -> Extrema:
    """Return the strongest extrema, after non-maximum suppression where it is on."""
    _, extrema = _torque_of(image, settings)
    return (suppress_overlaps(extrema) if settings.nms else extrema)[: settings.count]


def contribution_of(image: StoredImage, settings: Settings) -> FloatArray:
    """Return the contribution of each edge pixel to the chosen extremum."""
    extrema = extrema_of(image, settings)
    number = settings.number or 1
    if number > len(extrema):
        raise ValueError(f"number must be that of one of the {len(extrema)} extrema, got {number}")
    return contribution_map(edges_of(image, settings), extrema[number - 1 : number], **settings.contribution_options)


def saliency_of(image: StoredImage) -> FloatArray:
    """Return the saliency map."""
    return image.cached("saliency", lambda: torque_saliency(image.image))


def strengthened_of(image: StoredImage, settings: Settings) -> FloatArray:
    """Return the probability that each edge bounds an object."""
    recipe = settings.recipe or canny_recipe(**settings.recipe_options)
    return image.cached(("strengthened", recipe), lambda: boundary_strength(image.image, recipe))


def figure_arguments(settings: Settings) -> tuple[tuple[int, int], dict[str, Any]]:
    """Return the fixation and the options of `segment_figure`."""
    points = [(click.y, click.x) for click in settings.clicks]
    by_operation = {
        operation: [point for point, click in zip(points, settings.clicks, strict=True) if click.operation == operation]
        for operation in ("add", "remove")
    }
    options: dict[str, Any] = {operation: places for operation, places in by_operation.items() if places}
    return points[0], options if settings.figure_size == "any" else {**options, "size": settings.figure_size}


def figure_of(image: StoredImage, settings: Settings) -> BoolArray:
    """Return the mask of the figure cut out by the clicks."""
    if not settings.clicks:
        raise ValueError("clicks must be given, got none")
    fixation, others = figure_arguments(settings)
    return image.cached(
        ("figure", settings.clicks, settings.figure_size), lambda: segment_figure(image.image, fixation, **others)
    )


def layer_array(image: StoredImage, settings: Settings, layer: str) -> NDArray[Any]:
    """Return a layer as an array."""
    if layer == "edges":
        edges = edges_of(image, settings)
        return np.stack([edges.fx, edges.fy])
    if layer == "saliency":
        return saliency_of(image).astype(np.float32)
    if layer == "strengthened":
        return strengthened_of(image, settings).astype(np.float32)
    return maps_of(image, settings)[("value", "scale").index(layer)]


def layer_image(image: StoredImage, settings: Settings, layer: str) -> Bytes:
    """Return a layer as an image, in the library's colours."""
    if layer == "value":
        return value_image(maps_of(image, settings)[0], range_of(image, settings) or None)
    if layer == "scale":
        return scale_image(maps_of(image, settings)[1], float(sizes_of(image, settings)[-1]))
    if layer == "saliency":
        return heat_image(saliency_of(image))
    if layer == "edges":
        return edge_image(edges_of(image, settings))
    return np.round(255 * strengthened_of(image, settings)).astype(np.uint8)


def layer_overlay(image: StoredImage, settings: Settings, layer: str) -> Bytes:
    """Return a layer as an overlay, RGBA (H, W, 4): weak values are transparent."""
    if layer == "value":
        value, _ = maps_of(image, settings)
        share = np.minimum(np.abs(value) / (range_of(image, settings) or 1.0), 1.0)
        shown = value_image(
            np.copysign(np.clip(share, 0.5, 0.8), value), 1.0
        )  # neither white nor black, which would hide the image
        root = np.sqrt(share)  # to the power of 3/4 by square roots, which every processor rounds alike
        return _with_opacity(shown, np.minimum(1.2 * (root * np.sqrt(root)), 1.0))
    shown = layer_image(image, settings, layer)
    if layer == "scale":
        return _with_opacity(shown, maps_of(image, settings)[1] != 0)
    if layer == "saliency":
        return _with_opacity(shown, saliency_of(image))
    line = np.broadcast_to(np.array(LINE_COLOURS[layer], np.uint8), (*shown.shape, 3))
    return np.dstack([line, opacity_of_lines(int(shown.max()))[shown]])


def opacity_of_lines(brightest: int) -> Bytes:
    """Return the opacity of lines by their brightness, 0 to 255, in an image whose brightest is so bright."""
    opacities = (np.arange(256) / max(brightest, 1)) ** 0.7
    return np.round(255.0 * np.minimum(opacities, 1.0)).astype(np.uint8)


def _with_opacity(shown: Bytes, opacity: NDArray[Any]) -> Bytes:
    return np.dstack([shown, np.round(255.0 * opacity).astype(np.uint8)])


def _torque_of(image: StoredImage, settings: Settings) -> tuple[tuple[Float32Array, NDArray[np.int32]], Extrema]:
    """Return both maps, and the extrema that the page may request."""

    def compute() -> tuple[tuple[Float32Array, NDArray[np.int32]], Extrema]:
        edges, sizes, given = edges_of(image, settings), sizes_of(image, settings), settings.patch_options
        if 4 * edges.fx.size * len(sizes) <= MAX_VOLUME_BYTES:
            volume = torque_volume(edges, sizes, **given)
            maps = value_and_scale_maps(volume)
            return maps, _strongest(volume, maps[0])
        return value_and_scale_maps(edges, sizes, **given), find_extrema(edges, sizes=sizes, **given)

    return image.cached(("torque", *_torque_key(settings)), compute)


def _torque_key(settings: Settings) -> tuple[Hashable, ...]:
    """Return the settings that torque depends on."""
    parts = (settings.edge_options, settings.size_options, settings.patch_options)
    return settings.detector, *(item for part in parts for item in part.items())


def _strongest(volume: TorqueVolume, value: Float32Array) -> Extrema:
    """Return at least as many extrema as the page may request, or all: most are weak, and take most of the time.

    Weaker ones do not change which of the stronger ones suppression keeps.
    """
    strong = find_extrema(volume, threshold=float(np.quantile(np.abs(value), 0.4)))
    return strong if len(suppress_overlaps(strong)) >= MAX_EXTREMA else find_extrema(volume)
