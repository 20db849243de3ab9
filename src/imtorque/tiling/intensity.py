"""What is black, white and opaque in a large image: gathered from all of it, so that all parts are grey alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import Float32Array, Image
from imtorque.images import CheckedImage, ValueRange, checked_bounds, range_of_bounds, white_of_bound

Bounds = tuple[float, float, float]  # lowest and highest of the colours, highest of the opacity


@dataclass(frozen=True)
class Tone:
    """How the pixels of any part of an image become grey."""

    range: ValueRange
    opaque: float
    bounds: ValueRange | None  # of floats, which are levelled

    def grey(self, pixels: Image) -> Float32Array:
        """Return the grey of a part, as `CheckedImage.levelled` has it for the whole."""
        return self._image(pixels).levelled(self.bounds)[0]

    @property
    def unit(self) -> float:
        """How much of the value range makes 1 in the grey."""
        if self.bounds is None:
            return 1.0
        return (self.bounds[1] - self.bounds[0] or 1.0) / (self.range[1] - self.range[0])

    def _image(self, pixels: Image) -> CheckedImage:
        image = CheckedImage(pixels, self.range)
        image.opaque = self.opaque
        return image


def bounds_of(pixels: NDArray[Any]) -> Bounds:
    """Return the bounds of a part; NaN and infinity are refused here."""
    planes = pixels if pixels.ndim == 3 else pixels[:, :, None]
    low, high = checked_bounds(float(planes[:, :, :3].min()), float(planes[:, :, :3].max()))
    return low, high, float(planes[:, :, 3].max()) if planes.shape[2] == 4 else 1.0


def merged(parts: Iterable[Bounds]) -> Bounds:
    """Return the bounds of all parts together."""
    lows, highs, opacities = zip(*parts, strict=True)
    low, high = checked_bounds(min(lows), max(highs))
    return low, high, max(opacities)


def tone_of(bounds: Bounds, dtype: np.dtype[Any], samples: int, value_range: ValueRange | None) -> Tone:
    """Return the tone of a whole image of these bounds."""
    low, high, opacity = bounds
    chosen = value_range or range_of_bounds(low, high, dtype)
    opaque = white_of_bound(opacity, dtype) if samples == 4 else 1.0
    return Tone(chosen, opaque, (low, high) if dtype.kind == "f" and samples != 4 else None)


def settles(bounds: Bounds, dtype: np.dtype[Any], samples: int, value_range: ValueRange | None) -> bool:
    """Return whether bounds of a part already say what the tone of the whole image is, whatever the rest holds."""
    if dtype.kind == "b":
        return True
    if dtype.kind != "u":
        return False
    most = float(np.iinfo(dtype).max)
    brightest = (bounds[0], most, most)
    return tone_of(bounds, dtype, samples, value_range) == tone_of(brightest, dtype, samples, value_range)
