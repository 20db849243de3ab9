"""The plane in which objects are looked for: grey, or the colour in which a coloured image's edges are far clearer."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from imtorque import _native
from imtorque.core.types import Float32Array, FloatArray, Image, Planes
from imtorque.detection.noise import noise_level
from imtorque.images import CheckedImage

COMPARED_SIDE = 256  # pixels of the reduced image in which planes are compared, about; bound: time
EDGE_SIGMA = 1.2  # of the edges there; convention: that of pyramid.LEVEL_SIGMA
CLEAREST_SHARE = 0.03  # of the pixels: the clearest edges, by which planes are compared; measured (0, 0)
MIN_COLOUR = 0.02  # of the value range, between channels that differ; convention
# Of the value range for a pixel: added to the noise, so that a flat channel has no clear edges; measured (0, 0).
MIN_EDGE = 0.005
MIN_CLEARER = 2.0  # how much clearer the edges of another plane than grey must be, for that to be used; measured (0, 0)
MIN_CLEARER_MIXTURE = 1.3  # the same of a mixture of colours, beside the best of them alone; measured (0, 0)
MIN_GREY_EDGE = 1.0  # clearness of an edge in grey that must be kept: white noise alone stays below; derived
# Of its clearness in grey, and of such edges: what grey shows must not be lost; measured (0, 0).
MIN_KEPT, MIN_KEPT_SHARE = 0.5, 0.8
LUMINANCE = (0.2126, 0.7152, 0.0722)  # Rec. 709; convention
PRIMARIES = {"red": (1.0, 0.0, 0.0), "green": (0.0, 1.0, 0.0), "blue": (0.0, 0.0, 1.0)}


def object_plane(image: Image) -> tuple[Image, str]:
    """Return the plane of an image in which objects stand out, in its own values, and its name.

    That is "grey", the image itself, unless the clearest edges of a channel, or of the mixture of red, green and blue
    in which they are clearest (the first principal component of the colour gradients, in units of the noise), are at
    least twice as clear over the noise, and those of grey can be seen in it too.
    """
    weights, name = clearest_plane(image)
    return (image if weights is None else in_plane(image, weights)), name


def clearest_plane(image: Image) -> tuple[FloatArray | None, str]:
    """Return the weights of red, green and blue in that plane, None for the image itself, and its name."""
    weights, name = _clearest(CheckedImage(image))
    return (None if name == "grey" else weights), name


def in_plane(image: Image, weights: FloatArray) -> Image:
    """Return a mixture of the colours of an image, in its own values."""
    checked = CheckedImage(image)
    plane = np.empty(checked.shape, np.float32)
    for start, colours in checked.rgb_strips():
        plane[start : start + colours.shape[1]] = np.tensordot(weights, colours, axes=1)
    used: Any = CheckedImage(checked.low + (checked.high - checked.low) * plane, (checked.low, checked.high))
    return used  # type: ignore[no-any-return]


def _clearest(image: CheckedImage) -> tuple[FloatArray, str]:
    """Return the weights of red, green and blue in the plane to be used, and its name."""
    grey = np.array(LUMINANCE)
    if image.is_grey:
        return grey, "grey"
    small = image.block_means(max(1, round(math.sqrt(image.shape[0] * image.shape[1]) / COMPARED_SIDE)))
    if np.ptp(small, axis=0).max() <= MIN_COLOUR or min(small.shape[1:]) < 3:
        return grey, "grey"
    gradients = np.stack([_native.smoothed_gradient(np.ascontiguousarray(p, np.float32), EDGE_SIGMA) for p in small])
    clearness = partial(_clearness, gradients, small)
    channels = {name: clearness(np.array(weights)) for name, weights in PRIMARIES.items()}
    name = max(channels, key=lambda channel: _clearest_mean(channels[channel]))
    weights, clear = np.array(PRIMARIES[name]), channels[name]
    mixture = _mixture(gradients, small)
    mixed = clearness(mixture)
    if _clearest_mean(mixed) > MIN_CLEARER_MIXTURE * _clearest_mean(clear):
        weights, clear = mixture, mixed
        name = " ".join(f"{w:+.2f} {channel}" for w, channel in zip(mixture, PRIMARIES, strict=True)).lstrip("+")
    usual = clearness(grey)
    shown = usual >= MIN_GREY_EDGE
    kept = np.mean(clear[shown] >= MIN_KEPT * usual[shown]) if shown.any() else 1.0
    better = _clearest_mean(clear) > MIN_CLEARER * _clearest_mean(usual) and kept >= MIN_KEPT_SHARE
    return (weights, name) if better else (grey, "grey")


def _clearness(gradients: Float32Array, planes: Planes, weights: FloatArray) -> Float32Array:
    """Return the gradient of a mixture over its noise at each pixel; gradients have the shape (3, 2, H, W)."""
    gx, gy = np.tensordot(weights, gradients, axes=1)
    noise = noise_level(np.tensordot(weights, planes, axes=1).astype(np.float32), 1.0)
    clearness: Float32Array = np.hypot(gx, gy) / (noise + MIN_EDGE)
    return clearness


def _clearest_mean(clearness: Float32Array) -> float:
    """Return the mean of the clearest edges."""
    count = max(1, int(CLEAREST_SHARE * clearness.size))
    return float(np.partition(clearness.ravel(), -count)[-count:].mean())


def _mixture(gradients: Float32Array, planes: Planes) -> FloatArray:
    """Return the first principal component of the clearest colour gradients in units of the noise, as weights.

    Their sizes add up to 1, and their sum is not negative.
    """
    noise = np.array([noise_level(plane.astype(np.float32), 1.0) for plane in planes]) + MIN_EDGE
    scaled = (gradients / noise[:, None, None, None].astype(np.float32)).reshape(3, 2, -1)
    strength = (scaled**2).sum(axis=(0, 1))
    count = max(1, int(CLEAREST_SHARE * strength.size))
    clear = scaled[:, :, np.argpartition(strength, -count)[-count:]].reshape(3, -1).astype(np.float64)
    weights = np.linalg.eigh(clear @ clear.T)[1][:, -1] / noise
    weights /= np.abs(weights).sum()
    return weights if weights.sum() >= 0 else -weights
