"""Paint that hides what it is on: patches of random grey at several scales."""

from collections.abc import Sequence

import numpy as np

from imtorque.core.types import FloatArray


def patchwork(shape: tuple[int, int], rng: np.random.Generator, scales: Sequence[float] = (3, 6, 12)) -> FloatArray:
    """Draw patches with sharp outlines, of about these widths in pixels, in random greys from 0 to 1."""
    from scipy import ndimage  # here, because it takes longer to load than the rest of the library

    painted = np.zeros(shape)
    for scale in scales:
        noise = ndimage.gaussian_filter(rng.normal(size=shape), scale / 2, mode="wrap")
        painted += np.digitize(noise / noise.std(), (-0.8, 0.0, 0.8)) * rng.uniform(0.7, 1.3)
    painted = ndimage.gaussian_filter(painted, 0.6, mode="wrap")
    greys: FloatArray = (painted - painted.min()) / np.ptp(painted)
    return greys


def apart(
    count: int, shape: tuple[int, int], radii: tuple[float, float], rng: np.random.Generator, margin: float = 4.0
) -> list[tuple[float, float, float]]:
    """Draw places (y, x, radius), `margin` pixels from each other and the border: `count`, or as many as fit."""
    found: list[tuple[float, float, float]] = []
    for _ in range(200 * count):
        radius = rng.uniform(*radii)
        y, x = (rng.uniform(radius + margin, side - 1 - radius - margin) for side in shape)
        if all(np.hypot(y - v, x - u) > radius + r + margin for v, u, r in found):
            found.append((float(y), float(x), float(radius)))
        if len(found) == count:
            break
    return found
