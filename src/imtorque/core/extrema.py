"""From torque to extrema: where objects are, and how large (Sec. 3.3 of the paper)."""

import operator
from typing import Literal, NamedTuple

import numpy as np

from imtorque import _native
from imtorque.core.patches import PatchArrays, patch_arrays
from imtorque.core.patterns import Pattern, Polarity, pattern_edges
from imtorque.core.torque import sizes_for
from imtorque.core.types import Edges, Extrema, IntArray, Patch, Sign, Sizes, TorqueVolume

Neighbourhood = Literal["box", "cross"]
CROSS_REACH = 3  # as native/core/extrema.hpp has it; convention of the authors' program


def find_extrema(
    source: Edges | TorqueVolume,
    sizes: Sizes | None = None,
    *,
    count: int | None = None,
    sign: Sign | None = None,
    patch: Patch = "square",
    alpha: float = 2.0,
    pattern: Pattern = "circle",
    polarity: Polarity = "signed",
    neighbourhood: Neighbourhood = "box",
    end_scales: bool = True,
    inside: bool = False,
    threshold: float = 0.0,
) -> Extrema:
    """Find the local extrema of the torque over space and patch size.

    A maximum is positive, not below any of its 26 neighbours in (y, x, size) and above at least one; a minimum likewise
    below. Neighbours outside the volume do not count; of adjacent equal extrema the first in (size, y, x) stands for
    all.

    The program of the paper's authors takes others: ``neighbourhood="cross", end_scales=False, inside=True``, 750 of
    each sign (`imtorque.paper`).

    Parameters
    ----------
    source
        A `TorqueVolume`, or `Edges`: then the volume is never stored, with the same result.
    sizes, patch, alpha, pattern, polarity
        As for `torque_volume`, not with a `TorqueVolume`; by default the sizes of `default_sizes`.
    count
        How many to return at most, the strongest of the signs asked for together; all by default.
    sign
        +1 for maxima (bright objects; of the closure, closed ones), -1 for minima (dark ones; of the closure, stars),
        None for both.
    neighbourhood
        "box": the 26 neighbours. "cross": a maximum is above the pixels 1 to 3 away along both axes, and above itself
        at both neighbouring sizes; equal neighbours rule each other out.
    end_scales
        Whether extrema at the smallest and the largest size count.
    inside
        Whether to leave out extrema whose patch, with a pixel around it, does not lie in the image.
    threshold
        Least |torque|. With a count too, the higher it is the less is computed.

    Returns
    -------
    Extrema
        Sorted by falling |torque|; empty where there are none.

    See Also
    --------
    find_blobs, value_and_scale_maps, contribution_map, suppress_overlaps

    Examples
    --------
    >>> from imtorque import detect_edges
    >>> image = np.zeros((60, 60))
    >>> image[20:41, 15:36] = 1
    >>> find_extrema(detect_edges(image), sizes=range(3, 40, 2), count=1).to_csv().split()[1]
    '30,25,21,0.902483'
    """
    check_wanted(sign, count, threshold)
    cross = check_neighbourhood(neighbourhood) == "cross"
    limit = -1 if count is None else operator.index(count)
    request = _Request(sign or 0, limit, end_scales, threshold, cross, inside)
    if isinstance(source, TorqueVolume):
        if sizes is not None:
            raise ValueError("sizes must be left out with a TorqueVolume, which has its own")
        heights, widths = np.ascontiguousarray(np.broadcast_to(source.sizes.T, (2, len(source.sizes))))
        k, y, x, value = _native.extrema_of_volume(source.tau, heights, widths, *request)
        return Extrema(y, x, source.sizes[k], value)
    if not isinstance(source, Edges):
        raise TypeError(f"source must be Edges or a TorqueVolume, got {type(source).__name__}")
    array, field = sizes_for(source, sizes), pattern_edges(source, pattern)
    return _extrema_of_field(field, array, patch_arrays(field, array, patch, alpha, polarity), request)


def expected_extrema(edges: Edges, sizes: Sizes, *, sign: Sign | None, count: int, threshold: float) -> Extrema:
    """Return what `find_extrema` does, in half the time where about `count` extrema are above the threshold.

    So it is in a video, where the frame before tells how strong they are.
    """
    array = sizes_for(edges, sizes)
    request = _Request(sign or 0, count, end_scales=True, least=threshold)
    return _extrema_of_field(edges, array, patch_arrays(edges, array, "square", 2.0), request, near=True)


class _Request(NamedTuple):
    """Which extrema the kernels are to find: sign 0 stands for both, limit -1 for all."""

    sign: int
    limit: int
    end_scales: bool
    least: float
    cross: bool = False
    inside: bool = False


def _extrema_of_field(
    field: Edges, sizes: IntArray, patches: PatchArrays, request: _Request, *, near: bool = False
) -> Extrema:
    sign, limit, end_scales, least, cross, inside = request
    k, y, x, value, _ = _native.extrema_of_field(
        field.field, *patches, sign, limit, end_scales, least, cross=cross, inside=inside, near=near
    )
    return Extrema(y, x, sizes[k], value)


def check_neighbourhood(neighbourhood: str) -> str:
    """Check a neighbourhood and return it."""
    if neighbourhood not in ("box", "cross"):
        raise ValueError(f'neighbourhood must be "box" or "cross", got {neighbourhood!r}')
    return neighbourhood


def check_wanted(sign: int | None, count: int | None, threshold: float) -> None:
    """Refuse an invalid sign, count or least |torque| of extrema."""
    if sign not in (None, 1, -1):
        raise ValueError(f"sign must be +1, -1 or None, got {sign!r}")
    if count is not None and operator.index(count) < 0:
        raise ValueError(f"count must not be negative, got {count}")
    if not threshold >= 0:
        raise ValueError(f"threshold must not be negative, got {threshold}")


def suppress_overlaps(extrema: Extrema, overlap: float = 0.5) -> Extrema:
    """Keep the strongest of extrema whose patches overlap.

    Parameters
    ----------
    extrema
        The candidates.
    overlap
        Largest part of the smaller patch's area that two kept patches of the same sign may share.
    """
    keep = _native.suppress_overlaps(*extrema.boxes(), np.ascontiguousarray(extrema.value, np.float32), overlap)
    return extrema[keep]
