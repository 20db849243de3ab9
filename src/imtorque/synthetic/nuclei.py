"""A drawn volume of nuclei with known truth: ellipsoids of unlike brightness, some touching, in haze and noise."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import FloatArray

NUCLEUS_RADII = (5.0, 11.0)  # mean radius of a nucleus, in units of the smallest spacing; untuned
MIN_DISTANCE_SHARE = 0.85  # centres may be this share of the sum of two radii apart; untuned
PSF_SIGMA = 1.2  # of the microscope, across; twice as much in depth; untuned


@dataclass(frozen=True, eq=False)
class NucleiVolume:
    """A volume of nuclei.

    Parameters
    ----------
    volume
        Grey values, shape (Z, Y, X).
    labels
        0 between nuclei, i + 1 in nucleus i.
    centres
        (n, 3): z, y, x in units of the spacing.
    radii
        (n,): that of a ball of the nucleus's volume, in the same unit.
    """

    volume: FloatArray
    labels: NDArray[np.int32]
    centres: FloatArray
    radii: FloatArray


def nuclei_volume(
    seed: int = 0,
    *,
    shape: tuple[int, int, int] = (64, 128, 128),
    count: int = 60,
    spacing: tuple[float, float, float] = (1.0, 1.0, 1.0),
    noise: float = 0.06,
) -> NucleiVolume:
    """Draw ellipsoidal nuclei with texture, at random places, blurred as by a microscope.

    Parameters
    ----------
    seed
        Another one gives another volume.
    shape
        Depth, height and width in voxels.
    count
        How many nuclei at most; fewer where there is no room.
    spacing
        Distance of the voxels along z, y and x.
    noise
        Standard deviation, in parts of the brightness of a bright nucleus.
    """
    from scipy import ndimage  # here, because it takes longer to load than the rest of the library

    rng = np.random.default_rng(seed)
    extent = np.array(shape) * spacing
    grid = [np.arange(n) * step for n, step in zip(shape, spacing, strict=True)]
    image, labels = np.zeros(shape), np.zeros(shape, np.int32)
    centres, radii = _places(rng, extent, count)
    for k, (centre, radius) in enumerate(zip(centres, radii, strict=True)):
        axes = rng.uniform(0.8, 1.2, 3)
        axes = radius * axes / axes.prod() ** (1 / 3)
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        form = turn @ np.diag(1 / axes**2) @ turn.T
        d = np.stack(np.broadcast_arrays(*(g.reshape(s) - c for g, s, c in zip(grid, _LINES, centre, strict=True))))
        inside = np.einsum("izyx,ij,jzyx->zyx", d, form, d, optimize=True) <= 1
        inside &= labels == 0
        labels[inside], image[inside] = k + 1, rng.uniform(0.45, 1.0)
    sigma = np.array([2 * PSF_SIGMA, PSF_SIGMA, PSF_SIGMA]) * min(spacing) / spacing
    grain = ndimage.gaussian_filter(rng.normal(size=shape), 2 * sigma / PSF_SIGMA)
    image = image * (1 + 0.2 * grain / grain.std())
    haze = ndimage.gaussian_filter(image, 8 * sigma) * 0.5 + 0.1
    blurred = ndimage.gaussian_filter(image, sigma) + haze
    seen = blurred + rng.normal(0, noise, shape) * np.sqrt(np.maximum(blurred, 0) + 0.2)
    return NucleiVolume(seen, labels, centres, radii)


_LINES = ((-1, 1, 1), (1, -1, 1), (1, 1, -1))  # shapes of z, y and x that broadcast; derived


def _places(rng: np.random.Generator, extent: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Draw centres and radii of nuclei that hardly overlap and lie within the volume."""
    centres, radii = np.zeros((0, 3)), np.zeros(0)
    for _ in range(200 * count):
        radius = rng.uniform(*NUCLEUS_RADII)
        if len(radii) == count:
            break
        if np.any(extent <= 2 * radius + 2):
            continue
        centre = rng.uniform(radius + 1, extent - radius - 1)
        if np.all(np.linalg.norm(centres - centre, axis=1) > MIN_DISTANCE_SHARE * (radii + radius)):
            centres, radii = np.vstack([centres, centre]), np.append(radii, radius)
    return centres, radii
