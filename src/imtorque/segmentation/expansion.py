"""Many labels on a pixel grid, by a sequence of minimum cuts."""

import operator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imtorque import _native
from imtorque.io.arrays import whole_array
from imtorque.segmentation.expansion_start import allowed_start
from imtorque.segmentation.links import MAX_FINITE, GridLinks, check_links, check_size


def alpha_expansion(
    unary: ArrayLike,
    right: ArrayLike,
    down: ArrayLike,
    *,
    down_right: ArrayLike | None = None,
    down_left: ArrayLike | None = None,
    wrap: int | None = None,
    metric: ArrayLike | None = None,
    start: ArrayLike | None = None,
    cycles: int = 10,
) -> tuple[NDArray[np.int32], float]:
    """Label the pixels of a grid at low cost by expansion moves (Boykov, Veksler & Zabih, 2001).

    Lowers the energy of a labelling f,

        E(f) = sum over pixels of  unary[f(p), p]  +  sum over links (p, q) of  link[p, q] * metric[f(p), f(q)]

    by letting one label after the other take whatever pixels it gains from, each time a minimum cut, until none gains.
    No labelling costs less than the result divided by 2 m, m the ratio of the largest to the smallest distance between
    two labels: with the Potts metric, less than half.

    Parameters
    ----------
    unary
        Shape (K, H, W): what each label costs at each pixel. Infinite forbids it there. Finite costs are at most 1e300,
        and so are links times distances.
    right, down, down_right, down_left, wrap
        Weights of the links between neighbours, as `grid_max_flow` takes them. An infinite link never joins labels of a
        distance above zero.
    metric
        Shape (K, K): the distance between two labels, zero from a label to itself, symmetric, and no longer
        than through a third. None: 1 between any two (the Potts model).
    start
        Shape (H, W): labels to start from; None: the cheapest at each pixel, or of all pixels that infinite links join.
        The result is never worse.
    cycles
        Most rounds over all labels.

    Returns
    -------
    labels
        Shape (H, W), int32.
    energy
        E of the labels.

    See Also
    --------
    grid_max_flow, segment_regions

    Notes
    -----
    Each move is a cut as `grid_max_flow` finds it: the best there is, to 1e-12 of what it costs beyond the cheaper of
    the two labels at each pixel, whatever the range of costs. It is made if the energy, a sum of doubles, falls.

    Examples
    --------
    The single pixel in the middle costs less to relabel than two links.

    >>> import numpy as np
    >>> unary = np.array([[[0, 1, 0]], [[9, 0, 9]]])
    >>> alpha_expansion(unary, [[2, 2]], np.zeros((0, 3)))
    (array([[0, 0, 0]], dtype=int32), 1.0)
    """
    costs = _check_unary(unary)
    count, height, width = costs.shape
    links = check_links((height, width), right, down, down_right, down_left, wrap)
    distances = 1 - np.eye(count) if metric is None else _check_metric(metric, count)
    _check_products(links, distances)
    first = None if start is None else _check_start(start, costs)
    if operator.index(cycles) < 1:
        raise ValueError(f"cycles must be at least 1, got {cycles}")
    if wrap == 1:
        costs = np.ascontiguousarray(costs.transpose(0, 2, 1))
        first = None if first is None else np.ascontiguousarray(first.T)
    first = allowed_start(costs, links, distances, first)
    labels, energy = _native.alpha_expansion(
        costs,
        links.right,
        links.down,
        links.down_right,
        links.down_left,
        links.diagonal,
        links.wrap_rows,
        distances,
        min(operator.index(cycles), 1_000_000),
        first,
    )
    return (np.ascontiguousarray(labels.T) if wrap == 1 else labels), energy


def _check_unary(unary: ArrayLike) -> NDArray[np.float64]:
    costs = whole_array(unary, "unary")
    if costs.dtype.kind not in "buif":
        raise TypeError(f"unary must hold real numbers, got {costs.dtype}")
    if costs.ndim != 3 or 0 in costs.shape:
        raise ValueError(f"unary must have the shape (labels, H, W), none of them 0, got {costs.shape}")
    costs = np.ascontiguousarray(costs, np.float64)
    lowest = costs.min(0)  # NaN where there is one
    if not np.isfinite(lowest).all():
        y, x = np.argwhere(~np.isfinite(lowest))[0]
        raise ValueError(
            "unary must be a number or +infinity, and finite for one label at least, "
            f"got {costs[:, y, x]} at y={y}, x={x}"
        )
    check_size("unary", costs)
    return costs


def _check_metric(metric: ArrayLike, count: int) -> NDArray[np.float64]:
    distances = np.ascontiguousarray(whole_array(metric, "metric", np.float64))
    if distances.shape != (count, count):
        raise ValueError(f"metric must have the shape ({count}, {count}), one row per label, got {distances.shape}")
    if not np.isfinite(distances).all() or distances.min() < 0:
        raise ValueError("metric must hold finite distances, none negative")
    if np.diag(distances).any():
        raise ValueError(f"metric must be 0 from a label to itself, got {np.diag(distances)}")
    if (distances != distances.T).any():
        a, b = np.argwhere(distances != distances.T)[0]
        raise ValueError(f"metric must be symmetric, got {distances[a, b]} and {distances[b, a]} between {a} and {b}")
    for middle in range(count):
        detour = distances[:, middle, None] + distances[middle]
        if (distances > detour * (1 + 1e-9)).any():
            a, b = np.argwhere(distances > detour * (1 + 1e-9))[0]
            raise ValueError(
                "metric must hold no distance longer than a way round, "
                f"got {distances[a, b]} between {a} and {b}, {detour[a, b]} by {middle}"
            )
    return distances


def _check_products(links: GridLinks, distances: NDArray[np.float64]) -> None:
    """Refuse finite links whose costs would overflow."""
    planes = (links.right, links.down, links.down_right, links.down_left)
    widest = max(float(plane.max(initial=0, where=np.isfinite(plane))) for plane in planes)
    if widest * float(distances.max()) > MAX_FINITE:
        raise ValueError(
            f"links times metric must be at most {MAX_FINITE:g}, or infinite, got {widest:g} times {distances.max():g}"
        )


def _check_start(start: ArrayLike, costs: NDArray[np.float64]) -> NDArray[np.int32]:
    labels = whole_array(start, "start")
    if labels.dtype.kind not in "ui":
        raise TypeError(f"start must hold whole numbers, got {labels.dtype}")
    if labels.shape != costs.shape[1:]:
        raise ValueError(f"start must have the shape {costs.shape[1:]}, got {labels.shape}")
    if labels.min() < 0 or labels.max() >= len(costs):
        raise ValueError(f"start must hold labels from 0 to {len(costs) - 1}, got {labels.min()} to {labels.max()}")
    first = np.ascontiguousarray(labels, np.int32)
    if not np.isfinite(np.take_along_axis(costs, first[None], 0)).all():
        raise ValueError("start must hold no label that unary forbids")
    return first
