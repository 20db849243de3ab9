"""Torque of boxes of any size on a CUDA device (kernels/far.cu), and the adjoint of the maps (kernels/adjoint.cu)."""

from __future__ import annotations

import ctypes
import functools

import torch
from torch import Tensor

from imtorque.torch._launch import kernel_of, on_device
from imtorque.torch._patches import Boxes

FILES = ("far.cu",)
ADJOINT_BAND = 256  # rows of the adjoint's tables; bound: of what is held at a time


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


class _Band(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_int) for name in ("batch", "height", "width", "top", "rows"))


def chosen_adjoint(grad: Tensor, scale: Tensor, boxes: Boxes, out: Tensor) -> None:
    """Write the adjoint of the value map of the patches in `scale` for float32 gradients (B, H, W) to `out`."""
    batch, height, width = grad.shape
    labels = max(boxes.label) + 1
    halves, factors = _by_label(boxes, grad.device)
    run = functools.partial(kernel_of, ("adjoint.cu",), (), grad.device)
    table = torch.empty(3 * batch * (ADJOINT_BAND + 1) * (width + 1), dtype=torch.float64, device=grad.device)
    for top in range(0, height, ADJOINT_BAND):
        band = _Band(batch, height, width, top, min(ADJOINT_BAND, height - top))
        first, last = max(0, top - boxes.reach[0]), min(height, top + band.rows + boxes.reach[0])
        table.zero_()
        grid = (-(-width // 128), last - first, batch)
        run("scatter")(grid, (128, 1, 1), grad, scale, band, first, halves, factors, labels, table)
        run("sum_down")((-(-(width + 1) // 64), 3 * batch, 1), (64, 1, 1), band, table)
        run("sum_across")((-(-band.rows // 4), batch, 1), (128, 1, 1), band, table, out)


@functools.lru_cache(maxsize=16)
def _by_label(boxes: Boxes, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return half-heights and half-widths, and the factors of the torque, of each label."""
    halves = torch.zeros(2, max(boxes.label) + 1, dtype=torch.int32)
    factors = torch.zeros(max(boxes.label) + 1, dtype=torch.float64)
    places = torch.tensor(boxes.label)
    halves[:, places] = torch.tensor([boxes.ry, boxes.rx], dtype=torch.int32)
    factors[places] = 1 / (2 * torch.tensor(boxes.area, dtype=torch.float64))
    return halves.to(device), factors.to(device)
