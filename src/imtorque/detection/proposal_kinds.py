"""The registry of proposal kinds, and the proposals of each.

`PROPOSAL_KINDS` names every kind with its variants. A variant looks at one plane of the feature maps for one sign; that
is a source. Torque, Laplacian of Gaussian and radial symmetry give seeds, a centre and a size each, whose outline is
the closed path around it with the strongest gradient; threshold regions bring their outlines along.

A further kind is one more entry. Codes are features of learned scorers and stand in saved finders: they are never
changed nor used again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from imtorque import _native
from imtorque.core.extrema import find_extrema
from imtorque.core.threads import thread_map
from imtorque.core.types import Edges, Extrema, Float32Array, IntArray, Patch, Sign, TorqueVolume
from imtorque.detection.blob_filters import log_responses, radial_responses
from imtorque.detection.contour_proposals import Search, propose_contours
from imtorque.detection.feature_maps import FeatureMaps, ObjectSizes
from imtorque.detection.proposals import ANGLES, Outlines, Proposals
from imtorque.detection.region_proposals import extremal_regions, split_regions
from imtorque.detection.ring_torque import HOLE, plain_and_ring_torque, size_ladder
from imtorque.detection.scoring import contour_scores

SIZE_STEP = 1.2  # ratio of neighbouring patch sizes of a finder; untuned
SEEDS_PER_AREA = 0.5  # most seeds of one source, in objects that would fill the image; bound: time
PATHS = ((0.5, 1.6, 20, 0.06, 0.10), (0.7, 1.35, 16, 0.12, 0.4))  # low, high, steps, stiffness, attraction; unrecorded
SIGNED_PLANES: tuple[tuple[str, Sign], ...] = (("grey", 1), ("grey", -1), ("pixel_score", 1))


@dataclass(frozen=True)
class Source:
    """One way to propose objects: a kind and its variant, the plane it looks at and the sign it looks for."""

    kind: str
    variant: str
    plane: str
    sign: Sign

    @property
    def name(self) -> str:
        """How saved finders call it."""
        return f"{self.kind}/{self.variant}/{self.plane}/{self.sign:+d}"

    @property
    def codes(self) -> tuple[int, int, bool]:
        """Numbers that learned scorers know it by: of the kind, of the variant, and whether the plane is learned."""
        kind = PROPOSAL_KINDS[self.kind]
        return kind.code, kind.variants[self.variant].code, self.plane == "pixel_score"


@dataclass(frozen=True)
class Variant:
    """One variant of a kind.

    Parameters
    ----------
    code
        Number that learned scorers know it by.
    propose
        What finds it in feature maps, with patches of these sizes.
    planes
        What it looks at.
    slow
        Whether it takes long: then it is begun first.
    """

    code: int
    propose: Callable[[FeatureMaps, IntArray, Source], Proposals]
    planes: tuple[str, ...] = ("grey", "pixel_score")
    slow: bool = False


@dataclass(frozen=True)
class ProposalKind:
    """A kind of proposals, with the number that learned scorers know it by."""

    code: int
    variants: Mapping[str, Variant]


def sources() -> list[Source]:
    """Return the sources of all kinds."""
    return [
        Source(kind, variant, plane, sign)
        for plane, sign in SIGNED_PLANES
        for kind, entry in PROPOSAL_KINDS.items()
        for variant, how in entry.variants.items()
        if plane in how.planes
    ]


def sources_of(kinds: Iterable[str], signs: Sequence[int]) -> list[Source]:
    """Return the sources of these kinds that look for these signs; the learned plane has but one."""
    wanted = set(kinds)
    return [s for s in sources() if s.kind in wanted and (s.plane == "pixel_score" or s.sign in signs)]


def named_sources(names: Sequence[str]) -> list[Source]:
    """Return the sources of these names; ValueError for one that there is not."""
    known = {source.name: source for source in sources()}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"proposals by {unknown[0]}, which this version does not have")
    return [known[name] for name in names]


def propose(maps: FeatureMaps, sizes: ObjectSizes, wanted: Sequence[Source]) -> Proposals:
    """Return the proposals of these sources, one source after the other; `source` is the place in `wanted`."""
    sides = patch_sizes(sizes)
    variants = [PROPOSAL_KINDS[source.kind].variants[source.variant] for source in wanted]
    order = sorted(range(len(wanted)), key=lambda number: not variants[number].slow)
    parts = thread_map(*(partial(variants[number].propose, maps, sides, wanted[number]) for number in order))
    found = dict(zip(order, parts, strict=True))
    joined = Proposals.join([found[number] for number in range(len(wanted))])
    joined.source[:] = np.repeat(np.arange(len(wanted)), [len(found[number]) for number in range(len(wanted))])
    return joined


def patch_sizes(sizes: ObjectSizes) -> IntArray:
    """Return odd patch sizes over the range of objects at the working size."""
    low, high = 0.8 * sizes.smallest / sizes.factor, 1.25 * sizes.largest / sizes.factor
    steps = max(2, math.ceil(math.log(high / low) / math.log(SIZE_STEP)))
    return size_ladder(max(low, 5), max(high, 11), steps)


def torque_responses(maps: FeatureMaps, sides: IntArray, plane: str, variant: str) -> Float32Array:
    """Return the torque of one variant, (S, H, W): square, ring, disk (a ring too), coarse (a ring on coarse edges)."""
    if (plane, variant) not in maps.torque:
        gx, gy = maps.gradient(plane, coarse=variant == "coarse")
        patch: Patch = "disk" if variant == "disk" else "square"
        whole, ring = plain_and_ring_torque(Edges(gy, -gx), sides, HOLE, patch)
        found = {"square": whole, "ring": ring} if variant in ("square", "ring") else {variant: ring}
        for name, responses in found.items():
            maps.torque.setdefault((plane, name), responses)
    return maps.torque[plane, variant]


def _torque(maps: FeatureMaps, sides: IntArray, source: Source) -> Proposals:
    return _outlined(maps, sides, source, torque_responses(maps, sides, source.plane, source.variant), source.sign)


def _log(maps: FeatureMaps, sides: IntArray, source: Source) -> Proposals:
    return _outlined(maps, sides, source, log_responses(maps.plane(source.plane), sides), source.sign)


def _radial(maps: FeatureMaps, sides: IntArray, source: Source) -> Proposals:
    gx, gy = maps.gradient(source.plane)
    return _outlined(maps, sides, source, radial_responses(gx * source.sign, gy * source.sign, sides), 1)


def _extremal(maps: FeatureMaps, sides: IntArray, source: Source) -> Proposals:
    return _regions(extremal_regions, maps, sides, source)


def _split(maps: FeatureMaps, sides: IntArray, source: Source) -> Proposals:
    return _regions(split_regions, maps, sides, source)


def _contours(maps: FeatureMaps, sides: IntArray, source: Source) -> Proposals:
    """Return the closed contours that `find_blobs` looks at, with their scores as strength."""
    reach = (float(sides[0]) / 0.8, float(sides[-1]) / 1.25)
    contours, _, grey = propose_contours(maps.grey, Search(reach, sign=source.sign, known="found"))
    diameter = contours.diameter
    contours = contours[(diameter >= sides[0] * 0.8) & (diameter <= sides[-1] * 1.25)]
    score = contour_scores(contours, maps.shape, reach, grey, signed=True)
    order = np.argsort(-score, kind="stable")[: 4 * max_seeds(maps)]
    found = replace(contours[order], score=score[order])
    outlines = Outlines.of_polar(*found.outlines.polar)
    strength, closure = found.score.astype(np.float32), found.closure.astype(np.float32)
    return Proposals.of(outlines, sign=found.sign, strength=strength, closure=closure)


def seeds(maps: FeatureMaps, sides: IntArray, responses: Float32Array, sign: Sign) -> Extrema:
    """Return the strongest extrema of a filter's responses over place and size, as many as objects may be there."""
    return find_extrema(TorqueVolume(responses, sides), sign=sign, count=max_seeds(maps))


