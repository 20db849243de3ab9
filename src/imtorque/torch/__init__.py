"""The operators on PyTorch tensors: on any device, in batches, with gradients; or in the library's bits.

Forces are tensors (B, 2, H, W), fx then fy; images (B, 1 or 3, H, W). With exact=True forces are rounded as the
library rounds them and every sum is exact in integers, so a GPU gives the bits of the CPU library. With exact=False
(the default) gradients flow.
"""

try:
    import torch as _torch
except ImportError as error:
    raise ImportError("imtorque.torch needs torch 2.4 or later: pip install 'imtorque[torch]'") from error

from imtorque.torch.contribution import dense_contribution
from imtorque.torch.edges import detect_edges, gradient_edges
from imtorque.torch.extrema import Extrema, find_extrema
from imtorque.torch.modules import BoundaryVotes, Torque
from imtorque.torch.torque import (
    gradient_torque,
    torque_coherence,
    torque_map,
    torque_volume,
    value_and_scale_maps,
)

del _torch

__all__ = [
    "BoundaryVotes",
    "Extrema",
    "Torque",
    "dense_contribution",
    "detect_edges",
    "find_extrema",
    "gradient_edges",
    "gradient_torque",
    "torque_coherence",
    "torque_map",
    "torque_volume",
    "value_and_scale_maps",
]
