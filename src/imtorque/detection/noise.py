"""How noisy an image is, from the image itself."""

from __future__ import annotations

import numpy as np

from imtorque.core.types import Float32Array

NOISE_BLOCK = 16  # pixels; noise is measured block by block; measured (-.011, -.009)
BLOCK_QUANTILE = 0.3  # of the blocks: objects and texture fill noisier ones; measured (-.006, +.003)
WHITE_NOISE_RESPONSE = 0.6745 * 6 * 0.96  # derived: median |second difference| of unit white noise, at the quantile
# Of the range of grey values: blocks of margin or saturated parts say nothing about the noise; bound: rounding.
MIN_RESPONSE = 1e-5


def noise_level(grey: Float32Array, span: float | None = None) -> float:
    """Return the standard deviation of an image's noise, in its grey values.

    Second differences in both directions cancel all that varies slowly, and straight edges along the axes (Immerkær
    1996). Their median in each block of 16 x 16 pixels leaves edges aside, and the 30 % quantile over the blocks leaves
    aside those full of objects or texture. Blocks in which the median vanishes do not count, so that an empty margin
    changes nothing.

    Parameters
    ----------
    grey
        Shape (H, W).
    span
        Range of grey values, by which vanishing is judged; by default that of `grey`.

    Returns
    -------
    float
        0 for images without noise, and for those of fewer than 3 x 3 pixels.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> round(noise_level(rng.normal(100, 5, (200, 200)).astype(np.float32)), 1)
    5.0
    """
    if min(grey.shape) < 3:
        return 0.0
    across = grey[:, :-2] - 2 * grey[:, 1:-1] + grey[:, 2:]
    medians = _block_medians(np.abs(across[:-2] - 2 * across[1:-1] + across[2:]))
    told = medians[medians > MIN_RESPONSE * (float(np.ptp(grey)) if span is None else span)]
    return float(np.quantile(told, BLOCK_QUANTILE)) / WHITE_NOISE_RESPONSE if told.size else 0.0


def _block_medians(values: Float32Array) -> Float32Array:
    """Return the median of each whole block; images smaller than a block are one."""
    rows, columns = (max(n // NOISE_BLOCK, 1) for n in values.shape)
    height, width = (min(n, NOISE_BLOCK) for n in values.shape)
    whole = values[: rows * height, : columns * width].reshape(rows, height, columns, width)
    medians: Float32Array = np.median(whole.transpose(0, 2, 1, 3).reshape(rows * columns, -1), axis=1)
    return medians
