"""From images to forces on tensors: Canny's method, the whole gradient."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from imtorque.edges.canny import MAX_GRADIENT, SQRT2, Force, check_force, check_sigma
from imtorque.images import ValueRange
from imtorque.torch import _canny, _images, _ops
from imtorque.torch._checks import check_image


def detect_edges(
    image: Tensor,
    *,
    sigma: float = SQRT2,
    low: float | None = None,
    high: float | None = None,
    use_quantiles: bool = False,
    force: Force = "unit",
    directions: Literal[8] | None = None,
    strength_scale: float | None = None,
    length_correction: bool = False,
    value_range: ValueRange | None = None,
    exact: bool = False,
) -> Tensor:
    """Detect edges with Canny's method and give each a force along it, as `imtorque.detect_edges` does.

    Parameters
    ----------
    image
        Images (B, 1 or 3, H, W), uint8 or float.
    sigma, low, high, use_quantiles, force, directions, strength_scale, length_correction
        As for `imtorque.detect_edges`.
    value_range
        (black, white) of all images; by default the rule of `imtorque.images` for each, which looks at its values.
    exact
        True: the library's forces to the bit. False: the same edges, and for float images forces through which
        gradients flow; which pixels are edges, the value range and a `strength_scale` that was not given count as
        constants.

    Returns
    -------
    Tensor
        Forces (B, 2, H, W), fx then fy; float32, float64 for float64 images with exact=False.

    Examples
    --------
    >>> image = torch.zeros(1, 1, 20, 20)
    >>> image[:, :, 5:15, 5:15] = 1
    >>> int(detect_edges(image).any(1).sum())
    32
    """
    check_image(image, exact)
    check_sigma(sigma)
    check_force(force)
    if directions is not None and directions != 8:
        raise ValueError(f"directions must be 8 or None, got {directions}")
    if strength_scale is not None and not (math.isfinite(strength_scale) and strength_scale > 0):
        raise ValueError(f"strength_scale must be positive, got {strength_scale}")
    _check_thresholds(low, high, use_quantiles)
    top = high if high is not None else low  # one threshold alone is both
    bottom = low if low is not None else 0.4 * (top or 0.0)
    kind = 2 if top is None else int(use_quantiles)
    black_white = [] if value_range is None else [float(value) for value in value_range]
    plain = force == "unit" and directions is None and not length_correction
    found = _ops.canny(image, sigma, bottom or 0.0, top or 0.0, kind, black_white, plain)
    learned = image.requires_grad and torch.is_grad_enabled()
    soft = not exact and image.dtype != torch.uint8 and (learned or image.dtype == torch.float64)
    if plain and not soft:
        return found
    ranges, units = _images.levelled(image, value_range)
    if soft:
        found = _soft_gradient(image, ranges, sigma, (found != 0).any(1, keepdim=True))
    scale = _strength_scales(found, strength_scale, units) if force == "strength" else None
    return shape_forces(found, scale, directions or 0, length_correction)


def gradient_edges(image: Tensor, *, value_range: ValueRange | None = None, exact: bool = False) -> Tensor:
    """Return the whole gradient as forces F = (g_y, -g_x), as `imtorque.gradient_edges` does.

    Parameters
    ----------
    image, value_range, exact
        As for `detect_edges`.

    Examples
    --------
    >>> image = torch.zeros(1, 1, 9, 9)
    >>> image[..., 5:] = 1
    >>> gradient_edges(image)[0, 1, 4, 3:7].tolist()
    [0.0, -0.5, -0.5, 0.0]
    """
    check_image(image, exact)
    known = value_range is not None and image.dtype == torch.uint8
    ranges = _images.ranges_of(image, [] if known else _images.bounds_of(image), value_range)
    grey = soft_grey(image, ranges) if not exact and image.dtype != torch.uint8 else _images.grey(image, ranges)
    gy, gx = _differences(grey, 1), _differences(grey, 2)
    return torch.stack([gy, -gx + 0.0], 1)


def soft_grey(image: Tensor, ranges: list[ValueRange]) -> Tensor:
    """Return the luminance (B, H, W) with gradients, 0 for black and 1 for white: float64 for float64, else float32."""
    values = _images.luminance(image if image.dtype == torch.float64 else image.float())
    return _images.scaled(values, [(low, 1 / (high - low)) for low, high in ranges])


def shape_forces(forces: Tensor, scales: Tensor | None, directions: int, length_correction: bool) -> Tensor:
    """Turn gradients at edges into forces of unit length, or over `scales` (B); the library's steps in its order."""
    if directions == 0 and not length_correction:
        if scales is None:
            return _soft_unit(forces)
        positive = scales[:, None, None, None] > 0
        return torch.where((forces != 0).any(1, keepdim=True) & positive, forces / scales[:, None, None, None], 0.0)
    there = (forces != 0).any(1, keepdim=True)
    wide = torch.where(there, forces, 1.0).double()
    length = torch.hypot(wide[:, :1], wide[:, 1:])
    unit = wide / length
    if directions:
        turn = 2 * math.pi / directions
        eighths = torch.round(torch.atan2(unit[:, 1], unit[:, 0]) / turn).long() % directions
        angles = [k * turn for k in range(directions)]
        table = torch.tensor([[_snapped(math.cos(a)), _snapped(math.sin(a))] for a in angles], dtype=torch.float64)
        unit = table.to(forces.device)[eighths].movedim(3, 1)
    size = torch.ones_like(length) if scales is None else length / scales.double()[:, None, None, None]
    if length_correction:
        size = size / unit.abs().amax(1, keepdim=True)
    return torch.where(there, (unit * size).to(forces.dtype), 0.0)


