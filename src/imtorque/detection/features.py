"""What each candidate looks like, in numbers: shape, edges, grey and colour inside and out, torque, rivals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from imtorque import _native
from imtorque.core.threads import thread_map
from imtorque.core.types import Float32Array, FloatArray, IntArray
from imtorque.detection.planes import Planes, Sizes
from imtorque.detection.pool import KINDS, SOURCES, Pool, edge_sigma, merge_alike, patch_sizes, torque_of

PARTS = np.array([0.25, 0.55, 0.85, 1.0, 1.15, 1.5], np.float32)  # of the outline's radius
EDGES = (("grey", False), ("grey", True), ("likeness", False), ("likeness", True))  # planes, and whether coarse
WAYS = ("square", "ring", "coarse")  # of torque that every candidate is measured by
RANKED = [0, 2, 5, 9, 11, 13]  # columns of the edge features that rivals are compared by
SAME = 0.6  # intersection over union above which two candidates stand for one object


@dataclass(frozen=True)
class Measured:
    """A pool with the shapes, overlaps and features of its candidates.

    `shapes` as `_native.outline_shapes` gives them; `first`, `second` and `common` are the pairs that share pixels.
    """

    pool: Pool
    shapes: FloatArray
    first: IntArray
    second: IntArray
    common: IntArray
    features: Float32Array

    @property
    def area(self) -> FloatArray:
        """Pixels of each candidate."""
        area: FloatArray = self.shapes[:, 0]
        return area

    @property
    def iou(self) -> FloatArray:
        """Intersection over union of each pair."""
        union = self.area[self.first] + self.area[self.second] - self.common
        ratio: FloatArray = self.common / np.maximum(union, 1)
        return ratio


def measure(planes: Planes, sizes: Sizes, pool: Pool, *, torque: bool = True) -> Measured:
    """Return a pool, alike candidates merged, with its features; without torque where it is to know nothing of it."""
    pool = merge_alike(pool, planes.shape)
    shapes = _native.outline_shapes(pool.y, pool.x, pool.radii, *planes.shape)
    first, second, common = _native.outline_overlaps(pool.y, pool.x, pool.radii, *planes.shape, 0.15)
    thread_map(*(partial(planes.force, name, edge_sigma(planes, coarse)) for name, coarse in EDGES))  # kept there
    outlines, edges, profiles, lines = thread_map(
        partial(_shape_features, planes, pool, shapes),
        *(partial(features, planes, pool) for features in (_edge_features, _profile_features, _line_features)),
    )
    compared = np.concatenate([np.log(outlines[:, :1]), edges[:, RANKED], profiles[:, : 1 + len(planes.stack)]], axis=1)
    columns = [
        outlines,
        edges,
        compared - _typical(compared, pool.votes * edges[:, 2].clip(0) ** 2),
        _standing(edges[:, RANKED], shapes[:, 0], first, second, common),
        profiles,
        lines,
        _source_features(pool),
        _rival_features(pool, shapes, first, second, common),
    ]
    if torque:
        columns.append(_torque_features(planes, sizes, shapes))
    features = np.nan_to_num(np.concatenate(columns, axis=1)).astype(np.float32)
    return Measured(pool, shapes, first, second, common, np.ascontiguousarray(features))


def _shape_features(planes: Planes, pool: Pool, shapes: FloatArray) -> FloatArray:
    area, diameter = shapes[:, 0], planes.diameter
    height, width = shapes[:, 5] - shapes[:, 3], shapes[:, 6] - shapes[:, 4]
    yy, xx, xy = shapes[:, 7] + 1 / 12, shapes[:, 8] + 1 / 12, shapes[:, 9]
    spread = np.sqrt((yy - xx) ** 2 + 4 * xy**2)
    major, minor = np.sqrt(2 * (yy + xx + spread)), np.sqrt(np.maximum(2 * (yy + xx - spread), 1e-3))
    radii, following = pool.radii, np.roll(pool.radii, -1, axis=1)
    step = 2 * np.pi / radii.shape[1]
    whole = np.sin(step) / 2 * (radii * following).sum(axis=1)
    sides = np.sqrt(radii**2 + following**2 - 2 * radii * following * np.cos(step)).sum(axis=1)
    edge = np.minimum.reduce(
        [shapes[:, 3], shapes[:, 4], planes.shape[0] - shapes[:, 5], planes.shape[1] - shapes[:, 6]]
    )
    offset = np.hypot(shapes[:, 1] - pool.y, shapes[:, 2] - pool.x)
    return np.stack(
        [
            np.sqrt(area) / diameter,
            major / diameter,
            minor / diameter,
            minor / major,
            area / (height * width),
            4 * area / (np.pi * major * minor),
            sides**2 / (4 * np.pi * whole),
            radii.std(axis=1) / radii.mean(axis=1),
            np.abs(following - radii).max(axis=1) / radii.mean(axis=1),
            area / whole,
            offset / diameter,
            edge / diameter,
        ],
        axis=1,
    )


def _edge_features(planes: Planes, pool: Pool) -> FloatArray:
    columns: list[Float32Array] = []
    for plane, coarse in EDGES:
        gx, gy = planes.force(plane, edge_sigma(planes, coarse))
        contrasts = _native.outline_contrasts(gx, gy, pool.y, pool.x, pool.radii)
        columns.append(contrasts if not columns else contrasts[:, :4])
    return np.concatenate(columns, axis=1)


def _profile_features(planes: Planes, pool: Pool) -> FloatArray:
    stack = planes.stack if planes.likeness is None else np.concatenate([planes.stack, planes.likeness[None]])
    profiles = _native.outline_profiles(np.ascontiguousarray(stack), pool.y, pool.x, pool.radii, PARTS)
    means, spreads = profiles[..., 0], profiles[..., 1]
    inside, outside = means[:, :, 1], means[:, :, 5]
    across = means[:, :, 2] - means[:, :, 4]
    contrast = inside - outside
    hollow = means[:, :, 0] - means[:, :, 2]
    step = np.where(np.abs(contrast) > 1e-3, contrast, 1e-3)
    level = ((means[:, :, 3] - outside) / step).clip(-2, 3)  # one half where the outline is where the grey changes
    relative = contrast[:, :1] / (np.abs(inside[:, :1]) + np.abs(outside[:, :1]) + 0.02)
    spread = spreads[:, :, [1, 4]].reshape(len(pool), 2 * spreads.shape[1])
    return np.concatenate([inside, outside, across, contrast, hollow, level, relative, spread], axis=1)


def _line_features(planes: Planes, pool: Pool) -> FloatArray:
    """Return what runs through the middle, as between two objects that touch: in grey, likeness and edge strength."""
    strength = np.hypot(*planes.force("grey", edge_sigma(planes)))
    stack = np.stack([planes.grey, planes.plane("likeness"), strength]).astype(np.float32)
    lines = _native.outline_diameters(np.ascontiguousarray(stack), pool.y, pool.x, pool.radii)
    return lines.reshape(len(pool), 4 * len(stack))


def _source_features(pool: Pool) -> FloatArray:
    kinds = [KINDS.index(s.kind) for s in SOURCES]
    names = sorted({s.way for s in SOURCES})
    ways = [names.index(s.way) for s in SOURCES]
    learned = [s.plane == "likeness" for s in SOURCES]
    table = np.stack([kinds, ways, learned], axis=1)[pool.source]
    return np.concatenate([table, pool.strength[:, None], pool.fit[:, None], np.log(pool.votes)[:, None]], axis=1)


def _torque_features(planes: Planes, sizes: Sizes, shapes: FloatArray) -> FloatArray:
    """Return the torque of the patch that has the candidate's centroid and size, by each way and plane."""
    sides = patch_sizes(sizes)
    wanted = np.sqrt(4 * shapes[:, 0] / np.pi)
    place = np.abs(sides[None] - wanted[:, None]).argmin(axis=1)
    y, x = np.rint(shapes[:, 1]).astype(int), np.rint(shapes[:, 2]).astype(int)
    columns = []
    for plane in ("grey", "likeness"):
        for way in WAYS:
            tau = torque_of(planes, sides, plane, way).tau
            here = tau[place, y, x]
            columns += [here, here - np.abs(tau[:, y, x]).max(axis=0)]
    return np.stack(columns, axis=1)


