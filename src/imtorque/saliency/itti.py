"""The saliency map of Itti, Koch and Niebur: centre-surround differences in colour, intensity and orientation.

L. Itti, C. Koch, E. Niebur: A model of saliency-based visual attention for rapid scene analysis. PAMI 20(11), 1998, in
the form of the program released with GBVS, which most comparisons (and most likely the torque paper's) ran: squared
differences, and maps weighted by how few peaks they have. Written from its description; no code is shared with it.
"""

from collections.abc import Sequence

import numpy as np

from imtorque.core.resizing import resize
from imtorque.core.types import Image, Planes
from imtorque.images import CheckedImage, ValueRange
from imtorque.saliency.features import RESPONSE_ROUNDING, oriented_energies, pyramid
from imtorque.saliency.maps import Map, attenuate_borders, is_constant, unit_range

MAX_PEAK = 10.0  # maps are scaled to [0, 10] before their peaks are compared; convention of GBVS
MIN_PEAK = 1.0  # on this scale: lower maxima are no peaks; convention of GBVS
GRID_STEP = 8  # pixels of the image's longer side for one of the map's; convention of GBVS
ITTI_BORDER = 4  # grid pixels; convention of GBVS
CHANNEL_COUNT = 3  # colour, intensity, orientation; convention
COARSEST_SIDE = 4  # a level with a side as small is the last; bound: of what has maxima


def itti_saliency(
    image: Image | CheckedImage,
    *,
    centres: Sequence[int] = (2, 3),
    deltas: Sequence[int] = (2,),
    value_range: ValueRange | None = None,
) -> Map:
    """Compute the saliency map of Itti, Koch and Niebur (1998).

    For two colour contrasts, intensity, and energy at four orientations, each pixel of a fine level of the pyramid is
    compared with its surroundings at a coarser one, (centre - surround)^2. Maps with one outstanding peak are raised
    over maps with many alike, summed within colour, intensity and orientation, raised again, and summed.

    Parameters
    ----------
    image
        Grey or colour, as for `gbvs_saliency`.
    centres
        Levels c of the pyramid taken as centre; level k has 1 / 2^k of the image's size.
    deltas
        Levels c + delta are the surround. Pairs whose surround a small image does not have are left out; the image
        must have at least one.
    value_range
        As for `detect_edges`.

    Returns
    -------
    ndarray
        Shape (H, W), from 0 to 1; all 0 for a constant image.

    See Also
    --------
    torque_saliency, gbvs_saliency, blend_saliency

    Examples
    --------
    >>> image = np.zeros((128, 160))
    >>> image[60:68, 40:48] = 1
    >>> y, x = np.unravel_index(itti_saliency(image).argmax(), image.shape)
    >>> bool(52 <= y < 76 and 32 <= x < 56)
    True
    """
    checked = CheckedImage(image, value_range)
    master = itti_master_map(checked, centres, deltas)
    if is_constant(master):
        return np.zeros(checked.shape)
    return unit_range(resize(unit_range(attenuate_borders(master, ITTI_BORDER)), checked.shape))


def itti_master_map(image: CheckedImage, centres: Sequence[int], deltas: Sequence[int]) -> Map:
    """Return the sum of the three channels on the grid, before borders are attenuated."""
    height, width = image.shape
    if not centres or not deltas or min(centres) < 1 or min(deltas) < 1:
        raise ValueError(f"centres and deltas must be levels from 1, got {list(centres)} and {list(deltas)}")
    built = pyramid(image, max(centres) + max(deltas), COARSEST_SIDE)
    pairs = [(c - 1, c + d - 1) for c in centres for d in deltas if c + d <= len(built)]
    if not pairs:
        needed = (COARSEST_SIDE + 1) * 2 ** (min(centres) + min(deltas) - 1)
        raise ValueError(f"image must have sides of at least {needed} pixels for Itti's map, got {height} x {width}")
    grid = max(1, round(height / GRID_STEP)), max(1, round(width / GRID_STEP))
    levels = {level: _channels(built[level]) for level in sorted({level for pair in pairs for level in pair})}
    total = np.zeros(grid)
    for k in range(CHANNEL_COUNT):
        differences = [
            _centre_surround(centre, surround, grid)
            for c, s in pairs
            for centre, surround in zip(levels[c][k], levels[s][k], strict=True)
        ]
        total += raise_lone_peaks(np.sum([raise_lone_peaks(difference) for difference in differences], axis=0))
    return total


def raise_lone_peaks(values: Map) -> Map:
    """Scale a map to [0, 10] and weight it by how far its peaks stay below the highest.

    A peak is an inner pixel of at least 1 that is not below any of its four neighbours. With m their mean the weight is
    (10 - m)^2; 100 where there is only one; 1 where there is none.
    """
    scaled = MAX_PEAK * unit_range(values)
    inner = scaled[1:-1, 1:-1]
    neighbours = (scaled[:-2, 1:-1], scaled[2:, 1:-1], scaled[1:-1, :-2], scaled[1:-1, 2:])
    peaks = inner[np.logical_and.reduce([inner >= other for other in neighbours]) & (inner >= MIN_PEAK)]
    if len(peaks) == 0:
        return scaled
    weight = MAX_PEAK**2 if len(peaks) == 1 else (MAX_PEAK - peaks.mean()) ** 2
    raised: Map = scaled * weight
    return raised


def _channels(level: Planes) -> tuple[Sequence[Map], Sequence[Map], Sequence[Map]]:
    """Return the maps of colour, intensity and orientation of one level."""
    red, green, blue = level
    intensity = level.max(axis=0)
    bright = np.where(intensity > 0, intensity, np.inf)
    colours = np.abs(blue - np.minimum(red, green)) / bright, np.abs(red - green) / bright
    return colours, (intensity,), oriented_energies(intensity)


def _centre_surround(centre: Map, surround: Map, grid: tuple[int, int]) -> Map:
    difference = centre - resize(surround, (centre.shape[0], centre.shape[1]))
    difference[np.abs(difference) < RESPONSE_ROUNDING] = 0
    return resize(difference**2, grid)
