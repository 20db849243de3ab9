"""Regions, their borders, and the order in which they merge."""

import heapq
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import FloatArray, IntArray

Labels = NDArray[np.int64]
# From the summed features of two regions and the summed strength and length of their border to their dissimilarity.
Dissimilarity = Callable[[FloatArray, FloatArray, FloatArray], float]


@dataclass(frozen=True, eq=False)
class RegionTree:
    """Regions and the order in which they merge.

    Parameters
    ----------
    regions
        Shape (H, W): labels from 0 of the smallest regions.
    pairs
        (n - 1, 2): in each step the second region joins the first.
    heights
        (n - 1,): the dissimilarity of the two, or of an earlier pair if that is larger; so it never falls.
    """

    regions: Labels
    pairs: IntArray
    heights: FloatArray

    def cut(self, threshold: float) -> Labels:
        """Return the regions left when all merges up to this height are made: labels from 0."""
        return self._after(int(np.searchsorted(self.heights, threshold, side="right")))

    def cut_to(self, count: int) -> Labels:
        """Return `count` regions, or all there are where that is fewer: labels from 0."""
        return self._after(max(len(self.pairs) + 1 - count, 0))

    def _after(self, steps: int) -> Labels:
        parent = np.arange(len(self.pairs) + 1)
        for kept, gone in self.pairs[:steps]:
            parent[gone] = kept
        return renumbered(parent)[self.regions]


def renumbered(parent: IntArray) -> Labels:
    """Return for each region the number of its root, from 0."""
    root = np.asarray(parent)
    while (root[root] != root).any():
        root = root[root]
    return np.unique(root, return_inverse=True)[1].astype(np.int64)


def connected_regions(labels: IntArray, smallest: int) -> Labels:
    """Number the connected parts of each label from 0; parts of fewer pixels join the neighbour of longest border."""
    parts = _components(labels)
    graph = RegionGraph(parts, np.ones((1, *parts.shape)), np.zeros(parts.shape))
    areas = graph.features[:, 0]
    parent = np.arange(len(areas))
    waiting = [(area, region) for region, area in enumerate(areas) if area < smallest]
    heapq.heapify(waiting)
    while waiting:
        area, region = heapq.heappop(waiting)
        around = graph.borders[region]
        if parent[region] != region or area != areas[region] or not around:
            continue
        host = max(around, key=lambda other: (around[other][1], -other))
        graph.merge(host, region)
        parent[region] = host
        if areas[host] < smallest:
            heapq.heappush(waiting, (areas[host], host))
    return renumbered(parent)[parts]


class RegionGraph:
    """Regions as nodes, with summed features; borders between neighbours, with their summed strength and length."""

    def __init__(self, regions: Labels, features: FloatArray, strength: FloatArray) -> None:
        """Sum features (F, H, W) over each region, and the strength (H, W) along each border of four-neighbours."""
        self.count = int(regions.max()) + 1
        flat = regions.ravel()
        self.features: FloatArray = np.stack(
            [np.bincount(flat, plane.ravel(), minlength=self.count) for plane in features], axis=1
        )
        self.borders: list[dict[int, FloatArray]] = [{} for _ in range(self.count)]
        for near, far in (np.s_[:, :-1], np.s_[:, 1:]), (np.s_[:-1], np.s_[1:]):
            self._add_borders(regions[near], regions[far], np.maximum(strength[near], strength[far]))

    def _add_borders(self, near: Labels, far: Labels, strength: FloatArray) -> None:
        at = near != far
        pairs = np.minimum(near[at], far[at]) * self.count + np.maximum(near[at], far[at])
        found, which = np.unique(pairs, return_inverse=True)
        sums = np.stack([np.bincount(which, strength[at]), np.bincount(which)], axis=1)
        for pair, border in zip(found, sums, strict=True):
            a, b = divmod(int(pair), self.count)
            self.borders[a][b] = self.borders[b][a] = self.borders[a].get(b, 0) + border

    def merge(self, kept: int, gone: int) -> None:
        """Let one region join another."""
        self.features[kept] += self.features[gone]
        for other, border in self.borders[gone].items():
            del self.borders[other][gone]
            if other != kept:
                total = self.borders[kept].get(other, 0) + border
                self.borders[kept][other] = self.borders[other][kept] = total
        self.borders[gone] = {}


def merge_all(regions: Labels, graph: RegionGraph, dissimilarity: Dissimilarity) -> RegionTree:
    """Merge the two most similar neighbours until one region is left."""
    versions = np.zeros(graph.count, int)

    def entry(a: int, b: int) -> tuple[float, int, int, int]:
        measure = dissimilarity(graph.features[a], graph.features[b], graph.borders[a][b])
        return measure, a, b, int(versions[a] + versions[b])

    queue = [entry(a, b) for a in range(graph.count) for b in graph.borders[a] if a < b]
    heapq.heapify(queue)
    pairs, heights, height = [], [], -np.inf
    while queue:
        measure, kept, gone, version = heapq.heappop(queue)
        if gone not in graph.borders[kept] or version != versions[kept] + versions[gone]:
            continue
        graph.merge(kept, gone)
        versions[kept] += 1
        height = max(height, measure)
        pairs.append((kept, gone))
        heights.append(height)
        for other in graph.borders[kept]:
            heapq.heappush(queue, entry(min(kept, other), max(kept, other)))
    return RegionTree(regions, np.reshape(pairs, (-1, 2)).astype(np.int64), np.array(heights, dtype=np.float64))


def _components(labels: IntArray) -> Labels:
    from scipy import ndimage

    parts = np.zeros(labels.shape, np.int64)
    count = 0
    for label in np.unique(labels):
        found, more = ndimage.label(labels == label)
        parts[found > 0] = found[found > 0] + count - 1
        count += more
    return parts
