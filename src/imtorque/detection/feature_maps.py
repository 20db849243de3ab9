"""Feature maps: an image at its working size as planes, with the gradients and torque computed from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from imtorque import _native
from imtorque.core.caching import cached_property
from imtorque.core.types import LARGEST_SIZE, BoolArray, Float32Array, FloatArray, Image
from imtorque.detection.annotations import Annotations
from imtorque.detection.click_sizes import clicked_diameters
from imtorque.detection.filters import smoothed
from imtorque.detection.noise import noise_level
from imtorque.detection.pyramid import MIN_NOISE, saturate
from imtorque.images import CheckedImage, rgb_image

WORKING_DIAMETER = 32  # pixels: larger objects are looked for in a reduced image; unrecorded
MIN_SIGN_SHARE = 0.1  # of the annotated objects, for a sign to be looked for; unrecorded
PLANES = ("grey", "root", "smooth", "centred", "spread", "texture")  # of a grey image
COLOUR_PLANES = ("grey", "root", "luminance", "red_green", "yellow_blue", *PLANES[2:])


@dataclass(frozen=True)
class ObjectSizes:
    """How large the objects are, in pixels of the image as given."""

    smallest: float
    typical: float
    largest: float

    @property
    def factor(self) -> int:
        """By how much images are reduced."""
        return max(1, int(self.typical / WORKING_DIAMETER))

    def checked(self) -> ObjectSizes:
        """Return sizes that objects of an image can have, else raise: files can hold anything."""
        if not 0 < self.smallest <= self.typical <= self.largest <= LARGEST_SIZE:
            raise ValueError(f"sizes of {self.smallest}, {self.typical}, {self.largest}")
        return self


def checked_planes(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of planes that feature maps can have, else raise."""
    if tuple(names) not in (PLANES, COLOUR_PLANES):
        raise ValueError(f"planes that this version does not have, {names!r:.80}")
    return tuple(names)


def annotated_sizes(
    images: Sequence[Image], annotations: Sequence[Annotations], given: tuple[float, float] | None = None
) -> ObjectSizes:
    """Return the range of diameters given, else of those annotated; of points, by the outlines around them."""
    if not sum(len(marked) for marked in annotations):
        raise ValueError("at least one object must be annotated, got none")
    if given is not None:
        smallest, largest = given
        if not (math.isfinite(largest) and 3 <= smallest <= largest):
            raise ValueError(f"sizes must be (smallest, largest) with 3 <= smallest <= largest, got {given}")
        return ObjectSizes(smallest, math.sqrt(smallest * largest), largest)
    if all(marked.form == "points" for marked in annotations if len(marked)):
        clicked = [clicked_diameters(p, m.points) for p, m in zip(images, annotations, strict=True) if len(m)]
        diameters = np.concatenate(clicked)
        if not len(diameters):
            raise ValueError(
                "the images must show something that may be an object, got none with a closed contour at the points"
            )
        typical = float(np.median(diameters))
        return ObjectSizes(0.65 * typical, typical, 1.8 * typical)
    low, middle, high = np.quantile(np.concatenate([m.diameters for m in annotations]), [0.03, 0.5, 0.97])
    return ObjectSizes(float(low), float(middle), float(high))


@dataclass
class FeatureMaps:
    """An image at its working size.

    Parameters
    ----------
    grey
        Luminance, (H, W), from the 0.5 % to the 99.5 % quantile of the image as 0 to 1.
    stack
        Shape (C, H, W): planes that features are measured on.
    names
        Of the planes.
    diameter
        Typical diameter of objects here, in pixels.
    pixel_score
        How much each pixel looks like one of an object, (H, W), about -1 to 1; None before it is learned.
    torque
        Torque by plane and variant, kept where proposals and features share it.
    """

    grey: Float32Array
    stack: Float32Array
    names: tuple[str, ...]
    diameter: float
    pixel_score: Float32Array | None = None
    torque: dict[tuple[str, str], Float32Array] = field(default_factory=dict)
    _gradients: dict[tuple[str, float], tuple[Float32Array, Float32Array]] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.grey.shape[0], self.grey.shape[1]

    @property
    def room(self) -> float:
        """How many objects there is room for, each in a square."""
        return self.grey.size / self.diameter**2

    @cached_property
    def noise(self) -> float:
        """Standard deviation of the noise of `grey`."""
        return max(noise_level(self.grey), MIN_NOISE)

    def plane(self, name: str) -> Float32Array:
        """Return "grey" or "pixel_score"."""
        return self.grey if name == "grey" or self.pixel_score is None else self.pixel_score

    def edge_sigma(self, coarse: bool = False) -> float:
        """Return the scale of edges: fine or coarse, in proportion to the objects."""
        return max(1.0, self.diameter / (9 if coarse else 20))

    def gradient(self, name: str, coarse: bool = False) -> tuple[Float32Array, Float32Array]:
        """Return the saturated gradient g / (|g| + k) of a plane, gx and gy; k follows from the image's noise."""
        key = (name, self.edge_sigma(coarse))
        if key not in self._gradients:
            gx, gy = _native.smoothed_gradient(np.ascontiguousarray(self.plane(name)), key[1])
            strength = np.hypot(gx, gy)
            middle, high = np.quantile(strength, [0.5, 0.99])
            self._gradients[key] = saturate(gx, gy, strength, 2 * float(middle) + 0.05 * float(high) + 1e-6)
        return self._gradients[key]


