"""Colour: pictures as RGB in [0, 1], and the spaces in which colours are compared."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque._types import Float32Array, Image

Planes = NDArray[np.float64]
FULL_RANGE = {np.dtype(np.uint8): 255.0, np.dtype(np.uint16): 65535.0}

# Linear sRGB to CIE XYZ, over the white point D65 (IEC 61966-2-1).
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
# Linear RGB of a monitor to the cones' L, M, S, and the grey they are adapted to (from GBVS as released).
TO_LMS = np.array([[18.32535, 44.60077, 7.46216], [4.09544, 28.20135, 6.66066], [0.02114, 0.10325, 1.05258]])
GREY_POINT = np.array([34.918539, 19.314797, 0.585611])
DKL_SCALES = (0.5774, 2.7525, 0.4526)


def grey_image(image: Image) -> tuple[Float32Array, float]:
    """Return the luminance as float32 in [0, 1], and how many of the image's grey values make 1.

    This is the door every image comes in by: dtype, shape and values are checked here.
    """
    pixels = np.asarray(image)
    if pixels.dtype == bool:
        pixels = pixels.astype(np.uint8) * np.uint8(255)
    if pixels.dtype not in FULL_RANGE and pixels.dtype.kind != "f":
        raise TypeError(f"image must be uint8, uint16, bool or float, got dtype {pixels.dtype}")
    if pixels.size == 0 or not (pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in (1, 3, 4))):
        raise ValueError(f"image must be grey (H, W) or colour (H, W, 3 or 4) and not empty, got shape {pixels.shape}")
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    white = FULL_RANGE.get(pixels.dtype)
    if white is not None:
        return _native.to_grey(np.ascontiguousarray(pixels), white, 0.0, 1 / white), 1.0
    if pixels.dtype not in (np.float32, np.float64):
        pixels = pixels.astype(np.float64)
    low, high = float(pixels.min()), float(pixels.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError("image must be finite, got NaN or infinity")
    if pixels.shape[2] == 4:
        low, high = min(low, 1.0), max(high, 1.0)
    if high - low > 1e30:
        raise ValueError(f"image values must lie within a range of 1e30, got {low:g} to {high:g}")
    unit = high - low or 1.0
    return _native.to_grey(np.ascontiguousarray(pixels), 1.0, low, 1 / unit), unit


def rgb_image(image: Image) -> Planes:
    """Return red, green and blue in [0, 1], shape (3, H, W).

    Grey becomes three equal planes. Integers are scaled by their full range; floats between 0 and 1 are taken as they
    are, others from their lowest to their highest value. Where it is transparent, white shows.
    """
    grey_image(image)  # the door: dtype, shape, values
    pixels = np.asarray(image)
    if pixels.dtype == bool:
        pixels = pixels.astype(np.uint8) * np.uint8(255)
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    planes = np.moveaxis(pixels, 2, 0) / FULL_RANGE.get(pixels.dtype, 1.0)
    colours: Planes = planes[:3].astype(np.float64)
    low, high = colours.min(), colours.max()
    if low < 0 or high > 1:
        colours = (colours - low) / (high - low or 1.0)
    if len(planes) == 4:
        opacity = planes[3].clip(0, 1)
        colours = opacity * colours + (1 - opacity)
    return colours if len(colours) == 3 else colours.repeat(3, axis=0)


def lab(rgb: Planes) -> Planes:
    """Return CIE L, a, b over 100: L from 0 to 1, a and b about from -1 to 1."""
    xyz = np.tensordot(TO_XYZ / TO_XYZ.sum(axis=1, keepdims=True), _linear(rgb), axes=1)
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.stack([1.16 * f[1] - 0.16, 5 * (f[0] - f[1]), 2 * (f[1] - f[2])])


def dkl(rgb: Planes) -> Planes:
    """Return luminance, red-green and blue-yellow of the Derrington-Krauskopf-Lennie space.

    The released code's table of one monitor's response is replaced by the sRGB curve, which it resembles.
    """
    cones = np.tensordot(TO_LMS, _linear(rgb), axes=1) - GREY_POINT[:, None, None]
    long, medium, short = cones
    long0, medium0, short0 = GREY_POINT
    factor = 1 / (long0 + medium0)
    luminance = np.sqrt(3) * factor * (long + medium)
    red_green = factor * np.hypot(long0, medium0) * (long / long0 - medium / medium0)
    blue_yellow = factor * ((long0 + medium0) / short0 * short - long - medium)
    contrasts: Planes = np.stack([luminance, red_green, blue_yellow]) * np.reshape(DKL_SCALES, (3, 1, 1))
    return contrasts


def _linear(rgb: Planes) -> Planes:
    """Undo the sRGB curve."""
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
