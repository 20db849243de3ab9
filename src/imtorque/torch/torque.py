"""From forces to torque on tensors: maps, the volume over patch sizes, value and scale maps, coherence."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from imtorque.core.torque import MEAN_LEVER
from imtorque.core.types import Patch, Sizes
from imtorque.images import ValueRange
from imtorque.torch import _coherence, _gradient, _host, _images, _ops, _tables, _torque
from imtorque.torch._checks import (
    check_alpha,
    check_forces,
    check_image,
    check_out,
    check_patch,
    default_sides,
    flat_sides,
    squares_only,
)
from imtorque.torch.edges import soft_grey


def torque_map(
    forces: Tensor,
    size: int | tuple[int, int],
    *,
    patch: Patch = "square",
    alpha: float = 2.0,
    exact: bool = False,
) -> Tensor:
    """Compute the torque of the patch of one size around every pixel, as `imtorque.torque_map` does.

    Parameters
    ----------
    forces
        (B, 2, H, W), fx then fy, zero where there is no edge; float16 to float64.
    size
        Odd side length in pixels, or (height, width) for a rectangle.
    patch
        "square"; rectangles by their size. Disks are the library's alone.
    alpha
        Exponent of the normalisation; 2 is the patch area.
    exact
        True: the library's bits, without gradients. False: gradients flow.

    Returns
    -------
    Tensor
        Torque (B, H, W); float32, float64 for float64 forces with exact=False.

    Examples
    --------
    >>> forces = torch.zeros(1, 2, 9, 9)
    >>> forces[0, 1, 4, 6] = 1  # a force downwards, two pixels right of the centre
    >>> round(float(torque_map(forces, 5)[0, 4, 4]) * 2 * 5**2, 4)
    2.0
    """
    one = cast(Sizes, (size,))
    return torque_volume(forces, one, patch=patch, alpha=alpha, exact=exact)[:, 0]


def torque_volume(
    forces: Tensor,
    sizes: Sizes,
    *,
    patch: Patch = "square",
    alpha: float = 2.0,
    out: Tensor | None = None,
    exact: bool = False,
) -> Tensor:
    """Compute the torque of every patch, for every pixel and every size, as `imtorque.torque_volume` does.

    Parameters
    ----------
    forces, patch, alpha, exact
        As for `torque_map`.
    sizes
        Odd, increasing side lengths, or (height, width) pairs in order of area.
    out
        Contiguous tensor (B, S, H, W) to write to, of the result's type and device.

    Returns
    -------
    Tensor
        (B, S, H, W). The backward pass is the contribution map: each force's moments about the patches that hold it.
    """
    check_forces(forces, exact)
    check_patch(patch)
    sides, _ = flat_sides(sizes)
    batch, _, height, width = forces.shape
    check_out(out, forces, (batch, len(sides) // 2, height, width))
    if out is not None:
        fields = _host.edges_of(forces, exact=exact)
        if fields is not None:
            return _host.volume(fields, sides, check_alpha(alpha), out)
        return _torque.volume(forces, sides, check_alpha(alpha), exact, out)
    return _ops.torque_volume(forces, sides, check_alpha(alpha), exact)


def value_and_scale_maps(
    source: Tensor,
    sizes: Sizes | None = None,
    *,
    patch: Patch = "square",
    alpha: float = 2.0,
    exact: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return the strongest torque at each pixel and its patch size, as `imtorque.value_and_scale_maps` does.

    Parameters
    ----------
    source
        Forces (B, 2, H, W). The volume is never stored, in the backward pass neither.
    sizes, patch, alpha, exact
        As for `torque_volume`; by default the sizes of `imtorque.default_sizes`.

    Returns
    -------
    value
        (B, H, W). Its gradient goes to the forces of the patch that was chosen.
    scale
        Signed size (B, H, W), int32; (B, H, W, 2) for rectangles. 0 where the torque is 0 at all sizes.
    """
    check_forces(source, exact)
    check_patch(patch)
    sides, squares = (default_sides(*source.shape[2:]), True) if sizes is None else flat_sides(sizes)
    value, scale = _ops.value_and_scale(source, sides, check_alpha(alpha), exact)
    if squares:
        return value, scale
    pairs = torch.tensor([0, 0, *sides], dtype=torch.int32, device=scale.device).view(-1, 2)
    return value, pairs[scale.abs().long()] * scale.sign()[..., None]


def torque_coherence(forces: Tensor, size: int, *, exact: bool = False) -> Tensor:
    """Compute how consistently the edges of each square turn around its centre, as `imtorque.torque_coherence` does.

    Parameters
    ----------
    forces, exact
        As for `torque_map`.
    size
        Odd side length in pixels.

    Returns
    -------
    Tensor
        (B, H, W): torque over edge mass, about from -1 to 1.
    """
    check_forces(forces, exact)
    (side,) = squares_only((size,))
    if exact:
        return _ops.coherence(forces, side)
    torque = _ops.torque_volume(forces, [side, side], 2.0, False)[:, 0]
    wide = lengths(forces).to(_torque.table_type(forces.device))
    mass = _tables.box_sums(wide, side // 2, side // 2).clamp(min=0).to(torque.dtype)
    return torque / (MEAN_LEVER / (2 * side) * mass + _coherence.LEAST_MASS)


def lengths(forces: Tensor) -> Tensor:
    """Return the lengths of forces (B, H, W), without an infinite gradient where there is none."""
    square = (forces * forces).sum(1)
    there = square > 0
    return torch.where(there, torch.where(there, square, 1.0).sqrt(), 0.0)


def gradient_torque(
    image: Tensor, sizes: Sizes, *, value_range: ValueRange | None = None, exact: bool = False
) -> Tensor:
    """Compute the torque of the whole gradient without computing a gradient, as `imtorque.gradient_torque` does.

    Parameters
    ----------
    image, value_range, exact
        As for `imtorque.torch.detect_edges`.
    sizes
        As for `torque_volume`.

    Returns
    -------
    Tensor
        (B, S, H, W).

    Examples
    --------
    >>> image = torch.zeros(1, 1, 9, 9)
    >>> image[..., 3:6, 3:6] = 1
    >>> round(float(gradient_torque(image, [3])[0, 0, 4, 4]), 6)
    1.0
    """
    check_image(image, exact)
    sides, _ = flat_sides(sizes)
    if exact:
        return _ops.gradient_torque(image, sides, [] if value_range is None else [float(end) for end in value_range])
    known = value_range is not None and image.dtype == torch.uint8
    ranges = _images.ranges_of(image, [] if known else _images.bounds_of(image), value_range)
    grey = soft_grey(image, ranges)
    wide = grey.to(_torque.table_type(grey.device))
    centred = wide - wide.mean((1, 2), keepdim=True)
    pairs = list(zip(sides[0::2], sides[1::2], strict=True))
    tau = [_gradient.torque(centred, height // 2, width // 2, _gradient.soft_sums) for height, width in pairs]
    return torch.stack(tau, 1).to(grey.dtype)
