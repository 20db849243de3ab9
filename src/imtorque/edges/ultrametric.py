"""Closed contours from any oriented boundary map: the oriented watershed and the ultrametric contour map (OWT-UCM).

P. Arbelaez, M. Maire, C. Fowlkes, J. Malik: Contour detection and hierarchical image segmentation. PAMI 33(5), 2011.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.types import Edges, Float32Array
from imtorque.edges.maps import edges_from_map
from imtorque.edges.oriented import OrientedMap
from imtorque.images import CheckedImage

MIN_BOUNDARY_PROBABILITY = np.float32(0.001)  # of a boundary; lower ones count as this one
LOGIT_OFFSET = np.log((1 - MIN_BOUNDARY_PROBABILITY) / MIN_BOUNDARY_PROBABILITY)  # derived: lifts the least logit to 0


@dataclass(frozen=True, eq=False)
class ContourTree:
    """Regions between closed contours, and the heights at which they become one.

    Parameters
    ----------
    regions
        Shape (H, W): labels from 0 of the smallest regions.
    right, down
        Shape (H, W): the height at which a pixel's region and that of the pixel to its right, or below, become one; 0
        where they are one from the start or there is no such pixel.
    pairs
        (n - 1, 2): in each step the second region joins the first.
    heights
        (n - 1,): of the steps; never falling.
    """

    regions: NDArray[np.int32]
    right: Float32Array
    down: Float32Array
    pairs: NDArray[np.int32]
    heights: Float32Array

    def contours(self) -> Float32Array:
        """Return the ultrametric contour map at double size, (2H + 1, 2W + 1).

        Pixels lie at odd rows and columns, contours between them: what the Berkeley benchmark calls ucm2. Cut at a
        height, its contours are closed.
        """
        height, width = self.regions.shape
        doubled = np.zeros((2 * height + 1, 2 * width + 1), np.float32)
        doubled[1::2, 2::2], doubled[2::2, 1::2] = self.right, self.down
        corners = doubled[2:-1:2, 2:-1:2]
        sides = doubled[1:-2:2, 2:-1:2], doubled[3::2, 2:-1:2], doubled[2:-1:2, 1:-2:2], doubled[2:-1:2, 3::2]
        corners[:] = np.maximum.reduce(sides)
        # Contours go on through the frame, so that regions do not meet there.
        doubled[0], doubled[-1] = doubled[1], doubled[-2]
        doubled[:, 0], doubled[:, -1] = doubled[:, 1], doubled[:, -2]
        return doubled

    def contour_map(self) -> Float32Array:
        """Return the contours at the image's size, (H, W): a pixel has those at its lower right corner."""
        return np.ascontiguousarray(self.contours()[2::2, 2::2])


def ultrametric_contours(oriented: OrientedMap) -> ContourTree:
    """Return the closed contours of an oriented boundary map, each with its strength.

    The basins of the map's watershed are the smallest regions. Arcs between them are cut into straight pieces, and each
    piece takes the strength of its own orientation. Then the two regions of the weakest border become one, again and
    again. A border is as strong as the mean of its logits, in which detectors add up their cues: in the mean of
    likelihoods the strongest places alone would decide.

    Parameters
    ----------
    oriented
        Of any detector: `boundary_map`, or `OrientedMap.from_map` of a network's output.

    Examples
    --------
    >>> strengths = np.zeros((8, 9, 9), np.float32)
    >>> strengths[4, :, 4] = 0.8  # upright
    >>> tree = ultrametric_contours(OrientedMap(strengths))
    >>> len(tree.heights), round(float(tree.heights[0]), 2)
    (1, 0.8)
    """
    regions = _native.watershed(oriented.strength)
    right, down = _native.weigh_cracks(regions, evidence_above_least(oriented.strengths))
    kept, gone, heights = _native.merge_weakest(regions, right, down)
    right, down, heights = (likelihood_above_least(evidence) for evidence in (right, down, heights))
    return ContourTree(regions, right, down, np.stack([kept, gone], axis=1), heights)


def evidence_above_least(likely: Float32Array) -> Float32Array:
    """Return logits above that of MIN_BOUNDARY_PROBABILITY, 0 below: merging needs strengths that are not negative."""
    bounded = np.clip(likely, MIN_BOUNDARY_PROBABILITY, 1 - MIN_BOUNDARY_PROBABILITY)
    evidence: Float32Array = np.log(bounded / (1 - bounded)) + LOGIT_OFFSET
    return evidence


def likelihood_above_least(evidence: Float32Array) -> Float32Array:
    """Invert `evidence_above_least`; 0, no contour, stays 0."""
    likely: Float32Array = np.where(evidence > 0, 1 / (1 + np.exp(LOGIT_OFFSET - evidence)), np.float32(0))
    return likely


def contour_edges(tree: ContourTree, oriented: OrientedMap, image: CheckedImage, threshold: float) -> Edges:
    """Return the contours above a threshold as edge vectors for torque, as strong as they are."""
    return edges_from_map(
        tree.contour_map(),
        image=image,
        orientation=oriented.angle,
        threshold=threshold,
        force="strength",
        thin=False,
    )
