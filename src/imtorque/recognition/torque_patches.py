"""Torque patches and their multiscale torque descriptor (Sec. 4.4 of the paper: MTP and MST)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from imtorque import _native
from imtorque.core.extrema import Neighbourhood, find_extrema
from imtorque.core.types import Edges, Extrema, Float32Array, Image, IntArray, Patch
from imtorque.edges import detect_edges
from imtorque.recognition.local import Descriptors, Patches, unit_rows
from imtorque.recognition.working_image import WORKING_SIDE, WorkingImage, working_image, working_images

Force = Literal["gradient", "unit"]
Sign = Literal[1, -1]

# Chosen by looking, on splits of Caltech-101 (docs/measured/recognition.md).
SMALLEST_PATCH = 5  # pixels
SIZE_GROWTH = 1.16  # from one patch size to the next; chosen by looking, as SMALLEST_PATCH was
TYPICAL_COLOUR = 0.05  # gradient of a colour contrast that becomes force 1, in parts of the full range; chosen likewise


@dataclass(eq=False, repr=False)
class TorquePatches(TransformerMixin, BaseEstimator):
    """Find the patches around torque extrema, and patches of a grid where asked for.

    The paper's detector (MTP): maxima are bright patches, minima dark ones.

    Parameters
    ----------
    force
        "gradient": every pixel pulls with its gradient, over the image's 99 % quantile of it. "unit": the pixels of
        all of Canny's edges have unit force, as in the paper.
    sigma
        Smoothing before the gradient is taken, in pixels.
    count
        How many extrema at most, the strongest of both signs; None for all.
    threshold
        Smallest |torque| of an extremum.
    sign
        Of the extrema found, keep those of this sign, +1 or -1; None keeps both.
    largest
        Largest patch, as a share of the image's shorter side.
    patch
        As for `find_extrema`, of the patches that are squares; their descriptors are of square regions in any case.
    aspects
        Heights of the patches, in parts of their widths: 1 for squares, others for rectangles of about their areas,
        whose extrema are found apart.
    neighbourhood
        As for `find_extrema`.
    most_pixels
        Of the extrema found, keep those of patches with at most this many pixels to a side; None keeps all.
    grid
        Sizes of patches that lie on a grid whatever the image shows, odd.
    step
        Distance between the grid's patches, in pixels.
    colour
        Whether the patches are described by the gradients of two colour contrasts, red to green and yellow to blue,
        instead of by the edges they were found in.
    longest
        Images are reduced to this many pixels on their longer side.
    """

    force: Force = "gradient"
    sigma: float = 1.0
    count: int | None = 1500
    threshold: float = 0.02
    sign: Sign | None = None
    largest: float = 0.5
    patch: Patch = "square"
    aspects: Sequence[float] = (1.0,)
    neighbourhood: Neighbourhood = "box"
    most_pixels: int | None = None
    grid: Sequence[int] = ()
    step: int = 12
    colour: bool = False
    longest: int = WORKING_SIDE

    def fit(self, images: Any = None, y: Any = None) -> Self:  # noqa: ARG002
        """Do nothing: there is nothing to learn."""
        return self

    def transform(self, images: Iterable[Image | WorkingImage]) -> list[Patches]:
        """Return the patches of every image."""
        return [self.detect(image) for image in working_images(images, self.longest)]

    def detect(self, image: Image | WorkingImage) -> Patches:
        """Return the patches of one image: extrema, strongest first, then the grid."""
        checked = working_image(image, self.longest)
        edges = self._edges(checked.grey)
        extrema = self._extrema(edges)
        height, width = edges.shape
        ys, xs = (np.arange(self.step // 2, n, self.step) for n in (height, width))
        sizes, gy, gx = (a.ravel() for a in np.meshgrid(np.asarray(self.grid, np.int64), ys, xs, indexing="ij"))
        if extrema.size.ndim == 2:
            sizes = np.stack([sizes, sizes], axis=1)
        return Patches(
            edges,
            np.concatenate([extrema.y, gy]).astype(np.int64),
            np.concatenate([extrema.x, gx]).astype(np.int64),
            np.concatenate([extrema.size, sizes]).astype(np.int64),
            self._colours(checked) if self.colour else (),
        )

    def __sklearn_is_fitted__(self) -> bool:
        """Return True: there is nothing to fit."""
        return True

    def _edges(self, grey: Float32Array) -> Edges:
        if self.force == "unit":
            return detect_edges(grey, sigma=self.sigma)
        if self.force != "gradient":
            raise ValueError(f'force must be "gradient" or "unit", got {self.force!r}')
        return gradient_forces(grey, self.sigma)

    def _colours(self, image: WorkingImage) -> tuple[Edges, ...]:
        return tuple(gradient_forces(plane, self.sigma, typical=TYPICAL_COLOUR) for plane in image.contrasts)

    def _extrema(self, edges: Edges) -> Extrema:
        if self.sign not in (None, 1, -1):
            raise ValueError(f"sign must be +1, -1 or None, got {self.sign!r}")
        sizes = patch_sizes(edges.shape, self.largest)
        found = joined_extrema([self._extrema_of(edges, sizes, aspect) for aspect in self.aspects])[: self.count]
        keep = np.abs(found.value) >= self.threshold
        if self.sign is not None:
            keep &= np.sign(found.value) == self.sign
        if self.most_pixels is not None:
            keep &= np.maximum(found.height, found.width) <= self.most_pixels
        return found[keep]

    def _extrema_of(self, edges: Edges, sizes: IntArray, aspect: float) -> Extrema:
        square = aspect == 1
        return find_extrema(
            edges,
            sizes if square else rectangles(sizes, aspect),
            count=self.count,
            patch=self.patch if square else "square",
            neighbourhood=self.neighbourhood,
        )


@dataclass(eq=False, repr=False)
class MultiscaleTorque(TransformerMixin, BaseEstimator):
    """Describe patches by the torque of the regions in them (the paper's MST), as rows of length 1.

    Parameters
    ----------
    regions, distances, window, align
        As for `multiscale_torque`.
    signs
        Whether the torque counts with its sign, or only its strength: then a dark patch on bright ground has the
        descriptor of a bright patch on dark ground.
    least
        Patches whose descriptor is shorter than this, before it is scaled to length 1, are left out as empty.
    """

    regions: Sequence[float] = (1 / 8, 1 / 4, 1 / 2)
    distances: Sequence[float] = (1 / 8, 1 / 4, 3 / 8, 1 / 2)
    window: float = 1.0
    align: bool = False
    signs: bool = True
    least: float = 1e-3

    def fit(self, patches: Any = None, y: Any = None) -> Self:  # noqa: ARG002
        """Do nothing: there is nothing to learn."""
        return self

    def transform(self, patches: Iterable[Patches]) -> list[Descriptors]:
        """Return the descriptors of every image's patches."""
        return [self.describe(one) for one in patches]

    def describe(self, patches: Patches) -> Descriptors:
        """Return the descriptors of one image's patches."""
        layout: dict[str, Any] = {"regions": self.regions, "distances": self.distances}
        fields = [
            multiscale_torque(edges, patches, window=self.window, align=self.align, **layout)
            for edges in patches.described
        ]
        raw = fields[0] if len(fields) == 1 else np.concatenate(fields, axis=1)
        vectors, kept = unit_rows(raw if self.signs else np.abs(raw), self.least)
        return Descriptors(vectors, patches.y[kept] + 0.5, patches.x[kept] + 0.5, patches.edges.shape)

    def __sklearn_is_fitted__(self) -> bool:
        """Return True: there is nothing to fit."""
        return True


def multiscale_torque(
    edges: Edges,
    patches: Patches | Extrema,
    *,
    regions: Sequence[float] = (1 / 8, 1 / 4, 1 / 2),
    distances: Sequence[float] = (1 / 8, 1 / 4, 3 / 8, 1 / 2),
    window: float = 1.0,
    align: bool = False,
) -> Float32Array:
    """Describe patches by the torque of regions of several sizes along eight directions (the paper's MST).

    Around the centre of a patch of side s, and around the points at `distances` times s from it in eight directions,
    the torque of square regions of `regions` times s is taken, each about its own centre. Of rectangles likewise.

    Parameters
    ----------
    edges
        Edge vectors.
    patches
        What `TorquePatches` or `find_extrema` found: squares, or rectangles, whose regions are rectangles of their
        shape and whose points lie as far out as the patch is wide or high there.
    regions
        Sides of the regions, in parts of the patch's; at least 3 pixels.
    distances
        Of the points from the centre, in parts of the patch's side.
    window
        The patch's side is taken as so many times what it is.
    align
        Whether the directions begin with the one nearest to the centroid of the patch's edges, as in the paper, instead
        of with that of the x axis. Then a patch that is turned by 45 degrees has the same descriptor, nearly.

    Returns
    -------
    ndarray
        (n, regions * (1 + 8 * distances)) float32: for each size of region the centre's torque, then those of each
        direction by distance. Directions go from the x axis towards the y axis (down).

    Examples
    --------
    >>> from imtorque import find_extrema, gradient_edges
    >>> image = np.zeros((60, 60))
    >>> image[20:41, 15:36] = 1
    >>> edges = gradient_edges(image)
    >>> multiscale_torque(edges, find_extrema(edges, sizes=[21, 23], count=1)).shape
    (1, 99)
    """
    if not (math.isfinite(window) and 0 < window <= 100):
        raise ValueError(f"window must be positive and at most 100, got {window}")
    sizes = 2 * np.maximum(1, np.rint((window * np.asarray(patches.size) - 1) / 2)).astype(np.int64) + 1
    heights, widths = (np.ascontiguousarray(sides) for sides in (sizes.T if sizes.ndim == 2 else (sizes, sizes)))
    y, x = (np.ascontiguousarray(a, dtype=np.int64) for a in (patches.y, patches.x))
    inside, away = _shares("regions", regions), _shares("distances", distances)
    return _native.multiscale_torque(edges.fx, edges.fy, edges.steps, y, x, heights, widths, inside, away, align)


def gradient_forces(grey: Float32Array, sigma: float, typical: float | None = None) -> Edges:
    """Return the smoothed image's whole gradient as forces, over its 99 % quantile or a constant."""
    if not (math.isfinite(sigma) and 0 < sigma <= 1000):
        raise ValueError(f"sigma must be positive and at most 1000, got {sigma}")
    gx, gy = _native.smoothed_gradient(np.ascontiguousarray(grey), sigma)
    unit = float(np.quantile(np.hypot(gx, gy), 0.99)) if typical is None else typical
    scale = np.float32(1 / unit if unit > 0 else 1.0)
    return Edges(gy * scale, -gx * scale)


def patch_sizes(shape: tuple[int, int], largest: float) -> IntArray:
    """Return odd sizes, at least 2 and about 16 % apart, up to a part of the image's shorter side."""
    if not (math.isfinite(largest) and 0 < largest <= 4):
        raise ValueError(f"largest must be positive and at most 4, got {largest}")
    limit = max(SMALLEST_PATCH, largest * min(shape))
    sizes = [SMALLEST_PATCH]
    while (following := max(sizes[-1] + 2, 2 * math.floor(sizes[-1] * SIZE_GROWTH / 2) + 1)) <= limit:
        sizes.append(following)
    return np.asarray(sizes, dtype=np.int64)


def rectangles(sizes: IntArray, aspect: float) -> IntArray:
    """Return heights and widths, (n, 2), of rectangles of about the areas of squares; both odd, each pair once."""
    if not (math.isfinite(aspect) and 1 / 16 <= aspect <= 16):
        raise ValueError(f"aspects must be from 1/16 to 16, got {aspect}")
    sides = np.outer(sizes, [math.sqrt(aspect), 1 / math.sqrt(aspect)])
    odd = 2 * np.maximum(1, np.rint((sides - 1) / 2)).astype(np.int64) + 1
    return odd[np.sort(np.unique(odd, axis=0, return_index=True)[1])]


def joined_extrema(parts: Sequence[Extrema]) -> Extrema:
    """Return all of them, strongest first; of rectangles where not all are squares."""
    if not parts:
        raise ValueError("aspects must be at least one, got none")
    if len({part.size.ndim for part in parts}) > 1:
        parts = [Extrema(p.y, p.x, np.stack([p.height, p.width], axis=1), p.value) for p in parts]
    return Extrema(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("y", "x", "size", "value")))


def _shares(name: str, values: Sequence[float]) -> NDArray[np.float64]:
    shares = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if shares.ndim != 1 or not len(shares) or not np.all(np.isfinite(shares) & (shares > 0) & (shares <= 100)):
        raise ValueError(f"{name} must be positive numbers up to 100, at least one, got {values}")
    return shares
