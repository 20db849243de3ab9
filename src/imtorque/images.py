"""Conversion of images: any array becomes grey, RGB or Lab in [0, 1], by one rule for black and white.

The rule (`value_range`). Black is 0. White is the smallest full scale that holds the largest value: 255, 1023, 4095,
16383 or 65535, as cameras and files have them; 1 before these for floats, and the type's own largest value for signed
and wide integers. So the same scene is the same image as uint8, as 10, 12 or 16 bits in uint16, as int16, int32, or
as floats from 0 to 1, 255 or 4095. Floats may exceed black and white by an eighth, as resampling leaves them. Where
that would leave an image all but black (a mask of 0 and 1 as integers, a float image of 1e-6), or where values are
negative, the image's own lowest and highest values take their place. Give `value_range` where images must be
comparable that this would not treat alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque import _native
from imtorque.core.deprecation import deprecated_name
from imtorque.core.resizing import resize_matrices, shrunk
from imtorque.core.resizing import shrink_image as shrink_image
from imtorque.core.types import BoolArray, Float32Array, Image, Planes
from imtorque.io.arrays import as_array

ValueRange = tuple[float, float]
__getattr__ = partial(deprecated_name, __name__)

FULL_SCALES = (255.0, 1023.0, 4095.0, 16383.0, 65535.0)  # convention: white of 8, 10, 12, 14 and 16 bits
MAX_WHITE_RATIO = 16  # convention: of white to the largest value; beyond, the image's own range counts
OVERSHOOT = 0.125  # convention: part of their highest value by which floats may lie beyond black and white
MAX_RANGE = 1e30  # bound: of values
STRIP_PIXELS = 1 << 20  # bound: converted at a time
COLOUR_PIXELS = 1 << 12  # bound: whose colours are converted at a time
KERNEL_TYPES = (np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.float32), np.dtype(np.float64))

# Convention: linear sRGB to CIE XYZ, over the white point D65 (IEC 61966-2-1).
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


class CheckedImage:
    """A checked array with its value range, converted in strips.

    Every function that takes an image takes a CheckedImage too: make one to give a range or a mask.

    Parameters
    ----------
    image
        Grey (H, W) or colour (H, W, 3 or 4), the fourth channel being opacity over white. Bool, integers or floats of
        any width and byte order, finite. Of a masked array the masked pixels do not count: they take the values of the
        nearest ones that do, and have no edges. A CheckedImage is taken as it is.
    value_range
        (black, white), where the rule of this module is not to choose them.
    mask
        Shape (H, W), True where the image counts.
    """

    def __init__(
        self, image: Image | CheckedImage, value_range: ValueRange | None = None, mask: ArrayLike | None = None
    ) -> None:
        """Check the array; convert nothing yet."""
        if isinstance(image, CheckedImage):
            if value_range is None and mask is None:
                self.__dict__.update(image.__dict__)
                return
            raise TypeError(
                "value_range and mask must be given to CheckedImage itself, got a CheckedImage with more of them"
            )
        pixels = _checked(as_array(image, "image"))
        self.mask = _mask_of(image, mask, pixels.shape[:2])
        if self.mask is not None:
            pixels = _filled(pixels, self.mask)
        self.pixels = pixels if pixels.ndim == 3 else pixels[:, :, None]
        own = _range_of(self.pixels[:, :, :3])
        self.low, self.high = own if value_range is None else checked_range(value_range)
        self.opaque = _white_of(self.pixels[:, :, 3]) if self.pixels.shape[2] == 4 else 1.0

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.pixels.shape[0], self.pixels.shape[1]

    @property
    def is_grey(self) -> bool:
        """Whether there is no colour."""
        return bool(self.pixels.shape[2] == 1)

    def grey(self, every: int = 1) -> Float32Array:
        """Return the luminance (Rec. 709), shape (H, W), 0 for black and 1 for white; of every so many-th row."""
        pixels = self.pixels[::every]
        if self.is_grey and pixels.dtype == np.float32 and (self.low, self.high) == (0, 1):
            return np.ascontiguousarray(pixels[:, :, 0])
        if pixels.dtype in KERNEL_TYPES and pixels.shape[2] < 4 and pixels.flags.c_contiguous:
            return self._grey_part(pixels)  # needs no memory but its result's
        grey = np.empty(pixels.shape[:2], np.float32)
        step = max(1, STRIP_PIXELS // pixels.shape[1])
        for start in range(0, len(pixels), step):
            grey[start : start + step] = self._grey_part(pixels[start : start + step])
        return grey

    def levelled(self, bounds: ValueRange | None = None) -> tuple[Float32Array, float]:
        """Return the luminance for gradients, and how much of the value range makes 1 in it.

        Floats are taken from their lowest to their highest value, or those of the image that this is a part of, so
        that a faint image on a high pedestal keeps its contrast in the 24 bits of a float32.
        """
        if self.pixels.dtype.kind != "f" or self.pixels.shape[2] == 4:
            return self.grey(), 1.0
        low, high = bounds or _bounds(self.pixels)
        unit = high - low or 1.0
        grey = np.empty(self.shape, np.float32)
        for start, part in self._strips():
            wide = part.astype(np.float64) if part.dtype.itemsize < 4 else part
            grey[start : start + len(part)] = _native.to_grey(np.ascontiguousarray(wide), 1.0, low, 1 / unit)
        return grey, unit / (self.high - self.low)

    def rgb(self) -> Planes:
        """Return red, green and blue, shape (3, H, W), 0 for black and 1 for white."""
        parts = [part for _, part in self.rgb_strips()]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def lab(self) -> Planes:
        """Return CIE L, a, b over 100, as `lab` does."""
        return self._lab_part(self.pixels) if self._has_levels else lab(self.rgb())

    def rgb_strips(self, rows: int = 1) -> Iterator[tuple[int, Planes]]:
        """Yield (first row, planes (3, h, W)) from top to bottom, h a multiple of `rows` in all but the last."""
        for start, part in self._strips(rows):
            yield start, self._rgb_part(part)

    def resized(self, shape: tuple[int, int], *, colours: bool = False) -> Planes:
        """Return grey, or the colours of `lab`, resized as `resize` does, (C, *shape), never held at full size."""
        rows, columns = resize_matrices(self.shape, shape)
        total = np.zeros(())
        for start, part in self._strips():
            planes = self._lab_part(part) if colours else self._grey_part(part)[None].astype(np.float64)
            if shape == self.shape and len(part) == shape[0]:
                return planes
            total = total + rows[:, start : start + len(part)] @ planes @ columns.T
        return total

    def block_means(self, factor: int) -> Planes:
        """Return RGB averaged over squares of factor x factor pixels; beyond the image its border repeats."""
        if factor == 1:
            return self.rgb()
        return np.concatenate([shrunk(part, factor) for _, part in self.rgb_strips(factor)], axis=1)

    def as_bytes(self) -> NDArray[np.uint8]:
        """Return the image for display: (H, W, 3) uint8."""
        shown = np.empty((*self.shape, 3), np.uint8)
        if self.pixels.dtype == np.uint8 and self.pixels.shape[2] < 4 and self.high == 255:
            shown[:] = self.pixels
            return shown
        for start, part in self.rgb_strips():
            shown[start : start + part.shape[1]] = np.moveaxis(np.round(part.clip(0, 1) * 255), 0, 2)
        return shown

    def _strips(self, rows: int = 1) -> Iterator[tuple[int, Image]]:
        step = max(1, STRIP_PIXELS // (self.shape[1] * rows)) * rows
        for start in range(0, self.shape[0], step):
            yield start, self.pixels[start : start + step]

    def _grey_part(self, part: Image) -> Float32Array:
        if part.dtype == bool:
            part = part.view(np.uint8)
        if part.shape[2] == 4 and (self.opaque, self.low) != (self.high, 0.0):  # black and white of their own
            part = np.moveaxis(self._rgb_part(part), 0, 2)
            return _native.to_grey(np.ascontiguousarray(part), 1.0, 0.0, 1.0)
        if part.dtype not in KERNEL_TYPES:
            part = part.astype(np.float32 if part.dtype.itemsize < 4 else np.float64)
        return _native.to_grey(np.ascontiguousarray(part), self.opaque, self.low, 1 / (self.high - self.low))

    @property
    def _has_levels(self) -> bool:
        """Whether the colours of a pixel are three of 256 levels, of which a table can be made."""
        return bool(self.pixels.dtype == np.uint8 and self.pixels.shape[2] == 3)

    def _lab_part(self, part: Image) -> Planes:
        if not self._has_levels:
            return lab(self._rgb_part(part))
        levels = linear_rgb(self._rgb_part(np.arange(256, dtype=np.uint8).reshape(1, 256, 1))[0, 0])
        return _lab(np.moveaxis(part, 2, 0), lambda piece: levels[piece])

    def _rgb_part(self, part: Image) -> Planes:
        planes = np.moveaxis(part, 2, 0)
        colours: Planes = planes[:3].astype(np.float64, order="C")
        colours -= self.low
        colours /= self.high - self.low
        if len(planes) == 4:
            opacity = (planes[3] / self.opaque).clip(0, 1)
            colours = opacity * colours + (1 - opacity)
        return colours if len(colours) == 3 else colours.repeat(3, axis=0)


def value_range(image: Image) -> ValueRange:
    """Return the values of an image that are taken for black and white; the rule stands at the top of this module.

    Examples
    --------
    >>> value_range(np.array([[0, 200]], np.uint8)), value_range(np.array([[3, 900]], np.uint16))
    ((0.0, 255.0), (0.0, 1023.0))
    >>> value_range(np.array([[0.1, 0.7]])), value_range(np.array([[-400, 1200]], np.int16))
    ((0.0, 1.0), (-400.0, 1200.0))
    """
    checked = CheckedImage(image)
    return checked.low, checked.high


def grey_image(image: Image, value_range: ValueRange | None = None) -> Float32Array:
    """Return the luminance of an image, shape (H, W), 0 for black and 1 for white."""
    return CheckedImage(image, value_range).grey()


def rgb_image(image: Image, value_range: ValueRange | None = None) -> Planes:
    """Return red, green and blue of an image, shape (3, H, W), 0 for black and 1 for white."""
    return CheckedImage(image, value_range).rgb()


def lab(rgb: Planes) -> Planes:
    """Return CIE L, a, b over 100 of RGB planes: L from 0 to 1, a and b about from -1 to 1."""
    return _lab(rgb, linear_rgb)


def luv(rgb: Planes) -> Planes:
    """Return CIE L, u, v over 100 of linear RGB planes: L from 0 to 1, u and v about from -1.3 to 1.8.

    What lies below black is taken as black.
    """
    x, y, z = np.tensordot(TO_XYZ, np.maximum(rgb, 0), axes=1)
    white = TO_XYZ.sum(axis=1)
    scale, white_scale = np.maximum(x + 15 * y + 3 * z, 1e-12), white @ (1, 15, 3)
    light = np.where(y > (6 / 29) ** 3, 1.16 * np.cbrt(y) - 0.16, y * (29 / 3) ** 3 / 100)
    u = 13 * light * (4 * x / scale - 4 * white[0] / white_scale)
    v = 13 * light * (9 * y / scale - 9 * white[1] / white_scale)
    return np.stack([light, u, v])


def linear_rgb(rgb: Planes) -> Planes:
    """Undo the sRGB curve; what lies below black is taken as black."""
    return np.where(rgb <= 0.04045, rgb / 12.92, ((np.maximum(rgb, 0) + 0.055) / 1.055) ** 2.4)


def _lab(given: Planes, to_linear: Callable[[Planes], Planes]) -> Planes:
    """Return lab() of planes (3, H, W) that `to_linear` turns into linear RGB."""
    pixels = given.reshape(3, -1)
    planes: Planes = np.empty(given.shape)
    into = planes.reshape(3, -1)
    # In pieces of about one size, whose intermediate results stay in cache.
    for span in _spans(pixels.shape[1]):
        _native.check_interrupt()
        xyz = np.tensordot(TO_XYZ / TO_XYZ.sum(axis=1, keepdims=True), to_linear(pixels[:, span]), axes=1)
        f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz * (29 / 6) ** 2 / 3 + 4 / 29)
        into[0, span], into[1, span], into[2, span] = 1.16 * f[1] - 0.16, 5 * (f[0] - f[1]), 2 * (f[1] - f[2])
    return planes


def _spans(count: int) -> Iterator[slice]:
    """Cut so many pixels into pieces, as equal as they can be."""
    ends = np.linspace(0, count, -(-count // COLOUR_PIXELS) + 1).astype(int).tolist()
    return map(slice, ends[:-1], ends[1:])


def _checked(pixels: NDArray[Any]) -> NDArray[Any]:
    """Return an array that can be an image, in this machine's byte order."""
    if pixels.dtype.kind not in "buif" or pixels.dtype.itemsize > 8:
        raise TypeError(f"image must be bool, integers or floats of up to 64 bits, got dtype {pixels.dtype}")
    if pixels.size == 0 or not (pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in (1, 3, 4))):
        raise ValueError(f"image must be grey (H, W) or colour (H, W, 3 or 4) and not empty, got shape {pixels.shape}")
    return pixels if pixels.dtype.isnative else pixels.astype(pixels.dtype.newbyteorder("="))


