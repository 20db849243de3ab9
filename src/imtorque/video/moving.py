"""What moves: places at which a frame differs from the video's background, the median of frames from all over it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imtorque.core.types import BoolArray, Extrema, Float32Array, Image
from imtorque.images import CheckedImage
from imtorque.video.detection import LEAST_NOISE, Finder, as_places
from imtorque.video.sources import Source

BACKGROUND_FRAMES = 25  # convention: enough that an object is at a place in less than half of them
MOVING_DEVIATIONS = 4.0  # convention: of a frame from the background, in standard deviations of its noise
CENTRE = 0.5  # convention: side of the square around a place that is compared, in its size


def background_of(video: Source) -> Float32Array:
    """Return the median grey of frames from all over a video."""
    every = max(1, video.count // BACKGROUND_FRAMES)
    return np.asarray(np.median([CheckedImage(frame.pixels).grey() for frame in video.frames(every=every)], axis=0))


@dataclass(frozen=True, eq=False)
class Moving:
    """Keeps of what a finder finds that which is not in the background."""

    find: Finder
    background: Float32Array

    @property
    def limit(self) -> int | None:
        """How many are found at most; None for all."""
        limit: int | None = getattr(self.find, "limit", None)
        return limit

    def __call__(self, image: Image) -> Extrema:
        """Find what moves in one frame."""
        found = as_places(self.find(image))
        return found[moved(np.abs(CheckedImage(image).grey() - self.background), found)]


def moved(difference: Float32Array, found: Extrema) -> BoolArray:
    """Say at which places a frame differs from its background by more than noise, on average around the middle."""
    noise = max(float(np.median(difference)) / 0.6745, LEAST_NOISE)
    size = found.size if found.size.ndim == 1 else np.sqrt(found.size.prod(axis=1))
    reach = np.maximum(CENTRE * size / 2, 1).astype(int)
    places = zip(np.rint(found.y).astype(int), np.rint(found.x).astype(int), reach, strict=True)
    means = [difference[max(y - r, 0) : y + r + 1, max(x - r, 0) : x + r + 1].mean() for y, x, r in places]
    return np.asarray(means, float) > MOVING_DEVIATIONS * noise
