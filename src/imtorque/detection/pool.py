"""Candidates of several kinds in one pool, each an outline around a centre.

Kinds: torque (plain and ring, squares and disks, fine and coarse edges), threshold (extremal regions; regions above a
threshold, parted where they are narrow), log (Laplacian of Gaussian), radial (fast radial symmetry). Torque, log and
radial give a centre and a size; the outline is the closed path around it with the strongest gradient. For comparison,
log-disc and radial-disc are the discs that these detectors give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.extrema import find_extrema
from imtorque.core.threads import thread_map
from imtorque.core.torque import torque_volume
from imtorque.core.types import Edges, Float32Array, FloatArray, IntArray, Patch, Sign, TorqueVolume
from imtorque.detection import regions, seeds
from imtorque.detection.blobs import Search, find_contours
from imtorque.detection.planes import Planes, Sizes
from imtorque.detection.shapes import polygon_moments
from imtorque.detection.things import thing_scores
from imtorque.detection.truth import ANGLES

GROWTH = 1.2  # ratio of neighbouring sizes
SIGNED_PLANES: tuple[tuple[str, Sign], ...] = (("grey", 1), ("grey", -1), ("likeness", 1))
INNER = 0.6  # of a ring: the part of the patch's side that is left out
MOST_SEEDS = 0.5  # of one source, in objects that would fill the image
SEARCHES = ((0.5, 1.6, 20, 0.06, 0.10), (0.7, 1.35, 16, 0.12, 0.4))  # low, high, steps, stiffness, attraction
ALIKE_AREA, ALIKE_PLACE = 1.25, 0.15  # ratio of areas, and distance over size, that make two candidates one
LONG = ("contours", "parted", "disk", "log", "radial")  # ways that take long: begun first, so that none is waited for
KINDS = ("torque", "threshold", "log", "radial", "log-disc", "radial-disc")


@dataclass(frozen=True)
class Pool:
    """Candidates of one image.

    Parameters
    ----------
    y, x, radii
        Centre and outline of each.
    source
        Place in `SOURCES` of what found it.
    strength
        How strong it was there.
    fit
        Mean gradient along the outline, where the outline was looked for; else 0.
    votes
        How many candidates this one stands for.
    """

    y: Float32Array
    x: Float32Array
    radii: Float32Array
    source: NDArray[np.int32]
    strength: Float32Array
    fit: Float32Array
    votes: Float32Array

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.y)

    def __getitem__(self, chosen: NDArray[np.bool_] | IntArray) -> Pool:
        """Return the candidates that a mask or places select."""
        return Pool(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))


@dataclass(frozen=True)
class Source:
    """One way to find candidates: its kind, the plane it looks at, the sign it looks for, and its own setting."""

    kind: str
    plane: str
    sign: Sign
    way: str


def _sources() -> Iterator[Source]:
    for plane, sign in SIGNED_PLANES:
        for way in ("square", "ring", "disk", "coarse", "contours") if plane == "grey" else ("ring", "disk"):
            yield Source("torque", plane, sign, way)
        yield Source("threshold", plane, sign, "extremal")
        yield Source("threshold", plane, sign, "parted")
        for kind in ("log", "radial", "log-disc", "radial-disc"):
            yield Source(kind, plane, sign, kind)


SOURCES = tuple(_sources())


def sources_of(kinds: Iterable[str], signs: Sequence[int]) -> list[int]:
    """Return the places of the sources of these kinds that look for these signs; the learned plane has but one."""
    wanted = set(kinds)
    return [i for i, s in enumerate(SOURCES) if s.kind in wanted and (s.plane == "likeness" or s.sign in signs)]


def patch_sizes(sizes: Sizes) -> IntArray:
    """Return odd patch sizes over the range of objects at the working size."""
    low, high = 0.8 * sizes.smallest / sizes.factor, 1.25 * sizes.largest / sizes.factor
    steps = max(3, int(np.ceil(np.log(high / low) / np.log(GROWTH))) + 1)
    wanted = np.geomspace(max(low, 5), max(high, 11), steps)
    return np.unique(2 * (wanted / 2).astype(int) + 1)


def find_candidates(planes: Planes, sizes: Sizes, sources: Sequence[int]) -> Pool:
    """Return the candidates of these sources, one source after the other."""
    sides = patch_sizes(sizes)
    order = sorted(sources, key=lambda number: SOURCES[number].way not in LONG)
    pools = thread_map(*(partial(_candidates_of, planes, sides, number) for number in order))
    found = dict(zip(order, pools, strict=True))
    parts = [found[number] for number in sources]
    names = Pool.__dataclass_fields__
    return Pool(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _candidates_of(planes: Planes, sides: IntArray, number: int) -> Pool:
    source = SOURCES[number]
    y, x, radii, strength, fit = FINDERS[source.kind](planes, sides, source)
    count = len(y)
    return Pool(y, x, radii, np.full(count, number, np.int32), strength, fit, np.ones(count, np.float32))


def merge_alike(pool: Pool, shape: tuple[int, int]) -> Pool:
    """Return one of each group of candidates of about the same place and size, with the number of the group."""
    shapes = _native.outline_shapes(pool.y, pool.x, pool.radii, *shape)
    pool, shapes = pool[shapes[:, 0] > 0], shapes[shapes[:, 0] > 0]
    octave = np.rint(np.log(shapes[:, 0]) / np.log(ALIKE_AREA))
    step = ALIKE_PLACE * np.sqrt(ALIKE_AREA**octave)
    ratio = np.rint(np.log((shapes[:, 5] - shapes[:, 3]) / (shapes[:, 6] - shapes[:, 4])) / np.log(ALIKE_AREA))
    cell = (octave, ratio, np.rint(shapes[:, 1] / step), np.rint(shapes[:, 2] / step))
    order = np.lexsort((-pool.fit, *reversed(cell)))  # groups, in each the best fit first
    first = np.ones(len(pool), bool)
    first[1:] = np.any([part[order[1:]] != part[order[:-1]] for part in cell], axis=0)
    places = np.flatnonzero(first)
    votes = np.diff(places, append=len(pool))
    merged = pool[order[places]]
    return replace(merged, votes=votes.astype(np.float32))


Found = tuple[Float32Array, Float32Array, Float32Array, Float32Array, Float32Array]


def edge_sigma(planes: Planes, coarse: bool = False) -> float:
    """Return the scale of edges: fine or coarse, in proportion to the objects."""
    return max(1.0, planes.diameter / (9 if coarse else 20))


def plain_and_ring(edges: Edges, sides: IntArray, patch: Patch) -> tuple[TorqueVolume, TorqueVolume]:
    """Return the torque of patches, and that of patches without their inner part, over the area that is left."""
    inner = 2 * (INNER * sides / 2).astype(int) + 1
    sizes = np.union1d(sides, inner)
    tau = torque_volume(edges, sizes, patch=patch).tau
    whole, within = tau[np.searchsorted(sizes, sides)], np.searchsorted(sizes, inner)
    ring = np.empty_like(whole)
    for k, (side, hole) in enumerate(zip(sides.tolist(), inner.tolist(), strict=True)):
        left = side**2 - hole**2
        np.multiply(whole[k], np.float32(side**2 / left), out=ring[k])
        ring[k] -= np.float32(hole**2 / left) * tau[within[k]]
    return TorqueVolume(whole, sides), TorqueVolume(ring, sides)


def torque_of(planes: Planes, sides: IntArray, plane: str, way: str) -> TorqueVolume:
    """Return the torque volume of one way: square, ring, disk (a ring too), coarse (a ring on coarse edges)."""
    if (plane, way) not in planes.volumes:
        gx, gy = planes.force(plane, edge_sigma(planes, way == "coarse"))
        whole, ring = plain_and_ring(Edges(gy, -gx), sides, "disk" if way == "disk" else "square")
        found = {"square": whole, "ring": ring} if way in ("square", "ring") else {way: ring}
        for name, volume in found.items():
            planes.volumes.setdefault((plane, name), volume)
    return planes.volumes[plane, way]


def _contour_candidates(planes: Planes, sides: IntArray, source: Source) -> Found:
    """Return the closed contours that `find_blobs` looks at, with their scores."""
    reach = (float(sides[0]) / 0.8, float(sides[-1]) / 1.25)
    contours, _, grey = find_contours(planes.grey, Search(reach, sign=source.sign, known="found"))
    diameter = contours.diameter
    contours = contours[(diameter >= sides[0] * 0.8) & (diameter <= sides[-1] * 1.25)]
    score = thing_scores(contours, planes.shape, reach, grey, signed=True)
    order = np.argsort(-score, kind="stable")[: 4 * _most(planes)]
    y, x, radii = _polar(contours.y[order], contours.x[order])
    fit = contours.closure[order].astype(np.float32)
    return y, x, radii, score[order].astype(np.float32), fit


def _polar(y: FloatArray, x: FloatArray) -> tuple[Float32Array, Float32Array, Float32Array]:
    """Return centres and radii in the usual directions of closed contours (n, k) that go once around."""
    if not len(y):
        return np.zeros(0, np.float32), np.zeros(0, np.float32), np.zeros((0, ANGLES), np.float32)
    moments = polygon_moments(y, x)
    v, u = y - moments.y[:, None], x - moments.x[:, None]
    angle, radius = np.arctan2(v, u) % (2 * np.pi), np.hypot(v, u)
    order = np.argsort(angle, axis=1)
    angle, radius = np.take_along_axis(angle, order, axis=1), np.take_along_axis(radius, order, axis=1)
    turn = 2 * np.pi
    angle = np.concatenate([angle[:, -1:] - turn, angle, angle[:, :1] + turn], axis=1)
    radius = np.concatenate([radius[:, -1:], radius, radius[:, :1]], axis=1)
    apart = 3 * turn * np.arange(len(y))[:, None]  # so that all contours are one rising curve
    wanted = np.arange(ANGLES) * (turn / ANGLES) + apart
    radii = np.interp(wanted.ravel(), (angle + apart).ravel(), radius.ravel()).reshape(wanted.shape)
    return moments.y.astype(np.float32), moments.x.astype(np.float32), radii.astype(np.float32)


def _torque_candidates(planes: Planes, sides: IntArray, source: Source) -> Found:
    if source.way == "contours":
        return _contour_candidates(planes, sides, source)
    volume = torque_of(planes, sides, source.plane, source.way)
    found = find_extrema(volume, sign=source.sign, count=_most(planes))
    return _outlined(planes, source, found.y, found.x, found.size / 2, np.abs(found.value))


def _log_candidates(planes: Planes, sides: IntArray, source: Source) -> Found:
    volume = seeds.log_volume(planes.plane(source.plane), sides)
    found = find_extrema(volume, sign=source.sign, count=_most(planes))
    return _outlined(planes, source, found.y, found.x, found.size / 2, np.abs(found.value))


def _radial_candidates(planes: Planes, sides: IntArray, source: Source) -> Found:
    gx, gy = planes.force(source.plane, edge_sigma(planes))
    volume = seeds.radial_volume(gx * source.sign, gy * source.sign, sides)
    found = find_extrema(volume, sign=1, count=_most(planes))
    return _outlined(planes, source, found.y, found.x, found.size / 2, found.value)


def _most(planes: Planes) -> int:
    height, width = planes.shape
    return int(30 + MOST_SEEDS * height * width / planes.diameter**2)


def _outlined(
    planes: Planes, source: Source, y: IntArray, x: IntArray, radius: FloatArray, strength: FloatArray
) -> Found:
    """Return seeds with the outlines of every search."""
    ys, xs, rs = (np.ascontiguousarray(a, np.float32) for a in (y, x, radius))
    if source.kind.endswith("-disc"):
        radii = np.ascontiguousarray(rs[:, None].repeat(ANGLES, axis=1))
        return ys, xs, radii, strength.astype(np.float32), np.zeros(len(ys), np.float32)
    gx, gy = planes.force(source.plane, edge_sigma(planes))
    sign = np.full(len(ys), source.sign, np.int8)
    parts = [_native.find_outlines(gx, gy, ys, xs, rs, sign, ANGLES, *search) for search in SEARCHES]
    radii, means = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    n = len(SEARCHES)
    return np.tile(ys, n), np.tile(xs, n), radii, np.tile(strength.astype(np.float32), n), means


def _region_candidates(planes: Planes, sides: IntArray, source: Source) -> Found:
    plane = planes.plane(source.plane) * source.sign
    find = regions.extremal if source.way == "extremal" else regions.parted
    return find(plane, float(sides[0]), float(sides[-1]), planes.diameter)


FINDERS: dict[str, Callable[[Planes, IntArray, Source], Found]] = {
    "torque": _torque_candidates,
    "threshold": _region_candidates,
    "log": _log_candidates,
    "radial": _radial_candidates,
    "log-disc": _log_candidates,
    "radial-disc": _radial_candidates,
}
