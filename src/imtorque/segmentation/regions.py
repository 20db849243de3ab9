"""Torque extrema as seeds of regions: colour models, a cut with many labels, and merging (Sec. 4.3 of the paper)."""

import math
import operator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from imtorque.core.extrema import find_extrema, suppress_overlaps
from imtorque.core.types import Extrema, Image
from imtorque.edges import OrientedMap, boundary_map, detect_edges, ultrametric_contours
from imtorque.images import CheckedImage, ValueRange
from imtorque.segmentation.colour_models import colour_bins, model_costs, patch_models
from imtorque.segmentation.evidence import Evidence, enlarged, gather_evidence, shrinking
from imtorque.segmentation.expansion import alpha_expansion
from imtorque.segmentation.region_graph import RegionTree, connected_regions
from imtorque.segmentation.region_merging import MERGE_SIZE_WEIGHT, THRESHOLD, merge_regions

LARGEST_PATCH = 91  # pixels at the working size; paper, Sec. 3.3, for images as small
PATCH_OVERLAP = 0.3  # of two patches, for `suppress_overlaps`; untuned
PATCH_CANDIDATES = 3000  # extrema that patches are chosen from
COLOUR_MODELS = 40  # at most; chosen on Berkeley's training images
SMOOTHNESS = 10.0  # cost of a link between equal colours; chosen between values tried on Berkeley's images
EDGE_DECAY = 5.0  # of that cost, per strength of edges; unrecorded
SMALLEST_REGION = 0.002  # of the image; untuned: half and five times as much covered alike
CYCLES = 2  # of the expansion, at most; bound: time
GRID_SHAPES = {4: (2, 2), 6: (2, 3), 8: (2, 4), 12: (3, 4), 20: (4, 5), 40: (5, 8)}  # rows and columns
CONTOUR_THRESHOLD = 0.2  # of closed contours: what covers best on photographs; tuned on photographs by covering


def segment_regions(
    image: Image | CheckedImage,
    *,
    count: int | None = None,
    threshold: float | None = None,
    smoothness: float = SMOOTHNESS,
    models: int = COLOUR_MODELS,
    patches: Extrema | None = None,
    method: Literal["torque", "ucm"] = "torque",
    boundaries: OrientedMap | None = None,
    value_range: ValueRange | None = None,
) -> NDArray[np.int32]:
    """Divide an image into regions (Sec. 4.3).

    The strongest torque extrema, with their sizes, say where to look for regions. Each gives a colour model; a cut with
    many labels assigns pixels to models; its connected parts are the regions. Similar neighbours, judged
    by the edges between them (as strengthened by torque), their colours and texture, are then merged.

    Parameters
    ----------
    image
        Grey or colour, as for `detect_edges`. Worked on at about 240 x 160 pixels.
    count
        How many regions; fewer where the cut finds fewer. Small ones are then merged sooner. None: as many as are left
        by the threshold.
    threshold
        Dissimilarity from which two regions are not merged: higher for fewer regions. None: the best on photographs.
    smoothness
        What a border costs per pixel, against the log probabilities of colours.
    models
        How many extrema become colour models.
    patches
        Where to look for regions instead, in pixels of the image.
    method
        "torque", as above; or "ucm": the regions between the closed contours of gPb, whose threshold is the mean
        likelihood of a border, from 0 to 1, and which has no use for `smoothness`, `models` and `patches`.
    boundaries
        For "ucm", the oriented map to be closed instead of gPb: `boundary_map(image, "mpb")`, or a network's.
    value_range
        As for `detect_edges`.

    Returns
    -------
    ndarray
        Shape (H, W), int32: labels from 0, in the order in which a scan of the rows meets them. Each is connected.

    See Also
    --------
    segmentation.region_tree, segment_objects, alpha_expansion

    Examples
    --------
    >>> image = np.zeros((60, 90))
    >>> image[20:41, 30:61] = 1
    >>> labels = segment_regions(image)
    >>> int(labels.max()), int(labels[0, 0]), int(labels[30, 45])
    (1, 0, 1)
    """
    if count is not None and operator.index(count) < 1:
        raise ValueError(f"count must be at least 1, got {count}")
    if count is not None and threshold is not None:
        raise ValueError(f"count and threshold must not both be given, got {count} and {threshold}")
    checked = CheckedImage(image, value_range)
    if method not in ("torque", "ucm"):
        raise ValueError(f'method must be "torque" or "ucm", got {method!r}')
    if method == "ucm":
        contours = contour_regions(boundary_map(checked, "gpb") if boundaries is None else boundaries)
        if contours.regions.shape != checked.shape:
            raise ValueError(f"boundaries must have the image's size {checked.shape}, got {contours.regions.shape}")
        height = CONTOUR_THRESHOLD if threshold is None else threshold
        return in_order(contours.cut(height) if count is None else contours.cut_to(count)).astype(np.int32)
    tree = _small_tree(checked, smoothness, models, patches, 0.0 if count is None else MERGE_SIZE_WEIGHT)
    cut = tree.cut(THRESHOLD if threshold is None else threshold) if count is None else tree.cut_to(count)
    return enlarged(in_order(cut).astype(np.int32), shrinking(checked.shape), checked.shape)


