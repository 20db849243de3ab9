"""Large images are cut at a smaller size: outlines do not need every pixel, and the cut's time grows with them."""

import numpy as np

from imtorque.core.resizing import fitted
from imtorque.core.types import BoolArray
from imtorque.images import CheckedImage

POLAR_SIDE = 360  # pixels at most; bound: time


def working_image(image: CheckedImage) -> CheckedImage:
    """Return an image in grey whose longer side is within the limit."""
    return CheckedImage(fitted(image.grey(), POLAR_SIDE), (0.0, 1.0))


def enlarge(mask: BoolArray, shape: tuple[int, int]) -> BoolArray:
    """Return a mask at another size, with smooth outlines."""
    if mask.shape == shape:
        return mask
    from PIL import Image as PillowImage

    shares = PillowImage.fromarray(mask.astype(np.float32)).resize(
        (shape[1], shape[0]), PillowImage.Resampling.BILINEAR
    )
    return np.asarray(np.asarray(shares) >= 0.5)


def moved(point: tuple[int, int], before: tuple[int, int], after: tuple[int, int]) -> tuple[int, int]:
    """Return the pixel of an image of another size that holds a pixel's centre."""
    y, x = (int((at + 0.5) * new / old) for at, old, new in zip(point, before, after, strict=True))
    return y, x