def _mask_of(image: Any, mask: ArrayLike | None, shape: tuple[int, ...]) -> BoolArray | None:
    """Return which pixels count, or None where all do."""
    hidden = np.ma.getmask(image)
    if mask is None and hidden is np.ma.nomask:
        return None
    counts = np.ones(shape, bool)
    if mask is not None:
        given = np.asarray(mask)
        if given.dtype != bool or given.shape != shape:
            raise ValueError(f"mask must be bool of the image's shape {shape}, got {given.dtype} {given.shape}")
        counts &= given
    if hidden is not np.ma.nomask:
        counts &= ~(hidden.any(axis=2) if hidden.ndim == 3 else hidden)
    if not counts.any():
        raise ValueError("mask must leave at least one pixel of the image, got none")
    return None if counts.all() else counts


def _filled(pixels: NDArray[Any], mask: BoolArray) -> NDArray[Any]:
    """Return the pixels with those that do not count replaced by the nearest that do."""
    from scipy import ndimage  # here, because it takes longer to load than the rest of the library

    y, x = ndimage.distance_transform_edt(~mask, return_distances=False, return_indices=True)
    return np.asarray(pixels[y, x])


def _range_of(pixels: NDArray[Any]) -> ValueRange:
    return range_of_bounds(*_bounds(pixels), pixels.dtype)


