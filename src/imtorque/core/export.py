"""Exports of results: CSV, GeoJSON, pandas' DataFrame, layers of napari."""

import csv
import io
import json
import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.io.atomic import write_text

Columns = Mapping[str, NDArray[Any]]
Layer = tuple[Any, dict[str, Any], str]  # data, arguments and type, as napari's Layer.create takes them


def to_csv(columns: Columns, path: str | os.PathLike[str] | None) -> str:
    """Return columns as CSV text, a row each, and write it to `path` where one is given."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        rows.writerow([int(value) if np.issubdtype(type(value), np.integer) else f"{value:.6g}" for value in row])
    if path is not None:
        write_text(path, text.getvalue())
    return text.getvalue()


def to_dataframe(columns: Columns) -> Any:
    """Return columns as a pandas DataFrame; needs pandas."""
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        raise ImportError("to_dataframe needs pandas: pip install pandas") from error
    return pandas.DataFrame(dict(columns))


def to_geojson(corners: NDArray[Any], columns: Columns, path: str | os.PathLike[str] | None) -> str:
    """Return boxes (n, 4) of edges y0, x0, y1, x1 as GeoJSON text with columns as measurements, and write it."""
    features = []
    rows = zip(corners.tolist(), zip(*(column.tolist() for column in columns.values()), strict=True), strict=True)
    for (y0, x0, y1, x1), row in rows:
        ring = [[x0, y0], [x1, y0], [x1, y1], [x0, y1], [x0, y0]]
        properties = {"objectType": "annotation", "measurements": dict(zip(columns, row, strict=True))}
        geometry = {"type": "Polygon", "coordinates": [ring]}
        features.append({"type": "Feature", "geometry": geometry, "properties": properties})
    text = json.dumps({"type": "FeatureCollection", "features": features})
    if path is not None:
        write_text(path, text)
    return text


def points_layer(centres: NDArray[Any], size: NDArray[Any], columns: Columns, name: str) -> Layer:
    """Return a Points layer of napari."""
    return centres, {"size": size, "features": dict(columns), "name": name}, "points"


def shapes_layer(outlines: list[NDArray[Any]], columns: Columns, name: str) -> Layer:
    """Return a Shapes layer of napari with polygons, rows (y, x) each."""
    return outlines, {"shape_type": "polygon", "features": dict(columns), "name": name}, "shapes"
