"""Images as tensors (B, 1 or 3, H, W): what is black and white, and grey values, as `imtorque.images` has them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import torch
from torch import Tensor

from imtorque.images import ValueRange, checked_bounds, checked_range, range_of_bounds
from imtorque.torch import _cuda_edges, _launch

GREY_WEIGHTS = (0.2125, 0.7154, 0.0721)  # Rec. 709, as native/edges/shape_forces.cpp rounds it; convention
NUMPY_TYPES: dict[torch.dtype, np.dtype[Any]] = {torch.uint8: np.dtype(np.uint8)}  # all others are floats


def bounds_of(image: Tensor) -> list[ValueRange]:
    """Return the lowest and highest value of each image."""
    low, high = torch.aminmax(image.detach().flatten(1), dim=1)
    pairs = torch.stack([low, high], 1).double() if image.device.type != "mps" else torch.stack([low, high], 1)
    return [checked_bounds(*pair) for pair in pairs.tolist()]


def ranges_of(image: Tensor, bounds: list[ValueRange], value_range: ValueRange | None) -> list[ValueRange]:
    """Return what is black and white in each image."""
    if value_range is not None:
        return [checked_range(value_range)] * len(image)
    dtype = NUMPY_TYPES.get(image.dtype, np.dtype(np.float64))
    return [range_of_bounds(*pair, dtype) for pair in bounds]


def grey(image: Tensor, ranges: list[ValueRange]) -> Tensor:
    """Return the luminance (B, H, W) as float32, 0 for black and 1 for white, in the library's bits."""
    scales = [(low, 1 / (high - low)) for low, high in ranges]
    if image.dtype == torch.uint8 and _launch.serves(image.device):
        numbers = tuple(number for pair in scales for number in pair)
        return _cuda_edges.grey_of_bytes(image.contiguous(), _launch.on_device(numbers, torch.float64, image.device))
    if image.shape[1] == 1 and image.dtype == torch.float32 and set(ranges) == {(0.0, 1.0)}:
        return image[:, 0].contiguous()
    return scaled(luminance(image.double()), scales).float()


def grey_by_brightest(image: Tensor) -> Tensor:
    """Return what `grey` does for uint8 images by the rule for each, without asking the device for its values."""
    table = _launch.on_device(_byte_scales(), torch.float64, image.device).view(-1, 2)
    brightest = image.flatten(1).amax(1)
    return _cuda_edges.grey_of_bytes(image.contiguous(), table[brightest.long()])


@functools.cache
def _byte_scales() -> tuple[float, ...]:
    """Return offset and scale of uint8 images for each of their highest values; the lowest makes no difference."""
    ranges = [range_of_bounds(0.0, float(high), np.dtype(np.uint8)) for high in range(256)]
    return tuple(number for low, high in ranges for number in (low, 1 / (high - low)))


def luminance(image: Tensor) -> Tensor:
    """Return the luminance (B, H, W) of floats, unscaled."""
    if image.shape[1] == 1:
        return image[:, 0]
    red, green, blue = (weight * channel for weight, channel in zip(GREY_WEIGHTS, image.unbind(1), strict=True))
    return red + green + blue


def scaled(values: Tensor, scales: list[tuple[float, float]]) -> Tensor:
    """Return values less an offset and times a scale for each image."""
    offset, scale = torch.tensor(scales, dtype=values.dtype, device=values.device)[:, :, None, None].unbind(1)
    return (values - offset) * scale


def levelled(image: Tensor, value_range: ValueRange | None) -> tuple[list[ValueRange], list[float]]:
    """Return the range that becomes 0 to 1 in grey images for gradients, and what part of black to white it is.

    Floats are taken from their lowest to their highest value, as `CheckedImage.levelled` does.
    """
    if image.dtype == torch.uint8:
        known = value_range is not None
        return ranges_of(image, [] if known else bounds_of(image), value_range), [1.0] * len(image)
    bounds = bounds_of(image)
    ranges = ranges_of(image, bounds, value_range)
    own = [(low, low + (high - low or 1.0)) for low, high in bounds]
    units = [(high - low or 1.0) / (white - black) for (low, high), (black, white) in zip(bounds, ranges, strict=True)]
    return own, units