def range_of_bounds(low: float, high: float, dtype: np.dtype[Any]) -> ValueRange:
    """Return black and white of an image of this type whose lowest and highest values are these."""
    white = white_of_bound(high, dtype)
    if low < (-OVERSHOOT * high if dtype.kind == "f" else 0):
        return (low, high) if high > low else (low, low + 1)
    if white > MAX_WHITE_RATIO * high > 0:
        return 0.0, high
    return 0.0, white


def _white_of(pixels: NDArray[Any]) -> float:
    """Return the smallest full scale that holds an array's values."""
    return white_of_bound(_bounds(pixels)[1], pixels.dtype)


def white_of_bound(high: float, dtype: np.dtype[Any]) -> float:
    """Return the smallest full scale of a type that holds this value."""
    if dtype.kind == "b":
        return 1.0
    reach = high / (1 + OVERSHOOT) if dtype.kind == "f" else high
    scales = (1.0, *FULL_SCALES) if dtype.kind == "f" else _integer_scales(dtype)
    held = [scale for scale in scales if scale >= reach]
    return held[0] if held else high


def _integer_scales(dtype: np.dtype[Any]) -> tuple[float, ...]:
    """Return the full scales that an integer type may have been used with: usual ones, then its own."""
    own = float(np.iinfo(dtype).max)
    usual = [scale for scale in FULL_SCALES if scale <= own / 3]  # 14 bits in int16 would be half of its own
    return (*usual, own)


def _bounds(pixels: NDArray[Any]) -> ValueRange:
    return checked_bounds(float(pixels.min()), float(pixels.max()))


def checked_bounds(low: float, high: float) -> ValueRange:
    """Return the lowest and highest value of an image, after checking that it can be one."""
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError("image must be finite, got NaN or infinity")
    if high - low > MAX_RANGE:
        raise ValueError(f"image values must lie within a range of 1e30, got {low:g} to {high:g}")
    return low, high


def checked_range(given: ValueRange) -> ValueRange:
    """Return a range that was given, after checking that it is one."""
    try:
        low, high = (float(value) for value in given)
    except (TypeError, ValueError) as error:
        raise TypeError(f"value_range must be two numbers (black, white), got {given!r}") from error
    if not (math.isfinite(low) and math.isfinite(high) and low < high and high - low <= MAX_RANGE):
        raise ValueError(f"value_range must be finite, black below white, got ({low:g}, {high:g})")
    return low, high
