"""Torque of the whole image gradient (Appendix A of the paper)."""

import numpy as np

from imtorque.core.patches import patch_shape, sides
from imtorque.core.types import Edges, Image, Patch, Sizes, TorqueVolume, check_sizes
from imtorque.images import CheckedImage, ValueRange


def gradient_edges(image: Image | CheckedImage, *, value_range: ValueRange | None = None) -> Edges:
    """Return the whole gradient as a force field, F = (g_y, -g_x), for gradient torque (Appendix A).

    Central differences inside, one-sided ones on the border. The torque of a bright shape is then its area over the
    area of the patch.

    Parameters
    ----------
    image, value_range
        As for `detect_edges`; gradients count in parts of the value range.

    See Also
    --------
    detect_edges, gradient_torque

    Examples
    --------
    >>> image = np.zeros((9, 9))
    >>> image[:, 5:] = 1
    >>> gradient_edges(image).fy[4, 3:7].tolist()
    [0.0, -0.5, -0.5, 0.0]
    """
    grey = CheckedImage(image, value_range).grey()
    gy = np.gradient(grey, axis=0) if grey.shape[0] > 1 else np.zeros_like(grey)
    gx = np.gradient(grey, axis=1) if grey.shape[1] > 1 else np.zeros_like(grey)
    return Edges(gy, -gx + 0.0)


def gradient_torque(
    image: Image | CheckedImage, sizes: Sizes, *, patch: Patch = "square", value_range: ValueRange | None = None
) -> TorqueVolume:
    """Compute the torque of the whole image gradient without computing a gradient (Appendix A).

    For half-pixel differences the torque of a square is exactly the mean of its pixels minus the mean of the four lines
    of pixels just outside it; of a rectangle, minus half the mean of either pair of lines. Of a disk, for which the
    paper proves it (eq. 26), it is the mean over the disk minus the mean over its circle, of an image that is linear
    between pixels; from radius 4 on within 3 %. Beyond the border the image repeats its border pixels.

    Parameters
    ----------
    image, value_range
        As for `detect_edges`; the torque counts in parts of the value range.
    sizes, patch
        As for `torque_volume`. Squares take the same time at any size, disks a time that grows with their radius.

    See Also
    --------
    gradient_edges, torque_volume

    Examples
    --------
    >>> image = np.zeros((9, 9))
    >>> image[3:6, 3:6] = 1
    >>> float(gradient_torque(image, [3]).tau[0, 4, 4])
    1.0
    """
    array = check_sizes(sizes)
    shape = patch_shape(patch, array)
    grey = CheckedImage(image, value_range).grey()
    centred = grey.astype(np.float64) - float(grey.mean(dtype=np.float64))
    return TorqueVolume(shape.gradient_torque(centred, *sides(array)), array)
