"""Torque as a cue for merging regions, before the ultrametric contours are made.

The contours of gPb are cut low, at `FINEST`. How likely two of the regions left are two is learned from their border
and from what differs between them: their torque, or their colour. These likelihoods then take the place of the border's
strength, and the regions merge anew.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.boundaries.strength import fit_logistic, logistic
from imtorque.core.contribution import dense_contribution
from imtorque.core.torque import torque_coherence
from imtorque.core.types import Edges, FloatArray
from imtorque.edges import OrientedMap
from imtorque.edges.ultrametric import ContourTree
from imtorque.images import CheckedImage
from imtorque.segmentation.region_graph import RegionTree

FINEST = 0.08  # height of gPb's contours below which regions are one: about half of their best threshold; derived
# Of the patches whose coherence is compared; convention: the four largest of BOUNDARY_SIZES.
COHERENCE_SIZES = (17, 31, 55, 97)
BORDER_STEP = 4  # every so many-th piece of a border is learned from; bound: memory
BORDER = (0,)  # places among the features: the border's log odds; format: of the features
TORQUE = tuple(range(1, 2 + len(COHERENCE_SIZES)))  # the border's dense contribution, and how coherences differ
COLOUR = tuple(range(2 + len(COHERENCE_SIZES), 5 + len(COHERENCE_SIZES)))  # how much CIE L, a and b differ
FORMS: dict[str, tuple[int, ...]] = {
    "gpb-ucm+torque": (*BORDER, *TORQUE),
    "control:gpb-ucm+border": BORDER,
    "control:gpb-ucm+colour": (*BORDER, *COLOUR),
    "control:gpb-ucm+colour+torque": (*BORDER, *TORQUE, *COLOUR),
}
Cracks = NDArray[np.int32]


@dataclass(frozen=True)
class Borders:
    """The regions of one image, and the borders between them."""

    regions: NDArray[np.int32]  # (H, W): labels from 0
    right: Cracks  # (H, W): which border runs between a pixel and the one to its right; -1 for none
    down: Cracks  # the same for the one below
    features: FloatArray  # (n, m), of the borders
    separate: FloatArray  # (n,): the share of people to whom the two regions belong apart

    def merged(self, form: Sequence[int], coefficients: FloatArray) -> ContourTree:
        """Return the contours when every border is as strong as these features make it likely."""
        likely = logistic(coefficients[0] + self.features[:, list(form)] @ coefficients[1:])
        strength = np.append(likely, 0).astype(np.float32)  # -1 takes the last
        right, down = strength[self.right], strength[self.down]
        kept, gone, heights = _native.merge_weakest(self.regions, right, down)
        return ContourTree(self.regions, right, down, np.stack([kept, gone], axis=1), heights)


def find_borders(
    image: CheckedImage, oriented: OrientedMap, edges: Edges, tree: ContourTree, people: Sequence[NDArray[np.integer]]
) -> Borders:
    """Return the borders between the regions that are left of a tree at `FINEST`."""
    labels = RegionTree(tree.regions.astype(np.int64), tree.pairs, tree.heights).cut(FINEST)
    right, down, pairs = _numbered(labels)
    weights = _native.weigh_cracks(tree.regions, oriented.strengths)
    support = _near(dense_contribution(edges))
    strength = np.clip(_mean_along(right, down, weights, len(pairs)), 1e-3, 1 - 1e-3)
    planes = [*(torque_coherence(edges, size) for size in COHERENCE_SIZES), *image.lab()]
    means = np.stack([_mean_within(labels, plane) for plane in planes])
    differences = np.abs(means[:, pairs[:, 0]] - means[:, pairs[:, 1]])
    features = np.column_stack(
        [np.log(strength / (1 - strength)), _mean_along(right, down, (support, support), len(pairs)), *differences]
    )
    return Borders(labels.astype(np.int32), right, down, features, _separate(labels, pairs, people))


def fit_forms(borders: Iterable[Borders]) -> dict[str, FloatArray]:
    """Return the coefficients of every form; a border counts by its length."""
    features, shares = [], []
    for one in borders:
        cracks = np.concatenate([one.right[one.right >= 0], one.down[one.down >= 0]])[::BORDER_STEP]
        features.append(one.features[cracks])
        shares.append(one.separate[cracks])
    every, separate = np.concatenate(features), np.concatenate(shares)
    return {name: fit_logistic(every[:, list(form)], separate) for name, form in FORMS.items()}


def _numbered(labels: NDArray[np.int64]) -> tuple[Cracks, Cracks, NDArray[np.int64]]:
    """Return which border runs to the right of each pixel and below it, and the two regions of each border."""
    right, down = (np.full(labels.shape, -1, np.int32) for _ in range(2))
    sides = ((labels[:, :-1], labels[:, 1:]), (labels[:-1], labels[1:]))
    count = int(labels.max()) + 1
    keys = [np.minimum(a, b) * count + np.maximum(a, b) for a, b in sides]
    apart = [a != b for a, b in sides]
    found, which = np.unique(
        np.concatenate([key[at] for key, at in zip(keys, apart, strict=True)]), return_inverse=True
    )
    first = int(apart[0].sum())
    right[:, :-1][apart[0]], down[:-1][apart[1]] = which[:first], which[first:]
    return right, down, np.stack(np.divmod(found, count), axis=1)


def _mean_along(
    right: Cracks, down: Cracks, values: tuple[NDArray[np.floating], NDArray[np.floating]], count: int
) -> FloatArray:
    """Return the mean over each border's cracks."""
    at = [cracks >= 0 for cracks in (right, down)]
    which = np.concatenate([right[at[0]], down[at[1]]])
    own = np.concatenate([values[0][at[0]], values[1][at[1]]])
    total: FloatArray = np.bincount(which, own, count) / np.bincount(which, minlength=count)
    return total


def _mean_within(labels: NDArray[np.int64], plane: NDArray[np.floating]) -> FloatArray:
    """Return the mean over each region."""
    mean: FloatArray = np.bincount(labels.ravel(), plane.ravel()) / np.bincount(labels.ravel())
    return mean


def _near(contribution: FloatArray) -> FloatArray:
    """Return the largest contribution within a pixel: edges lie on pixels, borders between them."""
    from scipy import ndimage

    largest: FloatArray = ndimage.maximum_filter(contribution, 3)
    return largest


def _separate(labels: NDArray[np.int64], pairs: NDArray[np.int64], people: Sequence[NDArray[np.integer]]) -> FloatArray:
    """Return the share of people in whose drawings the two regions of each pair lie mostly in different parts."""
    shares = np.zeros(len(pairs))
    count = int(labels.max()) + 1
    for drawn in people:
        parts = int(drawn.max()) + 1
        table = np.bincount(labels.ravel() * parts + drawn.ravel().astype(np.int64), minlength=count * parts)
        own = table.reshape(count, parts).argmax(axis=1)
        shares += own[pairs[:, 0]] != own[pairs[:, 1]]
    return shares / len(people)
