"""Images in TIFF files, of which only the strips or tiles are read that a window needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from imtorque.io.atomic import open_regular
from imtorque.io.errors import reading_file
from imtorque.io.pixel_size import tiff_pixel_size
from imtorque.io.tiff import Plane
from imtorque.io.tiff_opening import opened
from imtorque.io.tiff_segments import check_kind, read_segments
from imtorque.tiling.grid import Box
from imtorque.tiling.source import Affine, Source, native, scaled

UPRIGHT = 1  # convention: TIFF's Orientation
LARGEST_STRIP = 2**28  # bound: values that a strip or tile may have, of which a window may need a corner only
PIXEL_IS_POINT = 2  # convention: GeoTIFF's GTRasterTypeGeoKey
REMEDY = "pip install imagecodecs reads it"

_reading = partial(
    reading_file,
    what="a TIFF that can be read",
    said=(ValueError,),
    passed=(FileNotFoundError, PermissionError, MemoryError),
)


@dataclass(frozen=True)
class TiffSource(Source):
    """One page or level of a TIFF file, opened anew for each window."""

    level: int = 0
    channel: int | None = None
    page: int | None = None

    def read(self, box: Box) -> NDArray[Any]:
        """Return the pixels of a window."""
        with _reading(self.name), open_regular(self.name) as file, opened(file) as tiff:
            plane = _plane(file, tiff, self.level, self.channel, self.page)
            return native(plane.window(box.bounds, read_window))

    def fingerprint(self) -> dict[str, Any]:
        """Return what changes when the image does."""
        return {**super().fingerprint(), "level": self.level, "channel": self.channel, "page": self.page}


def open_tiff(path: str, level: int | None, channel: int | None, page: int | None) -> TiffSource:
    """Open a page of a TIFF file, or a level of its pyramid."""
    with _reading(path), open_regular(path) as file, opened(file) as tiff:
        plane = _plane(file, tiff, level or 0, channel, page)
        check_kind(plane.key)
        if plane.orientation != UPRIGHT:
            raise ValueError(f"must be upright to be read in windows, got orientation {plane.orientation}")
        if not plane.is_read_here:
            raise ValueError(f"must have a compression that is known, got {plane.compression}; {REMEDY}")
        if not plane.key.is_contiguous and math.prod(plane.key.chunks) > LARGEST_STRIP:
            raise ValueError("must have strips or tiles that fit in memory; write it in tiles")
        first = plane.window((0, 0, 1, 1), read_window)
        samples = first.shape[2] if first.ndim == 3 else 1
        affine = _geography(plane.key, tiff) or _size(file, plane, tiff)
        shape = plane.shape
    return TiffSource(path, shape, samples, first.dtype.str, affine, level or 0, channel, page)


def _plane(file: BinaryIO, tiff: Any, level: int, channel: int | None, page: int | None) -> Plane:
    plane = Plane(file, tiff, page, channel)
    if level:
        plane.use(*_smaller(tiff, plane, level))
    return plane


def _smaller(tiff: Any, plane: Plane, level: int) -> tuple[Any, int]:
    """Return the page of a level of the pyramid, the series's own or the file's reduced pages, and where it begins."""
    levels = tiff.series[0].levels[1:] if tiff.series else []
    if levels:
        _check_level(level, len(levels))
        series = levels[level - 1]
        if len(series) > 1 and series.dataoffset is not None:  # pages that lie one after the other
            return series.keyframe, plane.order * series.keyframe.nbytes
        return series[min(plane.order, len(series) - 1)], 0
    pages = [page for page in (tiff.pages[k].aspage() for k in range(1, len(tiff.pages))) if page.is_reduced]
    pages = [page for page in pages if page.dtype == plane.key.dtype and page.axes == plane.key.axes]
    _check_level(level, len(pages))
    return pages[level - 1], 0


def _check_level(level: int, last: int) -> None:
    if level > last:
        raise ValueError(f"level must be from 0 to {last}, got {level}")


def read_window(file: BinaryIO, page: Any, offset: int, bounds: tuple[int, int, int, int]) -> NDArray[Any]:
    """Return the values of a window of a page, shape (planes, depth, h, w, samples)."""
    top, left, bottom, right = bounds
    key = page.keyframe
    if key.is_contiguous and key.predictor == 1 and key.fillorder == 1 and not isinstance(key.bitspersample, tuple):
        kind = key.dtype.newbyteorder(key.parent.byteorder)
        if key.bitspersample == 8 * kind.itemsize:
            _check_length(file, page.dataoffsets[0] + offset + math.prod(key.shaped) * kind.itemsize)
            mapped = np.memmap(file, kind, mode="r", offset=page.dataoffsets[0] + offset, shape=tuple(key.shaped))
            return np.asarray(mapped[:, :, top:bottom, left:right]).astype(key.dtype)
    values = np.zeros((key.shaped[0], key.shaped[1], bottom - top, right - left, key.shaped[4]), key.dtype)
    if key.nodata:
        values[:] = key.nodata
    for plane, z, y, x, part in read_segments(file, page, bounds):
        low_y, low_x = max(y, top), max(x, left)
        high_y, high_x = min(y + part.shape[1], bottom), min(x + part.shape[2], right)
        if low_y < high_y and low_x < high_x:
            values[plane, z : z + part.shape[0], low_y - top : high_y - top, low_x - left : high_x - left] = part[
                :, low_y - y : high_y - y, low_x - x : high_x - x
            ]
    return values


def _check_length(file: BinaryIO, needed: int) -> None:
    length = file.seek(0, 2)
    if needed > length:
        raise ValueError(f"a TIFF cut short: {length} bytes of at least {needed}")


def _size(file: BinaryIO, plane: Plane, tiff: Any) -> Affine | None:
    """Return the size of pixels that OME, ImageJ or the tags give, for the level at hand."""
    size = tiff_pixel_size(file)
    if size is None:
        return None
    whole = tiff.pages.first
    factors = (whole.imagelength / plane.shape[0], whole.imagewidth / plane.shape[1])
    return scaled((size[0] * factors[0], size[1] * factors[1]), "micrometer")


def _geography(key: Any, tiff: Any) -> Affine | None:
    """Return where the pixels of a GeoTIFF lie, in its reference system."""
    whole = tiff.pages.first
    tags = whole.geotiff_tags if whole.is_geotiff else {}
    scale, tie, matrix = (tags.get(f"Model{name}") for name in ("PixelScale", "Tiepoint", "Transformation"))
    if matrix is not None:
        m = np.asarray(matrix, float).reshape(4, 4)
        a, b, c, d, e, f = m[0, 0], m[0, 1], m[0, 3], m[1, 0], m[1, 1], m[1, 3]
    elif scale is not None and tie is not None:
        i, j, _, x, y, _ = np.asarray(tie, float).ravel()[:6]
        a, b, d, e = float(scale[0]), 0.0, 0.0, -float(scale[1])
        c, f = x - i * a, y - j * e
    else:
        return None
    fx, fy = whole.imagewidth / key.imagewidth, whole.imagelength / key.imagelength
    a, d, b, e = a * fx, d * fx, b * fy, e * fy
    middle = 0.0 if int(tags.get("GTRasterTypeGeoKey", 1)) == PIXEL_IS_POINT else 0.5
    code = tags.get("ProjectedCSTypeGeoKey") or tags.get("GeographicTypeGeoKey")
    unit = f"EPSG:{int(code)}" if code else ""
    return Affine(tuple(float(v) for v in (a, b, c + middle * (a + b), d, e, f + middle * (d + e))), unit)  # type: ignore[arg-type]
