"""From segmentations and ultrametric contour maps to boundaries and regions, as the Berkeley benchmark does it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque.evaluation.strengths import as_strength
from imtorque.io.arrays import shaped_array, whole_array


def segmentation_boundary(labels: ArrayLike) -> NDArray[np.bool_]:
    """Mark the pixels where regions meet.

    Pixel (y, x) is a boundary when the four labels at (y, x), (y, x+1), (y+1, x) and
    (y+1, x+1) are not all equal; beyond the last row and column labels repeat.

    Examples
    --------
    >>> segmentation_boundary([[1, 1, 2], [1, 1, 2]]).astype(int)
    array([[0, 1, 0],
           [0, 1, 0]])
    """
    array = shaped_array(labels, "labels")
    padded = np.pad(array, ((0, 1), (0, 1)), mode="edge")
    here = padded[:-1, :-1]
    differs: NDArray[np.bool_] = (here != padded[1:, :-1]) | (here != padded[:-1, 1:]) | (here != padded[1:, 1:])
    return differs


def contours_from_ucm(ucm: ArrayLike) -> NDArray[np.float64]:
    """Sample a double-size ultrametric contour map at image size.

    A (2H+1, 2W+1) map (`ucm2`) has its image pixels at odd rows and columns and its
    contours between them; the result takes rows and columns 2, 4, ..., 2H and 2W.
    """
    return np.ascontiguousarray(_as_ucm(ucm)[2::2, 2::2])


def regions_from_ucm(ucm: ArrayLike, threshold: float) -> NDArray[np.int32]:
    """Return the (H, W) regions, labelled from 1, that contours above `threshold` separate."""
    from scipy import ndimage  # here, because it takes longer to load than the rest of the library

    labels, _ = ndimage.label(_as_ucm(ucm) <= threshold, structure=np.ones((3, 3)), output=np.int32)
    return np.ascontiguousarray(labels[1::2, 1::2])


def nested_regions(
    ucm: ArrayLike, thresholds: NDArray[np.float64]
) -> tuple[NDArray[np.int32], Iterator[NDArray[np.intp]]]:
    """Return the regions of each of several thresholds, which rise, at the cost of the finest ones.

    Regions only ever join: (H, W) labels from 0 of the finest, and for each threshold the region in which each of these
    lies. No pixel may lie on a contour above the first threshold.
    """
    from scipy import ndimage

    doubled = _as_ucm(ucm)
    labels, count = ndimage.label(doubled <= thresholds[0], structure=np.ones((3, 3)), output=np.int32)
    nodes = labels - 1
    contour = labels == 0
    nodes[contour] = np.arange(count, count + int(contour.sum()))
    return np.ascontiguousarray(nodes[1::2, 1::2]), _joined(nodes, doubled, thresholds, count)


def _joined(
    nodes: NDArray[np.int32], doubled: NDArray[np.float64], thresholds: NDArray[np.float64], count: int
) -> Iterator[NDArray[np.intp]]:
    """Yield for each threshold where the first `count` nodes belong, when neighbours up to it are one."""
    from scipy import sparse
    from scipy.sparse import csgraph

    sides: list[tuple[Any, Any]] = [(np.s_[:, :-1], np.s_[:, 1:]), (np.s_[:-1], np.s_[1:])]
    sides += [(np.s_[:-1, :-1], np.s_[1:, 1:]), (np.s_[:-1, 1:], np.s_[1:, :-1])]
    apart = [nodes[a] != nodes[b] for a, b in sides]
    heights = np.concatenate([np.maximum(doubled[a], doubled[b])[at] for (a, b), at in zip(sides, apart, strict=True)])
    ends = [np.concatenate([nodes[side[k]][at] for side, at in zip(sides, apart, strict=True)]) for k in (0, 1)]
    order = np.argsort(heights, kind="stable")
    first, second = (end[order] for end in ends)
    stops = np.searchsorted(heights[order], thresholds, side="right")
    total = int(nodes.max()) + 1
    where = np.arange(total)
    for start, stop in zip((0, *stops[:-1]), stops, strict=True):
        if stop > start:
            links = (np.ones(stop - start, bool), (where[first[start:stop]], where[second[start:stop]]))
            total, parts = csgraph.connected_components(sparse.coo_array(links, shape=(total, total)), directed=False)
            where = parts[where]
        yield where[:count]


def _as_ucm(ucm: ArrayLike) -> NDArray[np.float64]:
    array = whole_array(ucm, "ucm")
    if array.ndim != 2 or min(array.shape) < 3 or array.shape[0] % 2 == 0 or array.shape[1] % 2 == 0:
        raise ValueError(f"ucm must be a (2 height + 1, 2 width + 1) array, got shape {array.shape}")
    return as_strength(array, "ucm")
