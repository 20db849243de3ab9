"""Features of proposals for the learned scorer: shape, edges, grey and colour inside and out, torque, rivals.

Every feature has a name. Saved finders hold the names of theirs, so that none is taken for another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from imtorque import _native
from imtorque.core.threads import thread_map
from imtorque.core.types import Float32Array, FloatArray, IntArray
from imtorque.detection.feature_maps import FeatureMaps, ObjectSizes
from imtorque.detection.proposal_kinds import Source, patch_sizes, torque_responses
from imtorque.detection.proposals import Proposals
from imtorque.detection.selection import merge_duplicates

PROFILE_RADII = np.array([0.25, 0.55, 0.85, 1.0, 1.15, 1.5], np.float32)  # of the outline's radius; untuned
EDGES = (("grey", False), ("grey", True), ("pixel_score", False), ("pixel_score", True))  # planes, and whether coarse
TORQUE_VARIANTS = ("square", "ring", "coarse")  # that every proposal is measured by
RANKED = [0, 2, 5, 9, 11, 13]  # columns of the edge features that rivals are compared by; format: of the feature schema
SAME_IOU = 0.6  # above which two proposals stand for one object; untuned


@dataclass(frozen=True)
class FeatureTable:
    """Proposals, duplicates merged, with their shapes, overlaps and features.

    `shapes` as `_native.outline_shapes` gives them; `first`, `second` and `common` are the pairs that share pixels.
    """

    proposals: Proposals
    shapes: FloatArray
    first: IntArray
    second: IntArray
    common: IntArray
    features: Float32Array
    names: tuple[str, ...]

    @property
    def area(self) -> FloatArray:
        """Pixels of each proposal."""
        area: FloatArray = self.shapes[:, 0]
        return area

    @property
    def iou(self) -> FloatArray:
        """Intersection over union of each pair."""
        union = self.area[self.first] + self.area[self.second] - self.common
        ratio: FloatArray = self.common / np.maximum(union, 1)
        return ratio


def measure_features(
    maps: FeatureMaps, sizes: ObjectSizes, proposals: Proposals, sources: Sequence[Source], *, torque: bool = True
) -> FeatureTable:
    """Return proposals, duplicates merged, with their features; without torque where they are to know nothing of it.

    Parameters
    ----------
    maps, sizes
        Of the image, and of the objects.
    proposals
        Of these sources, by their places.
    sources
        What proposed them.
    torque
        Whether torque is a feature.
    """
    merged = merge_duplicates(proposals, maps.shape)
    polar = merged.outlines.polar
    shapes = _native.outline_shapes(*polar, *maps.shape)
    first, second, common = _native.outline_overlaps(*polar, *maps.shape, 0.15)
    thread_map(*(partial(maps.gradient, name, coarse) for name, coarse in EDGES))  # kept there
    outlines, edges, profiles, lines = thread_map(
        partial(_shape_features, maps, merged, shapes),
        *(partial(features, maps, merged) for features in (_edge_features, _profile_features, _line_features)),
    )
    compared = np.concatenate([np.log(outlines[:, :1]), edges[:, RANKED], profiles[:, : 1 + len(maps.stack)]], axis=1)
    columns = [
        outlines,
        edges,
        compared - _typical(compared, merged.votes * edges[:, 2].clip(0) ** 2),
        _rank_among_rivals(edges[:, RANKED], shapes[:, 0], first, second, common),
        profiles,
        lines,
        _noise_features(maps, shapes, profiles),
        _source_features(merged, sources),
        _rival_features(merged, shapes, first, second, common, len(sources)),
    ]
    if torque:
        columns.append(_torque_features(maps, sizes, shapes))
    features = np.nan_to_num(np.concatenate(columns, axis=1)).astype(np.float32)
    table = np.ascontiguousarray(features)
    return FeatureTable(merged, shapes, first, second, common, table, feature_names(maps.names, torque))


SHAPE_FEATURES = (
    "size", "major", "minor", "aspect", "box_fill", "ellipse_fill", "compactness", "radius_spread", "radius_step",
    "cut_by_rim", "centroid_offset", "rim_distance",
)  # fmt: skip
EDGE_FEATURES = ("mean", "spread", "weakest_quarter", "quartile", "seen")
PROFILES = ("inside", "outside", "across", "contrast", "hollow", "edge_level")
LINE_FEATURES = ("darkest", "brightest", "first_harmonic", "second_harmonic")
NOISE_FEATURES = ("contrast", "area", "step")
SOURCE_FEATURES = ("kind", "variant", "learned_plane", "strength", "closure", "votes")
RIVAL_FEATURES = ("same", "within", "around", "sources", "best_iou")


def feature_names(plane_names: Sequence[str], torque: bool) -> tuple[str, ...]:
    """Return the names of the features of proposals in feature maps of these planes, in their order."""
    planes = [*plane_names, "pixel_score"]
    edges = [
        f"edge.{plane}.{'coarse' if coarse else 'fine'}.{name}"
        for number, (plane, coarse) in enumerate(EDGES)
        for name in (EDGE_FEATURES if number == 0 else EDGE_FEATURES[:4])
    ]
    ranked = [edges[column] for column in RANKED]
    torques = [
        f"torque.{plane}.{variant}{form}"
        for plane in ("grey", "pixel_score")
        for variant in TORQUE_VARIANTS
        for form in ("", ".to_best")
    ]
    return (
        *(f"shape.{name}" for name in SHAPE_FEATURES),
        *edges,
        *(f"typical.{name}" for name in ["log_size", *ranked, *(f"inside.{plane}" for plane in planes)]),
        *(f"rank.{name}{form}" for name in ranked for form in ("", ".size")),
        *(f"{part}.{plane}" for part in PROFILES for plane in planes),
        "relative_contrast.grey",
        *(f"spread.{plane}.{side}" for plane in planes for side in ("inside", "outside")),
        *(f"line.{plane}.{name}" for plane in ("grey", "pixel_score", "strength") for name in LINE_FEATURES),
        *(f"over_noise.{name}" for name in NOISE_FEATURES),
        *(f"source.{name}" for name in SOURCE_FEATURES),
        *(f"rivals.{name}" for name in RIVAL_FEATURES),
        *(torques if torque else ()),
    )


def _shape_features(maps: FeatureMaps, proposals: Proposals, shapes: FloatArray) -> FloatArray:
    area, diameter = shapes[:, 0], maps.diameter
    height, width = shapes[:, 5] - shapes[:, 3], shapes[:, 6] - shapes[:, 4]
    yy, xx, xy = shapes[:, 7] + 1 / 12, shapes[:, 8] + 1 / 12, shapes[:, 9]
    spread = np.sqrt((yy - xx) ** 2 + 4 * xy**2)
    major, minor = np.sqrt(2 * (yy + xx + spread)), np.sqrt(np.maximum(2 * (yy + xx - spread), 1e-3))
    centre_y, centre_x, radii = proposals.outlines.polar
    following = np.roll(radii, -1, axis=1)
    step = 2 * np.pi / radii.shape[1]
    whole = np.sin(step) / 2 * (radii * following).sum(axis=1)
    sides = np.sqrt(radii**2 + following**2 - 2 * radii * following * np.cos(step)).sum(axis=1)
    edge = np.minimum.reduce([shapes[:, 3], shapes[:, 4], maps.shape[0] - shapes[:, 5], maps.shape[1] - shapes[:, 6]])
    offset = np.hypot(shapes[:, 1] - centre_y, shapes[:, 2] - centre_x)
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


def _edge_features(maps: FeatureMaps, proposals: Proposals) -> FloatArray:
    columns: list[Float32Array] = []
    for plane, coarse in EDGES:
        contrasts = _native.outline_contrasts(*maps.gradient(plane, coarse), *proposals.outlines.polar)
        columns.append(contrasts if not columns else contrasts[:, :4])
    return np.concatenate(columns, axis=1)


def _profile_features(maps: FeatureMaps, proposals: Proposals) -> FloatArray:
    stack = np.concatenate([maps.stack, maps.plane("pixel_score")[None]])
    profiles = _native.outline_profiles(np.ascontiguousarray(stack), *proposals.outlines.polar, PROFILE_RADII)
    means, spreads = profiles[..., 0], profiles[..., 1]
    inside, outside = means[:, :, 1], means[:, :, 5]
    across = means[:, :, 2] - means[:, :, 4]
    contrast = inside - outside
    hollow = means[:, :, 0] - means[:, :, 2]
    step = np.where(np.abs(contrast) > 1e-3, contrast, 1e-3)
    level = ((means[:, :, 3] - outside) / step).clip(-2, 3)  # one half where the outline is where the grey changes
    relative = contrast[:, :1] / (np.abs(inside[:, :1]) + np.abs(outside[:, :1]) + 0.02)
    spread = spreads[:, :, [1, 4]].reshape(len(proposals), 2 * spreads.shape[1])
    return np.concatenate([inside, outside, across, contrast, hollow, level, relative, spread], axis=1)


def _line_features(maps: FeatureMaps, proposals: Proposals) -> FloatArray:
    """Return what runs through the middle, as between two objects that touch: in grey, pixel score, edge strength."""
    strength = np.hypot(*maps.gradient("grey"))
    stack = np.stack([maps.grey, maps.plane("pixel_score"), strength]).astype(np.float32)
    lines = _native.outline_diameters(np.ascontiguousarray(stack), *proposals.outlines.polar)
    return lines.reshape(len(proposals), 4 * len(stack))


def _noise_features(maps: FeatureMaps, shapes: FloatArray, profiles: FloatArray) -> FloatArray:
    """Return how far contrast, its sum over the area, and the step at the outline stand above noise; as logarithms."""
    planes = len(maps.stack) + 1
    across, contrast = (np.abs(profiles[:, column * planes]) / maps.noise for column in (2, 3))
    diameter = np.sqrt(shapes[:, 0])
    return np.log1p(np.stack([contrast, contrast * diameter, across * np.sqrt(diameter)], axis=1))


def _source_features(proposals: Proposals, sources: Sequence[Source]) -> FloatArray:
    codes = np.array([source.codes for source in sources], np.float64).reshape(-1, 3)[proposals.source]
    known = (proposals.strength, proposals.closure, np.log(proposals.votes))
    return np.concatenate([codes, *(column[:, None] for column in known)], axis=1)


def _torque_features(maps: FeatureMaps, sizes: ObjectSizes, shapes: FloatArray) -> FloatArray:
    """Return the torque of the patch that has the proposal's centroid and size, by each variant and plane."""
    sides = patch_sizes(sizes)
    wanted = np.sqrt(4 * shapes[:, 0] / np.pi)
    place = np.abs(sides[None] - wanted[:, None]).argmin(axis=1)
    y, x = np.rint(shapes[:, 1]).astype(int), np.rint(shapes[:, 2]).astype(int)
    columns = []
    for plane in ("grey", "pixel_score"):
        for variant in TORQUE_VARIANTS:
            tau = torque_responses(maps, sides, plane, variant)
            here = tau[place, y, x]
            columns += [here, here - np.abs(tau[:, y, x]).max(axis=0)]
    return np.stack(columns, axis=1)


