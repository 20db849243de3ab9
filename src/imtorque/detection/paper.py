"""The paper's form of blobs: extrema of Canny edges in square patches (Sec. 3.3)."""

from __future__ import annotations

import numpy as np

from imtorque.core.extrema import find_extrema, suppress_overlaps
from imtorque.core.torque import default_sizes
from imtorque.core.types import Edges, FloatArray, Image, IntArray, Sign, Sizes, check_sizes
from imtorque.detection.noise import noise_level
from imtorque.detection.proposals import ANGLES, Outlines, Proposals
from imtorque.edges import detect_edges
from imtorque.images import grey_image


def paper_proposals(
    image: Image | Edges, sizes: Sizes | tuple[float, float] | None, sign: Sign | None, threshold: float, overlap: float
) -> Proposals:
    """Return the patches of torque extrema, after overlap suppression, as proposals.

    Parameters
    ----------
    image
        An image, whose Canny edges are taken, or edges.
    sizes
        A tuple of two as a range, or the sizes themselves; by default `default_sizes`.
    sign
        +1 for bright objects, -1 for dark ones, None for both.
    threshold
        Smallest |torque|.
    overlap
        Largest part of the smaller patch's area that two patches of one sign may share.
    """
    edges = image if isinstance(image, Edges) else detect_edges(image)
    if sizes is None:
        sizes = default_sizes(edges.shape)
    elif isinstance(sizes, tuple) and len(sizes) == 2:
        low, high = (int(np.asarray(v).item()) for v in sizes)
        sizes = default_sizes(edges.shape, smallest=2 * (low // 2) + 1, largest=max(2 * (low // 2) + 1, high))
    extrema = find_extrema(edges, sizes=check_sizes(np.asarray(sizes)), sign=sign)
    kept = suppress_overlaps(extrema[np.abs(extrema.value) >= threshold], overlap)
    y, x = _squares(kept.size / 2)
    inside = outside = noise = np.full(len(kept), np.nan)
    if not isinstance(image, Edges):
        inside, outside, noise = _grey_values(image, kept.y, kept.x, kept.size)
    value = kept.value.astype(np.float64)
    return Proposals.of(
        Outlines.of_points(kept.y[:, None] + y, kept.x[:, None] + x),
        sign=np.sign(value),
        strength=np.abs(value),
        closure=np.abs(value),
        size=kept.size.astype(np.float64),
        inside=inside,
        outside=outside,
        noise=noise,
    )


def _squares(half: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return points along the sides of squares about the origin, y and x, in the order of rising angle."""
    angle = np.arange(ANGLES) * (2 * np.pi / ANGLES)
    sine, cosine = np.sin(angle), np.cos(angle)
    reach = 1 / np.maximum(np.abs(sine), np.abs(cosine))
    return half[:, None] * (sine * reach), half[:, None] * (cosine * reach)


def _grey_values(image: Image, y: IntArray, x: IntArray, size: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean grey in each patch, around it up to 1.4 times its side, and the noise."""
    grey = grey_image(image)
    table = np.zeros((grey.shape[0] + 1, grey.shape[1] + 1))
    table[1:, 1:] = grey.astype(np.float64).cumsum(axis=0).cumsum(axis=1)

    def sums(half: FloatArray | IntArray) -> tuple[FloatArray, FloatArray]:
        y0, y1 = (np.clip(v, 0, grey.shape[0]).astype(int) for v in (y - half, y + half + 1))
        x0, x1 = (np.clip(v, 0, grey.shape[1]).astype(int) for v in (x - half, x + half + 1))
        return table[y1, x1] - table[y0, x1] - table[y1, x0] + table[y0, x0], (y1 - y0) * (x1 - x0)

    inner, pixels = sums(size // 2)
    outer, more = sums(np.ceil(0.7 * size))
    noise = np.full(len(size), max(noise_level(grey), 1e-3 * float(np.ptp(grey)), 1e-12))
    return inner / pixels, (outer - inner) / np.maximum(more - pixels, 1), noise
