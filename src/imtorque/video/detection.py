"""Detectors of a frame: extrema or blobs. Any function from an image to `Extrema` can take their place.

What is detected in a frame does not depend on the frames before it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from imtorque.core.deprecation import accept_old_keywords, deprecated_attribute
from imtorque.core.extrema import expected_extrema, find_extrema, suppress_overlaps
from imtorque.core.moments import openness
from imtorque.core.torque import default_sizes
from imtorque.core.types import BoolArray, Edges, Extrema, Float32Array, Image, Sign
from imtorque.detection import Blobs, find_blobs
from imtorque.edges import SQRT2, detect_edges
from imtorque.edges.canny import MAX_GRADIENT
from imtorque.images import CheckedImage

Finder = Callable[[Image], Extrema]

CANDIDATES_PER_OBJECT, PIXELS_PER_CANDIDATE = 2, 5000  # bound: of the extrema tried: the larger of the two counts
UNGUIDED_COUNT = 50  # convention: of objects of any size
PATCHES_PER_AREA = 2  # bound: extrema tried without a count, of the smallest patches that the frame holds
# Tried first: so many times the extrema that were enough in the frame before, and slightly weaker ones. Neither
# changes results.
COUNT_MARGIN, STRENGTH_MARGIN = 1.125, 0.9  # bound: time
STRENGTH_SCALE = 0.05  # convention: gradient of force 1, in parts of the value range per pixel
# Thresholds of edges, in standard deviations of the gradient's noise: of objects of any size, and of sizes given.
# Chosen, as the next four, on drawn videos (seeds 0 to 3: bright, dark, faint, noisy, of 12 and 16 bits, with and
# without objects) and videos of 550 spots of 5 to 11 pixels.
NOISE_DEVIATIONS, GUIDED_DEVIATIONS = 8.0, 4.0
# Least |torque|, in the strength of most of a frame's edges, at most 1; chosen on drawn videos, as above.
TORQUE_SHARE, CONTRAST_QUANTILE = 0.35, 0.9
EDGE_SHARE, GUIDED_EDGE_SHARE = 1.0, 0.5  # least |torque|, in that of contours at the high threshold; chosen likewise
MIN_GUIDED_TORQUE = 0.04  # a step of about two of 255 greys; shades that compression leaves have less; derived
TEXTURE_QUANTILE = 0.85  # convention: of the gradient along rows, which edges exceed
ISOTROPY_FACTOR = 1.5  # |gradient| over its part along rows; pi / 2 on average over all directions; untuned
HYSTERESIS_RATIO = 0.4  # low over high threshold, as in `detect_edges`; convention
LEAST_NOISE = 1.0 / 255  # bound: of greys; compression leaves as much in any video
# Chosen on the same: a gap has objects in so many of these directions, so much stronger than it is.
GAP_DIRECTIONS, GAP_SHARE, GAP_RATIO = 16, 0.375, 1.5
SMALLEST_SIZE, SMALLEST_SHARE, LARGEST_SHARE = 7, 0.015, 0.46  # convention: pixels, and shares of the frame's side
MIN_FRAME_SCORE, MIN_FRAME_CONTRAST = (
    0.65,
    6.0,
)  # convention: of blobs of any size; shades of the ground score and contrast less
ROW_STRIDE, COLUMN_STRIDE = 7, 8  # bound: time, by fewer pixels that estimate the noise


@dataclass(frozen=True)
class FrameExtrema:
    """The strongest extrema of the torque, around closed contours that do not overlap: as fast as single images.

    Edges count where they stand out of the frame's own noise, and by their strength: with thresholds by quantile alone,
    as single images have them, an empty frame would be full of noise. How strong a contour must be depends on the noise
    and the contrast of the frame, so that dark and faint videos are no special case. With sizes given fainter objects
    are found. What lies between stronger objects of the other sign is left out.

    Parameters
    ----------
    sizes
        Patch sizes, odd and increasing. By default about 6 % apart, from 7 pixels, or 1.5 % of the frame's side where
        that is more, to 46 % of it.
    sign
        +1 for bright objects, -1 for dark ones, None for both.
    sigma
        Smoothing before edges are detected, in pixels.
    threshold
        Least |torque|: 1 is an edge of 1/20 of the value range per pixel all around. By default chosen in each frame,
        0.35 at most.
    openness
        Largest openness of the contour (`moments.openness`): lines have 1, bars 1, corners 0.7, three sides of a square
        0.33, a closed contour 0.
    overlap
        Largest part of the smaller patch that two of one sign may share.
    count
        How many to find at most; by default 50, or all where sizes are given.
    """

    sizes: tuple[int, ...] | None = None
    sign: Sign | None = None
    sigma: float = SQRT2
    threshold: float | None = None
    openness: float = 0.5
    overlap: float = 0.3
    count: int | None = None
    # Of the frame before: its shape, how many candidates to try next, and the strength of the weakest.
    _before: list[tuple[tuple[int, int], int, float]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    @property
    def limit(self) -> int | None:
        """How many are found at most; None for all."""
        return UNGUIDED_COUNT if self.count is None and self.sizes is None else self.count

    def __call__(self, image: Image) -> Extrema:
        """Find them in one frame."""
        checked = CheckedImage(image)
        low, high = edge_thresholds(checked, self.sigma, guided=self.sizes is not None)
        edges = detect_edges(
            checked,
            sigma=self.sigma,
            low=low,
            high=high,
            force="strength",
            strength_scale=STRENGTH_SCALE,
            length_correction=True,
        )
        sizes = self.sizes or usual_sizes(edges.shape)
        least = self._least_torque(edges, high) if self.threshold is None else self.threshold
        most = self._most_candidates(math.prod(edges.shape), sizes[0])
        shape, tried, weakest = self._before[0] if self._before else (checked.shape, most, 0.0)
        tried, weakest = (min(tried, most), weakest) if shape == checked.shape else (most, 0.0)
        strong = self._strong(edges, sizes, tried, least, weakest)
        found, enough = self._without_overlaps(edges, strong)
        if tried < enough <= most:
            strong = self._strong(edges, sizes, most, least, 0.0)
            found, enough = self._without_overlaps(edges, strong)
        last = float(abs(strong.value[-1])) if len(strong) else 0.0
        self._before[:] = [(checked.shape, math.ceil(COUNT_MARGIN * enough), last)]
        return found

    def _most_candidates(self, pixels: int, smallest: int) -> int:
        """Return how many extrema to try: overlaps, lines and corners are among them, the more the larger the frame."""
        if self.limit is None:
            return max(PATCHES_PER_AREA * pixels // smallest**2, 1)
        return max(CANDIDATES_PER_OBJECT * self.limit, pixels // PIXELS_PER_CANDIDATE)

    def _least_torque(self, edges: Edges, high: float) -> float:
        """Return which torque says that there is an object, by the noise and the contrast of the frame."""
        weak = high / STRENGTH_SCALE  # the torque of a contour that just reaches the threshold of edges
        if self.sizes is not None:
            return min(max(GUIDED_EDGE_SHARE * weak, MIN_GUIDED_TORQUE), TORQUE_SHARE)
        strength = np.hypot(edges.fx[::ROW_STRIDE], edges.fy[::ROW_STRIDE])
        strength = strength[strength > 0]
        contrast = _lower_quantile(strength, CONTRAST_QUANTILE) if strength.size else 1.0
        return min(max(TORQUE_SHARE * contrast, EDGE_SHARE * weak), TORQUE_SHARE)

    def _strong(self, edges: Edges, sizes: tuple[int, ...], count: int, threshold: float, weakest: float) -> Extrema:
        """Return the strongest extrema; quickly, where the weakest of them is about as strong as it is said to be."""
        least = max(threshold, STRENGTH_MARGIN * weakest)
        if weakest > 0:
            strong = expected_extrema(edges, sizes, sign=self.sign, count=count, threshold=least)
            if len(strong) == count or least == threshold:
                return strong
        return find_extrema(edges, sizes, sign=self.sign, count=count, threshold=threshold)

    def _without_overlaps(self, edges: Edges, strong: Extrema) -> tuple[Extrema, int]:
        """Return what is found among the strongest extrema, and how many of them were enough for that.

        More candidates are weaker ones, which change nothing once there are as many places as are wanted.
        """
        closed = strong[openness(edges, strong) <= self.openness]
        apart = suppress_overlaps(closed, self.overlap)
        apart = apart[~lie_between(apart, edges.shape)]
        kept = apart if self.limit is None or len(apart) <= self.limit else apart[: self.limit]
        if self.limit is None or len(kept) < max(self.limit, 1):
            return kept, len(strong) + 1
        return kept, int(np.count_nonzero(np.abs(strong.value) >= abs(kept.value[-1])))


def lie_between(found: Extrema, shape: tuple[int, int]) -> BoolArray:
    """Say which extrema, sorted, are gaps: half of what is around them are stronger extrema of the other sign.

    The patch around a gap's own centre does not count: it is that of an object with a hole.
    """
    strength, positive = np.abs(found.value), found.value > 0
    gaps = np.zeros(len(found), bool)
    if positive.all() or not positive.any():
        return gaps
    owner = np.full(shape, -1, np.int32)
    y, x, height, width = found.boxes()
    tops, lefts = np.maximum(y - height // 2, 0), np.maximum(x - width // 2, 0)
    bottoms, rights = y + height // 2 + 1, x + width // 2 + 1
    boxes = zip(*(side.tolist() for side in (tops, bottoms, lefts, rights)), strict=True)
    for number, (top, bottom, left, right) in reversed(list(enumerate(boxes))):  # the strongest last
        owner[top:bottom, left:right] = number
    angle = np.arange(GAP_DIRECTIONS) * (2 * math.pi / GAP_DIRECTIONS)
    around_y = np.rint(y[:, None] + (height[:, None] / 2 + 1) * np.sin(angle)).astype(np.intp)
    around_x = np.rint(x[:, None] + (width[:, None] / 2 + 1) * np.cos(angle)).astype(np.intp)
    inside = (around_y >= 0) & (around_y < shape[0]) & (around_x >= 0) & (around_x < shape[1])
    around = np.where(inside, owner[around_y.clip(0, shape[0] - 1), around_x.clip(0, shape[1] - 1)], -1)
    counts = (around >= 0) & (around != owner[y, x][:, None])
    counts &= (positive[around] != positive[:, None]) & (strength[around] > GAP_RATIO * strength[:, None])
    return np.asarray(counts.sum(axis=1) >= GAP_SHARE * GAP_DIRECTIONS)


@cache
def usual_sizes(shape: tuple[int, int]) -> tuple[int, ...]:
    """Return the sizes that are looked for where none are given: those of objects, not of specks."""
    side = math.sqrt(shape[0] * shape[1])
    smallest = 2 * int(max(SMALLEST_SIZE, SMALLEST_SHARE * side) / 2) + 1
    largest = max(smallest, int(LARGEST_SHARE * side))
    return tuple(default_sizes(shape, smallest=smallest, largest=largest).tolist())


def edge_thresholds(image: CheckedImage, sigma: float, *, guided: bool = False) -> tuple[float, float]:
    """Return thresholds of the gradient of a smoothed frame, per pixel: above its noise, and above most of its texture.

    Objects of given sizes may be all the texture there is: then (`guided`) the noise alone counts. Both come from a
    part of the pixels, by differences along rows: the noise from the median of second differences, which leaves edges
    aside; the texture from first differences over four pixels.
    """
    rows = image.grey(every=ROW_STRIDE)
    parts = [rows[:, k : rows.shape[1] - 4 + k : COLUMN_STRIDE] for k in range(5)]
    if parts[0].size == 0:
        return 0.0, 0.0
    second = np.abs(parts[1] - 2 * parts[2] + parts[3])
    noise = max(_lower_quantile(second, 0.5) / (0.6745 * math.sqrt(6)), LEAST_NOISE)
    noise /= math.sqrt(8 * math.pi) * sigma**2  # of Gaussian derivatives of white noise
    if guided:
        high = min(GUIDED_DEVIATIONS * noise, MAX_GRADIENT)
        return HYSTERESIS_RATIO * high, high
    texture = ISOTROPY_FACTOR * _lower_quantile(np.abs(parts[4] - parts[0]), TEXTURE_QUANTILE) / 4
    high = min(max(NOISE_DEVIATIONS * noise, texture), MAX_GRADIENT)
    return HYSTERESIS_RATIO * high, high


def _lower_quantile(values: Float32Array, share: float) -> float:
    """Return the largest value that no more than this share lies below: a third of the time that NumPy's take."""
    place = int(share * (values.size - 1))
    return float(np.partition(values, place, axis=None)[place])


