"""Whole slides by openslide and rasters by rasterio: libraries that users may have, for what others do not read."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.tiling.grid import Box
from imtorque.tiling.source import Affine, Source, native, scaled
from imtorque.tiling.tiff_source import open_tiff

SLIDES = (".svs", ".ndpi", ".mrxs", ".scn", ".vms", ".vmu", ".bif", ".svslide", ".dcm")
RASTERS = (".jp2", ".vrt", ".img", ".asc", ".grd")
TIFF_SLIDES = (".svs", ".ndpi", ".scn", ".bif")


@dataclass(frozen=True)
class SlideSource(Source):
    """A level of a whole slide, red, green and blue over white."""

    level: int = 0

    def read(self, box: Box) -> NDArray[Any]:
        """Return the pixels of a window."""
        with import_module("openslide").OpenSlide(self.name) as slide:
            factor = slide.level_downsamples[self.level]
            corner = (round(box.left * factor), round(box.top * factor))
            pixels = np.asarray(slide.read_region(corner, self.level, (box.shape[1], box.shape[0])))
        opacity = pixels[:, :, 3:].astype(np.uint16)
        return ((pixels[:, :, :3] * opacity + 255 * (255 - opacity) + 127) // 255).astype(np.uint8)

    def fingerprint(self) -> dict[str, Any]:
        """Return what changes when the image does."""
        return {**super().fingerprint(), "level": self.level}


def open_slide(path: str, level: int, channel: int | None, page: int | None) -> Source:
    """Open a whole slide; those that are TIFF also without openslide."""
    if find_spec("openslide") is None:
        if path.lower().endswith(TIFF_SLIDES):
            return open_tiff(path, level, channel, page)
        raise ValueError(
            f"{path}: whole slides of this kind need openslide: pip install openslide-python openslide-bin"
        )
    if channel is not None or page:
        raise ValueError(f"{path}: channel and page must be left out with a whole slide, which is in colour")
    openslide = import_module("openslide")
    try:
        with openslide.OpenSlide(path) as slide:
            if level >= slide.level_count:
                raise ValueError(f"level must be from 0 to {slide.level_count - 1}, got {level}")
            width, height = slide.level_dimensions[level]
            factor = slide.level_downsamples[level]
            size = [slide.properties.get(f"openslide.mpp-{axis}") for axis in "yx"]
    except (ValueError, openslide.OpenSlideError) as error:
        raise ValueError(f"{path}: {error}") from None
    affine = scaled((float(size[0]) * factor, float(size[1]) * factor), "micrometer") if all(size) else None
    return SlideSource(path, (height, width), 3, "|u1", affine, level)


@dataclass(frozen=True)
class RasterSource(Source):
    """Bands of a raster, at a level of its overviews."""

    bands: tuple[int, ...] = (1,)
    level: int = 0

    def read(self, box: Box) -> NDArray[Any]:
        """Return the pixels of a window."""
        windows = import_module("rasterio.windows")
        with _raster(self.name, self.level) as raster:
            window = windows.Window(box.left, box.top, box.shape[1], box.shape[0])
            return native(np.moveaxis(raster.read(list(self.bands), window=window), 0, 2))

    def fingerprint(self) -> dict[str, Any]:
        """Return what changes when the image does."""
        return {**super().fingerprint(), "bands": list(self.bands), "level": self.level}


def open_raster(path: str, level: int, channel: int | None, page: int | None) -> Source:
    """Open a raster by rasterio: one band, or the first three or four as a colour."""
    if find_spec("rasterio") is None:
        raise ValueError(f"{path}: rasters of this kind need rasterio: pip install rasterio")
    if page:
        raise ValueError(f"{path}: page must be left out with a raster")
    try:
        with _raster(path, level) as raster:
            count = raster.count
            if channel is not None and channel >= count:
                raise ValueError(f"channel must be one of the raster's {count}, counted from 0, got {channel}")
            if channel is None and count not in (1, 3, 4):
                raise ValueError(
                    f"must have one channel or be in colour, got {count} bands; channel=0, 1, ... reads one"
                )
            bands = tuple(range(1, count + 1)) if channel is None else (channel + 1,)
            t, crs = raster.transform, raster.crs
            matrix = (t.a, t.b, t.c + 0.5 * (t.a + t.b), t.d, t.e, t.f + 0.5 * (t.d + t.e))
            affine = Affine(matrix, crs.to_string()) if crs else None
            shape, dtype = (raster.height, raster.width), np.dtype(raster.dtypes[0]).str
    except (ValueError, import_module("rasterio.errors").RasterioError) as error:
        raise ValueError(f"{path}: {error}") from None
    return RasterSource(path, shape, len(bands), dtype, affine, bands, level)


def _raster(path: str, level: int) -> Any:
    rasterio = import_module("rasterio")
    return rasterio.open(path, overview_level=level - 1) if level else rasterio.open(path)
