"""Videos of many small spots in Brownian motion, as of colloids under a microscope, with known truth."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import FloatArray

SPOT_GROUND = 100.0  # grey of 255; untuned
BLUR = 0.8  # pixels, of the spots; untuned
SPOT_MARGIN = 6.0  # pixels that spots keep from the frame's sides in the first frame; untuned
SPOT_DISTANCE = 3.0  # pixels between the outlines of spots in the first frame; untuned


@dataclass(frozen=True, eq=False)
class SpotScene:
    """A video of spots and the truth.

    Parameters
    ----------
    shape
        Height and width of the frames.
    y, x
        Centres in each frame, in pixels, shape (frames, n).
    size
        Diameters, shape (n,).
    contrast
        How much brighter than the ground each is, in greys of 255, shape (n,).
    noise
        Standard deviation, in greys.
    seed
        Of the noise.
    """

    shape: tuple[int, int]
    y: FloatArray
    x: FloatArray
    size: FloatArray
    contrast: FloatArray
    noise: float
    seed: int

    def __len__(self) -> int:
        """Return how many frames there are."""
        return len(self.y)

    def frames(self) -> Iterator[NDArray[np.uint8]]:
        """Draw the frames, one after the other."""
        from scipy.ndimage import gaussian_filter  # here, because it takes longer to load than the rest

        rng = np.random.default_rng(self.seed)
        far = int(self.size.max(initial=0) / 2) + 2
        rows, columns = np.mgrid[-far : far + 1, -far : far + 1]
        for y, x in zip(self.y, self.x, strict=True):
            image = np.zeros((self.shape[0] + 2 * far, self.shape[1] + 2 * far))
            for at_y, at_x, size, contrast in zip(y, x, self.size, self.contrast, strict=True):
                top, left = (int(np.clip(np.rint(v), 0, n - 1)) for v, n in zip((at_y, at_x), self.shape, strict=True))
                distance = np.hypot(rows + top - at_y, columns + left - at_x)
                window = image[top : top + 2 * far + 1, left : left + 2 * far + 1]
                window += contrast * np.clip(size / 2 - distance + 0.5, 0, 1)
            shown = (
                SPOT_GROUND + gaussian_filter(image[far:-far, far:-far], BLUR) + rng.normal(0, self.noise, self.shape)
            )
            yield np.rint(np.clip(shown, 0, 255)).astype(np.uint8)


def spot_scene(
    seed: int = 0,
    *,
    shape: tuple[int, int] = (424, 640),
    frames: int = 50,
    count: int = 550,
    size: tuple[float, float] = (5.0, 11.0),
    contrast: tuple[float, float] = (12.0, 40.0),
    step: float = 1.0,
    noise: float = 3.0,
) -> SpotScene:
    """Draw a video of small spots that wander at random, and turn back at the frame's sides.

    Parameters
    ----------
    seed
        Another one gives another video.
    shape
        Height and width of the frames.
    frames
        How many.
    count
        How many spots; they lie apart in the first frame.
    size, contrast
        Smallest and largest diameter, in pixels, and contrast, in greys of 255.
    step
        Standard deviation of a step along either axis, in pixels.
    noise
        Standard deviation of the noise, in greys.

    Examples
    --------
    >>> scene = spot_scene(frames=2, count=20, shape=(120, 160))
    >>> [frame.shape for frame in scene.frames()], scene.x.shape
    ([(120, 160), (120, 160)], (2, 20))
    """
    rng = np.random.default_rng(seed)
    diameters = rng.uniform(*size, count)
    places = np.zeros((0, 2))
    for _ in range(1000 * count):
        if len(places) == count:
            break
        place = rng.uniform(SPOT_MARGIN, np.array(shape) - SPOT_MARGIN)
        clear = (diameters[: len(places)] + diameters[len(places)]) / 2 + SPOT_DISTANCE
        if np.all(np.hypot(*(places - place).T) > clear):
            places = np.vstack([places, place])
    else:
        raise ValueError(f"count must leave room for spots of up to {size[1]} pixels in {shape}, got {count}")
    steps = rng.normal(0, step, (frames, count, 2))
    steps[0] = places
    path = np.cumsum(steps, axis=0)
    sides = np.array(shape) - 1.0
    path = sides - np.abs(sides - path % (2 * sides))  # reflected
    return SpotScene(shape, path[:, :, 0], path[:, :, 1], diameters, rng.uniform(*contrast, count), float(noise), seed)