def _typical(values: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the weighted median of each column: what the clearest candidates of this image are like."""
    if not len(values):
        return np.zeros((1, values.shape[1]))
    order = np.argsort(values, axis=0)
    below = np.cumsum(weight[order] + 1e-9, axis=0)
    middle = (below < below[-1:] / 2).sum(axis=0).clip(max=len(values) - 1)
    median: FloatArray = np.take_along_axis(values, np.take_along_axis(order, middle[None], axis=0), axis=0)
    return median


def _standing(values: FloatArray, area: FloatArray, first: IntArray, second: IntArray, common: IntArray) -> FloatArray:
    """Return how far each candidate's values lie below the highest among it and its rivals; and the highest's size."""
    strength = np.abs(values)
    a, b = np.concatenate([first, second]), np.concatenate([second, first])
    shared = np.concatenate([common, common])
    rivals = shared > 0.4 * np.minimum(area[a], area[b])
    a, b = a[rivals], b[rivals]
    columns = []
    for value in strength.T:
        best = value.copy()
        np.maximum.at(best, a, value[b])
        columns.append(value / np.maximum(best, 1e-6))
        leads = value[b] >= best[a] - 1e-7
        size = np.where(value >= best, area, 0.0)
        np.maximum.at(size, a[leads], area[b[leads]])
        columns.append(np.log(area / np.maximum(size, 1)))
    return np.stack(columns, axis=1)


def _rival_features(pool: Pool, shapes: FloatArray, first: IntArray, second: IntArray, common: IntArray) -> FloatArray:
    """Return how many candidates agree with each one, lie in it, or hold it; and how many sources agree."""
    n, area = len(pool), shapes[:, 0]
    a, b = np.concatenate([first, second]), np.concatenate([second, first])
    shared = np.concatenate([common, common]).astype(np.float64)
    iou = shared / (area[a] + area[b] - shared)
    same = iou > SAME
    inside = (shared > 0.8 * area[b]) & ~same
    around = (shared > 0.8 * area[a]) & ~same
    counts = [np.bincount(a[chosen], minlength=n) for chosen in (same, inside, around)]
    kinds = np.zeros((n, len(SOURCES)), bool)
    kinds[a[same], pool.source[b[same]]] = True
    best = np.zeros(n)
    np.maximum.at(best, a, iou)
    return np.stack([np.log1p(c) for c in counts] + [kinds.sum(axis=1), best], axis=1)
