"""From torque to extrema: where objects are, and how large (Sec. 3.3 of the paper)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import overload

import numpy as np

from imtorque import _native
from imtorque._patches import patch_arrays
from imtorque._types import Edges, Extrema, Image, Patch, Sign, Sizes, TorqueVolume
from imtorque.edges import detect_edges
from imtorque.patterns import Pattern, Polarity, pattern_edges
from imtorque.torque import sizes_for


@overload
def find_extrema(
    source: Edges | TorqueVolume,
    sizes: Sizes | None = ...,
    *,
    count: int | None = ...,
    sign: Sign | None = ...,
    patch: Patch = ...,
    alpha: float = ...,
    pattern: Pattern = ...,
    polarity: Polarity = ...,
    end_scales: bool = ...,
    threshold: float = ...,
) -> Extrema: ...
@overload
def find_extrema(  # type: ignore[overload-overlap]  # an array is iterable, too: it comes first
    source: Image,
    sizes: Sizes | None = ...,
    *,
    count: int | None = ...,
    sign: Sign | None = ...,
    patch: Patch = ...,
    alpha: float = ...,
    pattern: Pattern = ...,
    polarity: Polarity = ...,
    end_scales: bool = ...,
    threshold: float = ...,
) -> list[Extrema]: ...
@overload
def find_extrema(
    source: Iterable[Edges | Image],
    sizes: Sizes | None = ...,
    *,
    count: int | None = ...,
    sign: Sign | None = ...,
    patch: Patch = ...,
    alpha: float = ...,
    pattern: Pattern = ...,
    polarity: Polarity = ...,
    end_scales: bool = ...,
    threshold: float = ...,
) -> Iterator[Extrema]: ...
def find_extrema(
    source: Edges | TorqueVolume | Image | Iterable[Edges | Image],
    sizes: Sizes | None = None,
    *,
    count: int | None = None,
    sign: Sign | None = None,
    patch: Patch = "square",
    alpha: float = 2.0,
    pattern: Pattern = "circle",
    polarity: Polarity = "signed",
    end_scales: bool = True,
    threshold: float = 0.0,
) -> Extrema | list[Extrema] | Iterator[Extrema]:
    """Find the local extrema of the torque over space and patch size.

    A maximum is positive, not below any of its 26 neighbours in (y, x, size) and above at least one; a minimum likewise
    below. Neighbours outside the volume do not count; of adjacent equal extrema the first in (size, y, x) stands for
    all.

    Parameters
    ----------
    source
        A `TorqueVolume`, or `Edges`: then the volume is never stored, with the same result. Or frames: a stack of
        pictures, (N, H, W) or in colour (N, H, W, 3 or 4), or anything that gives pictures or `Edges` one after the
        other, as a film does; pictures get the edges of `detect_edges`, and frames of one size share the memory of
        their edges and tables.
    sizes, patch, alpha, pattern, polarity
        As for `torque_volume`, not with a `TorqueVolume`; by default the sizes of `default_sizes`.
    count
        How many to return at most, the strongest of the signs asked for together; all by default.
    sign
        +1 for maxima (bright objects; of the closure, closed ones), -1 for minima (dark ones; of the closure, stars),
        None for both.
    end_scales
        Whether extrema at the smallest and the largest size count.
    threshold
        Least |torque|. With a count too, the higher it is the less is computed.

    Returns
    -------
    Extrema
        Sorted by falling |torque|; empty where there are none. Of a stack a list, one for each frame; of other frames
        an iterator, which looks at a frame when it is asked for the next.

    Examples
    --------
    >>> from imtorque import detect_edges
    >>> image = np.zeros((60, 60))
    >>> image[20:41, 15:36] = 1
    >>> find_extrema(detect_edges(image), sizes=range(3, 40, 2), count=1).to_csv().split()[1]
    '30,25,21,0.902483'
    >>> [len(found) for found in find_extrema(np.stack([image, 1 - image, 0 * image]), sizes=[21, 23], count=5)]
    [5, 5, 0]
    """
    _check_sign(sign)
    if count is not None and operator.index(count) < 0:
        raise ValueError(f"count must not be negative, got {count}")
    if not threshold >= 0:
        raise ValueError(f"threshold must not be negative, got {threshold}")

    def find(given: Edges | TorqueVolume) -> Extrema:
        request = (sign or 0, -1 if count is None else operator.index(count), end_scales, threshold)
        if isinstance(given, TorqueVolume):
            if sizes is not None:
                raise ValueError("sizes must be left out with a TorqueVolume, which has its own")
            array = given.sizes
            k, y, x, value = _native.extrema_of_volume(given.tau, *request)
        else:
            array, field = sizes_for(given, sizes), pattern_edges(given, pattern)
            patches = patch_arrays(field, array, patch, alpha, polarity)
            k, y, x, value, _ = _native.extrema_of_field(field._field, *patches, *request)
        return Extrema(y, x, array[k], value)

    if isinstance(source, Edges | TorqueVolume):
        return find(source)
    if isinstance(source, np.ndarray):
        return list(_each(_check_stack(source), find))
    if not isinstance(source, Iterable):
        raise TypeError(f"source must be Edges, a TorqueVolume or frames, got {type(source).__name__}")
    return _each(source, find)


def expected_extrema(edges: Edges, sizes: Sizes, *, sign: Sign | None, count: int, threshold: float) -> Extrema:
    """Return what `find_extrema` does, in half the time where about `count` extrema are above the threshold.

    So it is in a film, where the frame before tells how strong they are.
    """
    array = sizes_for(edges, sizes)
    patches = patch_arrays(edges, array, "square", 2.0, "signed")
    k, y, x, value, _ = _native.extrema_of_field(edges._field, *patches, sign or 0, count, True, threshold, True)
    return Extrema(y, x, array[k], value)


def _each(frames: Iterable[Edges | Image], find: Callable[[Edges], Extrema]) -> Iterator[Extrema]:
    """Yield what is found in each frame; what a frame leaves of its memory serves the next."""
    _native.keep_memory(True)
    try:
        for frame in frames:
            yield find(frame if isinstance(frame, Edges) else detect_edges(frame))
    finally:
        _native.keep_memory(False)


def _check_stack(stack: Image) -> Image:
    """Refuse what is no stack of pictures, and a single picture."""
    grey, colour = stack.ndim == 3 and stack.shape[2] > 4, stack.ndim == 4 and stack.shape[3] in (1, 3, 4)
    if not (grey or colour):
        raise ValueError(
            "source must be frames (N, H, W) or (N, H, W, 3 or 4), or of one picture its detect_edges(picture), got "
            f"shape {stack.shape}"
        )
    return stack


def _check_sign(sign: int | None) -> None:
    if sign not in (None, 1, -1):
        raise ValueError(f"sign must be +1, -1 or None, got {sign!r}")


def suppress_overlaps(extrema: Extrema, overlap: float = 0.5) -> Extrema:
    """Keep the strongest of extrema whose patches overlap.

    Parameters
    ----------
    extrema
        The candidates.
    overlap
        Largest part of the smaller patch's area that two kept patches of the same sign may share.
    """
    keep = _native.suppress_overlaps(*extrema._boxes(), np.ascontiguousarray(extrema.value, np.float32), overlap)
    return extrema[keep]
