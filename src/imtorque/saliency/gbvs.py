"""Graph-based visual saliency (GBVS): places that differ from their surroundings draw a random walk's mass.

J. Harel, C. Koch, P. Perona: Graph-based visual saliency. NIPS 2006. Where the paper and the authors' released program
differ (the dissimilarity |a - b| instead of |log a / b|, the power 1.5 instead of a second walk), the program is
followed, because published comparisons ran it. Written from its description; no code is shared with it.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from imtorque.core.resizing import resize
from imtorque.core.types import Image, Planes
from imtorque.images import CheckedImage, ValueRange
from imtorque.saliency.features import dkl, oriented_energies, pyramid
from imtorque.saliency.maps import Map, attenuate_borders, is_constant, unit_range

PYRAMID_LEVELS = (2, 3, 4)  # 1/4, 1/8 and 1/16 of the image's sides; convention of GBVS
GRID_SIDE = 32  # of the grid on which the walk takes place; convention of GBVS
WALK_SIGMA = 0.15  # of the grid's mean side; convention of GBVS
POWER = 1.5  # of each map's mass, as in the authors' program; convention of GBVS
GBVS_BORDER = 4  # grid pixels; convention of GBVS
BLUR_SIGMA = 0.02  # of the grid's longer side; convention of GBVS
SMALLEST_IMAGE = 22  # pixels, below which level 2 does not exist; derived


def gbvs_saliency(image: Image | CheckedImage, *, value_range: ValueRange | None = None) -> Map:
    """Compute graph-based visual saliency (Harel, Koch, Perona 2006).

    On a grid of 32 pixels on the longer side, a random walk goes from i to j with weight

        w(i, j) = |A(i) - A(j)| exp(-d(i, j)^2 / (2 sigma^2))

    for each feature map A: luminance, red-green and blue-yellow contrast, intensity, and energy at four orientations,
    at 1/4, 1/8 and 1/16 of the image's size. Where the walk spends its time is salient.

    Parameters
    ----------
    image
        Grey or colour, as for `detect_edges`; both sides at least 22 pixels. Levels of the pyramid that a small
        image does not have are left out.
    value_range
        As for `detect_edges`.

    Returns
    -------
    ndarray
        Shape (H, W), from 0 to 1; all 0 for a constant image.

    See Also
    --------
    torque_saliency, itti_saliency, blend_saliency

    Examples
    --------
    >>> image = np.zeros((128, 160))
    >>> image[60:68, 40:48] = 1
    >>> y, x = np.unravel_index(gbvs_saliency(image).argmax(), image.shape)
    >>> bool(56 <= y < 72 and 36 <= x < 52)
    True
    """
    checked = CheckedImage(image, value_range)
    master = gbvs_master_map(checked)
    if is_constant(master):
        return np.zeros(checked.shape)
    blurred = _blurred(unit_range(attenuate_borders(master, GBVS_BORDER)))
    return unit_range(resize(unit_range(blurred), checked.shape))


def gbvs_master_map(image: CheckedImage) -> Map:
    """Return the sum of all channels' walks on the grid, before borders are attenuated."""
    height, width = image.shape
    if min(height, width) < SMALLEST_IMAGE:
        raise ValueError(f"image must have sides of at least {SMALLEST_IMAGE} pixels for GBVS, got {height} x {width}")
    scale = GRID_SIDE / max(height, width)
    grid = max(1, round(height * scale)), max(1, round(width * scale))
    built = pyramid(image, PYRAMID_LEVELS[-1])
    levels = [built[level - 1] for level in PYRAMID_LEVELS if level <= len(built)]
    maps = [feature for level in levels for feature in _features(level)]
    master: Map = np.sum([stationary_mass(unit_range(resize(m, grid))) ** POWER for m in maps], axis=0)
    return master


def stationary_mass(activity: Map) -> Map:
    """Return the stationary distribution of a random walk over a map's pixels.

    The weights are symmetric, so the walk is reversible, and its stationary share of a pixel is the sum of the weights
    at that pixel over the sum of all: what power iteration converges to, without iterating.
    """
    values = activity.ravel()
    closeness = _closeness(activity.shape)
    weights = np.subtract.outer(values, values)
    np.abs(weights, out=weights)
    strength = np.einsum("ij,ij->i", weights, closeness).reshape(activity.shape)
    total = strength.sum()
    if total <= 0:
        return np.full(activity.shape, 1 / activity.size)
    mass: Map = strength / total
    return mass


def _features(level: Planes) -> Sequence[Map]:
    intensity = level.max(axis=0)
    return [*dkl(level), intensity, *oriented_energies(intensity)]


@lru_cache(maxsize=4)
def _closeness(shape: tuple[int, int]) -> Map:
    """Return exp(-d^2 / (2 sigma^2)) between all pixels of a grid, sigma being 0.15 of its mean side."""
    sigma = WALK_SIGMA * sum(shape) / 2
    rows, columns = (np.exp(-(np.subtract.outer(np.arange(n), np.arange(n)) ** 2) / (2 * sigma**2)) for n in shape)
    closeness: Map = np.einsum("ij,kl->ikjl", rows, columns).reshape(shape[0] * shape[1], -1)
    return closeness


def _blurred(values: Map) -> Map:
    from scipy import ndimage  # here, because it takes longer to load than the rest of the library

    sigma = BLUR_SIGMA * max(values.shape)
    blurred: Map = ndimage.gaussian_filter(values, sigma, mode="nearest", truncate=2)
    return blurred
