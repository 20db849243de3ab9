"""Bright and dark objects in volumes: the strongest extrema of torque that do not overlap, and their voxels."""

from __future__ import annotations

from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from imtorque.core.types import IntArray, Sign, Sizes
from imtorque.detection.blobs import checked_range, is_range
from imtorque.edges.canny import SQRT2
from imtorque.volumes.extrema import find_extrema, suppress_overlaps
from imtorque.volumes.objects import VolumeBlobs, measure_objects
from imtorque.volumes.surfaces import ISOTROPIC, Spacing, check_volume, detect_surfaces, relative_spacing, smoothed
from imtorque.volumes.torque import SIZE_STEP, default_sizes, nearest_odd

SMOOTHING = 0.7  # of the surfaces' sigma, by which voxels are told apart; tuned with the constants of `objects`

MIN_DIAMETERS, MAX_DIAMETERS = 1.05, 1.45  # an object's, over the size of its box; derived: 90 % of nuclei_volume's


def find_blobs(
    volume: ArrayLike,
    *,
    sizes: Sizes | tuple[float, float] | None = None,
    sign: Sign | None = 1,
    threshold: float = 0.25,
    overlap: float = 0.3,
    count: int | None = None,
    sigma: float = SQRT2,
    spacing: Spacing = ISOTROPIC,
    source: Literal["surfaces", "gradient"] = "surfaces",
) -> VolumeBlobs:
    """Find bright and dark objects in a volume (Z, Y, X), each with its voxels, place and measures.

    Parameters
    ----------
    volume
        Grey values, shape (Z, Y, X).
    sizes
        (smallest, largest): a tuple of two is the range of diameters, in voxels of the closest spacing, each that of
        the ball of the object's volume. Nothing else is returned. A list or array is the sizes of the boxes themselves,
        odd and increasing; by default those of `default_sizes`.
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

    Returns
    -------
    VolumeBlobs
        A table of objects, strongest first, and a label volume.

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
    grey = check_volume(volume)
    what = detect_surfaces(grey, sigma=sigma, spacing=spacing) if source == "surfaces" else grey
    limits = checked_range(sizes) if is_range(sizes) else None
    boxes = cast("Sizes | None", sizes) if limits is None else _boxes(grey.shape, limits, spacing)
    found = find_extrema(what, boxes, sign=sign, threshold=threshold, spacing=spacing)
    kept = suppress_overlaps(found, overlap, spacing=spacing)
    blobs = measure_objects(grey, smoothed(grey, SMOOTHING * sigma, spacing), kept, spacing)
    if limits is not None:
        blobs = blobs[(blobs.diameter >= limits[0]) & (blobs.diameter <= limits[1])]
    return blobs[:count]


def _boxes(shape: tuple[int, ...], limits: tuple[float, float], spacing: Spacing) -> IntArray:
    """Return the sizes without a range, and those that objects in the range may have: a range never costs objects."""
    reach = 2 * max(n * step for n, step in zip(shape, relative_spacing(spacing), strict=True))
    size, sizes = max(3, nearest_odd(limits[0] / MAX_DIAMETERS)), list(default_sizes(shape, spacing))
    while size <= min(limits[1] / MIN_DIAMETERS, reach):
        sizes.append(size)
        size = max(size + 2, nearest_odd(SIZE_STEP * size))
    return np.unique(sizes)
