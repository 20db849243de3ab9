"""From torque back to the edges on tensors: which edge pixels made it."""

from __future__ import annotations

import torch
from torch import Tensor

from imtorque.core.contribution import BOUNDARY_SIZES
from imtorque.core.types import Sizes
from imtorque.torch import _ops, _tables, _torque
from imtorque.torch._checks import check_forces, squares_only
from imtorque.torch.torque import lengths, torque_coherence


def dense_contribution(forces: Tensor, sizes: Sizes = BOUNDARY_SIZES, *, exact: bool = False) -> Tensor:
    """Sum each edge pixel's moments about all pixels, weighed by their coherence: `imtorque.dense_contribution`.

    Parameters
    ----------
    forces, exact
        As for `imtorque.torch.torque_map`.
    sizes
        Odd, increasing side lengths of the squares.

    Returns
    -------
    Tensor
        (B, H, W), zero where there is no edge; float64 with exact=True, else of the forces' type, at least float32.
    """
    check_forces(forces, exact)
    sides = squares_only(sizes)
    if exact:
        return _ops.votes(forces, sides)
    return torch.stack([size_contribution(forces, side)[0] for side in sides]).sum(0)


def size_contribution(forces: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Return what one size adds to the dense contribution, with gradients, and the coherence that weighs it."""
    height, width = forces.shape[2:]
    coherence = torque_coherence(forces, size)
    weight = coherence.to(_torque.table_type(forces.device))
    v = torch.arange(height, dtype=weight.dtype, device=weight.device)[:, None] - height // 2
    u = torch.arange(width, dtype=weight.dtype, device=weight.device) - width // 2
    sums, across, down = (_tables.box_sums(part, size // 2, size // 2) for part in (weight, weight * u, weight * v))
    length = lengths(forces)[:, None]
    there = length > 0
    unit = torch.where(there, forces / torch.where(there, length, 1.0), 0.0)
    moment = (u * sums - across) * unit[:, 1] - (v * sums - down) * unit[:, 0]
    return (moment / float(size) ** 3).to(coherence.dtype), coherence
