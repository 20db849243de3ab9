"""Boundaries from the eigenvectors of an image's own graph: what separates large parts, not small ones (sPb).

P. Arbelaez, M. Maire, C. Fowlkes, J. Malik: Contour detection and hierarchical image segmentation. PAMI 33(5), 2011.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from imtorque.core.types import Float32Array, FloatArray
from imtorque.edges.cues import ORIENTATIONS

LINK_RADIUS = 5  # within which pixels are linked, at the working size; convention of gPb (Arbeláez et al. 2011)
RHO = 0.1  # strength of a contour by which a link falls to 1/e; convention of gPb (Arbeláez et al. 2011)
VECTORS = 16  # eigenvectors; Arbeláez et al. 2011; convention of gPb (Arbeláez et al. 2011)
DERIVATIVE_SIGMA = 1.0  # of the derivatives of eigenvectors, at the working size; untuned
EIGENVALUE_TOLERANCE = 1e-3  # of the eigenvalues; bound: time


def spectral_gradients(thinned: Float32Array) -> Float32Array:
    """Return the spectral boundary strength of each orientation, (8, h, w), from thinned local boundaries in [0, 1].

        sPb(theta) = log(1 + sum over eigenvectors v_k of |derivative of v_k across theta| / sqrt(lambda_k))

    with v_k of (D - W) v = lambda D v, scaled to [0, 1]; W links pixels by the strongest contour between them. The
    logarithm is ours: the first few vectors would drown the others.
    """
    from scipy import ndimage

    values, vectors = contour_eigenvectors(thinned, VECTORS)
    angle = np.pi * np.arange(ORIENTATIONS) / ORIENTATIONS
    total = np.zeros((ORIENTATIONS, *thinned.shape), np.float32)
    for value, vector in zip(values, vectors, strict=True):
        scaled = (vector - vector.min()) / max(float(np.ptp(vector)), 1e-12) / np.sqrt(max(value, 1e-9))
        gy, gx = (
            ndimage.gaussian_filter(scaled, DERIVATIVE_SIGMA, order, mode="reflect") for order in ((1, 0), (0, 1))
        )
        across = np.cos(angle)[:, None, None] * gy - np.sin(angle)[:, None, None] * gx
        total += np.abs(across).astype(np.float32)
    return np.log1p(total)


def contour_eigenvectors(thinned: Float32Array, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the `count` smallest eigenvalues above the first of (D - W) v = lambda D v, and their vectors (n, h, w).

    Fewer where the image has fewer pixels.
    """
    from scipy.sparse.linalg import eigsh

    wanted = min(count + 1, thinned.size - 1)
    if wanted < 2:
        return np.zeros(0), np.zeros((0, *thinned.shape))
    weights = contour_affinities(thinned)
    degree = np.asarray(weights.sum(axis=1)).ravel()
    root = 1 / np.sqrt(np.maximum(degree, 1e-12))
    walk = weights.multiply(root[:, None]).multiply(root[None, :]).tocsr().astype(np.float32)
    start = np.random.default_rng(0).standard_normal(thinned.size).astype(np.float32)
    found, vectors = eigsh(
        walk, k=wanted, which="LA", v0=start, tol=EIGENVALUE_TOLERANCE, ncv=min(thinned.size, 3 * wanted)
    )
    order = np.argsort(-found, kind="stable")[1:]
    shaped = (vectors[:, order] * root[:, None]).T.reshape(len(order), *thinned.shape)
    return 1 - found[order], shaped


def contour_affinities(thinned: Float32Array) -> Any:
    """Return the sparse matrix W of pixels in scan order: exp(-c / rho), c the strongest contour between two pixels.

    A contour lies on the upper and left sides of its pixels, so that no pixel is cut off by its own strength.
    """
    from scipy import sparse

    height, width = thinned.shape
    steps = _step_costs(thinned)
    diagonals, shifts = [], []
    for dy in range(LINK_RADIUS + 1):
        for dx in range(-LINK_RADIUS, LINK_RADIUS + 1):
            if (
                not 0 < dy * dy + dx * dx <= LINK_RADIUS * LINK_RADIUS
                or (dy == 0 and dx < 0)
                or dy >= height
                or abs(dx) >= width
            ):
                continue
            link = np.exp(-_path_cost(steps, dy, dx) / RHO)
            flat = np.zeros((height, width))
            flat[: height - dy, max(0, -dx) : width - max(0, dx)] = link
            diagonals.append(flat.ravel())
            shifts.append(dy * width + dx)
    upper = _from_diagonals(diagonals, shifts, thinned.size)
    return (upper + upper.T + sparse.identity(thinned.size)).tocsr()


def _from_diagonals(diagonals: Sequence[FloatArray], shifts: list[int], size: int) -> Any:
    """Return the matrix with diagonals[i][p] at (p, p + shifts[i])."""
    from scipy import sparse

    rows = np.arange(size)
    found = [(values[values > 0], rows[values > 0], shift) for values, shift in zip(diagonals, shifts, strict=True)]
    data = np.concatenate([values for values, _, _ in found]) if found else np.zeros(0)
    row = np.concatenate([at for _, at, _ in found]) if found else np.zeros(0, int)
    column = np.concatenate([at + shift for _, at, shift in found]) if found else np.zeros(0, int)
    return sparse.csr_matrix((data, (row, column)), shape=(size, size))


def _step_costs(s: Float32Array) -> dict[tuple[int, int], FloatArray]:
    """Return the contour strength on a step from each pixel by (dy, dx); the lower of both paths if diagonal."""
    below, right = np.vstack([s[1:], s[-1:]]), np.hstack([s[:, 1:], s[:, -1:]])
    beyond = np.hstack([below[:, 1:], below[:, -1:]])
    below_left = np.hstack([below[:, :1], below[:, :-1]])
    return {
        (0, 1): right,
        (1, 0): below,
        (1, 1): np.minimum(np.maximum(right, beyond), np.maximum(below, beyond)),
        (1, -1): np.minimum(np.maximum(s, below_left), below),
    }


def _path_cost(steps: dict[tuple[int, int], FloatArray], dy: int, dx: int) -> FloatArray:
    """Return the strongest contour between each pixel and the one at (dy, dx), where that exists."""
    height, width = steps[0, 1].shape
    left, top = max(0, -dx), 0
    shape = height - dy, width - abs(dx)
    count = max(dy, abs(dx))
    places = [(round(i * dy / count), round(i * dx / count)) for i in range(count + 1)]
    cost = np.zeros(shape)
    for (y0, x0), (y1, x1) in pairwise(places):
        step = y1 - y0, x1 - x0
        at = (y0, x0)
        if step == (0, -1):  # the same crossing as from the other side
            step, at = (0, 1), (y0, x0 - 1)
        plane = steps[step][top + at[0] : top + at[0] + shape[0], left + at[1] : left + at[1] + shape[1]]
        cost = np.maximum(cost, plane)
    return cost
