"""Local cues of boundaries: oriented gradients of brightness, colour and texture over half-discs.

D. R. Martin, C. C. Fowlkes, J. Malik: Learning to detect natural image boundaries using local brightness, color, and
texture cues. PAMI 26(5), 2004.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from imtorque import _native
from imtorque.core.types import Float32Array, FloatArray
from imtorque.edges.textons import TEXTONS, textons
from imtorque.images import CheckedImage, lab

ORIENTATIONS = 8  # of the half-discs, as kOrientations in native/edges/half_discs.hpp; convention of pb
CUE_BINS = 25  # of the histograms of L, a and b; convention of pb (Martin et al. 2004)
AB_RANGE = (-0.73, 0.95)  # of CIE a and b over 100 that photographs have; convention of pb (Martin et al. 2004)
BIN_REACH = {"brightness": 2, "a": 1, "b": 1, "texture": 0}  # reach of the running means over bins
# Discs of this radius and more are evaluated at every other pixel, since their gradients are smooth; bound: time.
HALF_STEP_RADIUS = 10
MIN_HALF_WIDTH = 1.5  # half the width of the ellipse in which gradients are smoothed; untuned


class Cue(NamedTuple):
    """What is compared between the halves of a disc, and the disc's radius in pixels."""

    channel: str
    radius: int

    @property
    def step(self) -> int:
        """Distance of the pixels that get an answer."""
        return 2 if self.radius >= HALF_STEP_RADIUS else 1


def channel_bins(image: CheckedImage, channels: set[str]) -> dict[str, tuple[NDArray[np.uint8], int]]:
    """Return for each channel the number of each pixel's bin, (H, W), and how many bins there are."""
    planes = lab(image.rgb())
    spans = {"brightness": (0.0, 1.0), "a": AB_RANGE, "b": AB_RANGE}
    found = {
        channel: (_binned(plane, span), CUE_BINS)
        for plane, (channel, span) in zip(planes, spans.items(), strict=True)
        if channel in channels
    }
    return found | ({"texture": (textons(image.grey()), TEXTONS)} if "texture" in channels else {})


def disc_gradients(bins: NDArray[np.uint8], count: int, cue: Cue) -> Float32Array:
    """Return the dissimilarity of the halves of each disc, (8, h, w) in [0, 1], at every `cue.step`-th pixel."""
    padded = np.pad(bins, cue.radius, mode="symmetric")
    return _native.half_disc_gradients(padded, count, cue.radius, BIN_REACH[cue.channel], cue.step)


def combined_cues(image: CheckedImage, cues: Sequence[Cue], weightings: Sequence[Sequence[float]]) -> list[FloatArray]:
    """Return for each weighting the weighted sum of the cues' gradients, each smoothed along the edge, (8, H, W).

    Gradients are computed once for all. Smoothing is linear and the same for all channels of one radius, so it is done
    once for their sum.
    """
    bins = channel_bins(image, {cue.channel for cue in cues})
    sums: list[dict[tuple[int, int], Float32Array]] = [{} for _ in weightings]
    for cue, weights in zip(cues, zip(*weightings, strict=True), strict=True):
        gradients = disc_gradients(*bins[cue.channel], cue)
        for parts, weight in zip(sums, weights, strict=True):
            key = cue.radius, cue.step
            part = np.float32(weight) * gradients
            parts[key] = parts[key] + part if key in parts else part
    return [_smoothed_sum(parts, image.shape) for parts in sums]


def _smoothed_sum(parts: dict[tuple[int, int], Float32Array], shape: tuple[int, int]) -> FloatArray:
    """Return the sum of the parts, smoothed by radius and interpolated from their step to all pixels."""
    at_steps: dict[int, Float32Array] = {}
    for (radius, step), part in parts.items():
        smooth = smoothed_along(part, radius / step)
        at_steps[step] = at_steps[step] + smooth if step in at_steps else smooth
    filled = [part if step == 1 else filled_in(part, step, shape) for step, part in at_steps.items()]
    return filled[0] if len(filled) == 1 else filled[0] + filled[1]


def each_cue(image: CheckedImage, cues: Sequence[Cue]) -> Float32Array:
    """Return every cue's gradients, smoothed along the edge, (cues, 8, H, W): what weights are learned from."""
    bins = channel_bins(image, {cue.channel for cue in cues})
    maps = []
    for cue in cues:
        smooth = smoothed_along(disc_gradients(*bins[cue.channel], cue), cue.radius / cue.step)
        maps.append(smooth if cue.step == 1 else filled_in(smooth, cue.step, image.shape))
    return np.stack(maps)


def smoothed_along(oriented: Float32Array, radius: float) -> Float32Array:
    """Smooth each orientation's map along the edge: the middle of a parabola across it, fitted in an ellipse.

    The filter of Savitzky and Golay; the ellipse has `radius` along the edge and a quarter of it across.
    """
    smooth = np.empty_like(oriented)
    for k, plane in enumerate(oriented):
        dy, dx, weight = _taps(radius, k)
        border = int(max(np.abs(dy).max(), np.abs(dx).max()))
        padded = np.pad(plane, border, mode="symmetric")
        smooth[k] = _native.correlate(padded, border, dy, dx, weight)
    return smooth


@lru_cache(maxsize=64)
def _taps(radius: float, k: int) -> tuple[NDArray[np.int32], NDArray[np.int32], Float32Array]:
    """Return offsets and weights that give the middle of the parabola fitted across orientation k."""
    longest, widest = max(radius, MIN_HALF_WIDTH), max(radius / 4, MIN_HALF_WIDTH)
    reach = int(np.ceil(longest))
    dy, dx = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    angle = np.pi * k / ORIENTATIONS
    along, across = np.cos(angle) * dx + np.sin(angle) * dy, np.cos(angle) * dy - np.sin(angle) * dx
    inside = (along / longest) ** 2 + (across / widest) ** 2 <= 1 + 1e-9
    v = across[inside]
    weight = np.linalg.pinv(np.stack([np.ones_like(v), v, v**2], axis=1))[0]
    return dy[inside].astype(np.int32), dx[inside].astype(np.int32), weight.astype(np.float32)


def _binned(plane: FloatArray, span: tuple[float, float]) -> NDArray[np.uint8]:
    scaled = (plane - span[0]) * (CUE_BINS / (span[1] - span[0]))
    binned: NDArray[np.uint8] = np.clip(scaled, 0, CUE_BINS - 1).astype(np.uint8)
    return binned


def filled_in(oriented: Float32Array, step: int, shape: tuple[int, int]) -> Float32Array:
    """Interpolate maps known at every step-th pixel to all pixels of this shape."""
    for axis, length in ((1, shape[0]), (2, shape[1])):
        near = np.arange(length) // step
        share = ((np.arange(length) % step) / step).astype(np.float32)
        far = np.minimum(near + 1, oriented.shape[axis] - 1)
        share = share[:, None] if axis == 1 else share
        oriented = (1 - share) * oriented.take(near, axis) + share * oriented.take(far, axis)
    return oriented
