"""What all callers of the CUDA kernels need: whether they run, kernels by name, small tensors to and fro."""

from __future__ import annotations

import functools

import torch
from torch import Tensor

from imtorque.torch import _nvrtc


def serves(device: torch.device) -> bool:
    """Whether these kernels run on the device."""
    return device.type == "cuda" and _nvrtc.is_available(device)


def on_host(tensor: Tensor) -> Tensor:
    """Return a copy of a small int32 tensor on the host, by memory that the device writes to; valid until the next."""
    host = _pinned(tensor.device, 1 << max(12, (tensor.numel() - 1).bit_length()))[: tensor.numel()]
    host.copy_(tensor, non_blocking=True)
    torch.cuda.current_stream(tensor.device).synchronize()
    return host


@functools.lru_cache(maxsize=64)
def on_device(numbers: tuple[float, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.tensor(numbers, dtype=dtype, device=device)


@functools.lru_cache(maxsize=8)
def _pinned(device: torch.device, count: int) -> Tensor:  # noqa: ARG001  # each device has its own
    return torch.empty(count, dtype=torch.int32, pin_memory=True)


@functools.cache
def processors(device: torch.device) -> int:
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


def kernel_of(
    files: tuple[str, ...], macros: tuple[tuple[str, int], ...], device: torch.device, name: str
) -> _nvrtc.Kernel:
    return _nvrtc.kernel(name, files, macros, device)
