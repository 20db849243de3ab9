"""Boolean map saliency: regions that are surrounded at many thresholds are salient.

J. Zhang, S. Sclaroff: Exploiting surroundedness for saliency detection: a Boolean map approach. PAMI 38(5), 2016.
"""

import numpy as np

from imtorque.core.types import BoolArray, Image, Planes
from imtorque.images import CheckedImage, ValueRange
from imtorque.saliency.gaussians import widened, working_shape
from imtorque.saliency.maps import Map, is_constant, unit_range

THRESHOLD_STEP = 8 / 255  # between thresholds; convention of the authors' program
OPENING_SIDE = 3  # side of the square in which thin bridges are cut, in pixels of the working image; untuned
DILATION_SIDE = 9  # side of the square by which what is surrounded grows; untuned; 7 and 9 in the authors' program
MIN_VARIANCE = 1e-6  # bound: share of the variance below which a direction in Lab is dropped
EIGHT_NEIGHBOURS = np.ones((3, 3), bool)  # with the pixel itself


def boolean_saliency(image: Image | CheckedImage, *, sigma: float = 20.0, value_range: ValueRange | None = None) -> Map:
    """Compute Boolean map saliency (Zhang & Sclaroff 2016).

    The colours, made independent of each other, are cut at many thresholds. In each of the cuts and their complements
    what does not touch the image's border is surrounded; the map is the mean of what is surrounded, each cut's share
    of length 1, blurred. Torque measures by edges what this measures by regions.

    Parameters
    ----------
    image
        Grey or colour, as for `detect_edges`. Images whose shorter side exceeds 150 pixels are shrunk to that first,
        and the map enlarged again.
    sigma
        Standard deviation of the blur, in pixels of an image whose shorter side is 150.
    value_range
        As for `detect_edges`.

    Returns
    -------
    ndarray
        Shape (H, W), from 0 to 1; all 0 where nothing is surrounded.

    Examples
    --------
    >>> image = np.zeros((100, 150))
    >>> image[40:61, 90:111] = 1
    >>> y, x = np.unravel_index(boolean_saliency(image).argmax(), image.shape)
    >>> bool(abs(y - 50) < 5 and abs(x - 100) < 5)
    True
    """
    checked = CheckedImage(image, value_range)
    shape = working_shape(checked.shape)
    total = np.zeros(shape)
    for plane in whitened(checked.resized(shape, colours=True)):
        for threshold in np.arange(THRESHOLD_STEP, 1, THRESHOLD_STEP):
            for cut in (plane > threshold, plane <= threshold):
                total += _attention(surrounded(cut))
    return widened(total, sigma, checked.shape)


def whitened(planes: Planes) -> Planes:
    """Decorrelate planes (n, H, W), and scale each to [0, 1].

    Directions in which nothing varies are left out; so are planes that nothing is left of.
    """
    values = planes.reshape(len(planes), -1)
    centred = values - values.mean(axis=1, keepdims=True)
    variance, directions = np.linalg.eigh(centred @ centred.T / values.shape[1])
    kept = variance > MIN_VARIANCE * max(float(variance.sum()), MIN_VARIANCE)
    turned = directions[:, kept] / np.sqrt(variance[kept]) @ directions[:, kept].T @ centred
    varying = [unit_range(plane) for plane in turned.reshape(planes.shape) if not is_constant(plane)]
    return np.stack(varying) if varying else np.zeros((0, *planes.shape[1:]))


def surrounded(cut: BoolArray) -> BoolArray:
    """Return the pixels of a mask, opened, whose component touches no border."""
    from scipy import ndimage  # here, because it takes longer to load than the rest of the library

    opened = _dilated(~_dilated(~cut, OPENING_SIDE), OPENING_SIDE)
    labels, count = ndimage.label(opened, EIGHT_NEIGHBOURS)
    inner = np.ones(count + 1, bool)
    inner[0] = False
    for side in (labels[0], labels[-1], labels[:, 0], labels[:, -1]):
        inner[side] = False
    found: BoolArray = inner[labels]
    return found


def _attention(found: BoolArray) -> Map:
    """Return the surrounded pixels, dilated, as a map of norm 1; 0 where there are none."""
    dilated = _dilated(found, DILATION_SIDE)
    return dilated / max(float(np.sqrt(np.count_nonzero(dilated))), 1.0)


def _dilated(mask: BoolArray, side: int) -> BoolArray:
    """Dilate a mask by a square of this side."""
    for _ in range(2):  # along columns, then along rows
        padded = np.pad(mask, ((side // 2, side // 2), (0, 0)))
        mask = padded[: len(mask)].copy()
        for start in range(1, side):
            mask |= padded[start : start + len(mask)]
        mask = np.ascontiguousarray(mask.T)
    return mask
