"""Torque over edge mass and what each edge does for it, in the library's bits: native/core/coherence.cpp on tensors."""

from __future__ import annotations

import torch
from torch import Tensor

from imtorque.core.torque import MEAN_LEVER
from imtorque.torch import _tables, _torque
from imtorque.torch._rounding import exact_sqrt, rounding_of

MASS_STEPS = 1024.0  # of |F|, per step of F; bound: rounding
VOTE_STEPS = float(1 << 18)  # of the coherence
LEAST_MASS = 1e-3  # of a patch, as kLeastMass of native/core/coherence.hpp; convention


def coherence(forces: Tensor, size: int) -> Tensor:
    """Return the coherence of the square of one size around each pixel, (B, H, W) float32."""
    torque = _torque.volume(forces, [size, size], 2.0, exact=True)[:, 0]
    narrow = forces.float()
    units = [steps * MASS_STEPS for steps in rounding_of(narrow.contiguous()).steps]
    factors = [MEAN_LEVER / (2 * float(size) * unit) for unit in units]  # torch would multiply by the reciprocal
    unit, factor = torch.tensor([units, factors], dtype=torch.float64, device=forces.device)[:, :, None, None]
    mass = _tables.box_sums(_whole(_length(narrow.double()) * unit), size // 2, size // 2)
    return (torque.double() / (factor * mass.double() + LEAST_MASS)).float()


def votes(forces: Tensor, sizes: list[int]) -> Tensor:
    """Return each edge's moments about all pixels, weighed by their coherence, (B, H, W) float64."""
    height, width = forces.shape[2:]
    fx, fy = forces.float().double().unbind(1)
    length = _length(forces.float().double())
    v = torch.arange(height, device=forces.device)[:, None]
    u = torch.arange(width, device=forces.device)
    total = torch.zeros_like(fx)
    for size in sizes:
        vote = _whole(coherence(forces, size).double() * VOTE_STEPS)
        sums, across, down = (_tables.box_sums(part, size // 2, size // 2) for part in (vote, vote * u, vote * v))
        lever_x, lever_y = (u * sums - across).double(), (v * sums - down).double()
        side = float(size)
        factor = 1 / (side * side * side * VOTE_STEPS)
        total += torch.where(length > 0, factor * (lever_x * fy - lever_y * fx) / length, 0.0)
    return total


def _length(forces: Tensor) -> Tensor:
    return exact_sqrt(forces[:, 0] * forces[:, 0] + forces[:, 1] * forces[:, 1])


def _whole(values: Tensor) -> Tensor:
    """Return values rounded to whole numbers, halves away from zero, as llround does."""
    below = values.trunc()
    return (below + torch.where((values - below).abs() >= 0.5, values.sign(), 0.0)).long()