def contour_regions(boundaries: OrientedMap) -> RegionTree:
    """Return the regions between the closed contours of a boundary map, and the order in which they merge."""
    tree = ultrametric_contours(boundaries)
    return RegionTree(tree.regions.astype(np.int64), tree.pairs, tree.heights)


def region_tree(
    image: Image | CheckedImage,
    *,
    smoothness: float = SMOOTHNESS,
    models: int = COLOUR_MODELS,
    patches: Extrema | None = None,
    size_weight: float = 0.0,
) -> RegionTree:
    """Return the regions of an image, finely divided, and the order in which they merge.

    Parameters are those of `segment_regions`; with a `size_weight` small regions merge sooner.
    """
    checked = CheckedImage(image)
    tree = _small_tree(checked, smoothness, models, patches, size_weight)
    return RegionTree(enlarged(tree.regions, shrinking(checked.shape), checked.shape), tree.pairs, tree.heights)


def _small_tree(
    image: CheckedImage, smoothness: float, models: int, patches: Extrema | None, size_weight: float
) -> RegionTree:
    """Return the regions and their merging at the working size."""
    if operator.index(models) < 1:
        raise ValueError(f"models must be at least 1, got {models}")
    if not (math.isfinite(smoothness) and smoothness >= 0):
        raise ValueError(f"smoothness must not be negative, got {smoothness}")
    evidence = gather_evidence(image)
    if patches is None:
        seeds = torque_patches(evidence, models)
    else:
        seeds = _scaled(patches, shrinking(image.shape), evidence.shape)
    return merge_regions(evidence, cut_regions(evidence, seeds, smoothness), size_weight=size_weight)


def torque_patches(evidence: Evidence, count: int) -> Extrema:
    """Return the extrema of largest |torque| x size that overlap little."""
    edges = detect_edges(evidence.lab[0], force="strength", value_range=(0.0, 1.0))
    found = find_extrema(edges, sizes=range(3, LARGEST_PATCH + 1, 2), count=PATCH_CANDIDATES)
    order = np.argsort(-np.abs(found.value) * found.size, kind="stable")
    weight = (found.value * found.size)[order]
    return suppress_overlaps(Extrema(found.y[order], found.x[order], found.size[order], weight), PATCH_OVERLAP)[:count]


def grid_patches(shape: tuple[int, int], count: int) -> Extrema:
    """Return as many patches in rows and columns, whatever the image shows."""
    rows, columns = GRID_SHAPES[count]
    height, width = shape
    size = int(min(height / rows, width / columns)) // 2 * 2 + 1
    y = ((np.arange(rows) + 0.5) * height / rows).astype(np.int64).repeat(columns)
    x = np.tile(((np.arange(columns) + 0.5) * width / columns).astype(np.int64), rows)
    return Extrema(y, x, np.full(len(y), size), np.ones(len(y), np.float32))


def cut_regions(evidence: Evidence, patches: Extrema, smoothness: float) -> NDArray[np.int64]:
    """Return the connected parts of the cheapest labelling by the patches' colour models."""
    bins = colour_bins(evidence.lab)
    costs = model_costs(patch_models(bins, patches), bins)
    labels, _ = alpha_expansion(costs, **contrast_links(evidence, smoothness), cycles=CYCLES)
    return connected_regions(labels, math.ceil(SMALLEST_REGION * labels.size))


def contrast_links(evidence: Evidence, smoothness: float) -> dict[str, Any]:
    """Return the links of `alpha_expansion`: cheap to cut where colours differ and along edges.

    smoothness exp(-|c_p - c_q|^2 / (2 beta) - 5 max(d_p, d_q)) / |p - q|,   beta the mean of |c_p - c_q|^2
    """
    ends = {
        "right": (np.s_[..., :, :-1], np.s_[..., :, 1:]),
        "down": (np.s_[..., :-1, :], np.s_[..., 1:, :]),
        "down_right": (np.s_[..., :-1, :-1], np.s_[..., 1:, 1:]),
        "down_left": (np.s_[..., :-1, 1:], np.s_[..., 1:, :-1]),
    }
    squares = {name: ((evidence.lab[a] - evidence.lab[b]) ** 2).sum(axis=0) for name, (a, b) in ends.items()}
    beta = float(np.mean([squares[name].mean() for name in ("right", "down") if squares[name].size] or [0.0])) or 1.0
    links = {}
    for name, (a, b) in ends.items():
        distance = math.sqrt(2) if name.startswith("down_") else 1.0
        edge = np.maximum(evidence.strength[a], evidence.strength[b])
        links[name] = smoothness / distance * np.exp(-squares[name] / (2 * beta) - EDGE_DECAY * edge)
    return links


def in_order(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number labels from 0 in scan order."""
    _, first, which = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[which].reshape(labels.shape)


def _scaled(patches: Extrema, factor: int, shape: tuple[int, int]) -> Extrema:
    """Return patches in pixels of the working size."""
    if not isinstance(patches, Extrema):
        raise TypeError(f"patches must be Extrema, as find_extrema returns them, got {type(patches).__name__}")
    if np.ndim(patches.size) != 1:
        raise ValueError("patches must be squares, got rectangles")
    y, x = np.minimum(patches.y // factor, shape[0] - 1), np.minimum(patches.x // factor, shape[1] - 1)
    return Extrema(y, x, np.maximum(patches.size // factor // 2 * 2 + 1, 3), patches.value)