def is_coloured(image: Image) -> bool:
    """Return whether an image has colours."""
    return bool(np.ptp(rgb_image(image), axis=0).max() > 0.02)


def feature_maps(image: Image | CheckedImage, sizes: ObjectSizes, coloured: bool) -> FeatureMaps:
    """Return the feature maps of an image at its working size, those of colours if asked; where images come in."""
    factor = sizes.factor
    checked = CheckedImage(image)
    grey = checked.grey()
    diameter = sizes.typical / factor
    if factor > 1:
        grey = _reduced(grey[None], factor)[0]
    grey = (grey - light_ramp(grey)).astype(np.float32)
    low, high = np.quantile(grey, [0.005, 0.995])
    grey = ((grey - low) / max(high - low, 1e-6)).astype(np.float32)
    planes = [grey, np.sqrt(grey.clip(0))]
    if coloured:
        planes += _opponents(_reduced(checked.rgb(), factor))
    planes += _context(grey, diameter)
    stack = np.ascontiguousarray(np.stack(planes), np.float32)
    return FeatureMaps(grey, stack, COLOUR_PLANES if coloured else PLANES, diameter)


def light_ramp(grey: FloatArray) -> FloatArray:
    """Return the plane a y + b x through an image's grey values, by least squares: 0 in the middle."""
    rows, columns = grey.mean(axis=1, dtype=np.float64), grey.mean(axis=0, dtype=np.float64)
    ramp: FloatArray = _line(rows)[:, None] + _line(columns)
    return ramp


def _line(values: FloatArray) -> FloatArray:
    """Return the straight line through values, less its middle; that through equal values is 0 to the bit."""
    x = np.arange(len(values)) - (len(values) - 1) / 2
    slope = (values - values[0]) @ x / (x @ x or 1.0)
    line: FloatArray = slope * x
    return line


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


def _reduced(planes: Float32Array | FloatArray, factor: int) -> FloatArray:
    if factor == 1:
        return planes
    short = [max(0, factor - side) for side in planes.shape[1:]]
    if any(short):  # an image smaller than a block has one all the same, of its last pixels again
        planes = np.pad(planes, [(0, 0), *((0, more) for more in short)], mode="edge")
    height, width = (side // factor for side in planes.shape[1:])
    blocks = planes[:, : height * factor, : width * factor].reshape(len(planes), height, factor, width, factor)
    mean: FloatArray = blocks.mean(axis=(2, 4))
    return mean


def brighter_objects(maps: FeatureMaps, marked: Annotations) -> BoolArray:
    """Return which annotated objects of an image are brighter than what is around them."""
    y, x = np.ascontiguousarray(marked.points.T, np.float32)
    radii = marked.radii if len(marked.radii) else np.full((len(y), 16), maps.diameter / 2, np.float32)
    parts = np.array([0.8, 1.25], np.float32)
    profile = _native.outline_profiles(maps.grey[None], y, x, np.ascontiguousarray(radii), parts)[:, 0, :, 0]
    brighter: BoolArray = profile[:, 0] > profile[:, 1]
    return brighter


def object_signs(brighter: Sequence[BoolArray]) -> tuple[int, ...]:
    """Return the signs, +1 brighter than what is around and -1 darker, that at least a tenth of the objects have."""
    share = float(np.mean(np.concatenate(brighter)))
    return tuple(sign for sign, part in ((1, share), (-1, 1 - share)) if part >= MIN_SIGN_SHARE)
