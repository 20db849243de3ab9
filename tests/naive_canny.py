"""Canny's detector in float32, step by step over whole planes: the kernels must have its bits, not only its edges."""

import math

import numpy as np
from scipy import ndimage

import naive

NOISE, TIE, BINS = np.float32(1e-6), np.float32(1e-5), 64


def gaussian(sigma):
    """One side of the kernel, normalised over both."""
    radius = max(1, math.ceil(4 * sigma))
    weights = [math.exp(-0.5 * i * i / (sigma * sigma)) for i in range(radius + 1)]
    total = weights[0]
    for weight in weights[1:]:
        total += 2 * weight
    return [np.float32(weight / total) for weight in weights]


def smoothed(image, sigma):
    """Rows first, then columns; opposite neighbours are added before they are weighted."""
    kernel = gaussian(sigma)
    for _ in range(2):
        reach, width = len(kernel) - 1, image.shape[1]
        padded = np.pad(image, ((0, 0), (reach, reach)), "edge")
        total = kernel[0] * image
        for i, weight in enumerate(kernel[1:], 1):
            total += weight * (padded[:, reach - i : reach - i + width] + padded[:, reach + i : reach + i + width])
        image = np.ascontiguousarray(total.T)
    return image


def gradient(image, sigma):
    """Central differences of the smoothed image, g_x and g_y."""
    padded = np.pad(smoothed(image, sigma), 1, "edge")
    half = np.float32(0.5)
    return half * (padded[1:-1, 2:] - padded[1:-1, :-2]), half * (padded[2:, 1:-1] - padded[:-2, 1:-1])


def magnitudes(gx, gy):
    """|g|, 0 where that is noise."""
    length = np.sqrt(gx * gx + gy * gy)
    return np.where(length < NOISE, np.float32(0), length)


def automatic_thresholds(magnitude):
    """0.4 of, and itself: the end of the first bin of 64 up to which more than 70 % of the pixels lie."""
    largest = magnitude.max()
    bins = np.minimum((magnitude * (np.float32(BINS) / largest)).astype(int), BINS - 1)
    below = np.cumsum(np.bincount(bins.ravel(), minlength=BINS))[:-1]
    first = np.flatnonzero(below > 0.7 * magnitude.size)
    high = float(largest) * ((first[0] if first.size else BINS - 1) + 1) / BINS
    return 0.4 * high, high


def quantile_thresholds(magnitude, low, high):
    """Linear between order statistics."""
    values = np.sort(magnitude.ravel()).astype(float)
    found = []
    for q in (low, high):
        position = q * (values.size - 1)
        below = int(position)
        above = values[min(below + 1, values.size - 1)]
        found.append(values[below] + (position - below) * (above - values[below]))
    return found


def maxima(strength, gx, gy, threshold):
    """Where the strength is above the threshold and a maximum one pixel along and against the gradient."""
    with np.errstate(invalid="ignore", divide="ignore"):
        length = np.sqrt(gx * gx + gy * gy)
        across, down = np.abs(gx) / length, np.abs(gy) / length
    padded = np.pad(strength, 1)

    def beside(dy, dx):
        height, width = strength.shape
        return padded[1 + dy : 1 + dy + height, 1 + dx : 1 + dx + width]

    def towards(sign):  # the three neighbours on one side: across, down, both
        right, lower = (gx > 0) == (sign > 0), (gy > 0) == (sign > 0)
        corner = np.where(
            lower, np.where(right, beside(1, 1), beside(1, -1)), np.where(right, beside(-1, 1), beside(-1, -1))
        )
        return np.where(right, beside(0, 1), beside(0, -1)), np.where(lower, beside(1, 0), beside(-1, 0)), corner

    one = np.float32(1)
    own = (one - across) * (one - down) * strength
    parts = across * (one - down), (one - across) * down, across * down
    bright, dark = (own + parts[0] * x + parts[1] * y + parts[2] * xy for x, y, xy in (towards(1), towards(-1)))
    found = (strength > threshold) & (strength > bright * (one + TIE)) & (strength * (one + TIE) >= dark)
    found[[0, -1]] = found[:, [0, -1]] = False
    return found


def connected(weak, strong):
    """Pieces of weak edges, over corners too, that hold a strong one."""
    pieces, _ = ndimage.label(weak, np.ones((3, 3)))
    return weak & np.isin(pieces, pieces[strong & weak])


def without_stairs(mask, strength):
    """Remove spare corners: of adjacent ones the weakest first, of equal ones the first in reading order."""
    mask = mask.copy()
    while True:
        spare = {(y, x) for y, x in np.argwhere(mask).tolist() if naive.is_spare_corner(mask, y, x)}

        def goes(y, x, spare=spare):
            beside = [at for at in ((y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)) if at in spare]
            return all((strength[y, x], y, x) < (strength[at], *at) for at in beside)

        going = [at for at in spare if goes(*at)]
        if not going:
            return mask
        for at in going:
            mask[at] = False


def canny(image, sigma, low, high, quantiles=False, automatic=False):
    """The gradient turned to the edge's direction, 0 where there is no edge."""
    gx, gy = gradient(image, sigma)
    strength = magnitudes(gx, gy)
    if automatic and strength.any():
        low, high = automatic_thresholds(strength)
    elif quantiles:
        low, high = quantile_thresholds(strength, low, high)
    weak = maxima(strength, gx, gy, np.float32(low))
    mask = without_stairs(connected(weak, strength > np.float32(high)), strength)
    zero = np.float32(0)
    return np.where(mask, gy, zero), np.where(mask, -gx, zero)
