"""From forces to extrema of the torque on tensors: where objects are, and how large."""

from __future__ import annotations

import operator
from typing import NamedTuple

import torch
from torch import Tensor

from imtorque.core.extrema import Neighbourhood, check_neighbourhood, check_wanted
from imtorque.core.types import Patch, Sign, Sizes
from imtorque.torch import _ops
from imtorque.torch._checks import check_alpha, check_forces, check_patch, default_sides, flat_sides
from imtorque.torch._extrema import Request
from imtorque.torch._launch import on_device


class Extrema(NamedTuple):
    """Extrema of the torque of a batch, strongest first; value and size are 0 where an image has no more.

    Attributes
    ----------
    y, x
        Patch centres in pixels, (B, n).
    size
        Patch sizes, (B, n); (B, n, 2), height and width, for rectangles.
    value
        Torque, (B, n): positive for bright objects, negative for dark ones.
    """

    y: Tensor
    x: Tensor
    size: Tensor
    value: Tensor


def find_extrema(
    source: Tensor,
    sizes: Sizes | None = None,
    *,
    count: int | None = None,
    sign: Sign | None = None,
    patch: Patch = "square",
    alpha: float = 2.0,
    neighbourhood: Neighbourhood = "box",
    end_scales: bool = True,
    inside: bool = False,
    threshold: float = 0.0,
    exact: bool = False,
) -> Extrema:
    """Find the local extrema of the torque over space and patch size, as `imtorque.find_extrema` does.

    Parameters
    ----------
    source
        Forces (B, 2, H, W).
    sizes, patch, alpha
        As for `imtorque.torch.torque_volume`; by default the sizes of `imtorque.default_sizes`.
    count
        How many to return at most for each image; all by default, which torch.compile and vmap do not allow.
    sign
        +1 for maxima, -1 for minima, None for both.
    neighbourhood, end_scales, inside
        As for `imtorque.find_extrema`. Crosses, and those inside, are searched for by torch's own operators everywhere.
    threshold
        Least |torque|.
    exact
        True: the library's bits. False: the same places and sizes, and values through which gradients flow.

    Examples
    --------
    >>> from imtorque.torch import detect_edges
    >>> image = torch.zeros(1, 1, 60, 60)
    >>> image[:, :, 20:41, 15:36] = 1
    >>> found = find_extrema(detect_edges(image), range(3, 40, 2), count=1)
    >>> found.y.item(), found.x.item(), found.size.item()
    (30, 25, 21)
    """
    check_forces(source, exact)
    check_patch(patch)
    check_wanted(sign, count, threshold)
    sides, squares = (default_sides(*source.shape[2:]), True) if sizes is None else flat_sides(sizes)
    limit = -1 if count is None else operator.index(count)
    request = Request(sign or 0, limit, end_scales, check_neighbourhood(neighbourhood) == "cross", inside)
    k, y, x, value = _ops.find_extrema(source.detach(), sides, check_alpha(alpha), request)
    if threshold > 0:
        strong = value.abs() >= threshold
        if count is None:  # the first ones, since they come by falling strength
            strong = strong[:, : int(strong.sum(1).max())]
        k, y, x, value = (column[:, : strong.shape[1]] * strong for column in (k, y, x, value))
    there = value != 0
    if not exact and not (source.dtype != torch.float64 and not source.requires_grad):
        value = torch.where(there, torque_at(source, sides, alpha, k, y, x), 0.0)
    pairs = _pairs(sides, k.device)[k] * there[..., None]
    return Extrema(y, x, pairs[..., 0] if squares else pairs, value)


def _pairs(sides: list[int], device: torch.device) -> Tensor:
    """Return heights and widths; without waiting for the device where it has had them before."""
    if device.type == "cuda" and not torch.compiler.is_compiling():
        return on_device(tuple(sides), torch.int64, device).view(-1, 2)
    return torch.tensor(sides, device=device).view(-1, 2)


def torque_at(forces: Tensor, sides: list[int], alpha: float, k: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """Return the torque of patches sides[k] at (y, x), (B, n), with gradients."""
    height, width = forces.shape[2:]
    wide = forces.to(torch.float32 if forces.device.type == "mps" else torch.float64)
    v = torch.arange(height, dtype=wide.dtype, device=wide.device)[:, None] - height // 2
    u = torch.arange(width, dtype=wide.dtype, device=wide.device) - width // 2
    fields = torch.stack([wide[:, 0], wide[:, 1], u * wide[:, 1] - v * wide[:, 0]], 1)
    table = torch.nn.functional.pad(fields.cumsum(2).cumsum(3), (1, 0, 1, 0))
    pairs = _pairs(sides, k.device)[k]
    half_y, half_x = (pairs // 2).unbind(-1)
    top, bottom = (y - half_y).clamp(min=0), (y + half_y + 1).clamp(max=height)
    left, right = (x - half_x).clamp(min=0), (x + half_x + 1).clamp(max=width)
    image = torch.arange(len(forces), device=k.device)[:, None]
    inside = table[image, :, bottom, right] - table[image, :, top, right]
    inside = inside - table[image, :, bottom, left] + table[image, :, top, left]
    moment = inside[..., 2] - (x - width // 2) * inside[..., 1] + (y - height // 2) * inside[..., 0]
    area = pairs.prod(-1).to(wide.dtype)
    area = area * (area.sqrt() / 2) ** (alpha - 2)
    return (moment / (2 * area)).to(torch.float64 if forces.dtype == torch.float64 else torch.float32)
