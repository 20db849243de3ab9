"""Normalised cuts (Shi & Malik, PAMI 22(8), 2000), between pixels, as a baseline for regions.

Pixels near each other are alike by the distance of their colours,

    w(p, q) = exp(-|c_p - c_q|^2 / (2 sigma_c^2) - |p - q|^2 / (2 sigma_x^2)),      |p - q| <= radius

and the leading eigenvectors of D^-1/2 W D^-1/2 place pixels so that those of one region lie in one direction (Yu & Shi,
ICCV 2003); k-means on the unit sphere divides them. It starts from points as far apart as can be, so that the result is
the same every time.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import FloatArray, Planes

KMEANS_ITERATIONS = 30  # bound: of k-means
EIGENVECTOR_TOLERANCE = 1e-3  # of the eigenvalues, relative; bound: time
MIN_AFFINITY = 1e-6  # of a pixel with itself, so that none is alone; bound: rounding


@dataclass(frozen=True)
class NormalisedCut:
    """How alike pixels are: the widths for colour (Lab over 100) and place, and the radius of neighbourhoods."""

    colour: float
    place: float = 4.0
    radius: float = 5.0

    def vectors(self, lab: Planes, count: int) -> FloatArray:
        """Return the `count` leading eigenvectors, (pixels, count)."""
        from scipy import sparse
        from scipy.sparse.linalg import eigsh

        affinity = self._affinity(lab)
        degree = np.asarray(affinity.sum(axis=1)).ravel()
        scale = sparse.diags(1 / np.sqrt(degree))
        # A fixed start makes the eigenvectors the same in every run.
        values, vectors = eigsh(
            scale @ affinity @ scale, k=count, which="LA", v0=np.sqrt(degree), tol=EIGENVECTOR_TOLERANCE
        )
        return np.asarray(vectors[:, np.argsort(-values)] / np.sqrt(degree)[:, None])

    def _affinity(self, lab: Planes) -> Any:
        from scipy import sparse

        height, width = lab.shape[1:]
        number = np.arange(height * width).reshape(height, width)
        heads, tails, weights = [], [], []
        for dy, dx in self._offsets():
            here = np.s_[..., : height - dy, max(0, -dx) : width - max(0, dx)]
            there = np.s_[..., dy:, max(0, dx) : width - max(0, -dx)]
            unlike = ((lab[here] - lab[there]) ** 2).sum(axis=0) / (2 * self.colour**2)
            heads.append(number[here].ravel())
            tails.append(number[there].ravel())
            weights.append(np.exp(-unlike - (dy**2 + dx**2) / (2 * self.place**2)).ravel())
        columns = (np.concatenate(column) for column in (weights, heads, tails))
        weight, head, tail = columns
        half = sparse.coo_matrix((weight, (head, tail)), (number.size, number.size)).tocsr()
        return half + half.T + MIN_AFFINITY * sparse.eye(number.size)

    def _offsets(self) -> list[tuple[int, int]]:
        """Half of the neighbourhood; the other half is its mirror image."""
        reach = int(self.radius)
        return [
            (dy, dx)
            for dy in range(reach + 1)
            for dx in range(-reach, reach + 1)
            if (dy, dx) > (0, 0) and dy**2 + dx**2 <= self.radius**2
        ]


def divide(vectors: FloatArray, count: int) -> NDArray[np.int64]:
    """Return the cluster of each pixel, from its place in the first `count` eigenvectors."""
    from scipy.cluster.vq import kmeans2

    points = vectors[:, :count] / (np.linalg.norm(vectors[:, :count], axis=1, keepdims=True) + 1e-12)
    with warnings.catch_warnings():  # a cluster may stay empty: there are then fewer
        warnings.simplefilter("ignore", UserWarning)
        _, clusters = kmeans2(points, _spread(points, count), iter=KMEANS_ITERATIONS, minit="matrix", missing="warn")
    return np.asarray(clusters, np.int64)


def _spread(points: FloatArray, count: int) -> NDArray[np.float64]:
    """Return points in directions as different as can be, beginning with the middle one."""
    chosen = [points[len(points) // 2]]
    alike = np.abs(points @ chosen[0])
    while len(chosen) < count:
        chosen.append(points[alike.argmin()])
        alike += np.abs(points @ chosen[-1])
    return np.array(chosen, np.float64)
