"""The answers about an image that is held: what the page shows of it, and the files it saves."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from imtorque.core.patterns import pattern_edges
from imtorque.explorer.counting import finder_file, finder_of, found_of, marks_table
from imtorque.explorer.frame import pack
from imtorque.explorer.image_store import HeldImage
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

BINARY = "application/octet-stream"

Answer = Callable[[HeldImage, Settings], Response]


def described(image: HeldImage) -> dict[str, Any]:
    """Return what the page is told about an image: its size, and from which one it was shrunk."""
    height, width = image.shape
    return {
        "key": image.key,
        "name": image.name,
        "height": height,
        "width": width,
        "factor": image.factor,
        "whole": list(image.whole),
    }


def _facts(image: HeldImage, _: Settings) -> Response:
    return JSONResponse(described(image))


def _view(image: HeldImage, settings: Settings) -> Response:
    """Answer all that changes with the settings in one piece, so that the page never shows two states at once."""
    began = time.perf_counter()
    edges = edges_of(image, settings)
    extrema = extrema_of(image, settings)
    steps = edges.steps
    places = np.flatnonzero(edges.mask)
    arrays: dict[str, Any] = {"place": places.astype(np.int32)}
    turned = pattern_edges(edges, settings.pattern)
    forces = [("fx", edges.fx), ("fy", edges.fy)]
    forces += [("gx", turned.fx), ("gy", turned.fy)] if turned is not edges else []
    for name, force in forces:
        # As the kernels round: in float32, ties to even.
        arrays[name] = np.rint(force.ravel()[places] * np.float32(steps)).astype(np.int32)
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
    head["milliseconds"] = round(1000 * (time.perf_counter() - began), 1)
    return Response(pack(head, arrays), media_type=BINARY)


def _contribution(image: HeldImage, settings: Settings) -> Response:
    """Answer for each edge pixel, in the order of `place`, how much it turns with the chosen extremum."""
    contribution = contribution_of(image, settings)
    edges = edges_of(image, settings)
    return Response(pack({}, {"moment": contribution[edges.mask].astype(np.float32)}), media_type=BINARY)


def _figure(image: HeldImage, settings: Settings) -> Response:
    figure = figure_of(image, settings)
    return Response(pack({"pixels": int(figure.sum())}, {"mask": figure.astype(np.uint8)}), media_type=BINARY)


def _figure_png(image: HeldImage, settings: Settings) -> Response:
    return _file(image, "figure.png", encode_png(figure_of(image, settings).astype(np.uint8) * np.uint8(255)))


def _image(image: HeldImage, _: Settings) -> Response:
    """Answer the image; one that was drawn or pasted under the name by which the code reads it."""
    same = image.name.endswith(".png") and len(image.recipe) == 1
    return _file(image, "" if same else "image.png", encode_png(CheckedImage(image.image).as_bytes()))


def _original(image: HeldImage, _: Settings) -> Response:
    """Answer the bytes that were sent, so that a page that was loaded anew can send them again."""
    if image.original is None:
        raise HTTPException(404, f"{image.name}: must be an image that was sent, got one that was not")
    return Response(image.original, media_type=BINARY)


def _extrema_csv(image: HeldImage, settings: Settings) -> Response:
    return _file(image, "extrema.csv", extrema_of(image, settings).to_csv().encode(), "text/csv")


def _code(image: HeldImage, settings: Settings) -> Response:
    return Response(python_code(image, settings), media_type="text/plain")


def _count(image: HeldImage, settings: Settings) -> Response:
    """Answer the objects found: outlines, diameters, scores, and how many of the clicked ones were found again."""
    found = found_of(image, settings)
    head = {"count": len(found), "again": finder_of(image, settings).best_params_.f1}
    arrays = {
        "outline": found.outline.astype(np.float32),
        "diameter": found.diameter.astype(np.float32),
        "score": found.score.astype(np.float32),
        "place": np.stack([found.y, found.x], axis=1).astype(np.float32),
    }
    return Response(pack(head, arrays), media_type=BINARY)


def _objects_csv(image: HeldImage, settings: Settings) -> Response:
    return _file(image, "objects.csv", found_of(image, settings).to_csv().encode(), "text/csv")


def _marks_csv(image: HeldImage, settings: Settings) -> Response:
    return _file(image, "marks.csv", marks_table(image, settings).encode(), "text/csv")


def _masks_png(image: HeldImage, settings: Settings) -> Response:
    """Answer the objects as a label image of 16 bits, as `teach` reads it."""
    return _file(image, "objects.png", encode_png(found_of(image, settings).labels.astype(np.uint16)))


def _finder(image: HeldImage, settings: Settings) -> Response:
    return _file(image, "finder", finder_file(image, settings), BINARY)


def _layer_png(layer: str, image: HeldImage, settings: Settings) -> Response:
    return _file(image, f"{layer}.png", encode_png(layer_image(image, settings, layer)))


def _layer_npy(layer: str, image: HeldImage, settings: Settings) -> Response:
    file = io.BytesIO()
    np.save(file, layer_array(image, settings, layer), allow_pickle=False)
    return _file(image, f"{layer}.npy", file.getvalue(), BINARY)


def _file(image: HeldImage, ending: str, content: bytes, media: str = "image/png") -> Response:
    """Answer a file to be saved under the image's name."""
    stem = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in image.name)[:80]
    disposition = f'attachment; filename="{stem}{"." if ending else ""}{ending}"'
    return Response(content, media_type=media, headers={"content-disposition": disposition})


ANSWERS: dict[str, Answer] = {
    "": _facts,
    "/file": _original,
    "/image.png": _image,
    "/view": _view,
    "/contribution": _contribution,
    "/figure": _figure,
    "/figure.png": _figure_png,
    "/extrema.csv": _extrema_csv,
    "/code": _code,
    "/count": _count,
    "/objects.csv": _objects_csv,
    "/objects.png": _masks_png,
    "/marks.csv": _marks_csv,
    "/finder": _finder,
    **{f"/{layer}.png": partial(_layer_png, layer) for layer in LAYERS},
    **{f"/{layer}.npy": partial(_layer_npy, layer) for layer in LAYERS},
}
