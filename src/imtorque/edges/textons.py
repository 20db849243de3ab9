"""Textons: kinds of small patterns, by clustering the answers of a bank of filters in one image.

J. Malik, S. Belongie, T. Leung, J. Shi: Contour and texture analysis for image segmentation. IJCV 43(1), 2001.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from imtorque.core.types import Float32Array

FILTER_ORIENTATIONS = 8  # of the filters; see cues.ORIENTATIONS for those of edges; untuned
# The number of kinds and the form of the filters: chosen on Berkeley's images (docs/measured/base_detectors.md).
TEXTONS = 64
FILTER_SIGMA = 0.8  # of the filters across, in pixels; chosen as TEXTONS were
ELONGATION = 2.0  # length of the filters over their width; chosen as TEXTONS were
FILTER_REACH = 7  # of the filters, in pixels; chosen as TEXTONS were
CONTRAST_FLOOR = 0.3  # responses above it are compressed (Weber's law); chosen as TEXTONS were
ROUNDING_ERROR = 1e-4  # responses below it are rounding errors; bound: rounding
TEXTON_SAMPLES = 6000  # pixels that are clustered; bound: time
TEXTON_ROUNDS = 10  # of k-means; bound: time
CHUNK_ROWS = 1 << 14  # pixels whose distances are computed at a time, which bounds memory; bound: memory


def textons(grey: Float32Array, count: int = TEXTONS) -> NDArray[np.uint8]:
    """Return the texton of each pixel of a grey image in [0, 1], shape (H, W), below `count`."""
    answers = filter_answers(grey)
    size = np.sqrt((answers**2).sum(axis=1, keepdims=True))
    answers[size[:, 0] < ROUNDING_ERROR] = 0
    answers *= np.log1p(size / np.float32(CONTRAST_FLOOR)) / np.maximum(size, np.float32(1e-12))
    step = max(1, len(answers) // TEXTON_SAMPLES)
    centres = cluster(answers[::step], count)
    return nearest(answers, centres).astype(np.uint8).reshape(grey.shape)


def filter_answers(grey: Float32Array) -> Float32Array:
    """Return the answers of the 17 filters, shape (pixels, 17).

    Of each orientation the second derivative of an elongated Gaussian and its Hilbert transform, then a
    centre-surround filter.
    """
    from scipy import fft  # here, because it takes longer to load than the rest of the library

    padded = np.pad(grey - grey.mean(dtype=np.float64).astype(np.float32), FILTER_REACH, mode="symmetric")
    shape = tuple(fft.next_fast_len(n, real=True) for n in padded.shape)
    spectrum = fft.rfft2(padded, shape)
    inside = np.s_[FILTER_REACH : FILTER_REACH + grey.shape[0], FILTER_REACH : FILTER_REACH + grey.shape[1]]
    answers = np.empty((grey.size, 2 * FILTER_ORIENTATIONS + 1), np.float32)
    for i, transfer in enumerate(_bank(shape)):
        answers[:, i] = fft.irfft2(spectrum * transfer, shape)[inside].ravel()
    return answers


@lru_cache(maxsize=2)
def _bank(shape: tuple[int, int]) -> tuple[NDArray[np.complex64], ...]:
    """Return the Fourier transforms of the filters, for images of this shape; of absolute sum 1 each.

    They end at FILTER_REACH, or what is flat would answer to edges far away by the long tails of Hilbert transforms.
    """
    from scipy import fft

    fy, fx = 2 * np.pi * np.fft.fftfreq(shape[0])[:, None], 2 * np.pi * np.fft.rfftfreq(shape[1])
    bank = []
    for angle in np.pi * np.arange(FILTER_ORIENTATIONS) / FILTER_ORIENTATIONS:
        along, across = np.cos(angle) * fx + np.sin(angle) * fy, np.cos(angle) * fy - np.sin(angle) * fx
        even = across**2 * np.exp(-0.5 * FILTER_SIGMA**2 * (across**2 + (ELONGATION * along) ** 2))
        bank += [even, 1j * np.sign(across) * even]
    length = fx**2 + fy**2
    bank.append(length * np.exp(-0.5 * FILTER_SIGMA**2 * length))
    dy, dx = (np.fft.fftfreq(n, 1 / n) for n in shape)
    near = np.hypot(dy[:, None], dx) <= FILTER_REACH
    cut = [np.where(near, fft.irfft2(transfer, shape), 0) for transfer in bank]
    level = [np.where(near, taps - taps.sum() / near.sum(), 0) for taps in cut]
    return tuple(fft.rfft2(taps / np.abs(taps).sum()).astype(np.complex64) for taps in level)


def cluster(points: Float32Array, count: int, rounds: int = TEXTON_ROUNDS) -> Float32Array:
    """Return the centres that Lloyd's rounds lead to, from points evenly spaced in order of their length."""
    order = np.argsort((points**2).sum(axis=1), kind="stable")
    centres: Float32Array = points[order[np.linspace(0, len(points) - 1, count).astype(int)]].copy()
    for _ in range(rounds):
        own = _nearest(points, centres)
        members = np.zeros((count, len(points)), np.float32)
        members[own, np.arange(len(points))] = 1
        sizes = members.sum(axis=1, keepdims=True)
        centres = np.where(sizes > 0, members @ points / np.maximum(sizes, 1), centres)
    return centres


def nearest(points: Float32Array, centres: Float32Array) -> NDArray[np.intp]:
    """Return the number of each point's nearest centre."""
    return np.concatenate(
        [_nearest(points[start : start + CHUNK_ROWS], centres) for start in range(0, len(points), CHUNK_ROWS)]
    )


def _nearest(points: Float32Array, centres: Float32Array) -> NDArray[np.intp]:
    scores = points @ centres.T - 0.5 * (centres**2).sum(axis=1)
    found: NDArray[np.intp] = scores.argmax(axis=1)
    return found
