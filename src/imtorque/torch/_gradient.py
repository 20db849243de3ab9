"""Gradient torque in the library's bits: native/core/gradient_torque.cpp on tensors."""

from __future__ import annotations

import torch
from torch import Tensor

from imtorque.torch import _cuda_edges, _images, _launch


def volume(image: Tensor, sides: list[int], value_range: list[float]) -> Tensor:
    """Return the gradient torque of images (B, 1 or 3, H, W) for each patch, (B, S, H, W) float32."""
    given = (value_range[0], value_range[1]) if value_range else None
    known = given is not None and image.dtype == torch.uint8
    ranges = _images.ranges_of(image, [] if known else _images.bounds_of(image), given)
    grey = _images.grey(image, ranges)
    means = [float(checked.numpy().mean(dtype="float64")) for checked in grey.cpu()]  # numpy's order of additions
    centred = grey.double() - torch.tensor(means, dtype=torch.float64, device=grey.device)[:, None, None]
    pairs = list(zip(sides[0::2], sides[1::2], strict=True))
    return torch.stack([torque(centred, height // 2, width // 2, running_sums) for height, width in pairs], 1).float()


def torque(centred: Tensor, ry: int, rx: int, sums: object) -> Tensor:
    """Return the torque of one patch on centred images (B, H, W): its mean less those of the lines around it."""
    across = _line_sums(centred.mT, rx, sums).mT
    down, inside = _line_sums(centred, ry, sums), _line_sums(across, ry, sums)
    # As tensors: by a number torch would multiply with its reciprocal on some devices.
    sy, sx = torch.tensor([2.0 * ry + 1, 2.0 * rx + 1], dtype=centred.dtype, device=centred.device)
    height, width = centred.shape[1:]
    columns = _at(down, 2, -rx - 1, width) + _at(down, 2, rx + 1, width)
    rows = _at(across, 1, -ry - 1, height) + _at(across, 1, ry + 1, height)
    return inside / (sy * sx) - 0.25 * columns / sy - 0.25 * rows / sx


def running_sums(values: Tensor) -> Tensor:
    """Return sums down the columns of (B, H, W), from 0 to all, added one after the other: (B, H + 1, W)."""
    if _launch.serves(values.device):
        return _cuda_edges.running_sums(values.contiguous())
    return soft_sums(values)


def soft_sums(values: Tensor) -> Tensor:
    """Return the same with gradients; in what order it is added is the device's matter."""
    return torch.nn.functional.pad(values.cumsum(1), (0, 0, 1, 0))


def _line_sums(values: Tensor, r: int, sums: object) -> Tensor:
    """Return the sums of 2 r + 1 values down the columns; beyond the border the image repeats its border pixels."""
    height = values.shape[1]
    prefix = sums(values)  # type: ignore[operator]
    start = torch.arange(height, device=values.device) - r
    end = start + 2 * r + 1
    total = prefix[:, end.clamp(max=height)] - prefix[:, start.clamp(min=0)]
    before, after = start.clamp(max=0)[:, None], (end - height).clamp(min=0)[:, None]
    total = torch.where(before < 0, total - before * values[:, :1], total)
    return torch.where(after > 0, total + after * values[:, -1:], total)


def _at(values: Tensor, axis: int, offset: int, length: int) -> Tensor:
    place = (torch.arange(length, device=values.device) + offset).clamp(0, length - 1)
    return values.index_select(axis, place)
