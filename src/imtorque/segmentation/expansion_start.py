"""Labels from which expansion moves start: none that infinite links forbid."""

import numpy as np
from numpy.typing import NDArray

from imtorque.segmentation.links import Capacities, GridLinks, Indices, never_cut


def allowed_start(
    costs: Capacities, links: GridLinks, distances: Capacities, start: NDArray[np.int32] | None
) -> NDArray[np.int32]:
    """Return the start, checked, or the cheapest labels such that infinite links join none that differ."""
    first, second = never_cut(links, costs.shape[1:])
    if start is not None:
        _check_parted(start, first, second, distances)
        return start
    labels: NDArray[np.intp] = costs.argmin(0)
    if first.size:
        labels = _cheapest_together(costs, first, second, distances)
    return labels.astype(np.int32)


def _check_parted(start: NDArray[np.int32], first: Indices, second: Indices, distances: Capacities) -> None:
    flat = start.ravel()
    parted = np.flatnonzero(distances[flat[first], flat[second]] > 0)
    if parted.size:
        one, other = flat[first[parted[0]]], flat[second[parted[0]]]
        raise ValueError(f"start must not part pixels that an infinite link joins, got the labels {one} and {other}")


def _cheapest_together(costs: Capacities, first: Indices, second: Indices, distances: Capacities) -> NDArray[np.intp]:
    """Return the cheapest labels that put pixels joined by infinite links at distance 0."""
    from scipy.sparse import coo_array  # here, because it takes longer to load than the rest of the library
    from scipy.sparse.csgraph import connected_components

    count, *shape = costs.shape
    flat = costs.reshape(count, -1)
    graph = coo_array((np.ones(first.size, np.int8), (first, second)), shape=(flat.shape[1], flat.shape[1]))
    groups, group = connected_components(graph, directed=False)
    kind = (distances == 0).argmax(1)  # labels at no distance from each other are of one kind
    kinds = np.unique(kind)
    sums = np.array([np.bincount(group, flat[kind == one].min(0), groups) for one in kinds])
    if not np.isfinite(sums.min(0)).all():
        raise ValueError("unary must allow one label at all pixels that infinite links join, got a group without any")
    chosen = kinds[sums.argmin(0)][group]
    return np.asarray(np.where(kind[:, None] == chosen, flat, np.inf).argmin(0).reshape(shape))
