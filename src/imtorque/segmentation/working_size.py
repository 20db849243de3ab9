"""Large pictures are cut at a smaller size: outlines do not need every pixel, and the cut's time grows with them."""

from __future__ import annotations

import numpy as np

from imtorque._types import BoolArray, Float32Array, Image
from imtorque.images import grey_image

LONG_SIDE = 360  # pixels at most


def unit_grey(image: Image) -> Float32Array:
    """Return the luminance within [0, 1]: floats that exceed it are taken from their lowest to their highest value."""
    grey, unit = grey_image(image)
    pixels = np.asarray(image)
    if pixels.dtype.kind != "f" or pixels.min() < 0 or pixels.max() > 1:
        return grey
    return np.asarray(grey * np.float32(unit))  # its lowest value is 0; only differences matter


def shrink(grey: Float32Array) -> Float32Array:
    """Return a grey picture whose longer side is within the limit."""
    scale = LONG_SIDE / max(grey.shape)
    if scale >= 1:
        return grey
    from PIL import Image as PillowImage  # here, because `import imtorque` does without it

    size = (max(1, round(grey.shape[1] * scale)), max(1, round(grey.shape[0] * scale)))
    return np.asarray(PillowImage.fromarray(grey).resize(size, PillowImage.Resampling.BOX), np.float32)


def enlarge(mask: BoolArray, shape: tuple[int, int]) -> BoolArray:
    """Return a mask of another size: what of it covers at least half of a pixel, with smooth outlines."""
    if mask.shape == shape:
        return mask
    from PIL import Image as PillowImage

    shares = PillowImage.fromarray(mask.astype(np.float32)).resize(
        (shape[1], shape[0]), PillowImage.Resampling.BILINEAR
    )
    return np.asarray(np.asarray(shares) >= 0.5)


def moved(point: tuple[int, int], before: tuple[int, int], after: tuple[int, int]) -> tuple[int, int]:
    """Return the pixel of a picture of another size that holds a pixel's centre."""
    y, x = (int((at + 0.5) * new / old) for at, old, new in zip(point, before, after, strict=True))
    return y, x
