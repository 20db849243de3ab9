"""Outlines for other programs: GeoJSON as QuPath reads it, and ImageJ's regions of interest."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import FloatArray

if TYPE_CHECKING:
    from imtorque.detection.table import Blobs

# Both count from the corner of the first pixel, we from its centre.
PIXEL_CORNER = 0.5  # format: ImageJ's and napari's
DATE = (1980, 1, 1, 0, 0, 0)  # of files in the archive: the same objects give the same bytes; format: ZIP's earliest


def geojson(blobs: Blobs, scale: float) -> str:
    """Return objects as a GeoJSON collection of polygons, with their measurements as QuPath's detections have them."""
    found = list(features(blobs.to_dict(), blobs.outline, scale))
    return json.dumps({"type": "FeatureCollection", "features": found}) + "\n"


def features(columns: Mapping[str, NDArray[Any]], outlines: FloatArray, scale: float) -> Iterator[dict[str, Any]]:
    """Yield a GeoJSON feature for each object, given columns as of `Blobs.to_dict` and the outlines."""
    names = [name for name in columns if name not in ("label", "outline")]
    for row, number in enumerate(columns["label"].tolist()):
        ring = np.round(_corners(outlines[row], scale), 3).tolist()
        measured = {name: float(f"{columns[name][row]:.6g}") for name in names}
        properties: dict[str, Any] = {
            "objectType": "detection",
            "name": str(number),
            "classification": {"name": "bright" if columns["value"][row] > 0 else "dark"},
            "measurements": {name: value for name, value in measured.items() if np.isfinite(value)},
        }
        geometry = {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}
        yield {"type": "Feature", "id": number, "geometry": geometry, "properties": properties}


def imagej_rois(blobs: Blobs, scale: float) -> bytes:
    """Return objects as a .zip of ImageJ regions, polygons in fractions of pixels; needs roifile."""
    try:
        from roifile import ROI_TYPE, ImagejRoi
    except ImportError as error:
        raise ImportError("ImageJ's regions need roifile: pip install 'imtorque[rois]'") from error
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for row in range(len(blobs)):
            name = f"{row + 1:05d}"
            roi = ImagejRoi.frompoints(_corners(blobs.outline[row], scale), name=name)
            roi.roitype = ROI_TYPE.POLYGON
            file.writestr(zipfile.ZipInfo(f"{name}.roi", DATE), roi.tobytes())
    return archive.getvalue()


def _corners(outline: FloatArray, scale: float) -> FloatArray:
    """Return the points (x, y) of an outline as both programs count them, in pixels `scale` times smaller than ours."""
    return np.asarray((outline[:, ::-1] + PIXEL_CORNER) * scale, np.float64)
