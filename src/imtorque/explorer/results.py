"""What the page shows of an image: the library's functions, called with the page's settings."""

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
from imtorque.explorer.image_store import HeldImage
from imtorque.explorer.settings import MOST_EXTREMA, Settings
from imtorque.render.saliency import heat_image
from imtorque.render.torque import Bytes, edge_image, scale_image, value_image
from imtorque.saliency import torque_saliency
from imtorque.segmentation import segment_figure

MOST_VOLUME_BYTES = 2**26  # of the torque, which is computed once for maps and extrema where it is no more

LINE_COLOURS = {"edges": (94, 234, 212), "strengthened": (251, 191, 36)}  # teal and amber: neither is a sign


def edges_of(image: HeldImage, settings: Settings) -> Edges:
    """Return the edges of an image."""
    if (recipe := settings.learned) is not None:
        return image.recall(("edges", recipe.name), lambda: recipe.edges(image.image))
    given = settings.of_edges
    return image.recall(("edges", *given.items()), lambda: detect_edges(image.image, **given))


def thresholds_of(image: HeldImage, settings: Settings) -> tuple[float, float]:
    """Return the thresholds the edges would have by themselves."""
    key = ("thresholds", settings.sigma)
    return image.recall(key, lambda: automatic_thresholds(image.image, settings.sigma))


def range_of(image: HeldImage, settings: Settings) -> float:
    """Return the value at which the value map's colours are strongest: so many per cent of it are no stronger."""
    value, _ = maps_of(image, settings)

    def compute() -> float:
        strength = np.abs(value)
        some = strength[strength > 0]
        return float(np.quantile(some, settings.range / 100)) if some.size else 0.0

    return image.recall(("range", settings.range, *_torque_key(settings)), compute)


def sizes_of(image: HeldImage, settings: Settings) -> IntArray:
    """Return the patch sizes that maps and extrema are taken over."""
    return default_sizes(image.shape, **settings.of_sizes)


def maps_of(image: HeldImage, settings: Settings) -> tuple[Float32Array, NDArray[np.int32]]:
    """Return the value and the scale map."""
    maps, _ = _torque_of(image, settings)
    return maps


def extrema_of(image: HeldImage, settings: Settings) -> Extrema:
    """Return the strongest extrema, apart from each other where that is asked for."""
    _, extrema = _torque_of(image, settings)
    return (suppress_overlaps(extrema) if settings.apart else extrema)[: settings.count]


def contribution_of(image: HeldImage, settings: Settings) -> FloatArray:
    """Return how much each edge pixel turns with (or against) the chosen extremum."""
    extrema = extrema_of(image, settings)
    number = settings.number or 1
    if number > len(extrema):
        raise ValueError(f"number must be of one of the {len(extrema)} extrema, got {number}")
    return contribution_map(edges_of(image, settings), extrema[number - 1 : number], **settings.of_contribution)


def saliency_of(image: HeldImage) -> FloatArray:
    """Return where people look."""
    return image.recall("saliency", lambda: torque_saliency(image.image))


def strengthened_of(image: HeldImage, settings: Settings) -> FloatArray:
    """Return how likely each edge bounds an object."""
    recipe = settings.learned or canny_recipe(**settings.of_recipe)
    return image.recall(("strengthened", recipe), lambda: boundary_strength(image.image, recipe))


def figure_arguments(settings: Settings) -> tuple[tuple[int, int], dict[str, Any]]:
    """Return the fixation, and what else `segment_figure` is to be given."""
    points = [(click.y, click.x) for click in settings.clicks]
    chosen = {
        operation: [point for point, click in zip(points, settings.clicks, strict=True) if click.operation == operation]
        for operation in ("add", "remove")
    }
    others: dict[str, Any] = {operation: given for operation, given in chosen.items() if given}
    return points[0], others if settings.whole == "any" else {**others, "size": settings.whole}


def figure_of(image: HeldImage, settings: Settings) -> BoolArray:
    """Return the figure that the clicks cut out."""
    if not settings.clicks:
        raise ValueError("clicks must be given, got none")
    fixation, others = figure_arguments(settings)
    return image.recall(
        ("figure", settings.clicks, settings.whole), lambda: segment_figure(image.image, fixation, **others)
    )


def layer_array(image: HeldImage, settings: Settings, layer: str) -> NDArray[Any]:
    """Return a layer as numbers."""
    if layer == "edges":
        edges = edges_of(image, settings)
        return np.stack([edges.fx, edges.fy])
    if layer == "saliency":
        return saliency_of(image).astype(np.float32)
    if layer == "strengthened":
        return strengthened_of(image, settings).astype(np.float32)
    return maps_of(image, settings)[("value", "scale").index(layer)]


def layer_image(image: HeldImage, settings: Settings, layer: str) -> Bytes:
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


def layer_overlay(image: HeldImage, settings: Settings, layer: str) -> Bytes:
    """Return a layer to lay over the image, (H, W, 4): the less a pixel has to say, the clearer."""
    if layer == "value":
        value, _ = maps_of(image, settings)
        share = np.minimum(np.abs(value) / (range_of(image, settings) or 1.0), 1.0)
        shown = value_image(np.copysign(np.clip(share, 0.5, 0.8), value), 1.0)  # no white and no black: those hide
        return _with_cover(shown, np.minimum(1.2 * share**0.75, 1.0))
    shown = layer_image(image, settings, layer)
    if layer == "scale":
        return _with_cover(shown, maps_of(image, settings)[1] != 0)
    if layer == "saliency":
        return _with_cover(shown, saliency_of(image))
    line = np.broadcast_to(np.array(LINE_COLOURS[layer], np.uint8), (*shown.shape, 3))
    covers = (np.arange(256) / max(float(shown.max()), 1.0)) ** 0.7  # of each brightness
    return np.dstack([line, np.round(255.0 * np.minimum(covers, 1.0)).astype(np.uint8)[shown]])


def _with_cover(shown: Bytes, cover: NDArray[Any]) -> Bytes:
    return np.dstack([shown, np.round(255.0 * cover).astype(np.uint8)])


def _torque_of(image: HeldImage, settings: Settings) -> tuple[tuple[Float32Array, NDArray[np.int32]], Extrema]:
    """Return both maps, and the extrema that the page may ask for."""

    def compute() -> tuple[tuple[Float32Array, NDArray[np.int32]], Extrema]:
        edges, sizes, given = edges_of(image, settings), sizes_of(image, settings), settings.of_patches
        if 4 * edges.fx.size * len(sizes) <= MOST_VOLUME_BYTES:
            volume = torque_volume(edges, sizes, **given)
            maps = value_and_scale_maps(volume)
            return maps, _strongest(volume, maps[0])
        return value_and_scale_maps(edges, sizes, **given), find_extrema(edges, sizes=sizes, **given)

    return image.recall(("torque", *_torque_key(settings)), compute)


def _torque_key(settings: Settings) -> tuple[Hashable, ...]:
    """Return what the torque of an image depends on."""
    parts = (settings.of_edges, settings.of_sizes, settings.of_patches)
    return settings.detector, *(item for part in parts for item in part.items())


def _strongest(volume: TorqueVolume, value: Float32Array) -> Extrema:
    """Return at least as many extrema as the page may ask for, or all: most are weak, and take most of the time.

    Weaker ones do not change which of the stronger ones are kept apart.
    """
    strong = find_extrema(volume, threshold=float(np.quantile(np.abs(value), 0.4)))
    return strong if len(suppress_overlaps(strong)) >= MOST_EXTREMA else find_extrema(volume)