def max_seeds(maps: FeatureMaps) -> int:
    """Return how many seeds of one source are enough for an image of this size, with objects of this size."""
    height, width = maps.shape
    return int(30 + SEEDS_PER_AREA * height * width / maps.diameter**2)


def _outlined(maps: FeatureMaps, sides: IntArray, source: Source, responses: Float32Array, sign: Sign) -> Proposals:
    """Return seeds with the outlines of every search for a closed path."""
    found = seeds(maps, sides, responses, sign)
    n = len(PATHS)
    y, x, radius = (np.ascontiguousarray(a, np.float32) for a in (found.y, found.x, found.size / 2))
    gx, gy = maps.gradient(source.plane)
    signs = np.full(len(y), source.sign, np.int8)
    parts = [_native.find_outlines(gx, gy, y, x, radius, signs, ANGLES, *path) for path in PATHS]
    radii, means = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    outlines = Outlines.of_polar(np.tile(y, n), np.tile(x, n), radii)
    strength = np.tile(np.abs(found.value).astype(np.float32), n)
    return Proposals.of(outlines, sign=np.full(n * len(y), float(source.sign)), strength=strength, closure=means)


def _regions(
    find: Callable[..., tuple[Float32Array, ...]], maps: FeatureMaps, sides: IntArray, source: Source
) -> Proposals:
    plane = maps.plane(source.plane) * source.sign
    y, x, radii, strength = find(plane, float(sides[0]), float(sides[-1]), maps.diameter)
    return Proposals.of(Outlines.of_polar(y, x, radii), sign=np.full(len(y), float(source.sign)), strength=strength)


PROPOSAL_KINDS: dict[str, ProposalKind] = {
    "torque": ProposalKind(
        0,
        {
            "square": Variant(10, _torque, ("grey",)),
            "ring": Variant(9, _torque),
            "disk": Variant(2, _torque, slow=True),
            "coarse": Variant(0, _torque, ("grey",)),
            "contours": Variant(1, _contours, ("grey",), slow=True),
        },
    ),
    "threshold": ProposalKind(1, {"extremal": Variant(3, _extremal), "split": Variant(6, _split, slow=True)}),
    "log": ProposalKind(2, {"log": Variant(4, _log, slow=True)}),
    "radial": ProposalKind(3, {"radial": Variant(7, _radial, slow=True)}),
}
