"""Connected components by torch's own operations."""

from __future__ import annotations

import torch
from torch import Tensor


def first_of_component(count: int, a: Tensor, b: Tensor) -> Tensor:
    """Return for each of `count` nodes the smallest node it is connected to by the links a[i] - b[i].

    Roots are hooked to smaller ones and paths made short, so the number of rounds grows with the logarithm of the
    longest path.
    """
    parent = torch.arange(count, device=a.device)
    while True:
        low, high = torch.minimum(parent[a], parent[b]), torch.maximum(parent[a], parent[b])
        hooked = parent.scatter_reduce(0, high, low, "amin")
        shorter = hooked[hooked]
        while not torch.equal(shorter, hooked):
            hooked, shorter = shorter, shorter[shorter]
        if torch.equal(hooked, parent):
            return parent
        parent = hooked
