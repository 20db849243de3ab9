"""How noisy a picture is, from the picture itself."""

from __future__ import annotations

import numpy as np

from imtorque._types import Float32Array

QUANTILE = 0.3  # of the second differences: edges and texture are among the larger ones
AT_QUANTILE = 0.38532 * 6  # that quantile of |N(0, 1)|, times the norm of the mask of second differences
FLAT = 1e-5  # of the range of grey values: margins and saturated parts say nothing about the noise


def noise_level(grey: Float32Array, span: float | None = None) -> float:
    """Return the standard deviation of a picture's noise, in its grey values.

    Second differences in both directions cancel all that varies slowly, and straight edges along the axes (Immerkær
    1996). Their lower 30 % are noise where objects cover less than most of the picture; a quantile does not ask what
    the rest is. Differences that vanish are left out, so that an empty margin changes nothing.

    Parameters
    ----------
    grey
        Shape (H, W).
    span
        Range of grey values, by which vanishing is judged; by default that of `grey`.

    Returns
    -------
    float
        0 for pictures without noise, and for those of fewer than 3 x 3 pixels.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> round(noise_level(rng.normal(100, 5, (200, 200)).astype(np.float32)), 1)
    5.0
    """
    across = grey[:, :-2] - 2 * grey[:, 1:-1] + grey[:, 2:]
    second = np.abs(across[:-2] - 2 * across[1:-1] + across[2:])
    least = FLAT * (float(np.ptp(grey)) if span is None else span)
    second = second[second > least]
    return float(np.quantile(second, QUANTILE)) / AT_QUANTILE if second.size else 0.0
