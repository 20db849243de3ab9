"""Bright and dark objects in volumes: the strongest extrema of torque that do not overlap."""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike

from imtorque.core.types import Sign, Sizes
from imtorque.edges.canny import SQRT2
from imtorque.volumes.extrema import VolumeExtrema, find_extrema, suppress_overlaps
from imtorque.volumes.surfaces import ISOTROPIC, Spacing, detect_surfaces


def find_blobs(
    volume: ArrayLike,
    *,
    sizes: Sizes | None = None,
    sign: Sign | None = 1,
    threshold: float = 0.25,
    overlap: float = 0.3,
    count: int | None = None,
    sigma: float = SQRT2,
    spacing: Spacing = ISOTROPIC,
    source: Literal["surfaces", "gradient"] = "surfaces",
) -> VolumeExtrema:
    """Find bright and dark objects in a volume (Z, Y, X), with place and size.

    Parameters
    ----------
    volume
        Grey values, shape (Z, Y, X).
    sizes
        Odd, increasing sizes of the boxes, in voxels of the closest spacing; by default those of `default_sizes`.
    sign
        +1 for bright objects, -1 for dark ones, None for both.
    threshold
        Least |torque|: with surfaces the part of the box that is enclosed, about 0.5 for a ball that fills it; with the
        gradient in grey values.
    overlap
        Largest part of the smaller box that two objects may share.
    count
        How many to return at most.
    sigma
        Smoothing before surfaces are detected, in units of the smallest spacing.
    spacing
        Distance of the voxels along z, y and x, in any unit.
    source
        "surfaces": those of Canny's method, so that faint objects count like strong ones. "gradient": the grey values
        themselves.

    Examples
    --------
    >>> import numpy as np
    >>> z, y, x = np.indices((40, 40, 40))
    >>> ball = (z - 20) ** 2 + (y - 18) ** 2 + (x - 22) ** 2 <= 64
    >>> found = find_blobs(ball.astype(float))
    >>> [int(abs(c - true) <= 1) for c, true in ((found.z[0], 20), (found.y[0], 18), (found.x[0], 22))]
    [1, 1, 1]
    """
    if source not in ("surfaces", "gradient"):
        raise ValueError(f'source must be "surfaces" or "gradient", got {source!r}')
    what = detect_surfaces(volume, sigma=sigma, spacing=spacing) if source == "surfaces" else volume
    found = find_extrema(what, sizes, sign=sign, threshold=threshold, spacing=spacing)
    return suppress_overlaps(found, overlap, spacing=spacing)[:count]
