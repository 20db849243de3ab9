"""Torque of tensors: which arithmetic, which kernel."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from imtorque.core.caching import cached_property
from imtorque.torch import _cuda, _cuda_far, _launch, _tables
from imtorque.torch._cuda_statistics import DeviceStatistics
from imtorque.torch._layouts import Layout
from imtorque.torch._patches import Boxes, boxes_for, check_range, norm
from imtorque.torch._rounding import Rounding, rounding_of


class Field:
    """Forces (B, 2, H, W) and patches, ready for the kernels.

    `exact`, and float32 on a CUDA device: whole numbers as the library rounds them. Else floats.
    """

    def __init__(self, forces: Tensor, sides: list[int], alpha: float, exact: bool) -> None:
        """Round where that is asked for."""
        height, width = forces.shape[2:]
        self.boxes = boxes_for(sides, alpha, height, width)
        self.type = torch.float64 if forces.dtype == torch.float64 and not exact else torch.float32
        self.forces = forces.detach()
        self.fit: Layout | None = None
        self._alpha, self._exact = alpha, exact
        on_cuda = _launch.serves(forces.device) and self.type == torch.float32
        self._rounds = exact or on_cuda
        if self._rounds:
            self.forces = self.forces.float().contiguous()
        self.statistics = DeviceStatistics(self.forces) if on_cuda else None

    @cached_property
    def rounding(self) -> Rounding | None:
        """How the forces are rounded; None where they are not, or are not finite: floats show where."""
        if not self._rounds:
            return None
        rounding = rounding_of(self.forces, check=self._exact, statistics=self.statistics)
        if not rounding.steps:
            return None
        for largest, steps in zip(rounding.largest, rounding.steps, strict=True):
            check_range(self.boxes, self._alpha, largest, steps, *self.forces.shape[2:])
        return rounding

    def guess(self) -> Layout | None:
        """Return the layout of kernels that may start before the host knows how forces are rounded.

        The device guesses the steps; `guessed_right` says afterwards whether they, and sums in 32 bits, were right.
        """
        if self.statistics is None or _cuda.served_count(self.boxes) < len(self.boxes.label):
            return None
        return _cuda.layout_for(self.boxes, self.forces.device)

    @property
    def guessed_right(self) -> bool:
        """Whether what was computed with guessed steps holds."""
        return self.rounding is not None and self.rounding.guessed == self.rounding.steps and self.fits

    @cached_property
    def narrow(self) -> int:
        """How many of the patches, from the first, the kernels in shared memory serve; with `fit` for them."""
        if self.rounding is None or not _launch.serves(self.forces.device):
            return 0
        served = _cuda.served_count(self.boxes)
        boxes = self.boxes if served == len(self.boxes.label) else self.boxes.part(0, served)
        self.fit = _cuda.layout_for(boxes, self.forces.device)
        if self.fit is None:
            return 0
        pairs = zip(self.rounding.windows, self.rounding.steps, strict=True)
        return min(_cuda.narrow_count(boxes, windows, steps) for windows, steps in pairs)

    @property
    def fits(self) -> bool:
        """Whether those kernels serve all patches."""
        return self.narrow == len(self.boxes.label)

    def wide(self, forces: Tensor) -> Tensor:
        """Return some of the forces as `_tables` needs them: int64, or floats."""
        if self.rounding is not None:
            return self.rounding.rounded(forces)
        return forces.to(table_type(forces.device))

    def far(self) -> _cuda_far.Tables | None:
        """Return the tables for patches that shared memory does not serve, where there are such kernels."""
        if self.rounding is None or not _launch.serves(self.forces.device):
            return None
        return _cuda_far.Tables(self.forces, self.rounding.steps)

    def norms(self, boxes: Boxes) -> Tensor:
        """Return the factors from twice the moment to torque, (B, S)."""
        device = self.forces.device
        if self.rounding is not None:
            rows = [[norm(area, steps) for area in boxes.area] for steps in self.rounding.steps]
            return torch.tensor(rows, dtype=torch.float32, device=device)
        row = 1 / (4 * np.asarray(boxes.area))
        return torch.tensor(row, dtype=table_type(device), device=device).repeat(len(self.forces), 1)


def table_type(device: torch.device) -> torch.dtype:
    """Return the float type of tables: prefix sums need more digits than their differences."""
    return torch.float32 if device.type == "mps" else torch.float64


def volume(forces: Tensor, sides: list[int], alpha: float, exact: bool, out: Tensor | None = None) -> Tensor:
    """Return the torque of each patch around each pixel, (B, S, H, W)."""
    field = Field(forces, sides, alpha, exact)
    batch, _, height, width = forces.shape
    count = len(field.boxes.label)
    if out is None:
        out = torch.empty(batch, count, height, width, dtype=field.type, device=forces.device)
    if field.guess() and field.statistics:
        _cuda.torque_volume(field.forces, field.boxes, field.statistics, out)
        if field.guessed_right:
            return out
    if field.fits and field.fit and field.rounding:
        _cuda.torque_volume(field.forces, field.boxes, field.rounding.steps, out)
        return out
    if far := field.far():
        far.fill_volume(field.boxes, field.norms(field.boxes), out)
    else:
        _tables.fill_volume(field.forces, field.wide, field.boxes, field.norms(field.boxes), out)
    return out


def maps(forces: Tensor, sides: list[int], alpha: float, exact: bool) -> tuple[Tensor, Tensor]:
    """Return the strongest torque at each pixel and the label of its patch with its sign, (B, H, W) each."""
    return field_maps(Field(forces, sides, alpha, exact))


def field_maps(field: Field) -> tuple[Tensor, Tensor]:
    """Return the maps of forces and patches that are ready."""
    batch, _, height, width = field.forces.shape
    value = torch.empty(batch, height, width, dtype=field.type, device=field.forces.device)
    scale = torch.empty(batch, height, width, dtype=torch.int32, device=field.forces.device)
    if (layout := field.guess()) and field.statistics:
        _cuda.value_and_scale(field.forces, field.boxes, field.statistics, layout, value, scale)
        if field.guessed_right:
            return value, scale
    narrow = field.narrow
    if narrow and field.fit and field.rounding:
        part = field.boxes.part(0, narrow)
        _cuda.value_and_scale(field.forces, part, field.rounding.steps, field.fit, value, scale)
    if narrow < len(field.boxes.label):
        rest = field.boxes.part(narrow)
        if far := field.far():
            far.fill_maps(rest, field.norms(rest), value, scale, opened=narrow > 0)
        else:
            _tables.fill_maps(field.forces, field.wide, rest, field.norms(rest), value, scale)
    return value, scale
