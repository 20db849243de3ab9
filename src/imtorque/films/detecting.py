"""What is looked for in a frame: extrema or blobs. Any function from a picture to `Extrema` can take their place.

Every frame is looked at by itself, so that what is found does not depend on which frames came before.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from imtorque._types import Extrema, Image, Sign
from imtorque.edges import SQRT2, detect_edges
from imtorque.edges.canny import STEEPEST
from imtorque.extrema import find_extrema, suppress_overlaps
from imtorque.finding import Blobs, find_blobs
from imtorque.images import Picture
from imtorque.moments import openness

Finder = Callable[[Image], Extrema]

CANDIDATES = 8  # extrema looked at for each that is wanted: overlaps, lines and corners are among them
ABOVE_NOISE = 4.0, 8.0  # thresholds of edges, in standard deviations of the gradient's noise
LEAST_NOISE = 0.5 / 255  # of greys: what eight bits leave of any picture
SAMPLED = 7, 8  # of how many rows and columns one tells the noise


@dataclass(frozen=True)
class FrameExtrema:
    """The strongest extrema of the torque, around closed contours that do not overlap: as fast as single pictures.

    Edges count where they stand out of the frame's own noise. With thresholds by quantile, as single pictures have
    them, an empty frame would be full of noise, and things would come and go with what else there is.

    Parameters
    ----------
    sizes
        Patch sizes, odd and increasing; `default_sizes` of the frame where they are left out.
    sign
        +1 for bright things, -1 for dark ones, None for both.
    sigma
        Smoothing before edges are detected, in pixels.
    threshold
        Least |torque|.
    openness
        Largest openness of the contour (`moments.openness`): lines have 1, bars 1, corners 0.7, three sides of a square
        0.33, a closed contour 0.
    overlap
        Largest part of the smaller patch that two of one sign may share.
    count
        How many to find at most.
    """

    sizes: tuple[int, ...] | None = None
    sign: Sign | None = None
    sigma: float = SQRT2
    threshold: float = 0.35
    openness: float = 0.5
    overlap: float = 0.3
    count: int = 50

    def __call__(self, image: Image) -> Extrema:
        """Find them in one frame."""
        picture = Picture(image)
        # Of Gaussian derivatives of white noise, which central differences come near.
        noise = noise_of(picture) / (math.sqrt(8 * math.pi) * self.sigma**2)
        low, high = (min(times * noise, STEEPEST) for times in ABOVE_NOISE)
        edges = detect_edges(picture, sigma=self.sigma, low=low, high=high)
        found = find_extrema(edges, self.sizes, sign=self.sign, count=CANDIDATES * self.count)
        strong = found[np.abs(found.value) >= self.threshold]
        closed = strong[openness(edges, strong) <= self.openness]
        return suppress_overlaps(closed, self.overlap)[: self.count]


def noise_of(picture: Picture) -> float:
    """Return the standard deviation of a frame's noise in parts of its value range, from a part of its pixels.

    The median of second differences along rows leaves edges aside; `finding.noise_level` is finer, and takes as long as
    all else that is done to a frame.
    """
    rows = Picture(picture.pixels[:: SAMPLED[0]], (picture.low, picture.high)).grey()
    left, middle, right = (rows[:, k : rows.shape[1] - 2 + k : SAMPLED[1]] for k in range(3))
    if middle.size == 0:
        return LEAST_NOISE
    return max(float(np.median(np.abs(left - 2 * middle + right))) / (0.6745 * math.sqrt(6)), LEAST_NOISE)


@dataclass(frozen=True)
class FrameBlobs:
    """Things with outlines, as `find_blobs` finds them: surer, and several times slower.

    Parameters
    ----------
    sizes
        (smallest, largest) diameter in pixels, or None.
    sign
        +1 for bright things, -1 for dark ones, 0 for both, None for the kind that explains the edges.
    sure
        Least score of an outline, 0 to 1.
    count
        How many to find at most.
    """

    sizes: tuple[float, float] | None = None
    sign: Literal[1, -1, 0] | None = None
    sure: float | None = None
    count: int | None = None

    def __call__(self, image: Image) -> Extrema:
        """Find them in one frame; their sizes are the diameters, which change less than the patches that found them."""
        return as_places(find_blobs(image, sizes=self.sizes, sign=self.sign, sure=self.sure, count=self.count))


def as_places(found: Extrema) -> Extrema:
    """Return what linking and tables need of extrema or blobs, without what is large, such as label images."""
    size = found.diameter if isinstance(found, Blobs) else found.size
    return Extrema(found.y, found.x, size, found.value)  # type: ignore[arg-type]
