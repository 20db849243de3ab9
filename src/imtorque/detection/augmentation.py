"""Augmentation: training images once more, in uneven light and with noise, so that a finder bears both."""

from __future__ import annotations

import numpy as np

from imtorque.core.types import FloatArray, Image
from imtorque.images import CheckedImage

NOISE = (0.03, 0.5)  # convention: least and most noise, over the image's range of values; the range of usual signals
LIGHT = (0.5, 1.5)  # convention: from one end to the other
GOLDEN = 0.618  # convention: fractions that fill a range evenly, however few there are
RANGE = (0.01, 0.99)  # quantiles between which an image's values lie; convention


def augmented(image: Image, number: int) -> CheckedImage:
    """Return a copy of the number-th training image, in light that falls across it, with noise; others differ."""
    checked = CheckedImage(image)
    pixels = checked.grey()[:, :, None] if checked.is_grey else np.moveaxis(checked.rgb(), 0, -1)
    share = (GOLDEN * (number + 1)) % 1
    changed = pixels * _ramp(checked.shape, 2 * np.pi * share)[:, :, None]
    low, high = np.quantile(pixels, RANGE)
    sigma = (high - low) * NOISE[0] * (NOISE[1] / NOISE[0]) ** share
    changed += np.random.default_rng(number).normal(0, sigma, pixels.shape)
    return CheckedImage(changed.astype(np.float32), (0, 1))


def _ramp(shape: tuple[int, int], direction: float) -> FloatArray:
    """Return light that changes from one end of the image to the other."""
    y, x = np.ogrid[0 : shape[0], 0 : shape[1]]
    across: FloatArray = np.sin(direction) * y + np.cos(direction) * x
    return np.interp(across, (across.min(), across.max()), LIGHT)
