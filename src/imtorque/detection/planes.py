"""What an image is made into before candidates are looked for: working size, grey, colours, learned plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from imtorque import _native
from imtorque.core.types import Float32Array, FloatArray, Image, TorqueVolume
from imtorque.detection.click_sizes import clicked_diameters
from imtorque.detection.truth import Marks
from imtorque.images import grey_image, rgb_image

WORKING_DIAMETER = 32  # pixels: larger objects are looked for in a reduced image
IN_COLOUR = 9  # planes of an image in colour; of a grey one there are three less


@dataclass(frozen=True)
class Sizes:
    """How large the objects are, in pixels of the image as given."""

    smallest: float
    typical: float
    largest: float

    @property
    def factor(self) -> int:
        """By how much images are reduced."""
        return max(1, int(self.typical / WORKING_DIAMETER))


def sizes_of(images: Sequence[Image], marks: Sequence[Marks]) -> Sizes:
    """Return the range of the marked objects' diameters, without the most extreme; of points, by torque around them."""
    if not sum(len(marked) for marked in marks):
        raise ValueError("at least one object must be marked, got none")
    if all(marked.form == "points" for marked in marks if len(marked)):
        clicked = [clicked_diameters(p, m.points) for p, m in zip(images, marks, strict=True) if len(m)]
        typical = float(np.median(np.concatenate(clicked)))
        return Sizes(0.65 * typical, typical, 1.8 * typical)
    low, middle, high = np.quantile(np.concatenate([m.diameters for m in marks]), [0.03, 0.5, 0.97])
    return Sizes(float(low), float(middle), float(high))


@dataclass
class Planes:
    """An image at its working size.

    Parameters
    ----------
    grey
        Luminance, (H, W), from the 0.5 % to the 99.5 % quantile of the image as 0 to 1.
    stack
        Shape (C, H, W): planes that features are measured on.
    diameter
        Typical diameter of objects here, in pixels.
    likeness
        How much each pixel looks like one of an object, (H, W), about -1 to 1; None before it is learned.
    """

    grey: Float32Array
    stack: Float32Array
    diameter: float
    likeness: Float32Array | None = None
    volumes: dict[tuple[str, str], TorqueVolume] = field(default_factory=dict)
    _gradients: dict[tuple[str, float], tuple[Float32Array, Float32Array]] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.grey.shape[0], self.grey.shape[1]

    def plane(self, name: str) -> Float32Array:
        """Return "grey" or "likeness"."""
        return self.grey if name == "grey" or self.likeness is None else self.likeness

    def force(self, name: str, sigma: float) -> tuple[Float32Array, Float32Array]:
        """Return the saturating gradient g / (|g| + k) of a plane, gx and gy; k follows from the image's noise."""
        key = (name, sigma)
        if key not in self._gradients:
            gx, gy = _native.smoothed_gradient(np.ascontiguousarray(self.plane(name)), sigma)
            strength = np.hypot(gx, gy)
            middle, high = quantiles(strength, 0.5, 0.99)
            k = 2 * float(middle) + 0.05 * float(high) + 1e-6
            weight = (1 / (strength + k)).astype(np.float32)
            self._gradients[key] = (gx * weight, gy * weight)
        return self._gradients[key]


def is_coloured(image: Image) -> bool:
    """Return whether an image has colours."""
    return bool(np.ptp(rgb_image(image), axis=0).max() > 0.02)


def working_planes(image: Image, sizes: Sizes, coloured: bool) -> Planes:
    """Return the planes of an image at its working size, those of colours if asked; where images come in."""
    factor = sizes.factor
    grey = grey_image(image)
    diameter = sizes.typical / factor
    if factor > 1:
        grey = _reduced(grey[None], factor)[0]
    low, high = quantiles(grey, 0.005, 0.995)
    grey = ((grey - low) / max(high - low, 1e-6)).astype(np.float32)
    planes = [grey, np.sqrt(grey.clip(0))]
    if coloured:
        planes += _opponents(_reduced(rgb_image(image), factor))
    planes += _context(grey, diameter)
    return Planes(grey, np.ascontiguousarray(np.stack(planes), np.float32), diameter)


def _opponents(rgb: FloatArray) -> list[Float32Array]:
    """Return luminance, red against green, and yellow against blue."""
    red, green, blue = rgb.astype(np.float32)
    return [(red + green + blue) / 3, red - green, (red + green) / 2 - blue]


def _context(grey: Float32Array, diameter: float) -> list[Float32Array]:
    """Return the grey around each pixel: over a fifth of an object, over two objects, and the spread over one."""
    fine = smoothed(grey, diameter / 8, truncate=3)
    wide = _wide_mean(grey, 2 * diameter)
    spread = _wide_mean((grey - wide) ** 2, diameter)
    texture = _native.box_mean(np.abs(grey - fine), max(3, int(diameter / 3)))
    return [fine, grey - wide, np.sqrt(spread.clip(0)), texture]


def _wide_mean(plane: Float32Array, width: float) -> Float32Array:
    """Return two passes of a box filter: about a Gaussian, at a cost that does not grow with the width."""
    size = max(3, int(width))
    return _native.box_mean(_native.box_mean(plane, size), size)


def quantiles(plane: Float32Array, *parts: float) -> FloatArray:
    """Return what `np.quantile` does with a list of parts, to the bit, in less time; no value may be NaN."""
    at = np.array(parts) * (plane.size - 1)
    below = at.astype(np.int64)
    ranks = np.minimum([below, below + 1], plane.size - 1)
    pairs = _native.order_statistics(plane, ranks.ravel()).reshape(2, -1).T
    return np.array([np.quantile(two, [share])[0] for two, share in zip(pairs, at - below, strict=True)])


def smoothed(plane: Float32Array, sigma: float, truncate: float = 4) -> Float32Array:
    """Return what `scipy.ndimage.gaussian_filter` does, to the bit, in less time."""
    reach = int(truncate * sigma + 0.5)
    weights = np.exp(-0.5 / sigma**2 * np.arange(-reach, reach + 1) ** 2)
    return _native.smooth_plane(np.ascontiguousarray(plane, np.float32), (weights / weights.sum())[reach:])


def _reduced(planes: Float32Array | FloatArray, factor: int) -> FloatArray:
    if factor == 1:
        return planes
    height, width = (side // factor for side in planes.shape[1:])
    blocks = planes[:, : height * factor, : width * factor].reshape(len(planes), height, factor, width, factor)
    mean: FloatArray = blocks.mean(axis=(2, 4))
    return mean


def signs_of(planes: list[Planes], marks: list[Marks]) -> tuple[int, ...]:
    """Return the signs, +1 brighter than what is around and -1 darker, that at least a tenth of the objects have."""
    brighter = []
    for image, marked in zip(planes, marks, strict=True):
        y, x = np.ascontiguousarray(marked.points.T, np.float32)
        radii = marked.radii if len(marked.radii) else np.full((len(y), 16), image.diameter / 2, np.float32)
        parts = np.array([0.8, 1.25], np.float32)
        profile = _native.outline_profiles(image.grey[None], y, x, np.ascontiguousarray(radii), parts)[:, 0, :, 0]
        brighter.append(profile[:, 0] > profile[:, 1])
    share = float(np.mean(np.concatenate(brighter)))
    return tuple(sign for sign, part in ((1, share), (-1, 1 - share)) if part >= 0.1)