def _typical(values: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the weighted median of each column: what the clearest proposals of this image are like."""
    if not len(values):
        return np.zeros((1, values.shape[1]))
    order = np.argsort(values, axis=0)
    below = np.cumsum(weight[order] + 1e-9, axis=0)
    middle = (below < below[-1:] / 2).sum(axis=0).clip(max=len(values) - 1)
    median: FloatArray = np.take_along_axis(values, np.take_along_axis(order, middle[None], axis=0), axis=0)
    return median


def _rank_among_rivals(
    values: FloatArray, area: FloatArray, first: IntArray, second: IntArray, common: IntArray
) -> FloatArray:
    """Return each proposal's values over the highest among it and its rivals; and its size over that one's."""
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


def _rival_features(
    proposals: Proposals, shapes: FloatArray, first: IntArray, second: IntArray, common: IntArray, sources: int
) -> FloatArray:
    """Return how many proposals agree with each one, lie in it, or hold it; and how many sources agree."""
    n, area = len(proposals), shapes[:, 0]
    a, b = np.concatenate([first, second]), np.concatenate([second, first])
    shared = np.concatenate([common, common]).astype(np.float64)
    iou = shared / (area[a] + area[b] - shared)
    same = iou > SAME_IOU
    inside = (shared > 0.8 * area[b]) & ~same
    around = (shared > 0.8 * area[a]) & ~same
    counts = [np.bincount(a[chosen], minlength=n) for chosen in (same, inside, around)]
    agreeing = np.zeros((n, sources), bool)
    agreeing[a[same], proposals.source[b[same]]] = True
    best = np.zeros(n)
    np.maximum.at(best, a, iou)
    return np.stack([np.log1p(c) for c in counts] + [agreeing.sum(axis=1), best], axis=1)
