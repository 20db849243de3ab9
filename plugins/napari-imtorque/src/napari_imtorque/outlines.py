"""A layer of outlines as a file for other programs."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.files import write_bytes, write_text

CORNER = 0.5  # these programs count from the corner of the first pixel, napari from its centre


def write_outlines(layer: Any, path: Path) -> Path:
    """Write the polygons of a layer, with its features, in the form that the ending of the path says.

    GeoJSON knows planes by QuPath's indices z and t, of stacks with up to two axes before y and x; ImageJ by the number
    of the image in the stack.
    """
    if path.suffix == ".geojson":
        return write_text(path, _geojson(layer))
    if path.suffix == ".zip":
        return write_bytes(path, _regions(layer))
    raise ValueError(f"{path}: must end in .geojson or .zip, got {path.suffix!r}")


def _polygons(layer: Any) -> list[tuple[tuple[int, ...], NDArray[Any]]]:
    """Return for each polygon the plane it lies in, and its points (x, y)."""
    return [
        (tuple(round(float(i)) for i in points[0, :-2]), points[:, :-3:-1] + CORNER)
        for points in map(np.asarray, layer.data)
    ]


def _geojson(layer: Any) -> str:
    rows = layer.features.to_dict("records")
    features = []
    for number, (place, points) in enumerate(_polygons(layer)):
        ring = np.round(points, 3).tolist()
        plane = dict(zip(("z", "t"), reversed(place), strict=False))
        geometry: dict[str, Any] = {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}
        if plane:
            geometry["plane"] = {"c": -1, "z": 0, "t": 0} | plane
        row = rows[number] if number < len(rows) else {}
        measured = {name: float(v) for name, v in row.items() if isinstance(v, int | float) and np.isfinite(v)}
        properties = {"objectType": "detection", "name": str(number + 1), "measurements": measured}
        features.append({"type": "Feature", "id": number + 1, "geometry": geometry, "properties": properties})
    return json.dumps({"type": "FeatureCollection", "features": features}) + "\n"


def _regions(layer: Any) -> bytes:
    from roifile import ROI_TYPE, ImagejRoi

    lengths = np.max([place for place, _ in _polygons(layer)], axis=0, initial=0) + 1 if layer.data else ()
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for number, (place, points) in enumerate(_polygons(layer), start=1):
            position = int(np.ravel_multi_index(place, tuple(lengths))) if place else None  # from 0
            region = ImagejRoi.frompoints(points, name=f"{number:05d}", position=position)
            region.roitype = ROI_TYPE.POLYGON
            file.writestr(f"{number:05d}.roi", region.tobytes())
    return archive.getvalue()
