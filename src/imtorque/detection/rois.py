"""Outlines for other programs: GeoJSON as QuPath reads it, and ImageJ's regions of interest."""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from imtorque.core.types import FloatArray

if TYPE_CHECKING:
    from imtorque.detection.table import Blobs

# Both count from the corner of the first pixel, we from its centre.
PIXEL_CORNER = 0.5  # format: ImageJ's and napari's
DATE = (1980, 1, 1, 0, 0, 0)  # of files in the archive: the same objects give the same bytes; format: ZIP's earliest


def geojson(blobs: Blobs, scale: float) -> str:
    """Return objects as a GeoJSON collection of polygons, with their measurements as QuPath's detections have them."""
    names = [name for name in blobs.to_dict() if name != "label"]
    features = []
    for row in range(len(blobs)):
        ring = np.round(_corners(blobs, row, scale), 3).tolist()
        measured = {name: float(f"{getattr(blobs, name)[row]:.6g}") for name in names}
        properties: dict[str, Any] = {
            "objectType": "detection",
            "name": str(row + 1),
            "classification": {"name": "bright" if blobs.value[row] > 0 else "dark"},
            "measurements": {name: value for name, value in measured.items() if np.isfinite(value)},
        }
        geometry = {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}
        features.append({"type": "Feature", "id": row + 1, "geometry": geometry, "properties": properties})
    return json.dumps({"type": "FeatureCollection", "features": features}) + "\n"


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
            roi = ImagejRoi.frompoints(_corners(blobs, row, scale), name=name)
            roi.roitype = ROI_TYPE.POLYGON
            file.writestr(zipfile.ZipInfo(f"{name}.roi", DATE), roi.tobytes())
    return archive.getvalue()


def _corners(blobs: Blobs, row: int, scale: float) -> FloatArray:
    """Return the points (x, y) of an outline as both programs count them, in pixels `scale` times smaller than ours."""
    return np.asarray((blobs.outline[row, :, ::-1] + PIXEL_CORNER) * scale, np.float64)