def _snapped(value: float) -> float:
    return 0.0 if abs(value) < 1e-12 else value


def _soft_unit(forces: Tensor) -> Tensor:
    """Return unit forces; no infinite gradient where there is no force."""
    square = forces[:, :1] * forces[:, :1] + forces[:, 1:] * forces[:, 1:]
    there = square > 0
    return torch.where(there, forces / torch.where(there, square, 1.0).sqrt(), 0.0)


def _soft_gradient(image: Tensor, ranges: list[ValueRange], sigma: float, edges: Tensor) -> Tensor:
    smoothed = _canny.convolve(soft_grey(image, ranges), _canny.gaussian(sigma))
    gx, gy = _canny.gradient(smoothed)
    return torch.where(edges, torch.stack([gy, -gx], 1), 0.0)


def _strength_scales(forces: Tensor, strength_scale: float | None, units: list[float]) -> Tensor:
    """Return the gradient magnitude that becomes force 1 in each image; 0 where there are no edges."""
    if strength_scale is not None:
        scales = [strength_scale / unit for unit in units]
    else:
        scales = [_typical_strength(np.asarray(image)) for image in forces.detach().cpu()]
    return torch.tensor(scales, dtype=torch.float64, device=forces.device).to(forces.dtype)


def _typical_strength(forces: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> float:
    edge = (forces != 0).any(0)
    strengths = np.hypot(forces[0][edge], forces[1][edge])
    return float(np.quantile(strengths, 0.99)) if strengths.size else 0.0


def _differences(grey: Tensor, axis: int) -> Tensor:
    """Return central differences inside, one-sided ones on the border, as numpy.gradient does."""
    length = grey.shape[axis]
    if length == 1:
        return torch.zeros_like(grey)
    inner = (grey.narrow(axis, 2, length - 2) - grey.narrow(axis, 0, length - 2)) / 2
    first = grey.narrow(axis, 1, 1) - grey.narrow(axis, 0, 1)
    last = grey.narrow(axis, length - 1, 1) - grey.narrow(axis, length - 2, 1)
    return torch.cat([first, inner, last], axis)


def _check_thresholds(low: float | None, high: float | None, use_quantiles: bool) -> None:
    most = 1.0 if use_quantiles else MAX_GRADIENT
    for name, value in (("low", low), ("high", high)):
        if value is not None and not (math.isfinite(value) and 0 <= value <= most):
            kind = "a quantile in [0, 1]" if use_quantiles else f"a gradient from 0 to {most:.2f}"
            raise ValueError(f"{name} must be {kind}, got {value}")
    if low is not None and high is not None and low > high:
        raise ValueError(f"low must not exceed high, got low {low} and high {high}")
    if use_quantiles and (low is None or high is None):
        raise ValueError("use_quantiles needs both low and high")
