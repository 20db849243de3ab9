"""The answers about a stored image: what the page shows of it, and the files it saves."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from imtorque.core.patterns import pattern_edges
from imtorque.explorer.counting import annotations_table, finder_file, objects_of, objects_table, whole_objects_of
from imtorque.explorer.frame import pack
from imtorque.explorer.image_store import StoredImage
from imtorque.explorer.python_code import python_code
from imtorque.explorer.results import (
    contribution_of,
    edges_of,
    extrema_of,
    figure_of,
    layer_array,
    layer_image,
    layer_overlay,
    maps_of,
    range_of,
    sizes_of,
    thresholds_of,
)
from imtorque.explorer.settings import LAYERS, Settings
from imtorque.files import encode_png
from imtorque.images import CheckedImage
from imtorque.render.torque import Bytes

BINARY = "application/octet-stream"

Handler = Callable[[StoredImage, Settings], Response]


def image_info(image: StoredImage) -> dict[str, Any]:
    """Return the facts the page shows of an image: its size, and that before it was shrunk."""
    height, width = image.shape
    return {
        "key": image.key,
        "name": image.name,
        "height": height,
        "width": width,
        "factor": image.factor,
        "original_height": image.original_shape[0],
        "original_width": image.original_shape[1],
        "pixel_size": image.pixel_size,
        **asdict(image.plane),
    }


def _info(image: StoredImage, _: Settings) -> Response:
    return JSONResponse(image_info(image))


def _view(image: StoredImage, settings: Settings) -> Response:
    """Answer everything that depends on the settings at once, so that the page never mixes two states."""
    start = time.perf_counter()
    edges = edges_of(image, settings)
    extrema = extrema_of(image, settings)
    steps = edges.steps
    place = np.flatnonzero(edges.mask)
    arrays: dict[str, Any] = {"place": place.astype(np.int32)}
    rotated = pattern_edges(edges, settings.pattern)
    forces = [("fx", edges.fx), ("fy", edges.fy)]
    forces += [("gx", rotated.fx), ("gy", rotated.fy)] if rotated is not edges else []
    for name, force in forces:
        # As the kernels round: in float32, ties to even.
        arrays[name] = np.rint(force.ravel()[place] * np.float32(steps)).astype(np.int32)
    for layer in settings.layers:
        arrays[layer] = layer_overlay(image, settings, layer)
    low, high = thresholds_of(image, settings)
    head = {
        "height": image.shape[0],
        "width": image.shape[1],
        "steps": steps,
        "sizes": sizes_of(image, settings).tolist(),
        "limit": float(np.abs(maps_of(image, settings)[0]).max()),
        "range": range_of(image, settings),
        "low": low,
        "high": high,
        "extrema": [
            {"y": y, "x": x, "size": size, "value": value}
            for y, x, size, value in zip(
                extrema.y.tolist(), extrema.x.tolist(), extrema.size.tolist(), extrema.value.tolist(), strict=True
            )
        ],
    }
    head["milliseconds"] = round(1000 * (time.perf_counter() - start), 1)
    return Response(pack(head, arrays), media_type=BINARY)


def _contribution(image: StoredImage, settings: Settings) -> Response:
    """Answer the contribution of each edge pixel, in the order of `place`, to the chosen extremum."""
    contribution = contribution_of(image, settings)
    edges = edges_of(image, settings)
    return Response(pack({}, {"moment": contribution[edges.mask].astype(np.float32)}), media_type=BINARY)


def _figure(image: StoredImage, settings: Settings) -> Response:
    figure = figure_of(image, settings)
    return Response(pack({"pixels": int(figure.sum())}, {"mask": figure.astype(np.uint8)}), media_type=BINARY)


def _figure_png(image: StoredImage, settings: Settings) -> Response:
    return _file(image, "figure.png", encode_png(_whole_figure(image, settings)))


def _cutout_png(image: StoredImage, settings: Settings) -> Response:
    """Answer the figure alone, transparent around it."""
    pixels, mask = CheckedImage(image.whole).as_bytes(), _whole_figure(image, settings)
    return _file(image, "cutout.png", encode_png(np.dstack([pixels, mask])))


def _whole_figure(image: StoredImage, settings: Settings) -> Bytes:
    """Return the mask of the figure in pixels of the image as it was opened: 255 inside."""
    mask = figure_of(image, settings).astype(np.uint8) * np.uint8(255)
    if image.factor == 1:
        return mask
    mask = mask.repeat(image.factor, axis=0).repeat(image.factor, axis=1)
    return np.pad(mask, [(0, a - b) for a, b in zip(image.original_shape, mask.shape, strict=True)])


def _image(image: StoredImage, settings: Settings) -> Response:
    """Answer the image, under the name by which the code reads it where it is the file itself."""
    same = image.name.endswith(".png") and len(image.recipe) == 1
    pixels = image.image
    if settings.contrast:
        pixels = (pixels[..., :3] if pixels.ndim == 3 else pixels).astype(np.float32)
        low, high = np.percentile(pixels, [settings.contrast, 100 - settings.contrast])
        pixels = np.clip((pixels - low) / max(high - low, 1e-9), 0, 1)
    return _file(image, "" if same else "image.png", encode_png(CheckedImage(pixels).as_bytes()))


def _original(image: StoredImage, _: Settings) -> Response:
    return _file(image, "original.png", encode_png(CheckedImage(image.whole).as_bytes()))


def _uploaded_file(image: StoredImage, _: Settings) -> Response:
    """Answer the uploaded bytes, so that a reloaded page can upload them again."""
    if image.file is None:
        raise HTTPException(404, f"{image.name}: must be an uploaded image, got one that was not")
    return Response(image.file, media_type=BINARY)


def _extrema_csv(image: StoredImage, settings: Settings) -> Response:
    """Answer the extrema in pixels of the image as it was opened."""
    extrema, factor = extrema_of(image, settings), image.factor
    places = {name: getattr(extrema, name) * factor + (factor - 1) // 2 for name in ("y", "x")}
    size = extrema.size * factor
    whole = extrema if factor == 1 else replace(extrema, **places, size=size)
    return _file(image, "extrema.csv", whole.to_csv().encode(), "text/csv")


def _code(image: StoredImage, settings: Settings) -> Response:
    return Response(python_code(image, settings), media_type="text/plain")


def _count(image: StoredImage, settings: Settings) -> Response:
    """Answer the objects found: outlines and places as shown, diameters in the image as opened, scores."""
    found = objects_of(image, settings)
    head = {"count": len(found)}
    arrays = {
        "outline": found.outline.astype(np.float32),
        "diameter": (found.diameter * image.factor).astype(np.float32),
        "score": found.score.astype(np.float32),
        "place": np.stack([found.y, found.x], axis=1).astype(np.float32),
    }
    return Response(pack(head, arrays), media_type=BINARY)


def _objects_csv(image: StoredImage, settings: Settings) -> Response:
    return _file(image, "objects.csv", objects_table(image, settings).encode(), "text/csv")


def _annotations_csv(image: StoredImage, settings: Settings) -> Response:
    return _file(image, "annotations.csv", annotations_table(image, settings).encode(), "text/csv")


def _masks_png(image: StoredImage, settings: Settings) -> Response:
    """Answer the objects as a label image of 16 bits, which `train-detector` reads."""
    return _file(image, "objects.png", encode_png(whole_objects_of(image, settings).labels.astype(np.uint16)))


def _finder(image: StoredImage, settings: Settings) -> Response:
    return _file(image, "finder", finder_file(image, settings), BINARY)


def _layer_png(layer: str, image: StoredImage, settings: Settings) -> Response:
    return _file(image, f"{layer}.png", encode_png(layer_image(image, settings, layer)))


def _layer_npy(layer: str, image: StoredImage, settings: Settings) -> Response:
    file = io.BytesIO()
    np.save(file, layer_array(image, settings, layer), allow_pickle=False)
    return _file(image, f"{layer}.npy", file.getvalue(), BINARY)


def _file(image: StoredImage, ending: str, content: bytes, media: str = "image/png") -> Response:
    """Answer a file to save under the image's name."""
    stem = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in image.name)[:80]
    disposition = f'attachment; filename="{stem}{"." if ending else ""}{ending}"'
    return Response(content, media_type=media, headers={"content-disposition": disposition})


HANDLERS: dict[str, Handler] = {
    "": _info,
    "/file": _uploaded_file,
    "/image.png": _image,
    "/view": _view,
    "/contribution": _contribution,
    "/figure": _figure,
    "/figure.png": _figure_png,
    "/cutout.png": _cutout_png,
    "/original.png": _original,
    "/extrema.csv": _extrema_csv,
    "/code": _code,
    "/count": _count,
    "/objects.csv": _objects_csv,
    "/objects.png": _masks_png,
    "/annotations.csv": _annotations_csv,
    "/finder": _finder,
    **{f"/{layer}.png": partial(_layer_png, layer) for layer in LAYERS},
    **{f"/{layer}.npy": partial(_layer_npy, layer) for layer in LAYERS},
}
