"""What all callers of the CUDA kernels need: whether they run, kernels by name, small tensors to and fro."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator

import torch
from torch import Tensor

from imtorque.torch import _nvrtc


def serves(device: torch.device) -> bool:
    """Whether these kernels run on the device."""
    return device.type == "cuda" and _nvrtc.is_available(device)


@contextlib.contextmanager
def host_copy(tensor: Tensor) -> Iterator[Tensor]:
    """Lend a copy of a small int32 tensor on the host, in memory that the device writes to and that is kept."""
    memory = _spare.pop() if _spare else torch.empty(0, dtype=torch.int32)
    if memory.numel() < tensor.numel():
        memory = torch.empty(tensor.numel(), dtype=torch.int32, pin_memory=True)
    host = memory[: tensor.numel()]
    host.copy_(tensor, non_blocking=True)
    torch.cuda.current_stream(tensor.device).synchronize()
    yield host
    _spare.append(memory)


_spare: list[Tensor] = []  # not lent


@functools.lru_cache(maxsize=64)
def on_device(numbers: tuple[float, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.tensor(numbers, dtype=dtype, device=device)


@functools.cache
def processors(device: torch.device) -> int:
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


def kernel_of(
    files: tuple[str, ...], macros: tuple[tuple[str, int], ...], device: torch.device, name: str
) -> _nvrtc.Kernel:
    return _nvrtc.kernel(name, files, macros, device)