@dataclass(frozen=True)
class FrameBlobs:
    """Objects with outlines, as `find_blobs` finds them: surer, and about twenty times slower.

    Parameters
    ----------
    sizes
        (smallest, largest) diameter in pixels. None looks for objects of any size, as `FrameExtrema` does, and keeps
        the surest: `find_blobs` by itself would decide anew in each frame which sizes objects have.
    sign
        +1 for bright objects, -1 for dark ones, 0 for both. None, as of `find_blobs`, decides anew in each frame
        whether one of the kinds is what lies between objects.
    contrast
        Least contrast, in standard deviations of the noise at an object's own scale; by default 6 without sizes, else
        0. Clouds and shades of the background are as wide as objects of any size may be, and stand out less.
    min_score
        Least score of an outline, 0 to 1; by default that of `find_blobs` for given sizes, 0.65 without them.
    count
        How many to find at most; all by default.
    """

    sizes: tuple[float, float] | None = None
    sign: Literal[1, -1, 0] | None = 0
    min_score: float | None = None
    count: int | None = None
    contrast: float | None = None

    @property
    def limit(self) -> int | None:
        """How many are found at most; None for all."""
        return self.count

    def __call__(self, image: Image) -> Extrema:
        """Find them in one frame; their sizes are the diameters, which change less than the patches that found them."""
        any_size = usual_sizes(CheckedImage(image).shape)
        sizes = self.sizes or (float(any_size[0]), float(any_size[-1]))
        usual = (MIN_FRAME_SCORE, MIN_FRAME_CONTRAST) if self.sizes is None else (None, 0.0)
        min_score = usual[0] if self.min_score is None else self.min_score
        contrast = usual[1] if self.contrast is None else self.contrast
        found = find_blobs(image, sizes=sizes, sign=self.sign, contrast=contrast, min_score=min_score, count=self.count)
        return as_places(found)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return what an old name stands for."""
            return deprecated_attribute(self, name)


FrameBlobs.__init__ = accept_old_keywords(FrameBlobs.__init__)  # type: ignore[method-assign]


def as_places(found: Extrema) -> Extrema:
    """Return what linking and tables need of extrema or blobs, without what is large, such as label images."""
    if type(found) is Extrema:
        return found
    size = found.diameter if isinstance(found, Blobs) else found.size
    return Extrema(found.y, found.x, size, found.value)  # type: ignore[arg-type]
