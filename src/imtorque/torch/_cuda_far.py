"""Torque of boxes of any size on a CUDA device, from 64-bit tables in its memory: kernels/far.cu."""

from __future__ import annotations

import ctypes
import functools

import torch
from torch import Tensor

from imtorque.torch._cuda import kernel_of, on_device
from imtorque.torch._patches import Boxes

FILES = ("far.cu",)


class Tables:
    """Tables of whole images: 24 bytes a pixel."""

    def __init__(self, forces: Tensor, steps: list[float]) -> None:
        """Make them from contiguous float32 forces (B, 2, H, W)."""
        batch, _, self._height, self._width = forces.shape
        self._device, self._batch = forces.device, batch
        cells = 3 * (self._height + 1) * (self._width + 1)
        self._cells = torch.empty(batch * cells, dtype=torch.int64, device=forces.device)
        run = functools.partial(kernel_of, FILES, (), forces.device)
        kept = on_device(tuple(steps), torch.float32, forces.device)
        shape = (self._height, self._width)
        run("sum_rows")((-(-self._height // 4), batch, 1), (128, 1, 1), forces, kept, *shape, self._cells)
        run("sum_columns")((-(-(self._width + 1) // 32), batch, 1), (32, 1, 1), *shape, self._cells)

    def fill_maps(self, boxes: Boxes, norms: Tensor, value: Tensor, scale: Tensor, opened: bool) -> None:
        """Write value and scale maps (B, H, W); `opened`: they hold those of smaller patches already."""
        self._run("far_maps", boxes, norms, ctypes.c_int(opened), value, scale)

    def fill_volume(self, boxes: Boxes, norms: Tensor, out: Tensor) -> None:
        """Write the volume (B, S, H, W)."""
        self._run("far_volume", boxes, norms, out)

    def _run(self, name: str, boxes: Boxes, norms: Tensor, *others: object) -> None:
        rows = tuple(float(n) for row in zip(boxes.ry, boxes.rx, boxes.label, strict=True) for n in row)
        table = on_device(rows, torch.int32, self._device)
        kernel_of(FILES, (), self._device, name)(
            (-(-self._width // 128), self._height, self._batch),
            (128, 1, 1),
            *(self._cells, self._height, self._width, table, norms, len(boxes.label), *others),
        )
