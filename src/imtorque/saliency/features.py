"""Feature maps of GBVS and of Itti, Koch and Niebur: a pyramid of halved images, and oriented energy.

Described in J. Harel, C. Koch, P. Perona: Graph-based visual saliency. NIPS 2006, and L. Itti, C. Koch, E. Niebur: A
model of saliency-based visual attention for rapid scene analysis. PAMI 20(11), 1998. The numbers are those of the
authors' released programs.
"""

import math
from collections.abc import Iterator
from functools import cache

import numpy as np

from imtorque.core.types import Planes
from imtorque.images import CheckedImage, linear_rgb
from imtorque.saliency.maps import Map, attenuate_borders

# Linear RGB of a monitor to the cones' L, M, S, and the grey they are adapted to: convention of GBVS.
TO_LMS = np.array([[18.32535, 44.60077, 7.46216], [4.09544, 28.20135, 6.66066], [0.02114, 0.10325, 1.05258]])
GREY_POINT = np.array([34.918539, 19.314797, 0.585611])  # convention of GBVS
DKL_SCALES = (0.5774, 2.7525, 0.4526)  # convention of GBVS as released
BINOMIAL = np.array([1, 5, 10, 10, 5, 1]) / 32  # convention: of the pyramid's smoothing
SMALLEST_LEVEL_SIDE = 10  # no level is made from one with a side as small; convention of GBVS
GABOR_ANGLES = (0, 45, 90, 135)  # degrees; convention of GBVS
GABOR_SIGMAS = (2.0, 4.0)  # across and along the bars, in pixels; convention of GBVS
RESPONSE_ROUNDING = 1e-10  # responses below it come from rounding alone; bound: rounding
GABOR_REACH = math.ceil(GABOR_SIGMAS[1] * math.sqrt(10))  # derived: pixels, to where a filter's envelope is exp(-5)


def pyramid(image: CheckedImage, levels: int, smallest: int = SMALLEST_LEVEL_SIDE) -> list[Planes]:
    """Return the image halved once (level 1), twice, and so on, each (3, H / 2^k, W / 2^k).

    It ends early at a level with a side of `smallest` pixels or less.
    """
    built = [_halved_image(image)]
    while len(built) < levels and min(built[-1].shape[1:]) > smallest:
        built.append(_halved(built[-1]))
    return built


def oriented_energies(intensity: Map) -> list[Map]:
    """Return |even| + |odd| response of Gabor filters at 0, 45, 90 and 135 degrees, less towards the border."""
    responses = _responses(intensity)
    energies = [np.abs(next(responses)) for _ in GABOR_ANGLES]
    for energy in energies:
        energy += np.abs(next(responses))
        energy[energy < RESPONSE_ROUNDING] = 0
    return [attenuate_borders(energy, GABOR_REACH) for energy in energies]


def dkl(rgb: Planes) -> Planes:
    """Return luminance, red-green and blue-yellow of the Derrington-Krauskopf-Lennie space.

    The released code's table of one monitor's response is replaced by the sRGB curve, which it resembles.
    """
    cones = np.tensordot(TO_LMS, linear_rgb(rgb), axes=1) - GREY_POINT[:, None, None]
    long, medium, short = cones
    long0, medium0, short0 = GREY_POINT
    factor = 1 / (long0 + medium0)
    luminance = np.sqrt(3) * factor * (long + medium)
    red_green = factor * np.hypot(long0, medium0) * (long / long0 - medium / medium0)
    blue_yellow = factor * ((long0 + medium0) / short0 * short - long - medium)
    contrasts: Planes = np.stack([luminance, red_green, blue_yellow]) * np.reshape(DKL_SCALES, (3, 1, 1))
    return contrasts


def _halved_image(image: CheckedImage) -> Planes:
    """Return an image's RGB at half its size, as `_halved` does, strip by strip."""
    parts = []
    kept = np.zeros((3, 0, image.shape[1]))
    for start, part in image.rgb_strips(2):
        rows = part if start else np.pad(part, ((0, 0), (2, 0), (0, 0)), mode="edge")
        rows = np.concatenate([kept, rows], axis=1)
        if start + part.shape[1] == image.shape[0]:
            rows = np.pad(rows, ((0, 0), (0, 3), (0, 0)), mode="edge")
        count = (rows.shape[1] - len(BINOMIAL)) // 2 + 1
        parts.append(_halved_rows(_filtered_rows(rows, count).swapaxes(1, 2)).swapaxes(1, 2))
        kept = rows[:, 2 * count :]
    return np.concatenate(parts, axis=1)[:, : image.shape[0] // 2]


def _halved(planes: Planes) -> Planes:
    """Low-pass with the binomial filter and keep every second pixel, along both axes; borders repeat."""
    return _halved_rows(_halved_rows(planes).swapaxes(1, 2)).swapaxes(1, 2)


def _halved_rows(planes: Planes) -> Planes:
    count = planes.shape[1] // 2
    return _filtered_rows(np.pad(planes, ((0, 0), (2, 3), (0, 0)), mode="edge"), count)


def _filtered_rows(padded: Planes, count: int) -> Planes:
    halved: Planes = sum(tap * padded[:, k : k + 2 * count : 2] for k, tap in enumerate(BINOMIAL))
    return halved


def _responses(intensity: Map) -> Iterator[Map]:
    """Yield the correlation with every Gabor filter, the even ones first, one at a time. Borders repeat."""
    from scipy import fft  # here, because it takes longer to load than the rest of the library

    padded = np.pad(intensity, GABOR_REACH, mode="edge")
    shape = tuple(fft.next_fast_len(side, real=True) for side in padded.shape)
    spectrum = fft.rfft2(padded, shape)
    height, width = intensity.shape
    for kernel in _gabor_filters():
        yield fft.irfft2(spectrum * np.conj(fft.rfft2(kernel, shape)), shape)[:height, :width]


@cache
def _gabor_filters() -> Planes:
    return np.stack([_gabor(angle, phase) for phase in (0, 90) for angle in GABOR_ANGLES])


def _gabor(angle: int, phase: int) -> Map:
    """Return a Gabor filter of zero mean and unit norm, its bars `angle` degrees from the y axis."""
    steps = np.arange(-GABOR_REACH, GABOR_REACH + 1)
    y, x = steps[:, None], steps
    turn = math.radians(angle)
    across, along = x * math.cos(turn) - y * math.sin(turn), x * math.sin(turn) + y * math.cos(turn)
    envelope = np.exp(-(across**2) / (2 * GABOR_SIGMAS[0] ** 2) - along**2 / (2 * GABOR_SIGMAS[1] ** 2))
    wave = np.cos(2 * across + math.radians(phase)) * envelope  # a period of pi pixels
    wave -= wave.mean()
    kernel: Map = wave / np.linalg.norm(wave)
    return kernel
