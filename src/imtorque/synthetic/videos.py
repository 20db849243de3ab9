"""Videos of moving discs, squares and ellipses with known truth: they cross, pass behind posts, come and go."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imtorque.core.caching import cached_property
from imtorque.core.types import FloatArray

VIDEO_NOISE = 0.012  # of the frames' greys; untuned
GROUND = 0.42, 0.58  # greys of the ground, which changes slowly from place to place; untuned
POST_GREY = 0.36  # of the posts; untuned
KINDS = ("disc", "square", "ellipse")


@dataclass(frozen=True, eq=False)
class VideoScene:
    """A video and the truth.

    Parameters
    ----------
    shape
        Height and width of the frames.
    y, x
        Centres of the objects in each frame, in pixels, shape (frames, n).
    size
        Diameter of the disc of the same area, shape (n,).
    grey, angle, kind
        How each object is painted, how it is turned in each frame (frames, n), and which of `KINDS` it is.
    posts
        Left and right side of the posts that stand before everything, in pixels.
    seed
        Of the ground and the noise.
    """

    shape: tuple[int, int]
    y: FloatArray
    x: FloatArray
    size: FloatArray
    grey: FloatArray
    angle: FloatArray
    kind: NDArray[np.int64]
    posts: tuple[tuple[int, int], ...]
    seed: int

    def __len__(self) -> int:
        """Return how many frames there are."""
        return len(self.y)

    def frames(self) -> Iterator[NDArray[np.uint8]]:
        """Draw the frames, one after the other, grey from 0 to 255."""
        ground, grain = self._ground, self._grain
        for number in range(len(self)):
            image = ground.copy()
            for index in range(len(self.size)):
                window, cover = self._cover(number, index)
                image[window] += cover * (self.grey[index] - image[window])
            for left, right in self.posts:
                image[:, left:right] = POST_GREY
            moved = np.roll(grain, (37 * number, 101 * number), (0, 1))
            yield np.rint(255 * np.clip(image + moved, 0, 1)).astype(np.uint8)

    def visible(self) -> FloatArray:
        """Return which share of each object is seen in each frame, shape (frames, n)."""
        share = np.zeros(self.y.shape)
        for number in range(len(self)):
            free = np.ones(self.shape, bool)
            for left, right in self.posts:
                free[:, left:right] = False
            for index in reversed(range(len(self.size))):
                window, cover = self._cover(number, index)
                whole = np.pi * self.size[index] ** 2 / 4
                share[number, index] = min(1.0, float((cover * free[window]).sum()) / whole)
                free[window] &= cover < 0.5
        return share

    @cached_property
    def _ground(self) -> NDArray[np.float32]:
        from scipy import ndimage  # here, because it takes longer to load than the rest of the library

        coarse = np.random.default_rng(self.seed).uniform(*GROUND, (6, 8))
        zoom = (self.shape[0] / 6, self.shape[1] / 8)
        return np.asarray(ndimage.zoom(coarse, zoom, order=3, mode="nearest", grid_mode=True), np.float32)

    @cached_property
    def _grain(self) -> NDArray[np.float32]:
        rng = np.random.default_rng(self.seed + 1)
        return rng.normal(0, VIDEO_NOISE, self.shape).astype(np.float32)

    def _cover(self, number: int, index: int) -> tuple[tuple[slice, slice], NDArray[np.float32]]:
        """Return where an object may be in a frame, and how much of each pixel there it covers."""
        y, x = float(self.y[number, index]), float(self.x[number, index])
        radius = float(self.size[index]) / 2
        far = 1.5 * radius + 2
        top, bottom = (int(np.clip(v, 0, self.shape[0])) for v in (y - far, y + far + 1))
        left, right = (int(np.clip(v, 0, self.shape[1])) for v in (x - far, x + far + 1))
        rows, columns = np.ogrid[top:bottom, left:right]
        sine, cosine = np.sin(self.angle[number, index]), np.cos(self.angle[number, index])
        down, across = rows - y, columns - x
        u, v = across * cosine + down * sine, down * cosine - across * sine
        inside = _depth(KINDS[self.kind[index]], u, v, radius)
        return (slice(top, bottom), slice(left, right)), np.clip(inside + 0.5, 0, 1).astype(np.float32)


def video_scene(
    seed: int = 0, *, shape: tuple[int, int] = (1080, 1920), frames: int = 150, count: int = 12, posts: int = 2
) -> VideoScene:
    """Draw a video of objects, each moving steadily in its own direction.

    Parameters
    ----------
    seed
        Another one gives another video.
    shape
        Height and width of the frames.
    frames
        How many.
    count
        How many objects there are, some of which come later or leave before the end.
    posts
        How many posts there are that hide for a few frames what passes behind them.
    """
    rng = np.random.default_rng(seed)
    unit = np.sqrt(shape[0] * shape[1] / count)  # about as much room as each object has
    size = rng.uniform(0.1, 0.24, count) * unit
    speed = rng.uniform(0.016, 0.03, count) * unit
    heading = rng.uniform(0, 2 * np.pi, count) + np.cumsum(rng.normal(0, 0.01, (frames, count)), axis=0)
    middle = np.column_stack([rng.uniform(0.1, 0.9, count) * side for side in shape])
    steps = np.stack([speed * np.sin(heading), speed * np.cos(heading)], axis=2)
    path = np.cumsum(steps, axis=0)
    path += middle - path[rng.integers(0, frames, count), np.arange(count)]  # each is well inside the image once
    bright = rng.random(count) < 0.5
    grey = np.where(bright, rng.uniform(0.8, 1.0, count), rng.uniform(0.0, 0.2, count))
    angle = rng.uniform(0, np.pi, count) + rng.uniform(-0.03, 0.03, count) * np.arange(frames)[:, None]
    width = round(0.06 * unit)
    lefts = (round(shape[1] * (k + 1) / (posts + 1) - width / 2) for k in range(posts))
    return VideoScene(
        shape,
        path[:, :, 0],
        path[:, :, 1],
        size,
        grey,
        angle,
        rng.integers(0, len(KINDS), count),
        tuple((left, left + width) for left in lefts),
        seed,
    )


def _depth(kind: str, u: FloatArray, v: FloatArray, radius: float) -> FloatArray:
    """Return how far inside a shape of the area of a disc of this radius points are, in pixels, about."""
    if kind == "disc":
        return np.asarray(radius - np.hypot(u, v))
    if kind == "square":
        return np.asarray(radius * np.sqrt(np.pi) / 2 - np.maximum(np.abs(u), np.abs(v)))
    long, short = 1.2 * radius, radius / 1.2
    return np.asarray((1 - np.hypot(u / long, v / short)) * short)
