"""How large a pixel of a TIFF file is, from what OME, ImageJ or the file's tags say."""

from __future__ import annotations

import math
import re
from typing import Any, BinaryIO
from xml.etree import ElementTree

from imtorque.io.tiff_opening import opened

# Micrometres in a unit, by its names in OME-XML and ImageJ's metadata.
UNIT_MICROMETRES = {"pm": 1e-6, "Å": 1e-4, "nm": 1e-3, "um": 1.0, "micron": 1.0, "microns": 1.0, "mm": 1e3, "cm": 1e4}
UNIT_MICROMETRES |= {"m": 1e6, "inch": 25400.0, "in": 25400.0}
INCH, CENTIMETRE = 2, 3  # convention: TIFF's ResolutionUnit
MAX_INCH_PIXEL = 25.4  # bound: micrometres; resolutions below 1000 an inch are those of screens and printers
MAX_PIXEL = 1e6  # bound: micrometres a pixel may be long

Size = tuple[float, float]


def tiff_pixel_size(file: BinaryIO) -> Size | None:
    """Return micrometres per pixel (y, x) of a TIFF file, None where it does not say."""
    with opened(file) as tiff:
        if not tiff.pages:
            return None
        page = tiff.pages.first
        if tiff.is_ome:
            return checked(_ome(tiff.ome_metadata or ""))
        resolution = _resolution(page)
        if resolution is None:
            return None
        unit = (
            UNIT_MICROMETRES.get(_plain(str((tiff.imagej_metadata or {}).get("unit", "")))) if tiff.is_imagej else None
        )
        if unit is not None:
            return checked((unit / resolution[0], unit / resolution[1]))
        kept = page.tags.get(296)
        unit = {INCH: 25400.0, CENTIMETRE: 1e4}.get(int(kept.value) if kept is not None else INCH)
        if unit is None or tiff.is_imagej:
            return None
        size = (unit / resolution[0], unit / resolution[1])
        return checked(size) if max(size) < MAX_INCH_PIXEL else None


def slice_distance(file: BinaryIO) -> float | None:
    """Return micrometres from one slice of a TIFF's stack to the next, None where it does not say."""
    with opened(file) as tiff:
        if tiff.is_ome:
            root = _ome_pixels(tiff.ome_metadata or "")
            return None if root is None else _length(root, "Z")
        said = tiff.imagej_metadata or {} if tiff.is_imagej else {}
        unit, step = UNIT_MICROMETRES.get(_plain(str(said.get("unit", "")))), said.get("spacing")
        return abs(float(step)) * unit if unit is not None and isinstance(step, int | float) else None


def checked(size: tuple[float | None, float | None] | None) -> Size | None:
    """Return a size that can be one, else None."""
    if size is None or size[0] is None or size[1] is None:
        return None
    return (size[0], size[1]) if all(math.isfinite(side) and 0 < side < MAX_PIXEL for side in size if side) else None


def _ome(text: str) -> tuple[float | None, float | None] | None:
    pixels = _ome_pixels(text)
    return None if pixels is None else (_length(pixels, "Y"), _length(pixels, "X"))


def _ome_pixels(text: str) -> ElementTree.Element | None:
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return None
    return next((element for element in root.iter() if element.tag.rpartition("}")[2] == "Pixels"), None)


def _length(pixels: ElementTree.Element, axis: str) -> float | None:
    unit = UNIT_MICROMETRES.get(_plain(pixels.get(f"PhysicalSize{axis}Unit", "um")))
    try:
        return float(pixels.get(f"PhysicalSize{axis}", "")) * unit if unit else None
    except ValueError:
        return None


def _resolution(page: Any) -> Size | None:
    """Return pixels per unit (y, x) from the tags of a page."""
    found = []
    for number in (283, 282):
        tag = page.tags.get(number)
        try:
            above, below = tag.value
            found.append(above / below)
        except (AttributeError, TypeError, ValueError, ZeroDivisionError):
            return None
    return (found[0], found[1]) if min(found) > 0 else None


def _plain(unit: str) -> str:
    """Return a unit's name with the letter u for the two signs for micro, one of which ImageJ writes as an escape."""
    return re.sub(r"\\u00[bB]5|[µμ]", "u", unit.strip())
