"""How finely the forces of each image of a batch are rounded: `imtorque.ForceStatistics`, made on the device."""

from __future__ import annotations

import math
import struct
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from imtorque.core.quantisation import PELL_STEPS, ForceStatistics, unit_exponent
from imtorque.core.types import LARGEST_FORCE
from imtorque.torch import _cuda_statistics, _launch
from imtorque.torch._cuda_statistics import DeviceStatistics

PELL_SLACK = 1e-3  # convention: of a step


class Rounding(NamedTuple):
    """Of each image: steps per unit of force, the largest force, the mass of windows of blocks where it is known."""

    steps: list[float]
    largest: list[float]
    windows: list[list[float]]
    guessed: list[float]  # steps, by the device

    def rounded(self, forces: Tensor) -> Tensor:
        """Return the forces as whole numbers, int64."""
        steps = torch.tensor(self.steps, dtype=torch.float32, device=forces.device)
        return (forces.float() * steps[:, None, None, None]).round().long()


def rounding_of(forces: Tensor, *, check: bool = True, statistics: DeviceStatistics | None = None) -> Rounding:
    """Return how the library rounds each image of float32 forces (B, 2, H, W); refuse forces that are not finite."""
    height, width = forces.shape[2:]
    if statistics is None and _launch.serves(forces.device):
        statistics = DeviceStatistics(forces)
    records = statistics.records() if statistics else [_record(image) for image in forces.float()]
    largest = [_as_float(record[_cuda_statistics.LARGEST]) for record in records]
    if not max(largest) <= LARGEST_FORCE:  # NaN as well
        if not check:
            return Rounding([], [], [], [])
        raise ValueError(f"forces must be finite and within ±{LARGEST_FORCE:g}, got NaN, infinity or more")
    found = [_statistics(record, height, width) for record in records]
    windows = [
        [_as_float(bits) for bits in record[_cuda_statistics.WINDOWS : _cuda_statistics.WINDOWS + 4]]
        for record in records
    ]
    guessed = [_as_float(record[_cuda_statistics.STEPS]) for record in records]
    return Rounding([image.steps for image in found], largest, windows, guessed)


def exact_sqrt(values: Tensor) -> Tensor:
    """Return square roots rounded rightly, which torch's own on a CPU are not."""
    return torch.from_numpy(np.sqrt(values.numpy())) if values.device.type == "cpu" else values.sqrt()


def _as_float(bits: int) -> float:
    return float(struct.unpack("<f", struct.pack("<i", bits))[0])


def _statistics(record: list[int], height: int, width: int) -> ForceStatistics:
    largest = _as_float(record[_cuda_statistics.LARGEST])
    counts = record[_cuda_statistics.OCTAVES : _cuda_statistics.OCTAVES + 256]
    octaves = tuple((e - 127, count) for e, count in enumerate(counts) if count)
    top, left, bottom, right = record[_cuda_statistics.EXTENT : _cuda_statistics.EXTENT + 4]
    extent = (top, left, bottom, right) if octaves else None
    not_pell = (unit_exponent(largest),) if octaves and record[_cuda_statistics.NOT_PELL] else ()
    grain = record[_cuda_statistics.GRAIN] if octaves else 0
    return ForceStatistics((0, 0, height, width), height * width, extent, largest, grain, not_pell, octaves)


def _record(forces: Tensor) -> list[int]:
    """Return what the kernels of statistics.cu find, by torch's own operations."""
    bits = forces.abs().contiguous().view(torch.int32)
    larger = bits.amax(0)
    record = [0] * _cuda_statistics.RECORD
    record[_cuda_statistics.LARGEST] = int(larger.max())
    if not record[_cuda_statistics.LARGEST]:
        return record
    record[_cuda_statistics.OCTAVES :] = torch.bincount((larger[larger > 0] >> 23).long(), minlength=256).tolist()
    record[_cuda_statistics.EXTENT : _cuda_statistics.EXTENT + 4] = _extent(larger > 0)
    record[_cuda_statistics.GRAIN] = _grain(bits[bits > 0])
    record[_cuda_statistics.NOT_PELL] = _off_pell_grid(forces.abs(), _as_float(record[_cuda_statistics.LARGEST]))
    return record


def _extent(there: Tensor) -> tuple[int, int, int, int]:
    rows, columns = there.any(1).nonzero(), there.any(0).nonzero()
    return int(rows[0]), int(columns[0]), int(rows[-1]) + 1, int(columns[-1]) + 1


def _grain(bits: Tensor) -> int:
    exponent, mantissa = bits >> 23, bits & 0x7FFFFF
    whole = torch.where(exponent > 0, mantissa | 0x800000, mantissa)
    lowest = ((whole & -whole).float().view(torch.int32) >> 23) - 127
    return int((lowest + exponent.clamp(min=1) - 150).min())


def _off_pell_grid(forces: Tensor, largest: float) -> bool:
    if not math.isfinite(largest):
        return False
    products = forces * math.ldexp(PELL_STEPS, -unit_exponent(largest))
    return bool(((products - products.round()).abs() > PELL_SLACK).any())
