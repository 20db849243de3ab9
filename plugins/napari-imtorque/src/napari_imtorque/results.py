"""New layers from the pixels of one: what napari calls LayerData, (data, arguments, kind)."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import imtorque
from imtorque import Blobs
from imtorque.core.types import Sign
from imtorque.video import FrameExtrema, Trajectories, track_extrema
from imtorque.volumes import find_blobs
from napari_imtorque.planes import Place, Stack

Layer = tuple[Any, dict[str, Any], str]
Steps = Generator[None, None, list[Layer]]  # yields after each plane, between which it can be cancelled
BRIGHT, DARK = "#ff5533", "#33aaff"
LONGEST = 6.0  # pixels, the arrow of the strongest edge


def made(steps: Steps) -> list[Layer]:
    """Return the layers of all steps, done at once."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            layers: list[Layer] = end.value
            return layers


def blob_layers(stack: Stack, find: Callable[[NDArray[Any]], Blobs], name: str) -> Steps:
    """Return what is found in every plane as points, outlines and labels, with the measurements in their features.

    An object has one number in all three, counted through the whole stack. Where there are none there are no layers.
    """
    labels = np.zeros(stack.shape, np.int32)
    centres, outlines, tables = [], [], []
    for place, plane in stack.planes():
        blobs = find(plane)
        first = sum(len(table["label"]) for table in tables)
        labels[place] = np.where(blobs.labels > 0, blobs.labels + first, 0)
        centres.append(_at(place, np.stack([blobs.y, blobs.x], axis=1)))
        outlines += [_at(place, outline) for outline in blobs.outline]
        tables.append(_table(blobs, place, first))
        yield
    if not outlines:
        return []
    table = {column: np.concatenate([part[column] for part in tables]) for column in tables[0]}
    colours = [BRIGHT if value > 0 else DARK for value in table["value"]]
    return [
        (labels, {"name": f"{name} labels", "features": _with_background(table), "opacity": 0.4}, "labels"),
        (outlines, _shape_arguments(f"{name} outlines", table, colours, labels.ndim), "shapes"),
        (np.concatenate(centres), _point_arguments(f"{name} centres", table, colours, labels.ndim), "points"),
    ]


def track_layers(stack: Stack, finder: FrameExtrema, name: str) -> Steps:
    """Return the tracks of what moves through the planes of a stack, its first axis being time."""
    if len(stack.places) != 1:
        raise ValueError(f"{name} must have one axis, time, before y and x, got {len(stack.places)}")
    frames = []
    for frame in track_extrema((plane for _, plane in stack.planes()), find=finder):
        frames.append(frame)
        yield
    tracks = Trajectories.of(frames)
    if not len(tracks):
        return []
    data, arguments, kind = tracks.to_napari()
    return [(data, {**arguments, "name": f"{name} tracks"}, kind)]


def volume_layers(stack: Stack, sizes: tuple[float, float] | None, sign: Sign | None, spacing: Any, name: str) -> Steps:
    """Return the objects of a stack taken as a volume, as labels with their measurements."""
    if len(stack.places) != 1 or stack.rgb:
        raise ValueError(f"{name} must be grey and have the axes z, y and x, got the shape {stack.data.shape}")
    found = find_blobs(np.asarray(stack.data), sizes=sizes, spacing=tuple(spacing), sign=sign)
    yield
    if not len(found):
        return []
    data, arguments, kind = found.to_napari()
    return [(data, {"name": f"{name} objects", "features": arguments["features"], "opacity": 0.5}, kind)]


def map_layers(stack: Stack, sizes: NDArray[np.int64], patch: str, name: str) -> Steps:
    """Return the value map and the scale map of every plane."""
    value, scale = np.zeros(stack.shape, np.float32), np.zeros(stack.shape, np.int32)
    for place, plane in stack.planes():
        value[place], scale[place] = imtorque.value_and_scale_maps(imtorque.detect_edges(plane), sizes, patch=patch)
        yield
    limits = [float(np.abs(v).max(initial=1e-6)) for v in (value, scale)]
    return [
        (field, {"name": f"{name} {kind}", "colormap": "PiYG", "contrast_limits": (-limit, limit)}, "image")
        for field, kind, limit in ((scale, "scale", limits[1]), (value, "value", limits[0]))
    ]


def edge_layers(stack: Stack, sigma: float, name: str) -> Steps:
    """Return the edges of every plane as vectors, with the brighter side on their right, and their strength."""
    vectors, strengths = [], []
    for place, plane in stack.planes():
        edges = imtorque.detect_edges(plane, sigma=sigma, force="strength")
        y, x = np.nonzero(edges.mask)
        along = np.stack([edges.fy[y, x], edges.fx[y, x]], axis=1) * LONGEST
        start = _at(place, np.stack([y, x], axis=1) - along / 2)
        direction = np.concatenate([np.zeros((len(y), len(place))), along], axis=1)
        vectors.append(np.stack([start, direction], axis=1))
        strengths.append(edges.strength[y, x])
        yield
    features = {"strength": np.concatenate(strengths)}
    style = {"edge_color": "strength", "edge_colormap": "viridis", "edge_width": 0.4, "vector_style": "arrow"}
    return [(np.concatenate(vectors), {"name": f"{name} edges", "features": features, **style}, "vectors")]


def _at(place: Place, points: NDArray[Any]) -> NDArray[np.float64]:
    """Return points (y, x) of a plane as points of the stack."""
    return np.concatenate([np.broadcast_to(place, (len(points), len(place))), points], axis=1).astype(np.float64)


def _table(blobs: Blobs, place: Place, first: int) -> dict[str, NDArray[Any]]:
    """Return the measurements of one plane: its place, a column for each axis, then what was measured."""
    where = {f"axis {axis}": np.full(len(blobs), index) for axis, index in enumerate(place)}
    measured = blobs.to_dict()
    return where | measured | {"label": measured["label"] + first}


def _with_background(table: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the table with a row for label 0, as napari counts: 0 in whole numbers, nothing in others."""
    return {
        name: np.concatenate([[0 if column.dtype.kind in "iu" else np.nan], column]) for name, column in table.items()
    } | {"index": np.concatenate([[0], table["label"]])}


def _shape_arguments(name: str, table: dict[str, Any], colours: list[str], axes: int) -> dict[str, Any]:
    style = {"shape_type": "polygon", "face_color": "transparent", "edge_width": 1}
    coloured = {"edge_color": colours} if colours else {}
    return {"name": name, "features": table, "ndim": axes, **style, **coloured}


def _point_arguments(name: str, table: dict[str, Any], colours: list[str], axes: int) -> dict[str, Any]:
    text = {"string": "{label}", "size": 9, "color": "white", "visible": True}
    coloured = {"face_color": colours} if colours else {}
    return {"name": name, "features": table, "ndim": axes, "size": 4, "text": text, **coloured}
