"""Two proposal kinds for controls: the discs that blob detectors give, without an outline of their own."""

from __future__ import annotations

import numpy as np

from imtorque.core.types import Float32Array, IntArray, Sign
from imtorque.detection.blob_filters import log_responses, radial_responses
from imtorque.detection.feature_maps import FeatureMaps
from imtorque.detection.proposal_kinds import PROPOSAL_KINDS, ProposalKind, Source, Variant, seeds
from imtorque.detection.proposals import ANGLES, Outlines, Proposals


def _log_discs(maps: FeatureMaps, sides: IntArray, source: Source) -> Proposals:
    return _discs(maps, sides, source, log_responses(maps.plane(source.plane), sides), source.sign)


def _radial_discs(maps: FeatureMaps, sides: IntArray, source: Source) -> Proposals:
    gx, gy = maps.gradient(source.plane)
    return _discs(maps, sides, source, radial_responses(gx * source.sign, gy * source.sign, sides), 1)


def _discs(maps: FeatureMaps, sides: IntArray, source: Source, responses: Float32Array, sign: Sign) -> Proposals:
    found = seeds(maps, sides, responses, sign)
    radii = np.repeat(found.size[:, None] / 2, ANGLES, axis=1)
    strength = np.abs(found.value).astype(np.float32)
    outlines = Outlines.of_polar(found.y, found.x, radii)
    return Proposals.of(outlines, sign=np.full(len(found), float(source.sign)), strength=strength)


PROPOSAL_KINDS["log-disc"] = ProposalKind(4, {"log-disc": Variant(5, _log_discs)})
PROPOSAL_KINDS["radial-disc"] = ProposalKind(5, {"radial-disc": Variant(8, _radial_discs)})
