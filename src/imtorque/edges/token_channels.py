"""The channels of Sketch Tokens: 14 planes of an image, and their means over cells.

J. J. Lim, C. L. Zitnick, P. Dollar: Sketch Tokens: a learned mid-level representation for contour and object detection.
CVPR 2013.
"""

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import Float32Array
from imtorque.images import CheckedImage, luv

# Patches, cells and channels are those of the publication.
SIDE = 35  # of a patch, in pixels; convention of Sketch Tokens
REACH = SIDE // 2  # derived: pixels from the middle of a patch to its sides
CELLS = 5  # along a side of the patch; convention of Sketch Tokens
CELL = SIDE // CELLS  # derived: pixels along a side of a cell
CHANNEL_SIGMAS = (0.0, 1.5, 5.0)  # before gradients are taken; convention of Sketch Tokens
CHANNEL_ORIENTATIONS = (4, 4, 0)  # into which each of these gradients is split; convention of Sketch Tokens
CHANNELS = 3 + len(CHANNEL_SIGMAS) + sum(CHANNEL_ORIENTATIONS)  # derived: 14, 3 of them colours
CHANNEL_SIGMA = 2.0  # sigma, of all channels; untuned; a triangle of radius 2 in the authors' program
# How gradients are divided by those nearby: chosen on Berkeley's images (docs/measured/base_detectors.md).
NORMALISATION_SIGMA = 5.0  # sigma of the mean by which gradients are divided
NORMALISATION_FLOOR = 0.01  # added to that mean; chosen with the sigma
LUV_RANGE = ((0.0, 1.0), (-0.88, 1.82), (-1.34, 1.36))  # that a byte holds; convention of the authors' program
MAX_RELATIVE_GRADIENT = 3.2  # largest gradient that a byte holds, relative to the local mean; untuned


def token_colours(image: CheckedImage) -> Float32Array:
    """Return CIE L, u, v of an image, (3, H, W).

    RGB is taken as linear, as the authors' program takes it: the dark parts of an image then have contrast, too.
    """
    return luv(image.rgb()).astype(np.float32)


def channel_planes(colours: Float32Array) -> NDArray[np.uint8]:
    """Return the 14 channels, then each one's means over the cell around each pixel, (28, H + 34, W + 34).

    The border mirrors the image, so that every pixel is the middle of a patch.
    """
    from scipy import ndimage  # here, because it takes longer to load than the rest of the library

    channels = [(plane - low) / (high - low) for plane, (low, high) in zip(colours, LUV_RANGE, strict=True)]
    for sigma, orientations in zip(CHANNEL_SIGMAS, CHANNEL_ORIENTATIONS, strict=True):
        smooth = ndimage.gaussian_filter(colours, (0, sigma, sigma)) if sigma else colours
        channels += [plane / np.float32(MAX_RELATIVE_GRADIENT) for plane in gradient_channels(smooth, orientations)]
    blurred = ndimage.gaussian_filter(np.stack(channels), (0, CHANNEL_SIGMA, CHANNEL_SIGMA))
    border = ((0, 0), (REACH, REACH), (REACH, REACH))
    padded = np.pad(np.clip(np.round(255 * blurred), 0, 255).astype(np.uint8), border, mode="symmetric")
    means = ndimage.uniform_filter(padded.astype(np.float32), (0, CELL, CELL))
    return np.concatenate([padded, np.round(means).astype(np.uint8)])


def gradient_channels(colours: Float32Array, orientations: int) -> list[Float32Array]:
    """Return the gradient magnitude over its local mean, and its share of each orientation.

    At each pixel the colour counts that changes most. A gradient between two orientations counts for both.
    """
    from scipy import ndimage

    gy, gx = (np.gradient(colours, axis=axis) if colours.shape[axis] > 1 else np.zeros_like(colours) for axis in (1, 2))
    squares = gx**2 + gy**2
    steepest = squares.argmax(axis=0)[None]
    gx, gy, squares = (np.take_along_axis(planes, steepest, axis=0)[0] for planes in (gx, gy, squares))
    size = np.sqrt(squares)
    size = size / (ndimage.gaussian_filter(size, NORMALISATION_SIGMA) + np.float32(NORMALISATION_FLOOR))
    if not orientations:
        return [size]
    turn = np.arctan2(gy, gx) * np.float32(orientations / np.pi)
    parts = []
    for k in range(orientations):
        away = np.abs((turn - k + orientations / 2) % orientations - orientations / 2)
        parts.append(size * np.maximum(0, 1 - away))
    return [size, *parts]
