"""The boundary detectors pb, mPb and gPb, from their papers: oriented maps of boundary probabilities.

D. R. Martin, C. C. Fowlkes, J. Malik: Learning to detect natural image boundaries using local brightness, color, and
texture cues. PAMI 26(5), 2004. P. Arbelaez, M. Maire, C. Fowlkes, J. Malik: Contour detection and hierarchical image
segmentation. PAMI 33(5), 2011.

The numbers of `LEARNED` were learned on Berkeley's training images: weights climbed F on 20 of them, scale and
intercept are a logistic regression on 40. Those of `LEARNED_GLOBAL` climbed the mean of gPb's F and that of its closed
contours on 100, from mPb's, by factors of 1.4 and then 1.2. The same steps, with as many images as wanted, are

    imtorque reproduce detectors --data DIR --set learn=20

whose report has the numbers that it found.
"""

import math
from dataclasses import dataclass

import numpy as np

from imtorque.core.resizing import shrunk
from imtorque.core.types import Float32Array, FloatArray
from imtorque.edges.cues import Cue, combined_cues, filled_in
from imtorque.edges.oriented import OrientedMap, probabilities
from imtorque.edges.spectral import spectral_gradients
from imtorque.images import CheckedImage

# Half-discs' radii in pixels; those of mPb are of Arbeláez et al. 2011.
PB_CUES = (Cue("brightness", 5), Cue("a", 10), Cue("b", 10), Cue("texture", 10))
MPB_CUES = (
    *(Cue("brightness", radius) for radius in (3, 5, 10)),
    *(Cue(channel, radius) for channel in ("a", "b", "texture") for radius in (5, 10, 20)),
)
MAX_NODES = 60_000  # bound: of the graph whose eigenvectors are solved for, on time and memory


@dataclass(frozen=True)
class Combination:
    """A logistic combination of cues: what a local detector has learned."""

    cues: tuple[Cue, ...]
    intercept: float
    weights: tuple[float, ...]

    def evidence(self, image: CheckedImage) -> FloatArray:
        """Return the logit of a boundary of each orientation, (8, H, W)."""
        return evidence_by(image, self)[0]


@dataclass(frozen=True)
class GlobalCombination:
    """How gPb combines the local cues with the spectral gradients, which follow from mPb."""

    local: Combination
    spectral: float


# Learned from Berkeley's training images by `imtorque reproduce detectors --set learn=N`: pb from 20, mPb from 40, gPb
# from 100 in smaller steps (docs/measured/base_detectors.md).
LEARNED: dict[str, Combination] = {
    "pb": Combination(PB_CUES, -4.272, (2.637, 5.292, 3.175, 3.426)),
    "mpb": Combination(
        MPB_CUES, -4.439, (1.033, 0.136, 2.766, 0.0, 3.646, 0.161, 0.952, 0.561, 2.167, 0.595, 1.337, 2.346)
    ),
}
LEARNED_GLOBAL = GlobalCombination(
    Combination(MPB_CUES, -4.277, (0.819, 0.0, 1.306, 0.0, 2.41, 0.106, 1.057, 0.371, 1.023, 0.393, 1.237, 0.923)),
    spectral=0.661,
)


def pb_map(image: CheckedImage) -> OrientedMap:
    """Return pb: brightness, colour and texture at one scale."""
    return probabilities(LEARNED["pb"].evidence(image))


def mpb_map(image: CheckedImage) -> OrientedMap:
    """Return mPb: brightness, colour and texture at three scales."""
    return probabilities(LEARNED["mpb"].evidence(image))


def gpb_map(image: CheckedImage) -> OrientedMap:
    """Return gPb: mPb with the eigenvectors of the image's graph."""
    linking, local = evidence_by(image, LEARNED["mpb"], LEARNED_GLOBAL.local)
    return probabilities(global_evidence(linking, local, LEARNED_GLOBAL.spectral))


def evidence_by(image: CheckedImage, *learned: Combination) -> list[FloatArray]:
    """Return the logits by each of several combinations of the same cues, whose gradients are computed once."""
    cues, weightings = learned[0].cues, np.array([combination.weights for combination in learned])
    known = np.array([not (image.is_grey and cue.channel in ("a", "b")) for cue in cues])
    used = np.flatnonzero(known & weightings.any(axis=0))
    sums = combined_cues(image, [cues[i] for i in used], weightings[:, used].tolist())
    return [total + np.float32(combination.intercept) for total, combination in zip(sums, learned, strict=True)]


def global_evidence(linking: FloatArray, local: FloatArray, spectral: float) -> FloatArray:
    """Return gPb's logits from its local ones, (8, H, W), and from mPb's, by which pixels are linked."""
    return local + np.float32(spectral) * spectral_of(linking)


def spectral_of(local: FloatArray) -> Float32Array:
    """Return the spectral gradients that follow from mPb's logits, (8, H, W).

    They are solved for at half the size, or less where the image is large.
    """
    thinned = probabilities(local).thinned()
    factor = max(2, math.ceil(math.sqrt(thinned.size / MAX_NODES)))
    small = shrunk(thinned.astype(np.float64), factor, np.max).astype(np.float32)
    return filled_in(spectral_gradients(small), factor, (thinned.shape[0], thinned.shape[1]))
